"""A release that lies in files: which they are, and what a ledger keeps of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import Final, NamedTuple, final

from sordino._completion import hides
from sordino.display.formatting import format_key
from sordino.losses.base import Budget, Loss
from sordino.losses.headline import headline
from sordino.planning.purchase import Purchase
from sordino.release.notes import release_notes

MARK: Final = b'{"files":'
"""How the bytes begin that a ledger keeps of files: no answer of another kind does."""


@final
class WrittenFile(NamedTuple):
    """A file of a release: the hash stands for every bit of it."""

    name: str
    size: int
    sha256: str


@hides("of")
@final
@dataclass(frozen=True, eq=False, repr=False)
class ReleasedFiles:
    """A noisy table in a folder of Parquet files, with its price and its plan.

    All that lies in the folder may be published. Each row has a key, the noisy numbers
    and their error columns; rows are sorted by key within a file.

    | field | what |
    |---|---|
    | `folder` | where the files are |
    | `files` | name, size and SHA-256 of each |
    | `keys` | the names of the key columns |
    | `names` | the names of the aggregates |
    | `confidence` | the least chance that low to high holds the exact answer |
    | `loss` | what it cost |
    | `plan` | how it was made, as a tree |
    | `notes` | sentences about the columns |
    | `budget` | what was asked for |
    """

    folder: str
    files: tuple[WrittenFile, ...]
    keys: tuple[str, ...]
    names: tuple[str, ...]
    confidence: Fraction
    loss: Loss
    plan: str
    notes: tuple[str, ...]
    budget: Budget

    @classmethod
    def of(
        cls,
        purchase: Purchase,
        place: tuple[str, tuple[WrittenFile, ...]],
        plan: str,
    ) -> "ReleasedFiles":
        """Return files in a folder with what they cost and how they were made."""
        request, (folder, files) = purchase.plan.request, place
        columns = (
            column
            for name, aggregation in request.columns
            for column in aggregation.columns(name)
        )
        return cls(
            folder,
            files,
            request.by,
            tuple(columns),
            request.confidence,
            purchase.loss,
            plan,
            release_notes(purchase),
            purchase.budget,
        )

    def __repr__(self) -> str:
        """Show where it is, what is in it, and the price."""
        size = sum(file.size for file in self.files)
        columns = ", ".join(map(format_key, (*self.keys, *self.names)))
        return (
            f"{columns}: {len(self.files):,} Parquet files of {size:,} bytes in "
            f"{self.folder}\nprice: {headline(self.loss, self.budget)}"
        )


def files_bytes(files: Sequence[WrittenFile]) -> bytes:
    """Return what a ledger keeps of files.

    >>> files_bytes([WrittenFile("part-0.parquet", 3, "e3b0")])
    b'{"files":[["part-0.parquet",3,"e3b0"]]}'
    """
    return json.dumps({"files": sorted(files)}, separators=(",", ":")).encode()


def read_files(stored: bytes) -> tuple[WrittenFile, ...]:
    """Return the files that a ledger keeps."""
    return tuple(starmap(WrittenFile, json.loads(stored)["files"]))
