"""Writing a release to a file that carries its label."""

import json
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sordino.losses.base import Loss
from sordino.numbers import up
from sordino.pages.languages import read_language
from sordino.release.column_names import side_by_side
from sordino.release.csv_metadata import BESIDE, csv_metadata
from sordino.release.formulas import without_formulas
from sordino.release.label_facts import LabelFacts, LabelledRelease, label_facts
from sordino.release.label_rows import LabelTexts, label_texts
from sordino.release.linked_data import facts_text
from sordino.release.release_view import ReleaseView
from sordino.release.whole_files import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

METADATA: Final = b"sordino"
"""The key of the JSON among the metadata of a Parquet file."""
LABEL: Final = b"sordino.label"
"""The key of the facts of its label."""


def to_csv(release: LabelledRelease, path: Any, *, spreadsheet: bool = False) -> None:
    """Write values and errors side by side, and beside them what the columns mean.

    Missing is empty, empty text is quoted. A spreadsheet runs no text as a formula.
    """
    from pyarrow import csv  # noqa: PLC0415 loaded when needed

    table = side_by_side(release.table, release.errors, len(release.keys))
    shown = without_formulas(table) if spreadsheet else table
    facts = label_facts(release)

    def write(target: Path) -> None:
        csv.write_csv(shown, str(target))
        with target.open("rb") as file:
            sha256 = file_digest(file, "sha256").hexdigest()
        texts = _texts(facts, target.name)
        metadata = csv_metadata(
            release,
            (table.schema, shown.column_names),
            (facts, texts),
            (target.name, sha256),
        )
        beside = target.with_name(target.name + BESIDE)
        beside.write_text(metadata, "utf-8")

    write_whole(path, write)


def to_parquet(release: LabelledRelease, path: Any) -> None:
    """Write values and errors side by side, with loss, plan and label as metadata."""
    labelled = labelled_table(release)
    write_whole(path, lambda target: write_parquet(labelled, str(target)))


def write_parquet(table: "pa.Table", where: Any) -> None:
    """Write a table to a path or to what takes bytes: the same bytes each time."""
    from pyarrow import parquet  # noqa: PLC0415 loaded when needed

    parquet.write_table(table, where)


def labelled_table(release: LabelledRelease) -> "pa.Table":
    """Return values and errors side by side, with loss, plan and label as metadata."""
    table = side_by_side(release.table, release.errors, len(release.keys))
    metadata = {
        **(table.schema.metadata or {}),
        METADATA: json.dumps(_facts(release)),
        LABEL: facts_text(label_facts(release)),
    }
    return table.replace_schema_metadata(metadata)


def _texts(facts: LabelFacts, file: str) -> LabelTexts:
    """Return what the label of a file says, in English."""
    return label_texts(facts, read_language("en"), file, "")


def _facts(release: ReleaseView) -> dict[str, object]:
    """Return what a file says of its release."""
    return {
        "confidence": str(release.confidence),
        "guarantees": _guarantees(release.loss),
        "keys": list(release.keys),
        "coverage": [] if release.coverage is None else release.coverage.to_pylist(),
        "loss": repr(release.loss),
        "notes": list(release.notes),
        "plan": release.plan,
        "price": release.price,
    }


def _guarantees(loss: Loss) -> dict[str, float | str]:
    """Return the headline numbers, rounded up; JSON knows no infinity."""
    guarantees = loss.guarantees
    numbers = {
        "delta": up(guarantees.delta),
        "epsilon": up(guarantees.epsilon),
        "mu": up(guarantees.mu),
        "rho": up(guarantees.rho),
    }
    return {name: value for name, value in numbers.items() if value != float("inf")}
