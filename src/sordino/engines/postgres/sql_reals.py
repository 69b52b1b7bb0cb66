"""How PostgreSQL reads decimal numbers as doubles, and exact decimals as doubles.

Its own cast gives the nearest double, but raises beyond the doubles and below them. So
what is near one of these ends is compared with it in exact numbers before.
"""

from decimal import Decimal, localcontext
from typing import Final

from sqlglot import exp

from sordino.engines.postgres.guards import as_integer, let, numeric, real
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql

_DIGITS: Final = 1200
"""Digits that are compared with the ends of the doubles, which have fewer."""
_FAR: Final = 10**9
"""An exponent that is as good as infinite, for no text has so many digits."""
_GREATEST: Final = 308
_LEAST: Final = -324
"""The powers of ten of the first digits at both ends."""


def first_beyond() -> Decimal:
    """Return the least number that rounds to infinity."""
    return Decimal(2**1024 - 2**970)


def last_lost() -> Decimal:
    """Return the greatest number that rounds to zero."""
    with localcontext() as context:
        context.prec = _DIGITS
        return Decimal(1) / Decimal(2) ** 1075


def digits_pattern(point: str) -> str:
    """Return the pattern of a decimal number: its groups are what `nearest_of` takes.

    >>> digits_pattern("[.]")[:12]
    '([+-]?)(?=[0'
    """
    start = f"([+-]?)(?=[0-9]|{point}[0-9])"
    return f"{start}([0-9]*){point}?([0-9]*)(?:[eE]([+-]?)([0-9]+))?"


def nearest_of(sign: Sql, whole: Sql, fraction: Sql, up: Sql, exponent: Sql) -> Sql:
    """Return the nearest double of the parts of a decimal number; -0.0 is 0.0."""
    listed = sql.infix(exp.DPipe, whole, fraction)
    digits = sql.function("ltrim", listed, sql.letters("0"))
    zeros = sql.minus(_length(listed.copy()), _length(digits.copy()))
    place = sql.minus(sql.minus(_length(whole.copy()), zeros), sql.whole(1))
    power = sql.plus(place, _power(up, exponent))
    return let((digits, power, sign), _scaled)


def _length(text: Sql) -> Sql:
    return sql.function("length", text)


def _power(sign: Sql, digits: Sql) -> Sql:
    """Return an exponent, held to what is as good as infinite; none is 0."""
    there = exp.Coalesce(this=digits, expressions=[sql.letters("")])
    bare = sql.function("ltrim", there, sql.letters("0"))
    padded = sql.infix(exp.DPipe, sql.letters("0"), bare.copy())
    short = sql.is_less(_length(bare), sql.whole(9))
    size = as_integer(sql.case([(short, padded)], sql.letters(str(_FAR))))
    return _signed(sign, size)


def _signed(sign: Sql, size: Sql) -> Sql:
    """Return a number with a sign that is told by a text."""
    negative = sql.is_equal(sign, sql.letters("-"))
    return sql.multiplied_by(sql.case([(negative, sql.whole(-1))], sql.whole(1)), size)


def _scaled(digits: Sql, power: Sql, sign: Sql) -> Sql:
    """Return the nearest double of 0.digits * 10^(power + 1), with a sign."""
    fraction = numeric(sql.infix(exp.DPipe, sql.letters("0."), _shortened(digits)))
    beyond = sql.is_at_most(_exact(first_beyond(), _GREATEST), fraction)
    lost = sql.is_at_most(fraction.copy(), _exact(last_lost(), _LEAST))
    zero, infinity = real(0.0), real(float("inf"))
    size = sql.case(
        [
            (sql.is_equal(digits.copy(), sql.letters("")), zero),
            (sql.is_less(sql.whole(_GREATEST), power.copy()), infinity),
            (sql.is_less(power.copy(), sql.whole(_LEAST)), zero.copy()),
            (sql.case([(_is(power, _GREATEST), beyond)]), infinity.copy()),
            (sql.case([(_is(power, _LEAST), lost)]), zero.copy()),
        ],
        sql.as_type(_scientific(digits, power), "DOUBLE"),
    )
    return sql.plus(_signed(sign, size), sql.double(0))


def _is(power: Sql, number: int) -> Sql:
    return sql.is_equal(power.copy(), sql.whole(number))


def _shortened(digits: Sql) -> Sql:
    """Return the first digits, and one more if any of the others is not 0."""
    first = sql.function("left", digits.copy(), sql.whole(_DIGITS))
    rest = sql.function("substr", digits.copy(), sql.whole(_DIGITS + 1))
    nothing = sql.is_equal(
        sql.function("ltrim", rest, sql.letters("0")), sql.letters("")
    )
    more = sql.case([(nothing, sql.letters(""))], sql.letters("1"))
    return sql.infix(exp.DPipe, first, more)


def _scientific(digits: Sql, power: Sql) -> Sql:
    """Return the text of 0.digits * 10^(power + 1)."""
    exponent = sql.as_type(sql.plus(power.copy(), sql.whole(1)), "TEXT")
    parts = (sql.letters("0."), digits.copy(), sql.letters("e"), exponent)
    joined = parts[0]
    for part in parts[1:]:
        joined = sql.infix(exp.DPipe, joined, part)
    return joined


def _exact(end: Decimal, power: int) -> Sql:
    """Return an end of the doubles, its first digit moved behind the point."""
    with localcontext() as context:
        context.prec = _DIGITS
        return numeric(sql.letters(format(end.scaleb(-power - 1), "f")))
