"""Who may use a ledger: one process, and one thread at a time.

After an error of the disk nobody knows what became of the last write: the file is then
opened anew, and read from its first line. So it is before anybody hears "damaged".
"""

import os
import threading
from collections.abc import Callable
from typing import NoReturn, final

from sordino.errors import (
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SessionMoved,
)
from sordino.ledger.log import Log
from sordino.ledger.records import NOTHING, Head, Record
from sordino.ledger.signatures import Seals
from sordino.ledger.store import AbstractStore, Result


@final
class Handle:
    """A store, the process that it belongs to, and whether it must be opened anew."""

    def __init__(
        self, store: AbstractStore, seals: Seals, *, witnessed: bool = False
    ) -> None:
        """Take over a store, and say whether it has its witness with it."""
        self._store = store
        self._witnessed = witnessed
        self._seals = seals
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._busy = False
        self._end: str | None = None
        """Why nothing more is done with it, for ever."""
        self._stale = False
        self._signed: Head = NOTHING
        self._added: list[Record] = []

    @property
    def title(self) -> str:
        """Return the name of the ledger for messages."""
        return self._store.title

    @property
    def durable(self) -> bool:
        """Say whether it outlives the process."""
        return self._store.durable

    def knows(self, subject: str) -> bool:
        """Say whether there is a record about a subject."""
        return self.use(lambda log: log.store.newest(subject) > 0)

    def use(self, act: Callable[[Log], Result]) -> Result:
        """Run an act on the log while nobody appends to it.

        When this returns, the disk has what was added. When it fails for the disk, the
        disk may have it, and the file is opened anew by who asks next.
        """
        return self._run(lambda: self._store.transact(lambda: act(self._log())))

    def look(self, act: Callable[[Log], Result]) -> Result:
        """Run an act on the log as it is now; others may append meanwhile."""

        def looked() -> Result:
            log = self._store.transact(self._log)
            return act(log)

        return self._run(looked)

    def close(self) -> None:
        """Let go of the store; a handle that was closed refuses."""
        self.refuse_strangers()
        with self._lock:
            self._refuse_reentry()
            self._end = "is closed"
            self._store.close()

    def refuse_strangers(self) -> None:
        """Refuse to work in a process that did not open the ledger."""
        if os.getpid() != self._process:
            raise SessionMoved("used in a forked process", "ledger")

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled", "ledger")

    def _run(self, act: Callable[[], Result]) -> Result:
        """Run an act; what was given up before is opened anew first.

        A signal handler that comes in between is refused: it would wait for the thread
        that it interrupts.
        """
        self.refuse_strangers()
        with self._lock:
            self._refuse_reentry()
            if self._end is not None:
                raise self._unavailable(self._end)
            try:
                self._busy = True
                self._added = []
                if self._stale:
                    self._reopen()
                result = self._try(act)  # kept first: an interruption lets the lock go
            except LedgerDamaged:
                self._end = "was found damaged before, and this handle has ended"
                self._store.close()
                raise
            except OSError:
                self.refuse_strangers()  # a fork in the middle has closed the file
                self._stale = True
                self._store.close()
                raise self._unavailable("could not be read or written") from None
            finally:
                self._busy = False
            return result

    def _try(self, act: Callable[[], Result]) -> Result:
        """Run an act; where it says "damaged", only a fresh look may say so."""
        try:
            return act()
        except LedgerDamaged:
            self.refuse_strangers()
        added = bool(self._added)
        self._reopen()
        if not added:
            return act()
        self._store.transact(self._log)
        raise self._unavailable("was read back as another than it is now")

    def _reopen(self) -> None:
        """Open the store anew, to be read from its first record."""
        self._stale, self._signed = True, NOTHING
        self._store = self._store.reopen()
        self._stale = False

    def _refuse_reentry(self) -> None:
        """Refuse to begin while this very thread is at work here."""
        if self._busy:
            raise LedgerUnavailable(
                self.title,
                "is in use in this very thread, which a signal handler or a finalizer "
                "has interrupted",
                "Ask when the call that was interrupted has returned; nothing was "
                "charged by this one.",
            )

    def _log(self) -> Log:
        """Return the log, witnessed and its newest record signed as they must be."""
        if self._store.newest("witness") and not self._witnessed:
            raise InvalidParameter(
                "witness",
                None,
                "must be given: this ledger was made with a witness",
                "Open it with sd.Ledger.at(path, witness=...).",
            )
        log = Log(self._store, self._seals, self._added)
        if log.head != self._signed:
            log.refuse_unsigned(log.record(log.head.number))
            self._signed = log.head
        return log

    def _unavailable(self, problem: str) -> LedgerUnavailable:
        """Return the refusal of a ledger that cannot be used now."""
        return LedgerUnavailable(
            self.title,
            problem,
            "Check the disk and the permissions, then ask again with the same key; a "
            "charge may have been made.",
        )
