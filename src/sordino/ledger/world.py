"""What a ledger asks of the world; tests put a worse one in its place."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import final

if sys.platform != "win32":
    import fcntl


def _now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def _pass(point: str) -> None:
    """Go on."""
    del point


def _read(handle: int, size: int, at: int) -> bytes:
    """Return bytes of a file, fewer where it ends."""
    return os.pread(handle, size, at)


def _write(handle: int, data: bytes, at: int) -> int:
    """Write bytes into a file, and return how many were written."""
    return os.pwrite(handle, data, at)


def _sync(handle: int) -> None:
    """Return when the disk has what was written."""
    fully = getattr(fcntl, "F_FULLFSYNC", None)  # where fsync leaves it in the disk
    if fully is None:
        os.fsync(handle)
    else:
        fcntl.fcntl(handle, fully)


def _truncate(handle: int, size: int) -> None:
    """Let a file end earlier."""
    os.ftruncate(handle, size)


def _lock(handle: int) -> None:
    """Lock the file for this descriptor, or raise BlockingIOError."""
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _share(handle: int) -> None:
    """Lock the file together with other readers, or raise BlockingIOError."""
    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


@final
@dataclass(frozen=True)
class Disk:
    """What is asked of the operating system about one file."""

    read: Callable[[int, int, int], bytes] = _read
    write: Callable[[int, bytes, int], int] = _write
    sync: Callable[[int], None] = _sync
    cut: Callable[[int, int], None] = _truncate
    lock: Callable[[int], None] = _lock
    share: Callable[[int], None] = _share


@final
@dataclass(frozen=True)
class World:
    """A clock, a disk, and who is told of each point where a process may die."""

    clock: Callable[[], datetime] = _now
    disk: Disk = field(default_factory=Disk)
    reached: Callable[[str], None] = _pass
    patience: float = 30.0
    """Seconds to wait for other processes."""
