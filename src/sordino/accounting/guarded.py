"""One connection to a ledger, and who may use it: transactions that end for certain.

A handle belongs to the process that opened it. After an error of the disk it is of no
more use: what became of the last write is known only when the file is opened again.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn, Self, final

from sordino.accounting.anchor import Anchor
from sordino.accounting.log import Connection, Log
from sordino.errors import (
    LedgerDamaged,
    LedgerUnavailable,
    SessionMoved,
    SordinoError,
)

_PRIMARY: Final = 0xFF
"""The part of an error code of SQLite that says what kind it is."""
_DAMAGE: Final = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_ERROR,
}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@final
class Guarded:
    """A connection with a lock, the process it belongs to, and whether it failed."""

    def __init__(
        self,
        connection: Connection,
        path: Path | None,
        reached: Callable[[str], None],
    ) -> None:
        """Take over a connection; None is the path of a ledger in memory."""
        self._connection = connection
        self._path = path
        self._place = None if path is None else _place(path)
        self._anchor: Anchor | None = None
        self._reached = reached
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._failure: str | None = None
        self._end = weakref.finalize(self, _close, connection, self._process)
        self._end.atexit = True

    def anchored_by(self, anchor: Anchor | None) -> Self:
        """Write every change down in an anchor from now on."""
        self._anchor = anchor
        return self

    @property
    def shown(self) -> str:
        """Return the name of the ledger for messages."""
        return "in memory" if self._path is None else str(self._path)

    @property
    def durable(self) -> bool:
        """Say whether there is a file."""
        return self._path is not None

    @contextmanager
    def reading(self) -> Generator[Log]:
        """Show the records as of now; nothing changes."""
        with self._transaction("BEGIN"):
            yield Log(self._connection, self.shown)

    @contextmanager
    def writing(self, point: str, *, lasting: bool = True) -> Generator[Log]:
        """Show the records and keep all others from writing; what is added is durable.

        When this ends without an error, the disk has what was added. When it ends with
        one of SQLite, the disk may have it, and the handle is of no more use. What need
        not be `lasting` is not waited for, unless an anchor tells of it.
        """
        waited = lasting or self._anchor is not None
        with self._transaction("BEGIN IMMEDIATE", "FULL" if waited else "NORMAL"):
            self._reached(f"{point}: begun")
            log = Log(self._connection, self.shown)
            self._refuse_replaced(log)
            before = log.head()
            yield log  # noqa: RUF075 an exception ends the transaction above
            after = log.head()
            self._reached(f"{point}: written")
        self._reached(f"{point}: durable")
        if self._anchor is not None and after != before:
            self._anchored(*after)
            self._reached(f"{point}: anchored")

    def close(self) -> None:
        """Let go of the file; a handle that was closed refuses."""
        self.refuse_strangers()
        with self._lock:
            self._failure = "is closed"
            self._end()

    def refuse_strangers(self) -> None:
        """Refuse to work in a process that did not open the ledger."""
        if os.getpid() != self._process:
            raise SessionMoved("used in a forked process", "ledger")

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled", "ledger")

    @contextmanager
    def _transaction(self, begin: str, level: str = "FULL") -> Generator[None]:
        """Run one transaction: committed at the end, or rolled back."""
        self.refuse_strangers()
        with self._lock:
            self._begin(f"PRAGMA synchronous = {level}")
            self._begin(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except LedgerDamaged:
                self._give_up()
                raise
            except SordinoError:
                self._roll_back()
                raise
            except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
                raise self._failed(error) from None
            except BaseException:
                self._roll_back()
                raise

    def _begin(self, begin: str) -> None:
        """Begin, unless the handle failed or another process is in the way."""
        if self._failure is not None:
            raise self._unavailable(self._failure)
        try:
            self._connection.execute(begin)
        except sqlite3.Error as error:
            if _kind(error) in _BUSY:
                raise self._unavailable("is in use by another process") from None
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> "LedgerDamaged | LedgerUnavailable":
        """Give the handle up, and return what to tell."""
        self._give_up()
        if not isinstance(error, sqlite3.Error) or _kind(error) in _DAMAGE:
            return LedgerDamaged(self.shown, "its tables are not what was written")
        return self._unavailable("could not be written")

    def _give_up(self) -> None:
        """Use this handle no more."""
        self._failure = "failed before, and this handle is of no more use"
        with suppress(sqlite3.Error):
            self._end()

    def _roll_back(self) -> None:
        """Undo an unfinished transaction."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def _unavailable(self, problem: str) -> LedgerUnavailable:
        """Return the refusal of a ledger that cannot be used now."""
        return LedgerUnavailable(
            self.shown,
            problem,
            "Look after disk and permissions, then open it again and ask with the same "
            "key; a charge may have been made.",
        )

    def _refuse_replaced(self, log: Log) -> None:
        """Refuse where the path now leads to another file, or to none."""
        if self._path is not None and _place(self._path) != self._place:
            raise log.damaged("it was moved or replaced while it was in use")

    def _anchored(self, number: int, newest: str) -> None:
        """Write the head down outside the file."""
        try:
            if self._anchor is not None:
                self._anchor.add(number, newest)
        except OSError:
            self._give_up()
            raise self._unavailable("could not be anchored") from None


def _place(path: Path) -> tuple[int, int] | None:
    """Return what tells files apart, whatever their names."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _kind(error: sqlite3.Error) -> int:
    """Return the primary code; errors without one come from a misused connection."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    return code & _PRIMARY


def _close(connection: Connection, process: int) -> None:
    """Close a connection in the process that opened it, and in no other."""
    if os.getpid() == process:
        connection.close()
