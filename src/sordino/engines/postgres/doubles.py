"""Doubles and guards where PostgreSQL raises: what raises elsewhere is null here.

It has no TRY_CAST, and what leaves a type raises. So a number is moved to a mark just
outside of the type, and the mark to null: each value is written once, and nothing that
is out of range is ever cast. Where a form needs a value several times, it gets a name
(`let`), for trees would grow beyond all bounds.

A cast to a double gives the nearest one, but raises beyond the doubles and below them:
what is near one of these ends is compared with it in exact numbers before. Arithmetic
raises where IEEE gives infinity or zero. So each form asks first whether the result
leaves the range, by a calculation that is exact for it does nothing but move exponents:

| operation | leaves the range | asked as |
|---|---|---|
| a + b | beyond the greatest double | whether a/2 + b/2 is 2^1023 or more |
| a * b | the same | whether (a / 2^512) * (b / 2^512) is 1 or more |
| a * b | to zero | whether (a * 2^537) * (b * 2^537) is at most 1/2 |
| a / b | either | the same two, crosswise |

One case is not told apart: a product less than one part in 2^53 above half of the least
double is 0 here, and the least double by IEEE.

It has no fmod either, on which a quotient that is rounded down rests (docs/adr/0243):

    x -> its bits -> |x| = m * 2^e, m and e integers
    |a| mod |b| = (m_a * 2^(e_a - e) mod m_b * 2^(e_b - e)) * 2^e,  e = min(e_a, e_b)

The remainder of integers is that of numbers of any length. It is at most one of m_a and
m_b, so it fits into 53 bits, and so does the result into a double: no step rounds.
Powers of two are products of constants, for no mathematical library has a say.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from functools import reduce
from typing import Final

from sqlglot import exp

from sordino.engines.statements.templates import (
    Sql,
    as_type,
    bigint,
    case,
    conjunction,
    double,
    function,
    half,
    in_parentheses,
    infix,
    is_at_most,
    is_equal,
    is_less,
    is_missing,
    letters,
    minus,
    multiplied_by,
    plus,
    sql_type,
    whole,
)
from sordino.expressions.literals import LEAST, MOST

_SMALL: Final = 4
"""Nodes of a tree that may be written several times: a column, a bound value."""
_ABOVE: Final = 2.0**63
_BELOW: Final = math.nextafter(-(2.0**63), -math.inf)


def numeric(value: Sql) -> Sql:
    """Return an integer as a number of any length."""
    return as_type(value, "DECIMAL")


def narrow(value: Sql) -> Sql:
    """Return an integer of any length as one of 64 bits, or null."""
    ends = (exp.Literal.number(LEAST - 1), exp.Literal.number(MOST + 1))
    return _within(value, *ends)


def narrow_double(value: Sql) -> Sql:
    """Return a double without a fraction as an integer of 64 bits, or null."""
    return _within(value, real(_BELOW), real(_ABOVE))


def _within(value: Sql, below: Sql, above: Sql) -> Sql:
    inside = function("least", function("greatest", value, below), above)
    for mark in (above, below):
        inside = exp.Nullif(this=inside, expression=mark.copy())
    return as_type(inside, "BIGINT")


def real(number: float) -> Sql:
    """Return a double that belongs to the form of an operation."""
    return as_type(letters(repr(number)), "DOUBLE")


def as_integer(value: Sql) -> Sql:
    """Return an integer of 32 bits; it must be sure to be one."""
    return as_type(value, "INTEGER")


def as_bigint(value: Sql) -> Sql:
    """Return a small number as an integer of 64 bits."""
    return as_type(value, "BIGINT")


def whole_quotient(dividend: Sql, divisor: Sql) -> Sql:
    """Return the quotient of two integers, cut towards zero."""
    return exp.Div(
        this=in_parentheses(dividend),
        expression=in_parentheses(divisor),
        typed=True,
        safe=False,
    )


def any_of(left: Sql, right: Sql) -> Sql:
    """Return left OR right."""
    return infix(exp.Or, left, right)


def all_of(*conditions: Sql) -> Sql:
    """Return conditions connected by AND."""
    return reduce(conjunction, conditions)


def is_between(value: Sql, low: Sql, high: Sql) -> Sql:
    """Condition: a value lies within two ends, themselves included."""
    return exp.Between(this=in_parentheses(value), low=low, high=high)


def fits(text: Sql, pattern: str) -> Sql:
    """Condition: an (advanced) regular expression matches all of a text."""
    return exp.RegexpLike(
        this=in_parentheses(text), expression=letters(f"^(?:{pattern})$")
    )


def let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Expression over values that are each computed once.

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
    nodes = tree.walk()
    return all(
        place < 2 * _SMALL and not isinstance(node, exp.Subquery)
        for place, node in enumerate(nodes)
    )


_DIGITS: Final = 1200
"""Digits that are compared with the ends of the doubles, which have fewer."""
_FAR: Final = 10**9
"""An exponent that is as good as infinite, for no text has so many digits."""
_GREATEST: Final = 308
_LEAST: Final = -324  # the powers of ten of the first digits at both ends


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


def nearest_of(sign: Sql, before: Sql, fraction: Sql, up: Sql, exponent: Sql) -> Sql:
    """Return the nearest double of the parts of a decimal number; -0.0 is 0.0."""
    listed = infix(exp.DPipe, before, fraction)
    digits = function("ltrim", listed, letters("0"))
    zeros = minus(_length(listed.copy()), _length(digits.copy()))
    place = minus(minus(_length(before.copy()), zeros), whole(1))
    power = plus(place, _power(up, exponent))
    return let((digits, power, sign), _scaled)


def _length(text: Sql) -> Sql:
    return function("length", text)


def _power(sign: Sql, digits: Sql) -> Sql:
    # held to what is as good as infinite; no exponent is 0
    there = exp.Coalesce(this=digits, expressions=[letters("")])
    bare = function("ltrim", there, letters("0"))
    padded = infix(exp.DPipe, letters("0"), bare.copy())
    short = is_less(_length(bare), whole(9))
    size = as_integer(case([(short, padded)], letters(str(_FAR))))
    return _signed(sign, size)


def _signed(sign: Sql, size: Sql) -> Sql:
    negative = is_equal(sign, letters("-"))
    return multiplied_by(case([(negative, whole(-1))], whole(1)), size)


def _scaled(digits: Sql, power: Sql, sign: Sql) -> Sql:
    """Return the nearest double of 0.digits * 10^(power + 1), with a sign."""
    fraction = numeric(infix(exp.DPipe, letters("0."), _shortened(digits)))
    beyond = is_at_most(_exact(first_beyond(), _GREATEST), fraction)
    lost = is_at_most(fraction.copy(), _exact(last_lost(), _LEAST))
    zero, infinity = real(0.0), real(float("inf"))
    size = case(
        [
            (is_equal(digits.copy(), letters("")), zero),
            (is_less(whole(_GREATEST), power.copy()), infinity),
            (is_less(power.copy(), whole(_LEAST)), zero.copy()),
            (case([(_is(power, _GREATEST), beyond)]), infinity.copy()),
            (case([(_is(power, _LEAST), lost)]), zero.copy()),
        ],
        as_type(_scientific(digits, power), "DOUBLE"),
    )
    return plus(_signed(sign, size), double(0))


def _is(power: Sql, number: int) -> Sql:
    return is_equal(power.copy(), whole(number))


def _shortened(digits: Sql) -> Sql:
    """Return the first digits, and one more if any of the others is not 0."""
    first = function("left", digits.copy(), whole(_DIGITS))
    rest = function("substr", digits.copy(), whole(_DIGITS + 1))
    nothing = is_equal(function("ltrim", rest, letters("0")), letters(""))
    more = case([(nothing, letters(""))], letters("1"))
    return infix(exp.DPipe, first, more)


def _scientific(digits: Sql, power: Sql) -> Sql:
    exponent = as_type(plus(power.copy(), whole(1)), "TEXT")
    parts = (letters("0."), digits.copy(), letters("e"), exponent)
    joined = parts[0]
    for part in parts[1:]:
        joined = infix(exp.DPipe, joined, part)
    return joined


def _exact(end: Decimal, power: int) -> Sql:
    """Return an end of the doubles, its first digit moved behind the point."""
    with localcontext() as context:
        context.prec = _DIGITS
        return numeric(letters(format(end.scaleb(-power - 1), "f")))


_INFINITY: Final = math.inf
_HALF_RANGE: Final = 2.0**1023


def zero_is_zero(number: Sql) -> Sql:
    """Return a double, -0.0 as 0.0."""
    return plus(number, double(0))


def size_of(number: Sql) -> Sql:
    """Return the distance of a number from 0."""
    return function("abs", number)


def equals_nan(number: Sql) -> Sql:
    """Condition: a double is NaN, which equals itself here."""
    return is_equal(number, real(math.nan))


def equals_infinity(number: Sql) -> Sql:
    """Condition: a double is an infinity."""
    return is_equal(size_of(number), real(_INFINITY))


def double_sum(left: Sql, right: Sql) -> Sql:
    """Return the sum of two doubles."""
    return let((left, right), lambda a, b: zero_is_zero(_sum(a, b)))


def double_difference(left: Sql, right: Sql) -> Sql:
    """Return the difference of two doubles."""
    negated = minus(double(0), right)
    return double_sum(left, negated)


def double_product(left: Sql, right: Sql) -> Sql:
    """Return the product of two doubles."""
    return let((left, right), lambda a, b: zero_is_zero(_product(a, b)))


def double_quotient(dividend: Sql, divisor: Sql) -> Sql:
    """Return the quotient of two doubles; nothing is divided by zero."""
    nonzero = exp.Nullif(this=divisor, expression=double(0))
    return let((dividend, nonzero), lambda a, b: zero_is_zero(_quotient(a, b)))


def nearest_whole(number: Sql) -> Sql:
    """Return the nearest integer, halves away from zero."""

    def rounded(x: Sql) -> Sql:
        down = function("floor", x)
        rest = minus(x.copy(), down.copy())
        halfway = all_of(is_equal(rest.copy(), half()), is_less(double(0), x.copy()))
        more = any_of(is_less(half(), rest), halfway)
        return plus(down, case([(more, double(1))], double(0)))

    return let((number,), rounded)


def _sum(a: Sql, b: Sql) -> Sql:
    halves = plus(_half(a), _half(b))
    beyond = all_of(
        _is_finite(a), _is_finite(b), is_at_most(real(_HALF_RANGE), size_of(halves))
    )
    sign = is_less(a.copy(), double(0))
    far = case([(sign, real(-_INFINITY))], real(_INFINITY))
    return case([(beyond, far)], plus(a.copy(), b.copy()))


def _half(number: Sql) -> Sql:
    # what is below 1 cannot take a sum out of the range
    large = is_at_most(double(1), size_of(number.copy()))
    return case([(large, multiplied_by(number.copy(), half()))], double(0))


def _product(a: Sql, b: Sql) -> Sql:
    down, up = real(2.0**-512), real(2.0**537)
    far = multiplied_by(_times(a, down), _times(b, down))
    near = multiplied_by(_times(a, up), _times(b, up))
    large = all_of(
        _is_finite(a),
        _is_finite(b),
        is_at_most(double(1), size_of(a.copy())),
        is_at_most(double(1), size_of(b.copy())),
    )
    tiny = any_of(_is_below(a, 2.0**-500), _is_below(b, 2.0**-500))
    small = all_of(
        in_parentheses(tiny),
        _is_below(a, 1.0),
        _is_below(b, 1.0),
        exp.NEQ(this=a.copy(), expression=double(0)),
        exp.NEQ(this=b.copy(), expression=double(0)),
    )
    beyond = case([(large, is_at_most(double(1), size_of(far)))])
    lost = case([(small, is_at_most(size_of(near), half()))])
    return _ends(beyond, lost, a, b, multiplied_by(a.copy(), b.copy()))


def _quotient(a: Sql, b: Sql) -> Sql:
    # b is not 0
    large = all_of(
        _is_finite(a), is_at_most(real(2.0**-60), size_of(a.copy())), _is_below(b, 1.0)
    )
    far = is_at_most(
        _times(size_of(b.copy()), real(2.0**512)),
        _times(size_of(a.copy()), real(2.0**-512)),
    )
    small = all_of(
        exp.NEQ(this=a.copy(), expression=double(0)),
        _is_below(a, 1.0),
        is_less(double(1), size_of(b.copy())),
        _is_finite(b),
    )
    near = is_at_most(
        _times(size_of(a.copy()), real(2.0**537)),
        _times(size_of(b.copy()), real(2.0**-538)),
    )
    beyond, lost = case([(large, far)]), case([(small, near)])
    return _ends(beyond, lost, a, b, infix(exp.Div, a.copy(), b.copy()))


def _ends(beyond: Sql, lost: Sql, a: Sql, b: Sql, inside: Sql) -> Sql:
    """Return infinity with the sign of both, or zero, or what is computed."""
    unlike = exp.NEQ(
        this=exp.Paren(this=is_less(a.copy(), double(0))),
        expression=exp.Paren(this=is_less(b.copy(), double(0))),
    )
    far = case([(unlike, real(-_INFINITY))], real(_INFINITY))
    return case([(beyond, far), (lost, double(0))], inside)


def _times(number: Sql, power: Sql) -> Sql:
    return multiplied_by(number.copy(), power.copy())


def _is_finite(number: Sql) -> Sql:
    return is_less(size_of(number.copy()), real(_INFINITY))


def _is_below(number: Sql, limit: float) -> Sql:
    return is_less(size_of(number.copy()), real(limit))


_FRACTION: Final = 52  # bits of a double that stand below its first
_EXPONENTS: Final = 2**11 - 1
_REMAINDER_LEAST: Final = -1074  # the exponent of the least double
_PLACES: Final = 11  # bits of the greatest difference of two exponents
_HALF_PLACES: Final = 10  # bits of half of it


def doubles_rounded_down(dividend: Sql, divisor: Sql) -> Sql:
    """Return Python's quotient rounded down; that of an infinity is NaN."""

    def quotient(a: Sql, b: Sql) -> Sql:
        return let((_remainder(a, b), a.copy(), b.copy()), _rounded_down)

    return let((dividend, divisor), quotient)


