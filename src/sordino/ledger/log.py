"""What a ledger says, one transaction of a store at a time, and who may use it.

A store keeps records that follow each other, and the bytes of answers beside them. It
knows nothing of budgets: what a record means is said by `record_kinds.py`.

One process may use a ledger, and one thread at a time. After an error of the disk
nobody knows what became of the last write: the file is then opened anew, and read from
its first line. So it is before anybody hears "damaged".

Kernel: charge.
"""

import os
import threading
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar, final

from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SessionMoved,
    UnknownName,
)
from sordino.ledger import record_kinds
from sordino.ledger.file_format import (
    DEEPEST,
    NOTHING,
    Contents,
    Head,
    Record,
    Role,
    hash_bytes,
)
from sordino.ledger.policy_file import Seals
from sordino.ledger.record_kinds import DATASET, is_sound
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.limits import Limit

Result = TypeVar("Result")


class AbstractStore(ABC):
    """Append if the head is h; read from a number; verify.

    Obligations of an implementation, for any number of threads, processes and crashes:

    - While `transact` runs an act, nobody else appends, and everything that was
      appended before can be read. (A store may run an act anew instead, if somebody
      did append; acts have no other effect.)
    - When `transact` returns, what was appended is durable, the record with its
      answer, or else `lasting` was not asked for. What a transaction tells is durable,
      but for that.
    - A record is read as it was appended, or the store is refused (`LedgerDamaged`).
      Errors of the disk come as `OSError`; the store is then of no more use.
    - Everything but `append` may be called outside of `transact`, and sees what the
      newest transaction of this store saw.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the name of the store for messages."""

    @property
    @abstractmethod
    def durable(self) -> bool:
        """Say whether it outlives the process."""

    @property
    def is_copy(self) -> bool:
        """Say whether it is a backup, or was moved: it is read, and never charged."""
        return False

    @property
    @abstractmethod
    def head(self) -> Head:
        """Return the head of what is known."""

    @abstractmethod
    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act while nobody else appends, on everything that was appended."""

    @abstractmethod
    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Add a record that follows the head, and the answer that belongs to it."""

    @abstractmethod
    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order."""

    @abstractmethod
    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""

    def expect(self, subject: str) -> None:
        """Hear which subject the next act will look up; most need not know."""
        del subject

    @abstractmethod
    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""

    @abstractmethod
    def answer(self, number: int) -> bytes:
        """Return the bytes that were appended with a record; b"" if there were none."""

    @abstractmethod
    def retire(self) -> None:
        """Let nothing more be charged here, for ever, from this transaction on.

        It was moved: what it was is read, and goes on elsewhere.
        """

    @abstractmethod
    def verify(self) -> None:
        """Refuse the store unless all of it is what was appended."""

    @abstractmethod
    def reopen(self) -> "AbstractStore":
        """Return the same store, to be read anew from its first record; close this one.

        Another in its place, or one without a record that was durable, is refused.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""


@final
class Unreached(OSError):
    """A store that cannot be reached or did not answer, told in our words."""


class AbstractPlace(ABC):
    """Where a store is, or shall be: a file, or a database of a server."""

    shown: str
    """Its name for messages: without a password."""
    is_open_word = True
    """Whether what was written of it has no password."""

    @abstractmethod
    def exists(self) -> bool:
        """Say whether there is anything."""

    @abstractmethod
    def open(self, role: Role, *, reading: bool = False) -> AbstractStore:
        """Return the store of a role that is there."""

    @abstractmethod
    def create(self, role: Role, contents: Contents) -> bool:
        """Make a store with records, whole or not at all; False: it is taken."""

    @abstractmethod
    def is_same(self, other: "AbstractPlace") -> bool:
        """Say whether another fails together with this one."""

    @abstractmethod
    def refuse_unfit(self, *, witnessed: bool, reading: bool) -> None:
        """Refuse a place where charges may be forgotten."""


def refuse_later_kind(shown: str, kind: str) -> None:
    """Refuse records of a kind that is not known: it may lower a limit."""
    if kind not in record_kinds.KINDS:
        raise LedgerUnavailable(
            shown,
            f"has records of the kind {kind!r}, which a later version wrote",
            "Update Sordino.",
        )


