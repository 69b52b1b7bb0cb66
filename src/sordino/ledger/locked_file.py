"""One file, open for as long as a handle lives, with a lock on its inode.

The lock is that of flock(2): it belongs to the inode and to this open file, so that
other names, mounts and descriptors of the same file neither drop nor double it, and the
kernel drops it when its holder dies.
"""

import math
import os
import sys
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Final, final

from sordino.errors import LedgerDamaged, LedgerUnavailable
from sordino.ledger.world import World

MOVED: Final = "it was moved or replaced while it was in use"
_LONG: Final = 0.004
"""Seconds that who has just come sleeps between two tries for the lock."""
_SHORT: Final = 0.0003
"""Seconds that who has waited for very long sleeps."""
_EAGER: Final = 0.05
"""Seconds after which one tries more often: twice as often after twice as long."""
_COURTESY: Final = 1.0
_OPEN: Final["weakref.WeakSet[LockedFile]"] = weakref.WeakSet()


@final
class LockedFile:
    """A file and its lock.

    Whoever takes the lock by `wait` lets it go by one call of `fcntl.flock` on
    `handle`, in the same frame, so that no signal can come between.
    """

    def __init__(self, path: Path, world: World, *, reading: bool = False) -> None:
        """Open a file that exists; who only reads shares the lock with readers."""
        self.path = path
        self.disk = world.disk
        self.handle = os.open(path, os.O_RDONLY if reading else os.O_RDWR)
        self._lock = self.disk.share if reading else self.disk.lock
        self._status = os.fstat(self.handle)
        self._patience = world.patience
        self._waited = -math.inf
        self._end = weakref.finalize(self, _close, self.handle, os.getpid())
        _OPEN.add(self)

    def wait(self) -> None:
        """Take the lock, which is tried for more often the longer one has waited.

        Who had to wait within the last second lets the others go first: otherwise who
        has just let the lock go would take it again before anybody else looked.
        """
        begun = time.monotonic()
        if begun - self._waited < _COURTESY:
            time.sleep(_LONG)
        while not self._take_lock():
            self._waited = time.monotonic()
            waited = self._waited - begun
            if waited > self._patience:
                raise LedgerUnavailable(
                    self.path,
                    "is in use by another process",
                    "Nothing was charged: try again, or look for who holds it.",
                )
            time.sleep(max(_SHORT, _LONG / max(1, waited / _EAGER)))

    def size(self) -> int:
        """Return how long the file is."""
        return os.fstat(self.handle).st_size

    def read(self, size: int, at: int) -> bytes:
        """Return bytes, fewer where the file ends."""
        return self.disk.read(self.handle, size, at)

    def write(self, parts: Iterable[bytes], at: int) -> None:
        """Write all of some bytes."""
        for part in parts:
            rest = memoryview(part)
            while rest:
                written = self.disk.write(self.handle, bytes(rest), at)
                rest, at = rest[written:], at + written

    def refuse_replaced(self, handle: int | None = None) -> None:
        """Refuse where the path, or what was opened by it, is another file.

        So is one of the same number on the disk, if this file was let go meanwhile:
        who opens it anew holds its records against those that were there.
        """
        try:
            status = self.path.stat() if handle is None else os.fstat(handle)
        except FileNotFoundError:
            status = None
        if status is None or not os.path.samestat(status, self._status):
            raise LedgerDamaged(self.path, MOVED)

    def close(self) -> None:
        """Let go of the file, and of the lock."""
        self.handle = -1
        self._end()

    def abandon(self) -> None:
        """Let go of the file in a forked child, where the lock is the parent's."""
        handle, self.handle = self.handle, -1
        self._end.detach()
        if handle >= 0:
            os.close(handle)

    def _take_lock(self) -> bool:
        """Take the lock if it is free."""
        try:
            self._lock(self.handle)
        except BlockingIOError:
            return False
        return True


def _close(handle: int, process: int) -> None:
    """Close a descriptor in the process that opened it, and in no other."""
    if os.getpid() == process:
        os.close(handle)


def _abandon_all() -> None:
    """Let go of every file that a fork has brought into this process."""
    for file in list(_OPEN):
        file.abandon()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_abandon_all)
