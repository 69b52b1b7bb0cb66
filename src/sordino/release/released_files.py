"""Answers in files, drawn by workers: noise that a task can draw again, bit for bit.

exact totals of a part ── bits of (secret, these keys, these totals) ── noisy rows

For any two parts of one release the keys differ, so their noise is independent; for
any two attempts at one part all is equal, so their rows are
(docs/proofs/noise-in-tasks.md).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from sordino.data.key_columns import canonical_order, fingerprint
from sordino.errors import InvalidQuery
from sordino.losses.loss import Budget, Loss, headline
from sordino.noise.sampling.bits import KeyedBits
from sordino.numbers.formatting import format_key
from sordino.numbers.frozen import hides
from sordino.numbers.views import office
from sordino.plan.purchase import Purchase
from sordino.release.answer import no_totals, noisy_tables
from sordino.release.explanation import Exactness, Provenance, release_notes
from sordino.release.text import NOISE, side_by_side

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.office.label.views import Label


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
        # workers finish in any order
        fields = {"files": sorted(self.files)} | self.exactness.fields
        return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def read(cls, stored: bytes) -> "FilesAnswer":
        """Read the answer that a ledger keeps."""
        fields = json.loads(stored)
        files = tuple(starmap(WrittenFile, fields["files"]))
        return cls(files, Exactness.read(fields))


def holds_files(stored: bytes) -> bool:
    """Tell whether an answer lies in files, of which stored bytes have the digests."""
    return stored.startswith(MARK)


_TRIED: Final = 4096
"""Rows that a machine draws noise for, to see whether it draws what others do."""
_STEP: Final = 2**20 + 7


@final
@dataclass(frozen=True)
class PartNoise:
    """Adds the noise of a purchase to the exact totals of a part of the groups."""

    purchase: Purchase

    def __call__(self, exact: "pa.Table", secret: bytes) -> "pa.Table":
        by = len(self.purchase.plan.request.by)
        # one order for all attempts: noise is drawn row by row
        exact = exact.take(canonical_order(exact.select(range(by)))).combine_chunks()
        totals = [column.to_numpy() for column in exact.columns[by:]]
        content = [fingerprint(exact.select(range(by))).encode()]
        # little-endian everywhere
        content += [column.astype("<i8").tobytes() for column in totals]
        return self._noisy(exact, KeyedBits(secret, b"".join(content)))

    @cached_property
    def schema(self) -> "pa.Schema":
        """Return the columns of what it returns."""
        empty = no_totals(self.purchase, self.purchase.plan.width)
        return self._noisy(empty, KeyedBits(b"", b"")).schema

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns among them that hold noisy numbers."""
        return tuple(
            column
            for name, aggregation in self.purchase.plan.request.columns
            for column in aggregation.columns(name)
        )

    def trial(self) -> str:
        """Return a digest of what this machine draws for invented totals.

        Machines of other doubles, or with another version of a package, might read
        other bits for the same noise: its law is the same, but not its digits.
        """
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        empty = no_totals(self.purchase, self.purchase.plan.width)
        numbers = np.arange(_TRIED, dtype=np.int64) * _STEP
        by = len(self.purchase.plan.request.by)
        keys = [pa.nulls(_TRIED, field.type) for field in list(empty.schema)[:by]]
        totals = [pa.array(numbers)] * self.purchase.plan.width
        invented = pa.Table.from_arrays([*keys, *totals], names=empty.column_names)
        drawn = self._noisy(invented, KeyedBits(b"", b"trial"))
        return hashlib.sha256(repr(drawn.to_pydict()).encode()).hexdigest()

    def _noisy(self, exact: "pa.Table", bits: KeyedBits) -> "pa.Table":
        table, errors = noisy_tables(self.purchase, exact, {}, bits)
        return side_by_side(table, errors, len(self.purchase.plan.request.by))


def refuse_whole(purchase: Purchase) -> None:
    """Refuse what needs all groups at once, or has none: the driver answers that."""
    for problem in _problems(purchase):
        raise InvalidQuery(
            f"{problem}, and groups are given their noise apart from each other here",
            "Ask session.release(...).",
        )


def _problems(purchase: Purchase) -> Iterator[str]:
    plan = purchase.plan
    if not plan.request.by:
        yield "the request has no groups"
    if plan.stage is not None or plan.request.few is not None:
        yield "the groups that show are chosen before anything is told of them"
    if plan.choices:
        yield "quantiles and other choices are drawn for all groups together"
    if plan.of_everything:
        yield "counts of groups share a noisy number of all ids"
    if plan.request.coverage is not None:
        yield "coverage counts rows of all groups together"
    if plan.request.processing:
        yield "what is done to noisy answers is done to all groups together"


@hides("exactness", "of", "provenance")
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
    exactness: Exactness
    """How far intervals reach, and how many numbers are rough."""
    provenance: Provenance
    """What was asked, and which record of a ledger paid for it."""

    @classmethod
    def of(
        cls,
        purchase: Purchase,
        place: tuple[str, tuple[WrittenFile, ...], Exactness],
        plan: str,
        provenance: Provenance,
    ) -> "ReleasedFiles":
        """Return files in a folder with what they cost and how they were made."""
        request, (folder, files, exactness) = purchase.plan.request, place
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
            exactness,
            replace(provenance.with_noise(purchase), is_processed=False),
        )

    @property
    def price(self) -> str:
        """Return the headline of the loss, in the terms of the budget."""
        return headline(self.loss, self.budget)

    @property
    def coverage(self) -> None:
        """None: rows that were dropped are not counted with files."""

    @property
    def figures(self) -> dict[str, str]:
        """What the interval of each answer holds: the noise alone."""
        return dict.fromkeys(self.names, NOISE)

    def __len__(self) -> int:
        return self.exactness.groups

    def label(self, language: str = "en") -> "Label":
        """Return its privacy facts on one card, as `Release.label` does.

        The folder has it, too, in `_label.json` with the SHA-256 of each file.
        """
        shown: Label = office.Label(
            office.label_facts(self), language=office.read_language(language)
        )
        return shown

    def __repr__(self) -> str:
        size = sum(file.size for file in self.files)
        columns = ", ".join(map(format_key, (*self.keys, *self.names)))
        return (
            f"{columns}: {len(self):,} rows in {len(self.files):,} Parquet files of "
            f"{size:,} bytes in {self.folder}\nprice: {self.price}"
        )


class AbstractFolders(ABC):
    """A file system, as far as released files need one."""

    @abstractmethod
    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        """Return the files of a folder, as they are now."""

    @abstractmethod
    def write_label(self, folder: str, name: str, text: str) -> None:
        """Write a text into a folder, unless a file of this name is there."""


@final
class FoldersHere(AbstractFolders):
    """The folders of this machine."""

    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        shown: Sequence[WrittenFile] = office.files_in(Path(folder))
        return shown

    def write_label(self, folder: str, name: str, text: str) -> None:
        office.write_label(Path(folder, name), text)