@final
class Index:
    """What records can be looked up by, brought up to date one record at a time.

    An index that was interrupted while it grew is to be thrown away.
    """

    def __init__(self, shown: str, head: Head = NOTHING) -> None:
        """Begin behind a head."""
        self.head = head
        self._shown = shown
        self._newest: dict[str, int] = {}
        self._numbers: dict[str, array[int]] = {}

    def add(self, record: Record) -> None:
        """Add a record, which must follow, be sealed, and say what its kind says."""
        wrong = "" if record.is_sealed else "is not what was written"
        if (record.number - 1, record.previous) != self.head:
            wrong = "does not follow the one before it"
        if wrong:
            raise LedgerDamaged(self._shown, f"record {record.number} {wrong}")
        refuse_later_kind(self._shown, record.kind)
        if not record_kinds.is_sound(record):
            raise LedgerDamaged(
                self._shown,
                f"record {record.number} lacks what a record of its kind says",
            )
        for subject in record_kinds.subjects(record):
            self._newest[subject] = record.number
        self._numbers.setdefault(record.kind, array("Q")).append(record.number)
        self.head = record.head

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._newest.get(subject, 0)

    def newest_of_all(self) -> Mapping[str, int]:
        """Return the number of the newest record of each subject."""
        return self._newest

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._numbers.get(kind, array("Q"))

    def refuse_strays(self, record: Record) -> None:
        """Refuse a record that must follow the newest record."""
        if (record.number - 1, record.previous) != self.head:
            raise InvalidParameter(
                "record",
                record.number,
                "must follow the newest record",
                "Read the ledger again.",
            )


LONGEST: Final = 1 << 24
"""Letters of a body: a line of a file is a good deal longer at most."""
_ROOM: Final = 40
"""Calls between here and where a new record is read back from the disk, and more."""


@final
@dataclass(frozen=True)
class Log:
    """The records of a ledger, as one transaction sees them."""

    store: AbstractStore
    seals: Seals
    added: list[Record] = field(default_factory=list)
    """What was added, or begun to be."""

    @property
    def head(self) -> Head:
        """Return the number and the hash of the newest record."""
        return self.store.head

    def record(self, number: int) -> Record:
        """Return a record that is there."""
        record = next(self.store.read(number), None)
        if record is None:
            raise self.damage("it has no records")
        return record

    def records(self, first: int = 1) -> Iterator[Record]:
        """Yield the records from a number on."""
        return self.store.read(first)

    def newest_about(self, subject: str) -> Record | None:
        """Return the newest record about a subject (kinds.py says which there are)."""
        number = self.store.newest(subject)
        return self.record(number) if number else None

    def every(self, kind: str) -> Iterator[Record]:
        """Yield the records of a kind."""
        return map(self.record, tuple(self.store.numbers(kind)))

    def first_record(self) -> Record:
        """Return the first record, which names the ledger."""
        record = self.record(1)
        if record.kind != "opened":
            raise self.damage("its first record is missing")
        return record

    def limits(self) -> dict[str, Limit]:
        """Return the budgets by name, the dataset's first."""
        names = dict.fromkeys(
            record.fields["budget"] for record in self.every("budget")
        )
        return {name: limit for name in names if (limit := self.limit(name))}

    def limit(self, budget: str) -> Limit | None:
        """Return the limit of one budget."""
        record = self.newest_about(f"budget {budget}")
        return None if record is None else Limit.read(record.fields["limit"])

    def limit_of(self, budget: str) -> Limit:
        """Return the limit of a budget that must be there."""
        limit = self.limit(budget)
        if limit is None:
            raise UnknownName("budget", budget, list(self.limits()))
        return limit

    def is_closed(self, budget: str) -> bool:
        """Say whether a budget was closed."""
        return self.newest_about(f"closed {budget}") is not None

    def chargeable(self, budget: str) -> Limit:
        """Return the limit of a budget, which must be there and not be closed."""
        if self.is_closed(budget):
            raise BudgetExceeded(
                f"the budget {budget!r} is closed: nothing more can be charged to it. "
                "Ask under another budget; nothing was charged."
            )
        return self.limit_of(budget)

    def first_limit(self, budget: str) -> Limit:
        """Return the limit that a budget had first: what it promises holds."""
        stated = stated_limits(self, budget)
        if not stated:
            raise UnknownName("budget", budget, list(self.limits()))
        return stated[-1]

    def sum_of_charges(self, budget: str, limit: Limit) -> Charge:
        """Charge to a budget so far."""
        last = self.newest_about(f"spent {budget}")
        if last is None:
            return limit.rule.zero
        return self.read_charge(limit, last.fields["spent"][budget])

    def read_charge(self, limit: Limit, texts: Mapping[str, str]) -> Charge:
        """Return amounts in the order of the filter: JSON sorts its names."""
        names = limit.rule.coordinates
        # a missing coordinate would be read as nothing spent
        if set(names) != set(texts):
            raise self.damage("a sum does not fit its limit")
        return Charge.read({name: texts[name] for name in names})

    def add(
        self,
        kind: str,
        fields: Mapping[str, Any],
        answer: bytes = b"",
        *,
        lasting: bool = True,
    ) -> Record:
        """Add a record behind the head, with the answer that belongs to it."""
        record = self.seals.sign(Record.successor(self.head, kind, fields))
        if len(record.body) > LONGEST:
            raise InvalidParameter(
                "claim",
                f"{len(record.body)} letters",
                f"must be written in at most {LONGEST} letters",
                "Ask for less at once, or with shorter names.",
            )
        # a line that cannot be read would end the ledger for ever
        if not _can_be_read_back(record):
            raise InvalidParameter(
                "claim",
                kind,
                f"must nest at most {DEEPEST} brackets in its record",
                "Ask for less at once.",
            )
        self.added.append(record)
        self.store.append(record, answer, lasting=lasting)
        return record

    def answer(self, charge: int) -> bytes | None:
        """Answer stored for a charge; None: it is not answered yet."""
        record = self.newest_about(f"answer {charge}")
        if record is None:
            return None
        answer = self.store.answer(record.number)
        # an answer that was changed is not the one that was paid for
        if hash_bytes(answer) == record.fields["sha256"]:
            return answer
        if not answer and self.is_left_behind(record.number):
            raise AnswerLost(str(self.record(charge).fields.get("key")))
        raise self.damage(f"the answer {record.number} is not what was stored")

    def has_answer(self, subject: str) -> bool:
        """Say whether the newest charge of a subject has an answer."""
        charge = self.store.newest(subject)
        return charge > 0 and self.store.newest(f"answer {charge}") > 0

    def is_left_behind(self, number: int) -> bool:
        """Say whether an answer was given after a backup that was restored later."""
        return any(
            restored.fields["after"] < number < restored.number
            for restored in self.every("restored")
        )

    def refuse_unsigned(self, record: Record) -> None:
        """Refuse a record that is not signed as this ledger is."""
        if not self.seals.hold(record):
            raise self.damage(f"record {record.number} has no valid signature")

    def damage(self, problem: str) -> LedgerDamaged:
        """Return the refusal of this ledger."""
        return LedgerDamaged(self.store.title, problem)


