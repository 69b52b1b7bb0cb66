"""How PostgreSQL divides two doubles with a rest, exactly: it has no fmod.

    x -> its bits -> |x| = m * 2^e, m and e integers
    |a| mod |b| = (m_a * 2^(e_a - e) mod m_b * 2^(e_b - e)) * 2^e,  e = min(e_a, e_b)

The remainder of integers is that of numbers of any length. It is at most one of m_a and
m_b, so it fits into 53 bits, and so does the result into a double: no step rounds.
Powers of two are products of constants, for no mathematical library has a say.
"""

import math
from collections.abc import Callable
from functools import reduce
from typing import Final

from sqlglot import exp

from sordino.engines.postgres import sql_doubles as doubles
from sordino.engines.postgres.guards import (
    all_of,
    any_of,
    as_bigint,
    let,
    numeric,
    real,
)
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql, sql_type

_FRACTION: Final = 52
"""Bits of a double that stand below its first."""
_EXPONENTS: Final = 2**11 - 1
_LEAST: Final = -1074
"""The exponent of the least double."""
_PLACES: Final = 11
"""Bits of the greatest difference of two exponents."""
_HALF_PLACES: Final = 10
"""Bits of half of it."""


def rest_of_doubles(dividend: Sql, divisor: Sql) -> Sql:
    """Return Python's remainder, which has the sign of the divisor."""

    def rest(a: Sql, b: Sql) -> Sql:
        return let((_remainder(a, b), b.copy()), _on_side_of)

    return let((dividend, divisor), rest)


def doubles_rounded_down(dividend: Sql, divisor: Sql) -> Sql:
    """Return Python's quotient rounded down; that of an infinity is NaN."""

    def quotient(a: Sql, b: Sql) -> Sql:
        return let((_remainder(a, b), a.copy(), b.copy()), _rounded_down)

    return let((dividend, divisor), quotient)


def _on_side_of(rest: Sql, divisor: Sql) -> Sql:
    moved = doubles.double_sum(rest.copy(), divisor.copy())
    unlike = sql.case([(_are_unlike(rest, divisor), moved)], rest.copy())
    return doubles.zero_is_zero(unlike)


def _rounded_down(rest: Sql, dividend: Sql, divisor: Sql) -> Sql:
    """Return (a - rest) / b, less one where the rest is on the other side of 0."""
    whole = doubles.double_difference(dividend, rest.copy())
    less = sql.case([(_are_unlike(rest, divisor), sql.double(1))], sql.double(0))
    quotient = doubles.double_quotient(whole, divisor.copy())
    down = doubles.double_difference(quotient, less)
    return doubles.zero_is_zero(doubles.nearest_whole(down))


def _are_unlike(rest: Sql, divisor: Sql) -> Sql:
    """Return whether a rest that is not 0 has another sign than the divisor."""
    sides = [
        exp.Paren(this=sql.is_less(number.copy(), sql.double(0)))
        for number in (rest, divisor)
    ]
    there = exp.NEQ(this=rest.copy(), expression=sql.double(0))
    return all_of(there, exp.NEQ(this=sides[0], expression=sides[1]))


def _remainder(a: Sql, b: Sql) -> Sql:
    is_nan = reduce(
        any_of,
        (
            doubles.equals_nan(a.copy()),
            doubles.equals_nan(b.copy()),
            doubles.equals_infinity(a.copy()),
        ),
    )
    missing = any_of(sql.is_missing(a.copy()), sql.is_missing(b.copy()))
    size = let((_bits(a), _bits(b)), _of_bits)
    negative = sql.is_less(a.copy(), sql.double(0))
    sign = sql.case([(negative, sql.double(-1))], sql.double(1))
    ends = [
        (missing, exp.null()),
        (is_nan, real(math.nan)),
        (doubles.equals_infinity(b.copy()), a.copy()),
    ]
    return sql.case(ends, sql.multiplied_by(size, sign))


