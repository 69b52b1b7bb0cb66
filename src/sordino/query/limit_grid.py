"""A grid of limits and bounds to try, and the request that tells what each would lose.

    limits to try ── choices ── the request with each of them
    rows ── one row per id: what each choice keeps of them ── sums over ids

For any two databases that differ by one id each sum moves by at most its upper bound:
the id has one row there (docs/proofs/limits.md).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, starmap
from typing import Any, Final, TypeAlias, final

from sordino.aggregations.aggregation import Setting
from sordino.aggregations.count import count
from sordino.aggregations.lattice import AbstractBounded, Clamped, check_bounds
from sordino.aggregations.quantile import max as greatest
from sordino.aggregations.sum import sum as total
from sordino.data.limits import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, col, when
from sordino.expressions.literals import lift
from sordino.expressions.schema import unknown
from sordino.numbers import arguments
from sordino.query.builder import Query
from sordino.query.dropped_rows import range_weight
from sordino.query.request import Request
from sordino.query.steps import Relation

GROUPS: Final = "groups"
ROWS: Final = "rows"
Ends: TypeAlias = tuple[Any, Any]

_GROUPS: Final = (1, 2, 5, 10)
_ROWS: Final = (1, 2, 3, 5, 10, 20)
_ROWS_IN_GROUP: Final = (1, 3, 10)
_WIDTHS: Final = (Fraction(1, 2), Fraction(1), Fraction(2))
_MOST_LIMIT: Final = 10**6
MOST_CHOICES: Final = 200


@final
@dataclass(frozen=True)
class LimitChoice:
    """Limits on what an id contributes, and bounds of answers by their name."""

    groups: int | None
    rows: int | None
    bounds: tuple[tuple[str, Ends], ...] = ()

    def constraints(self, by: tuple[str, ...]) -> tuple[AbstractConstraint, ...]:
        """Limits for rows that fall into groups of some columns."""
        if self.rows is None:
            return ()
        if not by:
            return (MaxRowsPerID(self.rows),)
        assert self.groups is not None  # noqa: S101 of rows in groups both are limited
        return (MaxGroupsPerID(by, self.groups), MaxRowsPerGroupPerID(by, self.rows))

    def edges(self, grid: "LimitGrid", request: Request) -> list[str]:
        """Limits and bounds of the choice than which no wider ones were tried."""
        known = request.keyset is not None and not request.unknown
        groups = request.keyset.size if known and request.keyset else math.inf
        names = list[str]()
        if self.groups is not None and groups > self.groups == grid.groups[-1]:
            names.append("groups")
        if self.rows is not None and self.rows == grid.rows[-1]:
            names.append("rows")
        widest = dict(grid.bounds[-1]) if grid.bounds else {}
        for name, ends in self.bounds:
            tried = [dict(pairs)[name] for pairs in grid.bounds]
            lies_within = min(low for low, _ in tried), max(high for _, high in tried)
            names += [name] if name in widest and ends == lies_within else []
        return names

    def apply(self, request: Request) -> Request:
        """Put the limits above those of a request, and the bounds into it."""
        limits, rows = self.constraints(request.by), rows_of(request)
        ends = dict(self.bounds)
        columns = tuple(
            (name, with_bounds(column, ends[name]) if name in ends else column)
            for name, column in request.columns
        )
        limited = rows.enforce(*limits) if limits else rows
        return replace(request, rows=limited, columns=columns)


@final
@dataclass(frozen=True)
class LimitGrid:
    """What is to be tried: limits of groups and rows, and bounds together."""

    groups: tuple[int, ...]
    rows: tuple[int, ...]
    bounds: tuple[tuple[tuple[str, Ends], ...], ...]

    @property
    def choices(self) -> tuple[LimitChoice, ...]:
        """Every choice, the tightest first."""
        groups, rows = self.groups or (None,), self.rows or (None,)
        return tuple(starmap(LimitChoice, product(groups, rows, self.bounds or ((),))))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Limits of groups and rows; 1 group where there are none."""
        return tuple(product(self.groups or (1,), self.rows))


