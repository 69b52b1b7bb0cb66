"""How PostgreSQL writes comparisons and choices.

It orders doubles as we do: NaN equals itself and is greater than all. Texts it orders
by a collation of the database, unless each comparison names another.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from sordino.engines.postgres import sql_doubles as doubles
from sordino.engines.postgres.guards import let
from sordino.engines.sql import pieces as sql
from sordino.engines.sql import plain_entries
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import comparison, extreme_values, missing
from sordino.expressions.tree import Operation


def by_code_point(text: Sql) -> Sql:
    """Return a text that compares code point by code point, as UTF-8 does."""
    collation = exp.to_identifier("C", quoted=True)
    return exp.Collate(this=sql.in_parentheses(text), expression=collation)


def _compared(plain: Entry) -> Entry:
    """Return the entry of a comparison, of texts by their code points."""

    def entry(to: Written) -> Sql:
        condition = plain(to)
        if to.types[0] == "text":
            condition.set("this", by_code_point(condition.this))
        return condition

    return entry


def _chosen(name: str) -> Entry:
    """Return the entry of the greatest or the least value."""

    def entry(to: Written) -> Sql:
        first, *others = to.each()
        first = by_code_point(first) if to.types[0] == "text" else first
        return sql.function(name, first, *others)

    return entry


def _of_double(test: Callable[[Sql], Sql]) -> Entry:
    """Return the entry of a test of a double."""
    return lambda to: test(to[0])


def _fill_nan(to: Written) -> Sql:
    """Return x, or the other value for NaN."""
    return sql.case([(doubles.equals_nan(to[0]), to[1])], to[0])


def _replace_infinity(to: Written) -> Sql:
    """Return x, or what stands for an infinity."""

    def replaced(double: Sql) -> Sql:
        sign = sql.case([(sql.is_less(double.copy(), sql.double(0)), to[1])], to[2])
        return sql.case([(doubles.equals_infinity(double.copy()), sign)], double)

    return let((to[0],), replaced)


_COMPARISONS: Final = comparison.OPERATIONS
ENTRIES: Final[Mapping[Operation, Entry]] = {
    **plain_entries.ENTRIES,
    **{
        operation: _compared(plain_entries.ENTRIES[operation])
        for operation in _COMPARISONS
    },
    missing.IS_NAN: _of_double(doubles.equals_nan),
    missing.IS_INFINITE: _of_double(doubles.equals_infinity),
    missing.FILL_NAN: _fill_nan,
    missing.REPLACE_INFINITY: _replace_infinity,
    extreme_values.GREATEST: _chosen("greatest"),
    extreme_values.LEAST: _chosen("least"),
}
