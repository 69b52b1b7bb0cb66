"""What a ledger asks of the world; tests put a worse one in its place."""

import ctypes
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, final

from sordino.ledger import file_system

if sys.platform != "win32":
    import fcntl

_TIME_ERROR: Final = 5
"""What adjtimex(2) returns of a clock that is not synchronised."""
_TIMEX_ROOM: Final = 1024
"""Bytes for what it answers: more than any system writes."""


def _now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def _is_unsynchronised() -> bool:
    """Tell whether the system says that its clock is not held against others.

    Where it cannot be asked, it does not say so.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        # zeros: the first field says that nothing is to be set
        answer = ctypes.create_string_buffer(_TIMEX_ROOM)
        return int(ctypes.CDLL(None).adjtimex(answer)) == _TIME_ERROR
    except (OSError, AttributeError):
        return False


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
    kind: Callable[[Path], str | None] = file_system.file_system_of


@final
@dataclass(frozen=True)
class World:
    """A clock, a disk, and who is told of each point where a process may die."""

    clock: Callable[[], datetime] = _now
    disk: Disk = field(default_factory=Disk)
    reached: Callable[[str], None] = _pass
    is_unsynchronised: Callable[[], bool] = _is_unsynchronised
    patience: float = 30.0
    """Seconds to wait for other processes."""