def _rounded_down(rest: Sql, dividend: Sql, divisor: Sql) -> Sql:
    """Return (a - rest) / b, less one where the rest is on the other side of 0."""
    exact = double_difference(dividend, rest.copy())
    less = case([(_are_unlike(rest, divisor), double(1))], double(0))
    quotient = double_quotient(exact, divisor.copy())
    down = double_difference(quotient, less)
    return zero_is_zero(nearest_whole(down))


def _are_unlike(rest: Sql, divisor: Sql) -> Sql:
    sides = [
        exp.Paren(this=is_less(number.copy(), double(0))) for number in (rest, divisor)
    ]
    there = exp.NEQ(this=rest.copy(), expression=double(0))
    return all_of(there, exp.NEQ(this=sides[0], expression=sides[1]))


def _remainder(a: Sql, b: Sql) -> Sql:
    is_nan = reduce(
        any_of, (equals_nan(a.copy()), equals_nan(b.copy()), equals_infinity(a.copy()))
    )
    missing = any_of(is_missing(a.copy()), is_missing(b.copy()))
    size = let((_bits(a), _bits(b)), _of_bits)
    negative = is_less(a.copy(), double(0))
    sign = case([(negative, double(-1))], double(1))
    ends = [
        (missing, exp.null()),
        (is_nan, real(math.nan)),
        (equals_infinity(b.copy()), a.copy()),
    ]
    return case(ends, multiplied_by(size, sign))