def _bits(double: Sql) -> Sql:
    """Return the bits of the size of a double, as an integer."""
    sent = sql.function("float8send", sql.function("abs", double.copy()))
    digits = sql.function("encode", sent, sql.letters("hex"))
    written = sql.infix(exp.DPipe, sql.letters("x"), digits)
    return as_bigint(exp.Cast(this=written, to=sql_type("BIT(64)", "postgres")))


def _of_bits(a: Sql, b: Sql) -> Sql:
    """Return the remainder of two sizes, told by their bits."""
    parts = (_digits(a), _exponent(a), _digits(b), _exponent(b))
    return let(parts, _of_parts)


def _digits(bits: Sql) -> Sql:
    """Return m: the first bit is not written, but of the least doubles."""
    fraction = sql.infix(exp.BitwiseAnd, bits.copy(), sql.bigint((1 << _FRACTION) - 1))
    whole = sql.plus(fraction, sql.bigint(1 << _FRACTION))
    return sql.case([(_is_least(bits), fraction.copy())], whole)


def _exponent(bits: Sql) -> Sql:
    """Return e - the least exponent, which is never negative."""
    later = sql.minus(_field(bits), sql.bigint(1))
    return sql.case([(_is_least(bits), sql.bigint(0))], later)


def _is_least(bits: Sql) -> Sql:
    return sql.is_equal(_field(bits), sql.bigint(0))


def _field(bits: Sql) -> Sql:
    moved = sql.infix(exp.BitwiseRightShift, bits.copy(), sql.whole(_FRACTION))
    return sql.infix(exp.BitwiseAnd, moved, sql.bigint(_EXPONENTS))


def _of_parts(m_a: Sql, e_a: Sql, m_b: Sql, e_b: Sql) -> Sql:
    least = sql.function("least", e_a.copy(), e_b.copy())
    above = [sql.minus(e, least.copy()) for e in (e_a, e_b)]
    return let((m_a, m_b, *above, least), _of_whole)


def _of_whole(m_a: Sql, m_b: Sql, up_a: Sql, up_b: Sql, least: Sql) -> Sql:
    """Return the remainder of integers of any length, as the double it is."""
    dividend, divisor = (
        sql.multiplied_by(numeric(m), _power(up, _PLACES, _whole_constant))
        for m, up in ((m_a, up_a), (m_b, up_b))
    )
    rest = as_bigint(sql.function("mod", dividend, divisor))
    half = sql.infix(exp.BitwiseRightShift, least.copy(), sql.whole(1))
    return let((rest, half, sql.minus(least, half.copy())), _scaled)


def _scaled(rest: Sql, low: Sql, high: Sql) -> Sql:
    """Return an integer times two powers of two, neither of which leaves the range."""
    scaled = sql.as_type(rest, "DOUBLE")
    for power in (low, high):
        moved = _power(power, _HALF_PLACES, _double_constant)
        scaled = sql.multiplied_by(
            scaled, sql.multiplied_by(moved, real(math.ldexp(1, _LEAST // 2)))
        )
    return scaled


def _power(exponent: Sql, places: int, constant: Callable[[int], Sql]) -> Sql:
    """Return 2^exponent as a product of constants, one for each bit that is set."""
    factors = (
        sql.case(
            [(_has_bit(exponent, place), constant(1 << place))],
            constant(0),
        )
        for place in range(places)
    )
    return reduce(sql.multiplied_by, factors)


def _has_bit(number: Sql, place: int) -> Sql:
    bit = sql.infix(exp.BitwiseAnd, number.copy(), sql.bigint(1 << place))
    return exp.NEQ(this=sql.in_parentheses(bit), expression=sql.bigint(0))


def _whole_constant(power: int) -> Sql:
    return numeric(sql.letters(str(1 << power)))


def _double_constant(power: int) -> Sql:
    return real(math.ldexp(1, power))
