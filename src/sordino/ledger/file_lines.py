"""Where the records of a file lie: found by reading its lines from the first on."""

from array import array
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, final

from sordino.errors import LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.records import Record
from sordino.ledger.store import Index

Read: TypeAlias = Callable[[int, int], bytes]
"""Returns some bytes from a place on."""
_STRETCH: Final = 1 << 20


@final
class Lines:
    """Records by number, with their places, as far as a file was read.

    Lines that were interrupted while they were read on are to be thrown away.
    """

    def __init__(self, start: int, shown: str) -> None:
        """Begin before the first line."""
        self.first = self.end = start
        self.index = Index(shown)
        self._shown = shown
        self._starts = array("Q")
        """Where the pieces of an answer begin, or the record if there are none."""
        self._records = array("Q")

    def read_on(self, read: Read, stop: int) -> None:
        """Read the whole lines up to a place; `end` is then behind the last of them.

        What comes after it is no line of ours, or one that was cut short.
        """
        start: int | None = None
        for at, line in _lines(read, self.end, stop):
            start = at if start is None else start
            if file_format.is_piece(line):
                continue
            record = Record.read(line)
            if record is None or not record.is_sealed:
                return
            self.index.add(record)
            self._starts.append(start)
            self._records.append(at)
            self.end, start = at + len(line) + 1, None

    def record(self, read: Read, number: int) -> Record:
        """Return one record, as it stands in the file now."""
        at = self._records[number - 1]
        line = read(self._end_of(number) - at - 1, at)
        record = Record.read(line)
        if record is None or not record.is_sealed or record.number != number:
            raise self.damage(f"record {number} is not what was written")
        return record

    def answer(self, read: Read, number: int) -> bytes:
        """Return the bytes that lie before a record."""
        start, stop = self._starts[number - 1], self._records[number - 1]
        pieces = (
            file_format.read_piece(line, number)
            for _, line in _lines(read, start, stop)
        )
        return b"".join(pieces)

    def damage(self, problem: str) -> LedgerDamaged:
        """Return the refusal of this file."""
        return LedgerDamaged(self._shown, problem)

    def _end_of(self, number: int) -> int:
        """Return where the next record begins, or its answer."""
        return self.end if number == len(self._starts) else self._starts[number]


def _lines(read: Read, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines between two places, each with its place, without its end.

    A line that is too long is no line.
    """
    rest, at = b"", start
    while start < stop and len(rest) <= file_format.LONGEST:
        stretch = read(min(_STRETCH, stop - start), start)
        if not stretch:
            return
        start += len(stretch)
        *whole, rest = (rest + stretch).split(b"\n")
        for line in whole:
            yield at, line
            at += len(line) + 1
