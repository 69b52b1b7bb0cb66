"""A store and its witness, which holds the same records elsewhere.

Nothing happens to either unless they agree: so of several copies of a ledger only one
can go on, and one that was put back cannot.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import final

from sordino.errors import LedgerDamaged
from sordino.ledger.records import Head, Record
from sordino.ledger.store import AbstractStore, Result


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
        """Return the name of the store for messages."""
        return self._store.title

    @property
    def durable(self) -> bool:
        """Say whether it outlives the process."""
        return self._store.durable

    @property
    def head(self) -> Head:
        """Return the head of what is known."""
        return self._store.head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act under both locks, the store's first, where both agree."""

        def agreed() -> Result:
            self._compare()
            return act()

        return self._store.transact(lambda: self._witness.transact(agreed))

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Add a record to both, durably: what the witness has, the store has too."""
        del lasting
        self._store.append(record, answer)
        self._witness.append(record)

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order."""
        return self._store.read(first)

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._store.newest(subject)

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._store.numbers(kind)

    def answer(self, number: int) -> bytes:
        """Return the bytes that were appended with a record."""
        return self._store.answer(number)

    def verify(self) -> None:
        """Refuse either unless all of it is what was appended."""
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
        """Let go of both."""
        self._store.close()
        self._witness.close()

    def _compare(self) -> None:
        """Refuse a store that is behind its witness, or beside it.

        One that is ahead was kept from telling it, by a crash: nothing of that was
        given back, and the witness is told now.
        """
        seen = self._witness.head
        if seen.number > self.head.number:
            raise LedgerDamaged(
                self.title, f"it was put back: its witness saw record {seen.number}"
            )
        known = next(self._store.read(seen.number), None)
        if known is None or known.head != seen:
            raise LedgerDamaged(
                self.title,
                f"its history was forked: its witness saw another record {seen.number}",
            )
        for record in () if self._reading else self._store.read(seen.number + 1):
            self._witness.append(record)