def stated_limits(log: Log, budget: str) -> list[Limit]:
    """Limit of a budget as it was given, and as the first charge had it counted."""
    records = [
        record for record in log.every("budget") if record.fields["budget"] == budget
    ][:1]
    charged = log.store.numbers("charged")
    if records and budget == DATASET and charged:
        first = log.record(charged[0])
        records += [] if first.fields.get("limit") is None else [first]
    return [Limit.read(record.fields["limit"]) for record in records]


def is_stated(log: Log, limit: Limit) -> bool:
    """Say whether these are the words of the dataset's limit, as given or counted."""
    return limit.stated in {each.stated for each in stated_limits(log, DATASET)}


def _can_be_read_back(record: Record, calls: int = _ROOM) -> bool:
    """Say, from so many calls further down, whether a record is one of its kind.

    Where Python has no room for that, it says so before anything is written.
    """
    return _can_be_read_back(record, calls - 1) if calls else is_sound(record)


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

    def use(self, act: Callable[[Log], Result], about: str = "") -> Result:
        """Run an act on the log while nobody appends to it.

        When this returns, the disk has what was added. When it fails for the disk, the
        disk may have it, and the file is opened anew by who asks next. A subject that
        the act is about can be looked up before others have to wait.
        """

        def used() -> Result:
            self._store.expect(about)
            return self._store.transact(lambda: act(self._log()))

        return self._run(used)

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
        # before the lock: a child shares the open file, and would let the parent's go
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
            except OSError as error:
                self.refuse_strangers()  # a fork in the middle has closed the file
                self._stale = True
                self._store.close()
                raise self._unavailable(_problem_of(error)) from None
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
        # nothing was written by this act, so it may be asked again; a charge may not
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
        # only what is new is checked: a signature costs more than a charge
        head = log.head
        if head != self._signed:
            log.refuse_unsigned(log.record(head.number))
            self._signed = head
        return log

    def _unavailable(self, problem: str) -> LedgerUnavailable:
        return LedgerUnavailable(
            self.title,
            problem,
            "Check the disk or the server, and the permissions, then ask again with "
            "the same key; a charge may have been made.",
        )


def _problem_of(error: OSError) -> str:
    return (
        str(error) if isinstance(error, Unreached) else "could not be read or written"
    )
