"""How DuckDB writes each operation, so that it means what Python means.

Integers are added and multiplied as HUGEINT, where no two of them can overflow, and
come back by TRY_CAST; `+ 0.0` turns -0.0 into 0.0. Nothing here can raise.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sordino.engines import rendering_parts as sql
from sordino.engines.rendering_parts import Dialect, Entry, Sql, Written
from sordino.expressions import arithmetic, comparison, logic
from sordino.expressions.tree import Operation

_TYPES: Final = {
    "i64": "BIGINT",
    "f64": "DOUBLE",
    "text": "VARCHAR",
    "bool": "BOOLEAN",
    "date": "DATE",
    "time": "TIMESTAMP",
}
TYPES: Final = _TYPES | {f"list[{one}]": f"{name}[]" for one, name in _TYPES.items()}


def _huge(one: Sql) -> Sql:
    """Return an integer of 128 bits."""
    return sql.cast(one, "HUGEINT")


def _narrow(one: Sql) -> Sql:
    """Return an integer of 64 bits, or NULL."""
    return sql.tried(one, "BIGINT")


def _zero_is_zero(one: Sql) -> Sql:
    """Return a double, -0.0 as 0.0."""
    return sql.plus(one, sql.double(0))


def _infix(kind: type[exp.Expression]) -> Entry:
    """Return the entry of an operator between two numbers."""

    def entry(to: Written) -> Sql:
        if to.real:
            return _zero_is_zero(sql.infix(kind, to.joint(0), to.joint(1)))
        return _narrow(sql.infix(kind, _huge(to[0]), _huge(to[1])))

    return entry


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


def _nonzero(one: Sql) -> Sql:
    """Return a number, 0 as NULL: what is divided by NULL is NULL."""
    return sql.called("nullif", one, sql.whole(0))


def _divide(to: Written) -> Sql:
    """Return a quotient of doubles."""
    one, other = sql.cast(to[0], "DOUBLE"), sql.cast(to[1], "DOUBLE")
    return _zero_is_zero(sql.infix(exp.Div, one, _nonzero(other)))


def _rest(to: Written) -> Sql:
    """Return the remainder with the sign of the dividend."""
    return sql.infix(exp.Mod, to.joint(0), _nonzero(to.joint(1)))


def _signs_differ(to: Written) -> Sql:
    """Return whether there is a remainder that has not the sign of the divisor."""
    zero = sql.whole(0)
    negative = sql.less(_rest(to), zero), sql.less(to[1], zero.copy())
    return sql.both(
        sql.infix(exp.NEQ, _rest(to), zero.copy()), sql.infix(exp.NEQ, *negative)
    )


def _whole_parts(to: Written) -> tuple[Sql, Sql, Sql]:
    """Return dividend, divisor (0 as NULL) and Python's remainder as HUGEINT."""
    one, other = _huge(to[0]), _nonzero(_huge(to[1]))
    shifted = sql.plus(sql.infix(exp.Mod, one, other), other.copy())
    return one.copy(), other.copy(), sql.infix(exp.Mod, shifted, other.copy())


def _floor_divide(to: Written) -> Sql:
    """Return a quotient rounded down."""
    if not to.real:
        one, other, rest = _whole_parts(to)
        return _narrow(sql.infix(exp.IntDiv, sql.minus(one, rest), other))
    exact = sql.minus(to.joint(0), _rest(to))
    quotient = sql.infix(exp.Div, exact, _nonzero(to.joint(1)))
    down = sql.case([(_signs_differ(to), sql.double(1))], sql.double(0))
    return _zero_is_zero(sql.called("round", sql.minus(quotient, down)))


def _modulo(to: Written) -> Sql:
    """Return a remainder with the sign of the divisor."""
    if not to.real:
        return _narrow(_whole_parts(to)[2])
    up = sql.case([(_signs_differ(to), to.joint(1))], sql.double(0))
    return _zero_is_zero(sql.plus(_rest(to), up))


def _negate(to: Written) -> Sql:
    """Return 0 - x."""
    if to.real:
        return sql.minus(sql.double(0), to[0])
    return _narrow(sql.minus(_huge(sql.whole(0)), _huge(to[0])))


def _not(to: Written) -> Sql:
    """Return NOT x."""
    return sql.negated(to[0])


_ENTRIES: Final[Mapping[Operation, Entry]] = {
    arithmetic.ADD: _infix(exp.Add),
    arithmetic.SUBTRACT: _infix(exp.Sub),
    arithmetic.MULTIPLY: _infix(exp.Mul),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.NEGATE: _negate,
    comparison.EQUAL: _comparison(exp.EQ),
    comparison.UNEQUAL: _comparison(exp.NEQ),
    comparison.LESS: _comparison(exp.LT),
    comparison.AT_MOST: _comparison(exp.LTE),
    comparison.GREATER: _comparison(exp.GT),
    comparison.AT_LEAST: _comparison(exp.GTE),
    logic.AND: _connection(exp.And),
    logic.OR: _connection(exp.Or),
    logic.NOT: _not,
}

DUCKDB: Final = Dialect("duckdb", TYPES, _ENTRIES)
