"""A release that lies in files: which they are, what it cost, how exact it is."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from sordino._completion import hides
from sordino.display.formatting import format_key
from sordino.losses.base import Budget, Loss
from sordino.losses.headline import headline
from sordino.pages.languages import read_language
from sordino.planning.purchase import Purchase
from sordino.release.exactness import Exactness
from sordino.release.files_answer import WrittenFile
from sordino.release.label import Label
from sordino.release.label_facts import label_facts
from sordino.release.notes import release_notes
from sordino.release.provenance import Provenance


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
        """Return nothing: what was left out is not counted with files."""

    def __len__(self) -> int:
        """Return the number of rows, in all files together."""
        return self.exactness.groups

    def label(self, language: str = "en") -> Label:
        """Return its privacy facts on one card, as `Release.label` does.

        The folder has it, too, in `_label.json` with the SHA-256 of each file.
        """
        return Label(label_facts(self), language=read_language(language))

    def __repr__(self) -> str:
        """Show where it is, what is in it, and the price."""
        size = sum(file.size for file in self.files)
        columns = ", ".join(map(format_key, (*self.keys, *self.names)))
        return (
            f"{columns}: {len(self):,} rows in {len(self.files):,} Parquet files of "
            f"{size:,} bytes in {self.folder}\nprice: {self.price}"
        )
