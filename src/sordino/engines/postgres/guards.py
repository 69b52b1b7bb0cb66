"""Forms of PostgreSQL that several topics need: what raises elsewhere is null here.

It has no TRY_CAST, and what leaves a type raises. So a number is moved to a mark just
outside of the type, and the mark to null: each value is written once, and nothing that
is out of range is ever cast. Where a form needs a value several times, it gets a name
(`let`), for trees would grow beyond all bounds.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql
from sordino.expressions.literals import LEAST, MOST

_SMALL: Final = 4
"""Nodes of a tree that may be written several times: a column, a bound value."""
_ABOVE: Final = 2.0**63
_BELOW: Final = math.nextafter(-(2.0**63), -math.inf)


def numeric(value: Sql) -> Sql:
    """Return an integer as a number of any length."""
    return sql.as_type(value, "DECIMAL")


def narrow(value: Sql) -> Sql:
    """Return an integer of any length as one of 64 bits, or null."""
    ends = (exp.Literal.number(LEAST - 1), exp.Literal.number(MOST + 1))
    return _within(value, *ends)


def narrow_double(value: Sql) -> Sql:
    """Return a double without a fraction as an integer of 64 bits, or null."""
    return _within(value, real(_BELOW), real(_ABOVE))


def _within(value: Sql, below: Sql, above: Sql) -> Sql:
    """Return what lies between two marks, cast; NaN is above all."""
    inside = sql.function("least", sql.function("greatest", value, below), above)
    for mark in (above, below):
        inside = exp.Nullif(this=inside, expression=mark.copy())
    return sql.as_type(inside, "BIGINT")


def real(number: float) -> Sql:
    """Return a double that belongs to the form of an operation."""
    return sql.as_type(sql.letters(repr(number)), "DOUBLE")


def as_integer(value: Sql) -> Sql:
    """Return an integer of 32 bits; it must be sure to be one."""
    return sql.as_type(value, "INTEGER")


def as_bigint(value: Sql) -> Sql:
    """Return a small number as an integer of 64 bits."""
    return sql.as_type(value, "BIGINT")


def whole_quotient(dividend: Sql, divisor: Sql) -> Sql:
    """Return the quotient of two integers, cut towards zero."""
    return exp.Div(
        this=sql.in_parentheses(dividend),
        expression=sql.in_parentheses(divisor),
        typed=True,
        safe=False,
    )


def any_of(left: Sql, right: Sql) -> Sql:
    """Return left OR right."""
    return sql.infix(exp.Or, left, right)


def all_of(*conditions: Sql) -> Sql:
    """Return conditions connected by AND."""
    return reduce(sql.conjunction, conditions)


def is_between(value: Sql, low: Sql, high: Sql) -> Sql:
    """Return whether a value lies within two ends."""
    return exp.Between(this=sql.in_parentheses(value), low=low, high=high)


def fits(text: Sql, pattern: str) -> Sql:
    """Return whether all of a text is as an (advanced) regular expression says."""
    return exp.RegexpLike(
        this=sql.in_parentheses(text), expression=sql.letters(f"^(?:{pattern})$")
    )


def let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Return what is made of values that are computed once.

    Small trees are written out; others get a name in a subquery of one row, which
    `OFFSET 0` keeps from being written out by the database.
    """
    if all(_is_small(value) for value in values):
        return make(*(value.copy() for value in values))
    names = [f"v{place}" for place in range(len(values))]
    inner = exp.Select().select(
        *(
            exp.Alias(this=value, alias=exp.to_identifier(name))
            for value, name in zip(values, names, strict=True)
        )
    )
    alias = exp.TableAlias(this=exp.to_identifier("v"))
    row = exp.Subquery(this=inner.offset(0), alias=alias)
    result = make(*(exp.column(name, table="v") for name in names))
    return exp.Subquery(this=exp.Select().select(result).from_(row))


def _is_small(tree: Sql) -> bool:
    """Tell whether a tree may be written several times."""
    nodes = tree.walk()
    return all(
        place < 2 * _SMALL and not isinstance(node, exp.Subquery)
        for place, node in enumerate(nodes)
    )
