"""The request that tells what each choice of limits and bounds would lose.

rows ── one row per id: what each choice keeps of them ── sums over ids

For any two databases that differ by one id each sum moves by at most its upper bound:
the id has one row there (docs/proofs/limits.md).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

from sordino.aggregations.base import Setting
from sordino.aggregations.count import count
from sordino.aggregations.quantile import max as greatest
from sordino.aggregations.sum import sum as total
from sordino.expressions.fluent import lift
from sordino.expressions.language import Expression, col, when
from sordino.query.builder import Query
from sordino.query.limit_grid import (
    Ends,
    LimitGrid,
    rows_of,
    with_bounds,
)
from sordino.query.relation import Relation
from sordino.query.request import Request

UNITS: Final = "units"
ABOVE: Final = "above"
_KEPT: Final = "kept"
_CLAMPED: Final = "clamped"
_ROWS: Final = "rows held"
_MOST: Final = "most held"
_GROUPS: Final = "groups held"


def kept_name(groups: int, rows: int) -> str:
    """Return the name of the number of rows that a pair of limits keeps."""
    return f"{_KEPT} {groups} {rows}"


def clamped_name(name: str, ends: Ends) -> str:
    """Return the name of the number of units with a value that bounds clamp."""
    return f"{_CLAMPED} {name} {ends!r}"


def effects_request(request: Request, relation: Relation, grid: LimitGrid) -> Request:
    """Return the question for what each choice of a grid keeps and clamps."""
    outside = _outside(request, relation, grid)
    rows = rows_of(request)
    query = rows.with_columns(**outside) if outside else rows
    questions: dict[str, Any] = {UNITS: count()}
    questions |= {name: total(name, 0, 1) for name in outside}
    weights: dict[str, Any] = {}
    if relation.ids is not None:
        query = _Held(request.by, tuple(outside), grid).per_person(query)
    if grid.rows:
        questions[ABOVE] = total(ABOVE, 0, 1)
        for groups, most in grid.pairs:
            name = kept_name(groups, most)
            questions[name] = total(name, 0, groups * most, nulls=0)
            weights[name] = _weight(groups * most)
    effects = query.agg(**questions, weights=weights)
    return replace(effects, confidence=request.confidence)


@final
@dataclass(frozen=True)
class _Held:
    """The making of one row for each id: what choices keep of its rows."""

    by: tuple[str, ...]
    outside: tuple[str, ...]
    grid: LimitGrid

    def per_person(self, query: Query) -> Query:
        """Return a row for each id, with what each pair of limits keeps of its rows."""
        flags = {name: greatest(name) for name in self.outside}
        once = query.per_id(*self.by, **{_ROWS: count()}, **flags)
        capped = {_capped(most): col(_ROWS).clip(0, most) for most in self.grid.rows}
        once = once.with_columns(**capped) if capped else once
        if self.by:
            sums = {_capped(most): total(_capped(most)) for most in self.grid.rows}
            beside = {_GROUPS: count(), _MOST: greatest(_ROWS)}
            once = once.per_id(**beside, **sums, **flags)
        return once.with_columns(**self._kept()) if self.grid.rows else once

    def _kept(self) -> Mapping[str, Expression]:
        """Return the columns of what is kept, and whether an id is above all limits."""
        last = self.grid.rows[-1]
        if not self.by:
            cells = {kept_name(1, most): col(_capped(most)) for most in self.grid.rows}
            return {**cells, ABOVE: _flag(col(_ROWS) > last)}
        cells = {
            kept_name(groups, most): _share_kept(groups, most)
            for groups, most in self.grid.pairs
        }
        above = (col(_GROUPS) > self.grid.groups[-1]) | (col(_MOST) > last)
        return {**cells, ABOVE: _flag(above)}


def _share_kept(groups: int, most: int) -> Expression:
    """Return what is kept of an id on average: which of its groups stay is chance."""
    rows = col(_capped(most)).cast("f64")
    fewer = rows * groups / col(_GROUPS).cast("f64")
    return when(col(_GROUPS) > groups).then(fewer).otherwise(rows)


def _outside(
    request: Request, relation: Relation, grid: LimitGrid
) -> dict[str, Expression]:
    """Return for each pair of bounds whether a row's value lies outside, 1 or 0."""
    setting = Setting(relation.schema, relation.contribution, (), relation.ids)
    columns = dict(request.columns)
    pairs = dict.fromkeys(pair for choice in grid.bounds for pair in choice)
    return {
        clamped_name(name, ends): Expression(
            lift(with_bounds(columns[name], ends).clamp.outside(setting))
        )
        for name, ends in pairs
    }


def _capped(most: int) -> str:
    """Return the name of a number of rows, at most so many of a group."""
    return f"rows to {most}"


def _flag(condition: Expression) -> Expression:
    """Return 1 or 0."""
    return when(condition).then(1).otherwise(0)


def _weight(most: int) -> int:
    """Return a weight with which sums of wide and of narrow range err alike least.

    The sum of squares of range over weight is least at the power of two thirds.
    """
    return max(1, round(math.pow(most, 2 / 3)))
