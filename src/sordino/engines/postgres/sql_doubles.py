"""How PostgreSQL computes with doubles: it raises where IEEE gives infinity or zero.

So each form asks first whether the result leaves the range, by a calculation that is
exact for it does nothing but move exponents:

| operation | leaves the range | asked as |
|---|---|---|
| a + b | beyond the greatest double | whether a/2 + b/2 is 2^1023 or more |
| a * b | the same | whether (a / 2^512) * (b / 2^512) is 1 or more |
| a * b | to zero | whether (a * 2^537) * (b * 2^537) is at most 1/2 |
| a / b | either | the same two, crosswise |

One case is not told apart: a product less than one part in 2^53 above half of the least
double is 0 here, and the least double by IEEE.
"""

import math
from typing import Final

from sqlglot import exp

from sordino.engines.postgres.guards import all_of, any_of, let, real
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql

_INFINITY: Final = math.inf
_HALF_RANGE: Final = 2.0**1023


def zero_is_zero(number: Sql) -> Sql:
    """Return a double, -0.0 as 0.0."""
    return sql.plus(number, sql.double(0))


def size_of(number: Sql) -> Sql:
    """Return the size of a number."""
    return sql.function("abs", number)


def equals_nan(number: Sql) -> Sql:
    """Return whether a double is NaN, which equals itself here."""
    return sql.is_equal(number, real(math.nan))


def equals_infinity(number: Sql) -> Sql:
    """Return whether a double is an infinity."""
    return sql.is_equal(size_of(number), real(_INFINITY))


def double_sum(left: Sql, right: Sql) -> Sql:
    """Return the sum of two doubles."""
    return let((left, right), lambda a, b: zero_is_zero(_sum(a, b)))


def double_difference(left: Sql, right: Sql) -> Sql:
    """Return the difference of two doubles."""
    negated = sql.minus(sql.double(0), right)
    return double_sum(left, negated)


def double_product(left: Sql, right: Sql) -> Sql:
    """Return the product of two doubles."""
    return let((left, right), lambda a, b: zero_is_zero(_product(a, b)))


def double_quotient(dividend: Sql, divisor: Sql) -> Sql:
    """Return the quotient of two doubles; nothing is divided by zero."""
    nonzero = exp.Nullif(this=divisor, expression=sql.double(0))
    return let((dividend, nonzero), lambda a, b: zero_is_zero(_quotient(a, b)))


def nearest_whole(number: Sql) -> Sql:
    """Return the nearest integer, halves away from zero."""

    def rounded(x: Sql) -> Sql:
        down = sql.function("floor", x)
        rest = sql.minus(x.copy(), down.copy())
        half = all_of(
            sql.is_equal(rest.copy(), sql.half()),
            sql.is_less(sql.double(0), x.copy()),
        )
        more = any_of(sql.is_less(sql.half(), rest), half)
        return sql.plus(down, sql.case([(more, sql.double(1))], sql.double(0)))

    return let((number,), rounded)


def _sum(a: Sql, b: Sql) -> Sql:
    """Return a + b, or the infinity beyond the greatest doubles."""
    halves = sql.plus(_half(a), _half(b))
    beyond = all_of(
        _is_finite(a), _is_finite(b), sql.is_at_most(real(_HALF_RANGE), size_of(halves))
    )
    sign = sql.is_less(a.copy(), sql.double(0))
    far = sql.case([(sign, real(-_INFINITY))], real(_INFINITY))
    return sql.case([(beyond, far)], sql.plus(a.copy(), b.copy()))


def _half(number: Sql) -> Sql:
    """Return half of a number; what is below 1 cannot take a sum out of the range."""
    large = sql.is_at_most(sql.double(1), size_of(number.copy()))
    return sql.case(
        [(large, sql.multiplied_by(number.copy(), sql.half()))], sql.double(0)
    )


def _product(a: Sql, b: Sql) -> Sql:
    """Return a * b."""
    down, up = real(2.0**-512), real(2.0**537)
    far = sql.multiplied_by(_times(a, down), _times(b, down))
    near = sql.multiplied_by(_times(a, up), _times(b, up))
    large = all_of(
        _is_finite(a),
        _is_finite(b),
        sql.is_at_most(sql.double(1), size_of(a.copy())),
        sql.is_at_most(sql.double(1), size_of(b.copy())),
    )
    tiny = any_of(_is_below(a, 2.0**-500), _is_below(b, 2.0**-500))
    small = all_of(
        sql.in_parentheses(tiny),
        _is_below(a, 1.0),
        _is_below(b, 1.0),
        exp.NEQ(this=a.copy(), expression=sql.double(0)),
        exp.NEQ(this=b.copy(), expression=sql.double(0)),
    )
    beyond = sql.case([(large, sql.is_at_most(sql.double(1), size_of(far)))])
    lost = sql.case([(small, sql.is_at_most(size_of(near), sql.half()))])
    return _ends(beyond, lost, a, b, sql.multiplied_by(a.copy(), b.copy()))


def _quotient(a: Sql, b: Sql) -> Sql:
    """Return a / b, where b is not 0."""
    large = all_of(
        _is_finite(a),
        sql.is_at_most(real(2.0**-60), size_of(a.copy())),
        _is_below(b, 1.0),
    )
    far = sql.is_at_most(
        _times(size_of(b.copy()), real(2.0**512)),
        _times(size_of(a.copy()), real(2.0**-512)),
    )
    small = all_of(
        exp.NEQ(this=a.copy(), expression=sql.double(0)),
        _is_below(a, 1.0),
        sql.is_less(sql.double(1), size_of(b.copy())),
        _is_finite(b),
    )
    near = sql.is_at_most(
        _times(size_of(a.copy()), real(2.0**537)),
        _times(size_of(b.copy()), real(2.0**-538)),
    )
    beyond, lost = sql.case([(large, far)]), sql.case([(small, near)])
    return _ends(beyond, lost, a, b, sql.infix(exp.Div, a.copy(), b.copy()))


def _ends(beyond: Sql, lost: Sql, a: Sql, b: Sql, inside: Sql) -> Sql:
    """Return infinity with the sign of both, or zero, or what is computed."""
    unlike = exp.NEQ(
        this=exp.Paren(this=sql.is_less(a.copy(), sql.double(0))),
        expression=exp.Paren(this=sql.is_less(b.copy(), sql.double(0))),
    )
    far = sql.case([(unlike, real(-_INFINITY))], real(_INFINITY))
    return sql.case([(beyond, far), (lost, sql.double(0))], inside)


def _times(number: Sql, power: Sql) -> Sql:
    """Return a number times a power of two."""
    return sql.multiplied_by(number.copy(), power.copy())


def _is_finite(number: Sql) -> Sql:
    """Return whether a double is neither NaN nor an infinity."""
    return sql.is_less(size_of(number.copy()), real(_INFINITY))


def _is_below(number: Sql, limit: float) -> Sql:
    """Return whether the size of a number is below a limit."""
    return sql.is_less(size_of(number.copy()), real(limit))
