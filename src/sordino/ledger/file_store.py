"""A store in one file, to which lines are appended under a lock on its inode.

lock ── read to the end ── write a line ── fsync ── read it back by the path ── mark

Kernel: charge.
"""

import os
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias, final

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format
from sordino.ledger.file_format import (
    BLOCK,
    MARKS,
    MOVED,
    Head,
    Header,
    LockedFile,
    Mark,
    Record,
    Role,
    World,
    replace,
)
from sordino.ledger.format_1 import migrate
from sordino.ledger.log import AbstractStore, Index, Result

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


if sys.platform != "win32":
    import fcntl


@final
class FileStore(AbstractStore):
    """The file of a ledger, or of a witness, which keeps no bytes of answers."""

    def __init__(
        self,
        path: Path,
        world: World,
        role: Role = "ledger",
        *,
        reading: bool = False,
    ) -> None:
        """Open a file that exists; it is read by the first transaction.

        Who only reads needs no right to write, and may read a backup, too.
        """
        self._file = LockedFile(path, world, reading=reading)
        self._world = world
        self._role: Role = role
        self._reading = reading
        self._known: Mark | None = None
        self._header: Header | None = None
        self._lines: Lines | None = None
        self._mark: Mark | None = None
        self._slot = 0
        self._told = True

    @property
    def title(self) -> str:
        return str(self._file.path)

    @property
    def durable(self) -> bool:
        return True

    @property
    def is_copy(self) -> bool:
        return self._found_header().role in file_format.COPIES

    @property
    def head(self) -> Head:
        return self._whole_lines.index.head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act under the lock, on everything that was appended.

        Whatever happens, the lock is let go in this frame, by one call.
        """
        file = self._file
        try:
            file.wait()
            self._told = True
            self._catch_up()
            result = act()
            self._settle()
            return result
        finally:
            if file.handle >= 0:
                # one call in the frame that locked: an interruption cannot leave it
                # locked
                fcntl.flock(file.handle, fcntl.LOCK_UN)

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Write a record behind the last durable line, and all lines since once more.

        Lines that are whole but not known to be durable may be lost to the disk though
        they can be read, if an fsync failed: so they are written again.
        """
        if self._reading:
            raise InvalidParameter(
                self._role,
                self.title,
                "was opened to be read, and this would write to it",
                "Open the ledger with sd.Ledger.at(path); a backup is never charged.",
            )
        lines, reached = self._whole_lines, self._world.reached
        lines.index.refuse_strays(record)
        at = self._last_mark.end
        point = record.kind if self._role == "ledger" else f"witness {record.kind}"
        reached(f"{point}: begun")
        if lines.end > at:  # their fsync failed, or nobody waited for it
            self._file.write([self._untold_lines()], at)
        self._file.write(file_format.record_lines(record, answer), lines.end)
        reached(f"{point}: written")
        if lasting:
            self._file.disk.sync(self._file.handle)
            reached(f"{point}: durable")
        # a disk may say yes and keep another line: what is charged is what can be read
        self._read_back(record)
        if lasting:
            self._advance()
        self._told = lasting
        reached(f"{point}: told")

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order."""
        for number in range(first, self._whole_lines.index.head.number + 1):
            # asked anew each time: lines that are being read on belong to nobody
            yield self._whole_lines.record(self._file.read, number)

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._whole_lines.index.newest(subject)

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._whole_lines.index.numbers(kind)

    def answer(self, number: int) -> bytes:
        return self._whole_lines.answer(self._file.read, number)

    def verify(self) -> None:
        """Read all lines anew, and hold them against what is known."""
        lines = self._whole_lines
        fresh = self._before_lines()
        fresh.read_on(self._file.read, lines.end)
        if (fresh.end, fresh.index.head) != (lines.end, lines.index.head):
            raise lines.damage("it was changed after it was read")

    def retire(self) -> None:
        """Write another role into the header: one sector, written wholly or not."""
        header = replace(self._found_header(), role="moved")
        self._file.write([header.sector], 0)
        self._file.disk.sync(self._file.handle)
        self._header = header

    def reopen(self) -> "FileStore":
        """Return the same file, to be read anew; a moved or replaced one is refused."""
        self._file.close()
        path, role = self._file.path, self._role
        try:
            fresh = FileStore(path, self._world, role, reading=self._reading)
        except FileNotFoundError:
            raise LedgerDamaged(path, MOVED) from None
        try:
            self._file.refuse_replaced(fresh._file.handle)
        except BaseException:
            fresh.close()
            raise
        fresh._known = self._mark or self._known
        return fresh

    def close(self) -> None:
        self._file.close()

    @property
    def _whole_lines(self) -> Lines:
        """Return the lines, as the newest transaction saw them."""
        if self._lines is None:
            raise LedgerUnavailable(
                self.title, "was not read to its end", "Ask once more."
            )
        return self._lines

    @property
    def _last_mark(self) -> Mark:
        if self._mark is None:
            raise LedgerDamaged(self.title, "it has no mark")
        return self._mark

    def _catch_up(self) -> None:
        """Read what others wrote; refuse a file that is not what was written.

        While lines are read on, they are kept by nobody: if that is interrupted, they
        are read from the first on the next time.
        """
        # the path may lead to another file by now, with another budget
        self._file.refuse_replaced()
        # kept by nobody while read on: an interruption reads from the first line again
        lines, self._lines = self._lines or self._before_lines(), None
        mark, size = self._newest_mark(), self._file.size()
        # a shorter file has lost charges that were told
        if size < max(lines.end, mark.end):
            raise lines.damage("its end is missing")
        lines.read_on(self._file.read, size)
        if lines.end < mark.end:
            following = lines.index.head.number + 1
            raise lines.damage(f"record {following} is not what was written")
        if mark != self._mark and self._hash_of(lines, mark.number) != mark.hash:
            raise lines.damage(f"record {mark.number} is not the one that was written")
        known = self._known
        # an older copy put back would sell the same budget twice
        if known is not None and self._hash_of(lines, known.number) != known.hash:
            raise lines.damage(f"it was put back: record {known.number} is gone")
        self._known = None
        if lines.end < size and not self._reading:  # cut short by a crash, never told
            self._file.disk.cut(self._file.handle, lines.end)
        self._mark = mark
        self._lines = lines

    def _hash_of(self, lines: Lines, number: int) -> str | None:
        head = lines.index.head
        if number == head.number:
            return head.hash
        if not 1 <= number < head.number:
            return None
        return lines.record(self._file.read, number).hash

    def _settle(self) -> None:
        """Make durable what can be read, before anything that was read is told."""
        lines = self._whole_lines
        at = self._last_mark.end
        if self._told and lines.end > at and not self._reading:
            self._file.write([self._untold_lines()], at)
            self._file.disk.sync(self._file.handle)
            self._advance()

    def _untold_lines(self) -> bytes:
        """Return the lines behind the newest mark, read twice: they are written again.

        What a disk says once, and not the second time, would be damage from then on.
        """
        lines, at = self._whole_lines, self._last_mark.end
        size = lines.end - at
        first, second = self._file.read(size, at), self._file.read(size, at)
        if first != second or len(first) != size:
            raise lines.damage("its newest lines are read as others each time")
        return first

    def _advance(self) -> None:
        """Mark the end as durable, in the block that the newest mark is not in."""
        lines = self._whole_lines
        mark = Mark(lines.end, *lines.index.head)
        # never over the newest mark: a write cut short leaves that one whole
        slot = (self._slot + 1) % MARKS
        begins = lines.first - MARKS * BLOCK
        self._file.write([mark.block], begins + slot * BLOCK)
        self._mark, self._slot = mark, slot

    def _newest_mark(self) -> Mark:
        """Return the newer of the marks; one that was cut short is passed over."""
        begins = self._found_header().begins
        marks: dict[tuple[int, int], Mark] = {}
        for slot in range(MARKS):
            # read again under every lock: another process may have moved it
            mark = Mark.read(self._file.read(BLOCK, begins + slot * BLOCK))
            if mark is not None:
                marks[mark.end, slot] = mark
        if not marks:
            raise LedgerDamaged(self.title, "its marks were changed")
        newest = max(marks)  # by the end it marks: a mark is never moved back
        self._slot = newest[1]
        return marks[newest]

    def _read_back(self, record: Record) -> None:
        """Read the new lines through the path; refuse what is not the record's."""
        lines, self._lines = self._whole_lines, None
        # through the path, not the handle: what others will find is what counts
        handle = os.open(self._file.path, os.O_RDONLY)
        try:
            self._file.refuse_replaced(handle)
            lines.read_on(
                lambda size, at: self._file.disk.read(handle, size, at),
                os.fstat(handle).st_size,
            )
        finally:
            os.close(handle)
        if lines.index.head != record.head:
            raise lines.damage(f"record {record.number} is not what was written")
        self._lines = lines

    def _before_lines(self) -> Lines:
        """Return the lines of a file, before any of them is read."""
        return Lines(self._found_header().first_line, self.title)

    def _found_header(self) -> Header:
        """Return the header of the file; one of format 1 is migrated first."""
        if self._header is None:
            block = self._file.read(BLOCK, 0)
            if file_format.is_format_1(block) and self._role == "ledger":
                self._refuse_reading()
                migrate(self._file, self._world)
                block = self._file.read(BLOCK, 0)
            copies = file_format.COPIES if self._reading else ()
            self._header = _refuse_stranger(
                self._file.path, Header.read(block), (self._role, *copies)
            )
        return self._header

    def _refuse_reading(self) -> None:
        if self._reading:
            raise InvalidParameter(
                "ledger",
                self.title,
                "has format 1, and to be read it must be migrated, which writes to it",
                "Open it once with sd.Ledger.at(path), and then read it.",
            )


def _refuse_stranger(
    path: Path, header: Header | None, roles: tuple[Role, ...]
) -> Header:
    """Refuse the file of another program, of a later format, or of another role."""
    role = roles[0]
    wrong = remedy = ""
    if header is None:
        wrong, remedy = (
            "must be a ledger of Sordino; this file is not one, or is damaged",
            "Choose another file.",
        )
    elif header.format != file_format.FORMAT:
        newest = file_format.FORMAT
        wrong = f"has format {header.format}, and this version reads up to {newest}"
        remedy = "Update Sordino."
    elif header.role not in roles:
        wrong = f"must be a {role}, and this is {file_format.role_text(header.role)}"
        remedy = file_format.REMEDIES.get(str(header.role), "Name the other file.")
    if header is None or wrong:
        raise InvalidParameter(role, str(path), wrong, remedy)
    return header
