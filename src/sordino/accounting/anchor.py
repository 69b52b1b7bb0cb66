"""A file outside a ledger that remembers how far the ledger was.

A ledger that is put back to an older copy of itself is whole and looks right. An
anchor shows it, if kept where the ledger's keeper cannot change it or files only grow.
Lines are added, one for each change: the identity of the ledger, a number, its hash.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from sordino.errors import LedgerDamaged

_DIGITS: Final = 64
"""Of a hash."""


@final
@dataclass(frozen=True)
class Anchor:
    """A file to which lines are added, and its ledger's identity."""

    path: Path
    ledger: str

    def create(self, number: int, newest: str) -> None:
        """Make the file with its first line; one that exists stays as it is."""
        with self.path.open("x", encoding="ascii"):
            pass
        self.add(number, newest)

    def add(self, number: int, newest: str) -> None:
        """Add a line, durably: lines of several processes do not mix."""
        line = f"\n{self.ledger} {number} {newest}\n".encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(handle, line) != len(line):
                raise OSError(self.path)
            os.fsync(handle)
        finally:
            os.close(handle)

    def newest(self, path: object) -> tuple[int, str]:
        """Return the highest number and its hash.

        A line that was cut short by a crash is passed over: its change was not told to
        anybody. Every line begins anew, so it spoils no other.
        """
        lines = self.path.read_text("ascii", errors="replace").split("\n")
        found = [
            (int(number), newest)
            for ledger, number, newest in map(_parts, lines)
            if ledger == self.ledger and number.isdecimal() and len(newest) == _DIGITS
        ]
        if not found:
            raise LedgerDamaged(path, f"its anchor {self.path} is of another ledger")
        return max(found)


def _parts(line: str) -> tuple[str, str, str]:
    """Return the three words of a line."""
    ledger, _, rest = line.partition(" ")
    number, _, newest = rest.partition(" ")
    return ledger, number, newest
