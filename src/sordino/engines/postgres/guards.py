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


def numeric(one: Sql) -> Sql:
    """Return an integer as a number of any length."""
    return sql.as_type(one, "DECIMAL")


def narrow(one: Sql) -> Sql:
    """Return an integer of any length as one of 64 bits, or null."""
    ends = (exp.Literal.number(LEAST - 1), exp.Literal.number(MOST + 1))
    return _within(one, *ends)


def narrow_double(one: Sql) -> Sql:
    """Return a double without a fraction as an integer of 64 bits, or null."""
    return _within(one, real(_BELOW), real(_ABOVE))


def _within(one: Sql, below: Sql, above: Sql) -> Sql:
    """Return what lies between two marks, cast; NaN is above all."""
    inside = sql.function("least", sql.function("greatest", one, below), above)
    for mark in (above, below):
        inside = exp.Nullif(this=inside, expression=mark.copy())
    return sql.as_type(inside, "BIGINT")


def real(number: float) -> Sql:
    """Return a double that belongs to the form of an operation."""
    return sql.as_type(sql.letters(repr(number)), "DOUBLE")


def as_integer(one: Sql) -> Sql:
    """Return an integer of 32 bits; it must be sure to be one."""
    return sql.as_type(one, "INTEGER")


def as_bigint(one: Sql) -> Sql:
    """Return a small number as an integer of 64 bits."""
    return sql.as_type(one, "BIGINT")


def whole_quotient(one: Sql, other: Sql) -> Sql:
    """Return the quotient of two integers, cut towards zero."""
    return exp.Div(
        this=sql.in_parentheses(one),
        expression=sql.in_parentheses(other),
        typed=True,
        safe=False,
    )


def any_of(one: Sql, other: Sql) -> Sql:
    """Return one OR other."""
    return sql.infix(exp.Or, one, other)


def all_of(*conditions: Sql) -> Sql:
    """Return conditions connected by AND."""
    return reduce(sql.conjunction, conditions)


def is_between(one: Sql, low: Sql, high: Sql) -> Sql:
    """Return whether a value lies within two ends."""
    return exp.Between(this=sql.in_parentheses(one), low=low, high=high)


def fits(one: Sql, pattern: str) -> Sql:
    """Return whether all of a text is as an (advanced) regular expression says."""
    return exp.RegexpLike(
        this=sql.in_parentheses(one), expression=sql.letters(f"^(?:{pattern})$")
    )


def let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Return what is made of values that are computed once.

    Small trees are written out; others get a name in a subquery of one row, which
    `OFFSET 0` keeps from being written out by the database.
    """
    if all(_is_small(one) for one in values):
        return make(*(one.copy() for one in values))
    names = [f"v{place}" for place in range(len(values))]
    inner = exp.Select().select(
        *(
            exp.Alias(this=one, alias=exp.to_identifier(name))
            for one, name in zip(values, names, strict=True)
        )
    )
    alias = exp.TableAlias(this=exp.to_identifier("v"))
    row = exp.Subquery(this=inner.offset(0), alias=alias)
    result = make(*(exp.column(name, table="v") for name in names))
    return exp.Subquery(this=exp.Select().select(result).from_(row))


def _is_small(one: Sql) -> bool:
    """Tell whether a tree may be written several times."""
    nodes = one.walk()
    return all(
        place < 2 * _SMALL and not isinstance(node, exp.Subquery)
        for place, node in enumerate(nodes)
    )
