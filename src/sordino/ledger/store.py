"""The one contract of any place where a ledger is kept.

A store keeps records that follow each other, and the bytes of answers beside them. It
knows nothing of budgets: what a record means is said by `record_kinds.py`.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, final

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import record_kinds
from sordino.ledger.records import NOTHING, Head, Record

Result = TypeVar("Result")


class AbstractStore(ABC):
    """Append if the head is h; read from a number; verify.

    Obligations of an implementation, for any number of threads, processes and crashes:

    - While `transact` runs an act, nobody else appends, and everything that was
      appended before can be read. (A store may run an act anew instead, if somebody
      did append; acts have no other effect.)
    - When `append` returns, the record and its answer are durable, or else `lasting`
      was not asked for. What a transaction tells is durable, but for that.
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

    @abstractmethod
    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""

    @abstractmethod
    def answer(self, number: int) -> bytes:
        """Return the bytes that were appended with a record; b"" if there were none."""

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
class Index:
    """What records can be looked up by, brought up to date one record at a time.

    An index that was interrupted while it grew is to be thrown away.
    """

    def __init__(self, shown: str) -> None:
        """Begin without records."""
        self.head = NOTHING
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
        if record.kind not in record_kinds.KINDS:
            raise LedgerUnavailable(
                self._shown,
                f"has records of the kind {record.kind!r}, which a later version wrote",
                "Update Sordino.",
            )
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
