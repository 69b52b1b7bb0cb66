"""What a ledger keeps of an answer that lies in files: which they are, how exact."""

import json
from dataclasses import dataclass
from itertools import starmap
from typing import Final, NamedTuple, final

from sordino.release.exactness import Exactness

MARK: Final = b'{"files":'
"""How the bytes begin that a ledger keeps of files: no answer of another kind does."""


@final
class WrittenFile(NamedTuple):
    """A file of a release: the hash stands for every bit of it."""

    name: str
    size: int
    sha256: str


@final
@dataclass(frozen=True)
class FilesAnswer:
    """An answer in files: a function of what they hold, whoever wrote them.

    >>> files = (WrittenFile("part-0.parquet", 3, "e3b0"),)
    >>> FilesAnswer(files, Exactness(2, 2, 1, ())).ledger_bytes
    b'{"files":[["part-0.parquet",3,"e3b0"]],"groups":2,"numbers":2,"rough":1,...
    """

    files: tuple[WrittenFile, ...]
    exactness: Exactness

    @property
    def ledger_bytes(self) -> bytes:
        """Return the bytes that a ledger keeps."""
        fields = {"files": sorted(self.files)} | self.exactness.fields
        return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def read(cls, stored: bytes) -> "FilesAnswer":
        """Return what a ledger keeps."""
        fields = json.loads(stored)
        files = tuple(starmap(WrittenFile, fields["files"]))
        return cls(files, Exactness.read(fields))


def holds_files(stored: bytes) -> bool:
    """Tell whether an answer lies in files, of which stored bytes have the digests."""
    return stored.startswith(MARK)
