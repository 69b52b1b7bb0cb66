"""What makes two requests the same, and two sessions of one ledger the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.losses.base import Budget
from sordino.query.marginals import Marginals
from sordino.query.relation import AbstractCatalog
from sordino.query.request import Request
from sordino.query.tables import PrivateTable
from sordino.units import AbstractUnit
from sordino.words import (
    FORM,
    Worded,
    Words,
    call,
    canonical_text,
    digest,
    number,
    refuse_wordless,
    skip_wordless,
    worded_pairs,
)

TABLES: Final = "tables "
"""How a ledger that a session made begins to say what it is for."""


@final
@dataclass(frozen=True)
class Identity:
    """A request in words that last, and their SHA-256 (docs/ledger-format.md)."""

    words: str
    fingerprint: str


def request_identity(
    request: Request | Marginals,
    catalog: AbstractCatalog,
    budget: Budget,
    key: str | None,
    verb: str = "release",
) -> Identity:
    """Return the words of a release: its rows, its noise and its budget.

    The same request of the same tables has the same words, in every process and every
    version. Private rows are not of it, the rows of public tables and key sets are.
    """
    words = call(
        verb,
        form=FORM,
        request=request.words(catalog),
        budget=_budget_words(budget),
        confidence=number(request.confidence),
    )
    return _hash_words(words, key)


def batch_identity(
    requests: Mapping[str, Request],
    catalog: AbstractCatalog,
    budget: Budget,
    key: str | None,
    weights: Words = None,
) -> Identity:
    """Return what requests ask that are planned together, by their names in order.

    All have one confidence; shares of the budget are said where they were asked for.
    """
    (confidence,) = {request.confidence for request in requests.values()}
    beside: dict[str, Words] = {} if weights is None else {"weights": weights}
    words = call(
        "release_all",
        **beside,
        form=FORM,
        requests=worded_pairs(
            (name, request.words(catalog)) for name, request in requests.items()
        ),
        budget=_budget_words(budget),
        confidence=number(confidence),
    )
    return _hash_words(words, key)


def partition_identity(
    rows: list[Words], by: str, values: list[Words], budget: Budget
) -> Identity:
    """Return what is charged for parts of some rows: by what, and which of them."""
    words = call(
        "partition",
        form=FORM,
        rows=rows,
        by=by,
        values=values,
        budget=_budget_words(budget),
    )
    return _hash_words(words, None)


def part_step(by: str, value: Words) -> Words:
    """Return the step from a table to the part of it that a value marks."""
    return call("part", by=by, value=value)


def protection_text(tables: Mapping[str, Any]) -> str:
    """Return whom the private tables of a session protect, as a ledger records it."""
    named = sorted(
        f"{name!r}: {_unit_text(table.protects)}{_block_text(table)}"
        for name, table in tables.items()
        if isinstance(table, PrivateTable)
    )
    return TABLES + "; ".join(named)


def _block_text(table: PrivateTable) -> str:
    """Return how the rows of a table lie in blocks, if they do."""
    return "" if table.blocks is None else f" in blocks of {table.blocks!r}"


def _unit_text(unit: AbstractUnit) -> str:
    """Return a unit as it was written: a name and its arguments.

    >>> from sordino.units import AddMaxRows
    >>> _unit_text(AddMaxRows(3))
    'AddMaxRows(max_rows=3)'
    """
    verb, arguments = unit.words
    called = ", ".join(f"{name}={argument!r}" for name, argument in arguments.items())
    return f"{verb}({called})"


def _hash_words(words: Words, key: str | None) -> Identity:
    """Return words and their hash; what has none is refused only where a key is given.

    Without a key an answer cannot be asked for again, so nothing need be told apart.
    """
    written = canonical_text(words, skip_wordless if key is None else refuse_wordless)
    return Identity(written, digest(written))


def _budget_words(budget: Budget) -> Words:
    """Return the words of a budget, or the refusal to tell it from another."""
    if isinstance(budget, Worded):
        return budget.words
    return InvalidParameter(
        "budget",
        budget,
        "cannot be recorded, which a key requires",
        "State it as sd.ApproxDP or sd.GaussianDP.",
    )
