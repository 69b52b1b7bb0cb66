"""Exact totals and extremes of rows that are dicts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from sordino.aggregations.totals import Extreme
from sordino.query.by_kind import by_kind
from sordino.query.question import MOST, AbstractTotal, Distinct, Total
from sordino.sources.plain_values import sort_values

Row: TypeAlias = dict[str, Any]


def key_of(row: Row, names: Iterable[str]) -> tuple[Any, ...]:
    """Return the values of some columns, equal where an engine sees no difference."""
    return sort_values(row[name] for name in names)


def exact_total(wanted: AbstractTotal, rows: list[Row]) -> int:
    """Return a total of rows, held within its limits."""
    total: int = _TOTALS[type(wanted)](wanted, rows)
    return total


def exact_extreme(wanted: Extreme, rows: list[Row]) -> Any:
    """Return an extreme of the values that are there, missing where none is."""
    values = (wanted.expression.value(row) for row in rows)
    there = [value for value in values if value is not None]
    return (max if wanted.is_greatest else min)(there, default=None)


def _total(wanted: Total, rows: list[Row]) -> int:
    values = (wanted.expression.value(row) for row in rows)
    total: int = sum(wanted.factor * x + wanted.shift for x in values if x is not None)
    return max(-MOST, min(MOST, total))


def _distinct(wanted: Distinct, rows: list[Row]) -> int:
    complete = (row for row in rows if all(row[n] is not None for n in wanted.columns))
    return len({key_of(row, wanted.columns) for row in complete})


_Count: TypeAlias = Callable[[Any, list[Row]], int]
_TOTALS: Final[Mapping[type[AbstractTotal], _Count]] = by_kind(
    AbstractTotal, {Total: _total, Distinct: _distinct}
)
