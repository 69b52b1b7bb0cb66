"""How DuckDB writes choices between values, beside what all databases write alike.

DuckDB orders doubles as we do: NaN equals itself and is greater than all.
"""

from collections.abc import Mapping
from typing import Final

from sordino.engines.sql import pieces as sql
from sordino.engines.sql import plain_entries
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import extreme_values, missing
from sordino.expressions.tree import Operation


def _function_entry(name: str) -> Entry:
    """Return the entry of a function of the engine."""

    def entry(to: Written) -> Sql:
        return sql.function(name, *to.each())

    return entry


def _fill_nan(to: Written) -> Sql:
    """Return x, or the other value for NaN."""
    return sql.case([(sql.function("isnan", to[0]), to[1])], to[0])


def _replace_infinity(to: Written) -> Sql:
    """Return x, or what stands for an infinity."""
    sign = sql.case([(sql.is_less(to[0], sql.double(0)), to[1])], to[2])
    return sql.case([(sql.function("isinf", to[0]), sign)], to[0])


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **plain_entries.ENTRIES,
    missing.IS_NAN: _function_entry("isnan"),
    missing.IS_INFINITE: _function_entry("isinf"),
    missing.FILL_NAN: _fill_nan,
    missing.REPLACE_INFINITY: _replace_infinity,
    extreme_values.GREATEST: _function_entry("greatest"),
    extreme_values.LEAST: _function_entry("least"),
}
