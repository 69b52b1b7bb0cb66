"""A store that ends with the process."""

from collections.abc import Callable, Iterator, Sequence
from typing import final

from sordino.ledger.records import Head, Record
from sordino.ledger.store import AbstractStore, Index, Result

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
        """Return the name of the store for messages."""
        return _SHOWN

    @property
    def durable(self) -> bool:
        """Say that it ends with the process."""
        return False

    @property
    def head(self) -> Head:
        """Return the head of what is known."""
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
        """Return the bytes that were appended with a record."""
        return self._answers.get(number, b"")

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
