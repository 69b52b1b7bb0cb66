"""How DuckDB writes choices between values, beside what all databases write alike.

DuckDB orders doubles as we do: NaN equals itself and is greater than all.
"""

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql import plain_entries
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import extreme_values, membership, missing
from sordino.expressions.comparison import order
from sordino.expressions.tree import Operation

_FEW: Final = 4
"""Of fewer values each is compared by itself."""
_MANY: Final = 64
"""Of more values half are compared."""


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


def _is_in(to: Written) -> Sql:
    """Return whether a value is one of some, found by halves and then in a list.

    x IN (...) compares with one after the other, a list with all of them at once.
    """
    constants = [argument.constant for argument in to.known[1:]]
    if len(constants) < _FEW or None in constants:
        return plain_entries.ENTRIES[membership.IS_IN](to)
    ranks = [float(value) if to.real else value for value in constants]
    ranked = sorted(
        range(1, len(to)), key=lambda place: cmp_to_key(order)(ranks[place - 1])
    )
    return _is_among(to, ranked)


def _is_among(to: Written, ranked: Sequence[int]) -> Sql:
    """Return whether a value is among some, which are given in their order."""
    if len(ranked) <= _MANY:
        listed = exp.Array(expressions=[to.joint(place) for place in ranked])
        return sql.function("list_contains", listed, to.joint(0))
    middle = len(ranked) // 2
    below = sql.is_less(to.joint(0), to.joint(ranked[middle]))
    return sql.case(
        [(below, _is_among(to, ranked[:middle]))], _is_among(to, ranked[middle:])
    )


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **plain_entries.ENTRIES,
    membership.IS_IN: _is_in,
    missing.IS_NAN: _function_entry("isnan"),
    missing.IS_INFINITE: _function_entry("isinf"),
    missing.FILL_NAN: _fill_nan,
    missing.REPLACE_INFINITY: _replace_infinity,
    extreme_values.GREATEST: _function_entry("greatest"),
    extreme_values.LEAST: _function_entry("least"),
}