def limit_grid(request: Request, relation: Relation, limits: Any) -> LimitGrid:
    """Limits to be tried for a request: those listed, and the usual ones."""
    lists = _read_limits(limits)
    bounded = _bounded_columns(request, relation, lists)
    known = (GROUPS, ROWS, *bounded)
    for name in lists:
        if name not in known:
            raise unknown("limit or answer with bounds", name, known)
    groups, rows = _limits(request, relation, lists)
    bounds = _bounds(bounded, {name: lists[name] for name in bounded if name in lists})
    grid = LimitGrid(groups, rows, bounds)
    choices = max(1, len(groups)) * max(1, len(rows)) * max(1, len(bounds))
    if choices > MOST_CHOICES:
        raise InvalidParameter(
            "limits",
            choices,
            f"are more choices than {MOST_CHOICES}",
            "Give fewer values of each.",
        )
    if not rows and not bounds:
        raise InvalidQuery(
            "this query has neither limits nor bounds to choose",
            "Ask for its release: it needs none.",
        )
    return grid


def _bounded_columns(
    request: Request, relation: Relation, lists: Mapping[str, Any]
) -> dict[str, AbstractBounded]:
    schema, bounded = relation.schema, {}
    for name, aggregation in request.columns:
        column = aggregation.with_known_bounds(schema)
        if not isinstance(column, AbstractBounded):
            continue
        # the sum of a weighed column needs no bounds: it is tried only where listed
        free = column.lacks_bounds and column.adds_up(relation.weighed, schema)
        if isinstance(column.clamp, Clamped) and (name in lists or not free):
            bounded[name] = column
    return bounded


def rows_of(request: Request) -> Query:
    """The query behind a request."""
    assert isinstance(request.rows, Query)  # noqa: S101 all requests are made so
    return request.rows


def with_bounds(column: Any, ends: Ends) -> Any:
    """Give a question other bounds."""
    low, high = ends
    return replace(column, low=low, high=high)


def _read_limits(limits: Any) -> Mapping[str, Any]:
    if limits is None:
        return {}
    if not isinstance(limits, Mapping) or not limits:
        raise InvalidParameter(
            "limits",
            limits,
            "must be a dict of lists to try",
            'Try {"groups": [1, 2, 5], "rows": [1, 3], "days": [(0, 7), (0, 30)]}.',
        )
    return limits


