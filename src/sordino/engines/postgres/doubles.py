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
    Templates,
    as_type,
    bigint,
    case,
    conjunction,
    double,
    function,
    in_parentheses,
    infix,
    is_at_most,
    is_equal,
    is_less,
    letters,
    minus,
    multiplied_by,
    plus,
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


SQL: Final = Templates(
    "postgres",
    {
        "narrow(x)": f"within(x, {LEAST - 1}, {MOST + 1})",
        "narrow_double(x)": f"within(x, '{_BELOW!r}'::DOUBLE, '{_ABOVE!r}'::DOUBLE)",
        "within(x, low, high)": """NULLIF(
            NULLIF(LEAST(GREATEST(x, low), high), high), low)::BIGINT""",
        "some(x)": "NULLIF(x, 0)",  # what is divided by null is null
        "rest(x, y)": "MOD(MOD(x, y) + y, y)",
        "number(x)": "('0' || x)::BIGINT",
        "bytes(x)": "OCTET_LENGTH(x)::BIGINT",
        "first_day()": "'0001-01-01'::DATE",
        "later(moment, ticks)": "moment + ticks * '1 microsecond'::INTERVAL",
        "infinity()": "'inf'::DOUBLE",
        "nan()": "'nan'::DOUBLE",
        "is_finite(x)": "ABS(x) < infinity()",
        "is_one(x)": "1::DOUBLE <= ABS(x)",
        # what is below 1 cannot take a sum out of the range
        "halved(x)": "CASE WHEN is_one(x) THEN x * 0.5::DOUBLE ELSE 0::DOUBLE END",
        # infinity with the sign of both, or zero, or what is computed
        "held(beyond, lost, x, y, inside)": """CASE
            WHEN beyond THEN CASE WHEN (x < 0::DOUBLE) <> (y < 0::DOUBLE)
                THEN '-inf'::DOUBLE ELSE infinity() END
            WHEN lost THEN 0::DOUBLE
            ELSE inside END""",
        # the exponent of the least doubles; their first bit is written, too
        "field(bits)": f"(bits >> 52) & {2**11 - 1}::BIGINT",
        "is_least(bits)": "field(bits) = 0::BIGINT",
        "fraction(bits)": f"bits & {2**52 - 1}::BIGINT",
    },
)


def _real(number: float) -> str:
    return f"'{number!r}'::DOUBLE"


narrow: Final = SQL.piece("x", "narrow(x)")
"""An integer of any length as one of 64 bits, or null."""


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


equals_nan: Final = SQL.piece("x", "x = nan()")
"""Condition: a double is NaN, which equals itself here."""


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


_rounded: Final = SQL.piece(
    "x",
    """FLOOR(x) + CASE
        WHEN 0.5::DOUBLE < x - FLOOR(x)
            OR (x - FLOOR(x) = 0.5::DOUBLE AND 0::DOUBLE < x)
        THEN 1::DOUBLE ELSE 0::DOUBLE END""",
)


def nearest_whole(number: Sql) -> Sql:
    """Return the nearest integer, halves away from zero."""
    return let((number,), _rounded)


_sum: Final = SQL.piece(
    "a, b",
    f"""CASE
        WHEN is_finite(a) AND is_finite(b)
            AND {_real(_HALF_RANGE)} <= ABS(halved(a) + halved(b))
        THEN CASE WHEN a < 0::DOUBLE THEN '-inf'::DOUBLE ELSE infinity() END
        ELSE a + b END""",
)
_product: Final = SQL.piece(
    "a, b",
    f"""held(
        CASE WHEN is_finite(a) AND is_finite(b) AND is_one(a) AND is_one(b)
            THEN is_one((a * {_real(2.0**-512)}) * (b * {_real(2.0**-512)})) END,
        CASE
            WHEN (ABS(a) < {_real(2.0**-500)} OR ABS(b) < {_real(2.0**-500)})
                AND ABS(a) < {_real(1.0)} AND ABS(b) < {_real(1.0)}
                AND a <> 0::DOUBLE AND b <> 0::DOUBLE
            THEN ABS((a * {_real(2.0**537)}) * (b * {_real(2.0**537)})) <= 0.5::DOUBLE
            END,
        a, b, a * b)""",
)
_held_quotient: Final = SQL.piece(  # b is not 0
    "a, b, inside",
    f"""held(
        CASE
            WHEN is_finite(a) AND {_real(2.0**-60)} <= ABS(a) AND ABS(b) < {_real(1.0)}
            THEN ABS(b) * {_real(2.0**512)} <= ABS(a) * {_real(2.0**-512)} END,
        CASE
            WHEN a <> 0::DOUBLE AND ABS(a) < {_real(1.0)}
                AND 1::DOUBLE < ABS(b) AND is_finite(b)
            THEN ABS(a) * {_real(2.0**537)} <= ABS(b) * {_real(2.0**-538)} END,
        a, b, inside)""",
)


def _quotient(a: Sql, b: Sql) -> Sql:
    # a division that is read from a text has no CAST of its dividend
    return _held_quotient(a, b, infix(exp.Div, a.copy(), b.copy()))


_REMAINDER_LEAST: Final = -1074  # the exponent of the least double
_PLACES: Final = 11  # bits of the greatest difference of two exponents
_HALF_PLACES: Final = 10  # bits of half of it


def doubles_rounded_down(dividend: Sql, divisor: Sql) -> Sql:
    """Return Python's quotient rounded down; that of an infinity is NaN."""

    def quotient(a: Sql, b: Sql) -> Sql:
        return let((_remainder(a, b), a.copy(), b.copy()), _rounded_down)

    return let((dividend, divisor), quotient)


_apart: Final = SQL.piece(
    "rest, divisor",
    """CASE
        WHEN rest <> 0::DOUBLE AND (rest < 0::DOUBLE) <> (divisor < 0::DOUBLE)
        THEN 1::DOUBLE ELSE 0::DOUBLE END""",
)


def _rounded_down(rest: Sql, dividend: Sql, divisor: Sql) -> Sql:
    """Return (a - rest) / b, less one where the rest is on the other side of 0."""
    exact = double_difference(dividend, rest.copy())
    quotient = double_quotient(exact, divisor.copy())
    down = double_difference(quotient, _apart(rest, divisor))
    return zero_is_zero(nearest_whole(down))


_with_sign: Final = SQL.piece(
    "a, b, size",
    """CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN a = nan() OR b = nan() OR ABS(a) = infinity() THEN nan()
        WHEN ABS(b) = infinity() THEN a
        ELSE size * CASE WHEN a < 0::DOUBLE THEN (-1)::DOUBLE ELSE 1::DOUBLE END END""",
)
_bits: Final = SQL.piece(
    "x", "('x' || ENCODE(FLOAT8SEND(ABS(x)), 'hex'))::BIT(64)::BIGINT"
)
_digits: Final = SQL.piece(
    "bits",
    f"""CASE WHEN is_least(bits) THEN fraction(bits)
        ELSE fraction(bits) + {2**52}::BIGINT END""",
)
_exponent: Final = SQL.piece(  # e - the least exponent: never negative
    "bits", "CASE WHEN is_least(bits) THEN 0::BIGINT ELSE field(bits) - 1::BIGINT END"
)


def _remainder(a: Sql, b: Sql) -> Sql:
    return _with_sign(a, b, let((_bits(a), _bits(b)), _of_bits))


def _of_bits(a: Sql, b: Sql) -> Sql:
    parts = (_digits(a), _exponent(a), _digits(b), _exponent(b))
    return let(parts, _of_parts)


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
