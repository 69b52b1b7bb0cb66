"""Stores of a ledger that are no single file: memory, and a file with its witness.

A witness holds the same records elsewhere. Nothing happens to either unless they agree:
so of several copies of a ledger only one can go on, and one that was put back cannot.

Kernel: charge.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import final

from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.ledger.file_format import Head, Record
from sordino.ledger.log import AbstractStore, Index, Result


@final
class WitnessedStore(AbstractStore):
    """A store whose records are appended to a second one too, without the answers."""

    def __init__(
        self, store: AbstractStore, witness: AbstractStore, *, reading: bool = False
    ) -> None:
        """Take over both; who only reads tells the witness nothing."""
        self._store = store
        self._witness = witness
        self._reading = reading

    @property
    def title(self) -> str:
        return self._store.title

    @property
    def durable(self) -> bool:
        return self._store.durable

    @property
    def is_copy(self) -> bool:
        return self._store.is_copy

    @property
    def head(self) -> Head:
        return self._store.head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act where both agree, and tell the witness before anything is told.

        The witness comes second: what it has, the store has durably. A witness that was
        told first would show a store that crashed before its end as one put back.
        """

        def agreed() -> Result:
            self._witness.transact(self._compare)
            return act()

        result = self._store.transact(agreed)
        if not self._reading and self._witness.head != self._store.head:
            self._witness.transact(self._tell)
        return result

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Add a record, durably: the witness hears of it when the act has ended."""
        del lasting
        self._store.append(record, answer)

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order."""
        return self._store.read(first)

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._store.newest(subject)

    def expect(self, subject: str) -> None:
        self._store.expect(subject)

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._store.numbers(kind)

    def answer(self, number: int) -> bytes:
        return self._store.answer(number)

    def retire(self) -> None:
        """Retire the store; its witness stays that of the ledger at its new place."""
        self._store.retire()

    def verify(self) -> None:
        self._store.verify()
        self._witness.verify()

    def reopen(self) -> "WitnessedStore":
        """Return both, to be read anew."""
        self._witness.close()  # even where the store refuses
        store = self._store.reopen()
        try:
            return WitnessedStore(store, self._witness.reopen(), reading=self._reading)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        self._store.close()
        self._witness.close()

    def _compare(self) -> None:
        """Refuse a store that is behind its witness, or beside it."""
        seen = self._witness.head
        if seen.number > self.head.number:
            raise LedgerDamaged(
                self.title, f"it was put back: its witness saw record {seen.number}"
            )
        known = next(self._store.read(seen.number), None)
        if known is None or known.head != seen:
            raise self._fork(seen.number)

    def _tell(self) -> None:
        """Append what the witness lacks; others may have told it, and more than this.

        A store that is ahead was kept from telling it, by a crash or by who came in
        between: nothing of that was given back, and the witness is told now.
        """
        head = self._store.head
        if self._witness.head.number >= head.number:
            known = next(self._witness.read(head.number), None)
            if known is None or known.head != head:
                raise self._fork(head.number)
            return
        self._compare()
        for record in self._store.read(self._witness.head.number + 1):
            self._witness.append(record)

    def _fork(self, number: int) -> LedgerDamaged:
        return LedgerDamaged(
            self.title,
            f"its history was forked: its witness saw another record {number}",
        )


_SHOWN = "in memory"


@final
class MemoryStore(AbstractStore):
    """Records in a list, answers in a dictionary; its user keeps others away."""

    def __init__(self, reached: Callable[[str], None]) -> None:
        """Begin without records; `reached` is told of each point of an append."""
        self._reached = reached
        self._records: list[Record] = []
        self._answers: dict[int, bytes] = {}
        self._index: Index | None = Index(_SHOWN)

    @property
    def title(self) -> str:
        return _SHOWN

    @property
    def durable(self) -> bool:
        return False

    @property
    def head(self) -> Head:
        return self._whole_index.head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act."""
        return act()

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Add a record that follows the head, and the answer that belongs to it.

        The record goes into the list by one step that nothing can interrupt, and is
        then known. The index is grown from the list.
        """
        del lasting
        self._whole_index.refuse_strays(record)
        self._reached(f"{record.kind}: begun")
        self._answers[record.number] = answer
        self._records.append(record)
        self._reached(f"{record.kind}: written")

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order."""
        for number in range(first, self.head.number + 1):
            yield self._records[number - 1]

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._whole_index.newest(subject)

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._whole_index.numbers(kind)

    def answer(self, number: int) -> bytes:
        return self._answers.get(number, b"")

    def retire(self) -> None:
        """Refuse: what ends with the process goes nowhere."""
        raise InvalidParameter(
            "ledger", _SHOWN, "cannot be moved", "Make a ledger in a file."
        )

    def verify(self) -> None:
        """Hold every record against the one before it."""
        fresh = Index(_SHOWN)
        for record in self._records:
            fresh.add(record)

    def reopen(self) -> "MemoryStore":
        """Return the same records, with a new index."""
        fresh = MemoryStore(self._reached)
        fresh._records, fresh._answers = self._records, self._answers
        return fresh

    def close(self) -> None:
        """Let go of nothing."""

    @property
    def _whole_index(self) -> Index:
        """Return the index of all that is in the list."""
        index, self._index = self._index or Index(_SHOWN), None
        for record in self._records[index.head.number :]:
            index.add(record)
        self._index = index
        return index