def _limits(
    request: Request, relation: Relation, lists: Mapping[str, Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    named = [name for name in (GROUPS, ROWS) if name in lists]
    if relation.ids is None:
        if named:
            raise InvalidParameter(
                f"limits[{named[0]!r}]",
                lists[named[0]],
                "bounds what an id contributes, and this table protects rows",
                "Leave it out, and try bounds of answers.",
            )
        return (), ()
    if not named and relation.contribution.most_rows() == 1:
        return (), ()
    if not request.by:
        if GROUPS in lists:
            raise InvalidParameter(
                f"limits[{GROUPS!r}]",
                lists[GROUPS],
                "bounds the groups of an id, and this query has none",
                'Give "rows", or group_by.',
            )
        return (), _numbers(lists, ROWS, _ROWS)
    known = None if request.keyset is None or request.unknown else request.keyset.size
    usual = tuple(most for most in _GROUPS if known is None or most <= known) or (1,)
    return _numbers(lists, GROUPS, usual), _numbers(lists, ROWS, _ROWS_IN_GROUP)


def _numbers(
    lists: Mapping[str, Any], name: str, usual: tuple[int, ...]
) -> tuple[int, ...]:
    if name not in lists:
        return usual
    listed = _listed(lists, name, "[1, 2, 5]")
    where = f"limits[{name!r}]"
    numbers = (
        arguments.integer(**{where: most}, least=1, most=_MOST_LIMIT) for most in listed
    )
    return tuple(sorted(set(numbers)))


def _listed(lists: Mapping[str, Any], name: str, example: str) -> Sequence[Any]:
    values = lists[name]
    if isinstance(values, range):
        values = list(values[: MOST_CHOICES + 1])
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidParameter(
            f"limits[{name!r}]", values, "must be a list to try", f"Try {example}."
        )
    return values


def _bounds(
    bounded: Mapping[str, AbstractBounded], lists: Mapping[str, Any]
) -> tuple[tuple[tuple[str, Ends], ...], ...]:
    if lists:
        pairs = [list(_pairs(lists, name)) for name in lists]
        _refuse_unbounded(bounded, lists)
        return tuple(tuple(zip(lists, ends, strict=True)) for ends in product(*pairs))
    _refuse_unbounded(bounded, {})
    if not bounded:
        return ()
    return tuple(
        tuple((name, _wider(column, width)) for name, column in bounded.items())
        for width in _WIDTHS
    )


def _pairs(lists: Mapping[str, Any], name: str) -> Iterator[Ends]:
    for pair in _listed(lists, name, "[(0, 7), (0, 30)]"):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InvalidParameter(
                f"limits[{name!r}]", pair, "must be a pair (low, high)", "Try (0, 30)."
            )
        low, high = pair
        check_bounds(low, high)
        yield low, high


def _refuse_unbounded(
    bounded: Mapping[str, AbstractBounded], lists: Mapping[str, Any]
) -> None:
    for name, column in bounded.items():
        if name not in lists and column.lacks_bounds:
            raise InvalidQuery(
                f"{column!r} has no bounds, and none are to be tried",
                f'Give some: limits={{"{name}": [(0, 10), (0, 100)]}}.',
            )


def _wider(column: AbstractBounded, width: Fraction) -> Ends:
    clamp = column.clamp
    assert isinstance(clamp, Clamped)  # noqa: S101 so they were picked
    low, high = (width * end for end in clamp.bounds)
    if isinstance(column.low, int) and isinstance(column.high, int):
        return math.floor(low), math.ceil(high)
    return float(low), float(high)


UNITS: Final = "units"
ABOVE: Final = "above"
_KEPT: Final = "kept"
_CLAMPED: Final = "clamped"
_EFFECT_ROWS: Final = "rows held"
_MOST: Final = "most held"
_EFFECT_GROUPS: Final = "groups held"


def kept_name(groups: int, rows: int) -> str:
    """Name of the number of rows that a pair of limits keeps."""
    return f"{_KEPT} {groups} {rows}"


def clamped_name(name: str, ends: Ends) -> str:
    """Name of the number of units with a value that bounds clamp."""
    return f"{_CLAMPED} {name} {ends!r}"


def effects_request(request: Request, relation: Relation, grid: LimitGrid) -> Request:
    """Request for the rows that each choice of a grid keeps, and clamps."""
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
            questions[name] = total(name, 0, groups * most, nulls=0)  # of one row an id
            weights[name] = range_weight(groups * most)
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
        """Make a row for each id: how many of its rows each pair of limits keeps."""
        flags = {name: greatest(name) for name in self.outside}
        once = query.per_id(*self.by, **{_EFFECT_ROWS: count()}, **flags)
        capped = {
            _capped(most): col(_EFFECT_ROWS).clip(0, most) for most in self.grid.rows
        }
        once = once.with_columns(**capped) if capped else once
        if self.by:
            sums = {_capped(most): total(_capped(most)) for most in self.grid.rows}
            beside = {_EFFECT_GROUPS: count(), _MOST: greatest(_EFFECT_ROWS)}
            once = once.per_id(**beside, **sums, **flags)
        return once.with_columns(**self._kept()) if self.grid.rows else once

    def _kept(self) -> Mapping[str, Expression]:
        last = self.grid.rows[-1]
        if not self.by:
            cells = {kept_name(1, most): col(_capped(most)) for most in self.grid.rows}
            return {**cells, ABOVE: when(col(_EFFECT_ROWS) > last).then(1).otherwise(0)}
        cells = {
            kept_name(groups, most): _share_kept(groups, most)
            for groups, most in self.grid.pairs
        }
        above = (col(_EFFECT_GROUPS) > self.grid.groups[-1]) | (col(_MOST) > last)
        return {**cells, ABOVE: when(above).then(1).otherwise(0)}


def _share_kept(groups: int, most: int) -> Expression:
    """Rows kept of an id on average: which of its groups stay is chance."""
    rows = col(_capped(most)).cast("f64")
    fewer = rows * groups / col(_EFFECT_GROUPS).cast("f64")
    return when(col(_EFFECT_GROUPS) > groups).then(fewer).otherwise(rows)


def _outside(
    request: Request, relation: Relation, grid: LimitGrid
) -> dict[str, Expression]:
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
    return f"rows to {most}"
