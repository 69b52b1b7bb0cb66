"""How DuckDB writes comparisons, truths and choices between values.

DuckDB orders doubles as we do: NaN equals itself and is greater than all.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import (
    bins,
    comparison,
    conditional,
    extremes,
    logic,
    membership,
    missing,
)
from sordino.expressions.tree import Operation


def _comparison(kind: type[exp.Expression]) -> Entry:
    """Return the entry of a comparison."""

    def entry(to: Written) -> Sql:
        return sql.infix(kind, to.joint(0), to.joint(1))

    return entry


def _connection(kind: type[exp.Expression]) -> Entry:
    """Return the entry of a connection of truths."""

    def entry(to: Written) -> Sql:
        return sql.infix(kind, to[0], to[1])

    return entry


def _not(to: Written) -> Sql:
    """Return NOT x."""
    return sql.negation(to[0])


def _is_null(to: Written) -> Sql:
    """Return x IS NULL."""
    return sql.is_missing(to[0])


def _named(name: str) -> Entry:
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


def _when(to: Written) -> Sql:
    """Return the value of the first condition that is true."""
    conditions, values = conditional.split(to.each(), to.options["given"])
    pairs = zip(conditions, (one or exp.null() for one in values), strict=False)
    return sql.case(list(pairs), values[-1])


def _is_in(to: Written) -> Sql:
    """Return x IN (...); in nothing at all, whatever is there is not."""
    if len(to) == 1:
        return sql.case([(sql.negation(sql.is_missing(to[0])), exp.false())])
    values = [to.joint(index) for index in range(1, len(to))]
    return exp.In(this=to.joint(0), expressions=values)


def _bin(to: Written) -> Sql:
    """Return a label; what is missing or NaN is below no edge, and so in no range."""
    return _within(to, 0, len(to.options["bins"].edges))


def _within(to: Written, first: int, last: int) -> Sql:
    """Return the label of a value that has passed so many edges, found by halves."""
    known = to.options["bins"]
    count = len(known.edges)
    if first == last:  # the arguments are (value, edge, ..., edge, label, ..., label)
        outside = first in (0, count)
        return sql.as_type(exp.null(), "VARCHAR") if outside else to[count + first]
    middle = (first + last + 1) // 2
    below = sql.is_less if known.opens(middle - 1) else sql.is_at_most
    lower = _within(to, first, middle - 1)
    upper = _within(to, middle, last)
    return sql.case([(below(to.joint(0), to.joint(middle)), lower)], upper)


ENTRIES: Final[Mapping[Operation, Entry]] = {
    comparison.EQUAL: _comparison(exp.EQ),
    comparison.UNEQUAL: _comparison(exp.NEQ),
    comparison.LESS: _comparison(exp.LT),
    comparison.AT_MOST: _comparison(exp.LTE),
    comparison.GREATER: _comparison(exp.GT),
    comparison.AT_LEAST: _comparison(exp.GTE),
    logic.AND: _connection(exp.And),
    logic.OR: _connection(exp.Or),
    logic.NOT: _not,
    missing.IS_NULL: _is_null,
    missing.IS_NAN: _named("isnan"),
    missing.IS_INFINITE: _named("isinf"),
    missing.FILL_NULL: _named("coalesce"),
    missing.FILL_NAN: _fill_nan,
    missing.COALESCE: _named("coalesce"),
    missing.REPLACE_INFINITY: _replace_infinity,
    conditional.WHEN: _when,
    membership.IS_IN: _is_in,
    bins.BIN: _bin,
    extremes.GREATEST: _named("greatest"),
    extremes.LEAST: _named("least"),
}
