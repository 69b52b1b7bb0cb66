"""Releases made of what a ledger kept alone: numbers, errors, and what they cost.

Nothing is asked anew, so nothing of the request is needed, in whatever version it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, final

from sordino.losses.base import Loss
from sordino.release.files_answer import FilesAnswer, holds_files
from sordino.release.provenance import UNKNOWN, Provenance
from sordino.release.release import Release
from sordino.release.storage import read_table, split_answers

if TYPE_CHECKING:
    import pyarrow as pa

_STREAM: Final = b"\xff\xff\xff\xff"
"""How every Arrow stream begins; a length of eight bytes never does."""
_NOTES: Final = (
    "Read from a ledger: the price is a bound on what this cost, without its curve.",
)


@final
@dataclass(frozen=True)
class LedgerFacts:
    """What is known of a stored answer beside its bytes."""

    loss: Loss
    plan: str
    confidence: Fraction
    plans: Mapping[str, str]
    """Of several requests that were answered together: their names in order."""
    provenance: Provenance = UNKNOWN


def recall_files(stored: bytes) -> FilesAnswer | None:
    """Return the files that an answer lies in; None of one that a ledger keeps."""
    return FilesAnswer.read(stored) if holds_files(stored) else None


def recall_releases(stored: bytes, facts: LedgerFacts) -> dict[str, Release]:
    """Return the releases of stored bytes by name, as they were given.

    One that was asked for alone has the empty name. Bytes that are none raise a
    `ValueError`.
    """
    pieces = split_answers(stored)
    if pieces and bytes(pieces[0][: len(_STREAM)]) == _STREAM:
        return {"": _release(pieces, facts, ("", facts.plan))}
    named = zip(facts.plans.items(), pieces, strict=True)
    return {
        named_plan[0]: _release(split_answers(piece), facts, named_plan)
        for named_plan, piece in named
    }


def _release(
    pieces: list[memoryview], facts: LedgerFacts, named_plan: tuple[str, str]
) -> Release:
    """Return one release from the streams of its values, errors and coverage."""
    name, plan = named_plan
    table, errors, *coverage = map(read_table, pieces)
    return Release(
        table,
        errors,
        _keys(table, errors),
        facts.confidence,
        facts.loss,
        plan,
        _NOTES,
        coverage=coverage[0] if coverage else None,
        provenance=replace(facts.provenance, name=name),
    )


def _keys(table: "pa.Table", errors: "pa.Table") -> tuple[str, ...]:
    """Return the key columns: those that stand among values and errors."""
    return tuple(name for name in table.column_names if name in errors.column_names)