def _bits(number: Sql) -> Sql:
    sent = function("float8send", function("abs", number.copy()))
    digits = function("encode", sent, letters("hex"))
    written = infix(exp.DPipe, letters("x"), digits)
    return as_bigint(exp.Cast(this=written, to=sql_type("BIT(64)", "postgres")))


def _of_bits(a: Sql, b: Sql) -> Sql:
    parts = (_digits(a), _exponent(a), _digits(b), _exponent(b))
    return let(parts, _of_parts)


def _digits(bits: Sql) -> Sql:
    # the first bit is not written, but of the least doubles
    fraction = infix(exp.BitwiseAnd, bits.copy(), bigint((1 << _FRACTION) - 1))
    complete = plus(fraction, bigint(1 << _FRACTION))
    return case([(_is_least(bits), fraction.copy())], complete)


def _exponent(bits: Sql) -> Sql:
    # e - the least exponent: never negative
    later = minus(_field(bits), bigint(1))
    return case([(_is_least(bits), bigint(0))], later)


def _is_least(bits: Sql) -> Sql:
    return is_equal(_field(bits), bigint(0))


def _field(bits: Sql) -> Sql:
    moved = infix(exp.BitwiseRightShift, bits.copy(), whole(_FRACTION))
    return infix(exp.BitwiseAnd, moved, bigint(_EXPONENTS))


