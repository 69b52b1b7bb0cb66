"""Operations that every database says alike.

A dialect may take these entries where its database compares as we do: NaN equals
itself and is greater than all, 0.0 is -0.0, and texts go code point by code point.
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


def _coalesce(to: Written) -> Sql:
    """Return the first value that is there."""
    return sql.function("coalesce", *to.each())


def _when(to: Written) -> Sql:
    """Return the value of the first condition that is true."""
    conditions, values = conditional.split_branches(to.each(), to.options["given"])
    pairs = zip(conditions, (value or exp.null() for value in values), strict=False)
    return sql.case(list(pairs), values[-1])


def _is_in(to: Written) -> Sql:
    """Return x IN (...); in nothing at all, whatever is there is not."""
    if len(to) == 1:
        return sql.case([(sql.negation(sql.is_missing(to[0])), exp.false())])
    values = [to.joint(index) for index in range(1, len(to))]
    return exp.In(this=to.joint(0), expressions=values)


def _bin(to: Written) -> Sql:
    """Return a label; what is missing or NaN is below no edge, and so in no range."""
    return _is_within(to, 0, len(to.options["bins"].edges))


def _is_within(to: Written, first: int, last: int) -> Sql:
    """Return the label of a value that has passed so many edges, found by halves."""
    known = to.options["bins"]
    count = len(known.edges)
    if first == last:  # the arguments are (value, edge, ..., edge, label, ..., label)
        outside = first in (0, count)
        return to.bind(None, "text") if outside else to[count + first]
    middle = (first + last + 1) // 2
    below = sql.is_less if known.opens(middle - 1) else sql.is_at_most
    lower = _is_within(to, first, middle - 1)
    upper = _is_within(to, middle, last)
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
    missing.FILL_NULL: _coalesce,
    missing.COALESCE: _coalesce,
    conditional.WHEN: _when,
    membership.IS_IN: _is_in,
    bins.BIN: _bin,
}
