"""One process at a time makes a release: whoever comes later waits, and finds it.

A lock of the system ends with the process that holds it: whoever waited for one that
died goes on, and has the second try that the ledger allows for a lost answer.
"""

import logging
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from sordino.errors import LedgerUnavailable

if sys.platform != "win32":
    import fcntl

_LOG: Final = logging.getLogger("sordino")
_BESIDE: Final = "-turns"
"""What the name of a ledger is followed by in that of the file that is locked."""
_PATIENCE: Final = 600.0
"""Seconds after which a run that comes later gives up."""
_PAUSE: Final = 0.1


@contextmanager
def turn_of(ledger: Path, key: str, patience: float = _PATIENCE) -> Generator[None]:
    """Wait until no other process works on a key of a ledger, and keep others off it.

    Each key is one byte of an empty file beside the ledger. Where there can be none,
    nobody waits: the ledger still charges a key once.
    """
    file = _open_beside(ledger)
    if file is None:
        yield
        return
    try:
        _wait(file, ledger, key, time.monotonic() + patience)
        yield
    finally:
        os.close(file)


def _open_beside(ledger: Path) -> int | None:
    """Return the file that is locked, None where there is none."""
    if sys.platform == "win32":
        return None
    try:
        real = Path(os.path.realpath(ledger))  # one file, whatever link leads there
        path = real.with_name(real.name + _BESIDE)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o600)
    except OSError:
        return None


def _wait(file: int, ledger: Path, key: str, until: float) -> None:
    """Lock the byte of a key, or refuse after a while."""
    place = int.from_bytes(sha256(key.encode()).digest()[:7])
    waited = False
    while not _is_locked(file, place):
        if not waited:
            _LOG.info("%s is being made by another process: waiting for it", key)
        if time.monotonic() > until:
            raise LedgerUnavailable(
                ledger,
                f"has {key} being made by another process, which takes long",
                "Ask again later: its answer will be there, at no cost.",
            )
        waited = True
        time.sleep(_PAUSE)


def _is_locked(file: int, place: int) -> bool:
    """Try to lock a byte, and tell whether it is ours; no locks lock nobody out."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