def _of_parts(m_a: Sql, e_a: Sql, m_b: Sql, e_b: Sql) -> Sql:
    least = function("least", e_a.copy(), e_b.copy())
    above = [minus(e, least.copy()) for e in (e_a, e_b)]
    return let((m_a, m_b, *above, least), _of_whole)


def _of_whole(m_a: Sql, m_b: Sql, up_a: Sql, up_b: Sql, least: Sql) -> Sql:
    """Return the remainder of integers of any length, as the double it is."""

    def whole_power(exponent: int) -> Sql:
        return numeric(letters(str(1 << exponent)))

    dividend, divisor = (
        multiplied_by(numeric(m), _remainder_power(up, _PLACES, whole_power))
        for m, up in ((m_a, up_a), (m_b, up_b))
    )
    rest = as_bigint(function("mod", dividend, divisor))
    low = infix(exp.BitwiseRightShift, least.copy(), whole(1))
    return let((rest, low, minus(least, low.copy())), _remainder_scaled)


def _remainder_scaled(rest: Sql, low: Sql, high: Sql) -> Sql:
    # neither power leaves the range
    scaled = as_type(rest, "DOUBLE")
    for power in (low, high):
        moved = _remainder_power(power, _HALF_PLACES, lambda n: real(math.ldexp(1, n)))
        scaled = multiplied_by(
            scaled, multiplied_by(moved, real(math.ldexp(1, _REMAINDER_LEAST // 2)))
        )
    return scaled


def _remainder_power(exponent: Sql, places: int, constant: Callable[[int], Sql]) -> Sql:
    """Return 2^exponent as a product of constants, one for each bit that is set."""
    factors = []
    for place in range(places):
        bit = in_parentheses(infix(exp.BitwiseAnd, exponent.copy(), bigint(1 << place)))
        is_set = exp.NEQ(this=bit, expression=bigint(0))
        factors.append(case([(is_set, constant(1 << place))], constant(0)))
    return reduce(multiplied_by, factors)
