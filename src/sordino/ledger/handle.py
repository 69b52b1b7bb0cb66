"""Who may use a ledger: one process, one thread at a time, and nobody after a failure.

After an error of the disk a handle is of no more use: what became of the last write is
known only when the file is opened again.
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
from sordino.ledger.records import NOTHING, Head
from sordino.ledger.signatures import Seals
from sordino.ledger.store import AbstractStore, Result


@final
class Handle:
    """A store, the process that it belongs to, and whether it failed."""

    def __init__(
        self, store: AbstractStore, seals: Seals, *, witnessed: bool = False
    ) -> None:
        """Take over a store, and say whether it has its witness with it."""
        self._store = store
        self._witnessed = witnessed
        self._seals = seals
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._failure: str | None = None
        self._signed: Head = NOTHING

    @property
    def title(self) -> str:
        """Return the name of the ledger for messages."""
        return self._store.title

    @property
    def durable(self) -> bool:
        """Say whether it outlives the process."""
        return self._store.durable

    def knows(self, subject: str) -> bool:
        """Say whether there was a record about a subject when this last looked."""
        return self._run(lambda: self._store.newest(subject) > 0)

    def use(self, act: Callable[[Log], Result]) -> Result:
        """Run an act on the log while nobody appends to it.

        When this returns, the disk has what was added. When it fails for the disk, the
        disk may have it, and the handle is of no more use.
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
            self._failure = "is closed"
            self._store.close()

    def refuse_strangers(self) -> None:
        """Refuse to work in a process that did not open the ledger."""
        if os.getpid() != self._process:
            raise SessionMoved("used in a forked process", "ledger")

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled", "ledger")

    def _run(self, act: Callable[[], Result]) -> Result:
        """Run an act, and give the handle up if the store fails."""
        self.refuse_strangers()
        with self._lock:
            if self._failure is not None:
                raise self._unavailable(self._failure)
            try:
                result = act()  # kept first: an interruption here lets the lock go
            except LedgerDamaged:
                self._give_up()
                raise
            except OSError:
                self.refuse_strangers()  # a fork in the middle has closed the file
                self._give_up()
                raise self._unavailable("could not be read or written") from None
            return result

    def _log(self) -> Log:
        """Return the log, witnessed and its newest record signed as they must be."""
        if self._store.newest("witness") and not self._witnessed:
            raise InvalidParameter(
                "witness",
                None,
                "must be given: this ledger was made with a witness",
                "Open it with sd.Ledger.at(path, witness=...).",
            )
        log = Log(self._store, self._seals)
        if log.head != self._signed:
            log.refuse_unsigned(log.record(log.head.number))
            self._signed = log.head
        return log

    def _give_up(self) -> None:
        """Use this handle no more."""
        self._failure = "failed before, and this handle is of no more use"
        self._store.close()

    def _unavailable(self, problem: str) -> LedgerUnavailable:
        """Return the refusal of a ledger that cannot be used now."""
        return LedgerUnavailable(
            self.title,
            problem,
            "Check the disk and the permissions, then open it again and ask with the "
            "same "
            "key; a charge may have been made.",
        )
