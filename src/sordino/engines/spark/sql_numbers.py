"""How Spark writes operations on numbers.

Integers are added and multiplied by functions that give NULL where 64 bits do not
suffice, whether ANSI is on or off; `+ 0.0` turns -0.0 into 0.0. Nothing here can raise.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.exponential_entries import exponential_entries
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.whole_steps import whole_steps
from sordino.expressions import arithmetic, lattice_steps, numeric
from sordino.expressions.numeric import least_multiple
from sordino.expressions.tree import Operation

_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41
_BEYOND: Final = 2.0**63


def whole_sum(left: Sql, right: Sql) -> Sql:
    """Return left + right of integers, or NULL."""
    return sql.function("try_add", left, right)


def whole_difference(left: Sql, right: Sql) -> Sql:
    """Return left - right of integers, or NULL."""
    return sql.function("try_subtract", left, right)


def whole_product(left: Sql, right: Sql) -> Sql:
    """Return left * right of integers, or NULL."""
    return sql.function("try_multiply", left, right)


def _zero_is_zero(number: Sql) -> Sql:
    """Return a double, -0.0 as 0.0."""
    return sql.plus(number, sql.double(0))


def _infix(kind: type[exp.Expression], function: str) -> Entry:
    """Return the entry of an operator between two numbers."""

    def entry(to: Written) -> Sql:
        if to.real:
            return _zero_is_zero(sql.infix(kind, to.joint(0), to.joint(1)))
        return sql.function(function, to[0], to[1])

    return entry


def _nonzero(number: Sql) -> Sql:
    """Return a number, 0 as NULL: what is divided by NULL is NULL."""
    return sql.function("nullif", number, sql.whole(0))


def _divide(to: Written) -> Sql:
    """Return a quotient of doubles."""
    numerator, denominator = sql.as_type(to[0], "DOUBLE"), sql.as_type(to[1], "DOUBLE")
    return _zero_is_zero(_quotient_of_doubles(numerator, denominator))


def _quotient_of_doubles(numerator: Sql, denominator: Sql) -> Sql:
    """Return one / other; a division that is called safe is written as such."""
    left, right = (
        sql.in_parentheses(numerator),
        sql.in_parentheses(_nonzero(denominator)),
    )
    return exp.Div(this=left, expression=right, typed=True, safe=True)


def _rest(to: Written) -> Sql:
    """Return the remainder with the sign of the dividend."""
    return sql.infix(exp.Mod, to.joint(0), _nonzero(to.joint(1)))


def _signs_differ(to: Written) -> Sql:
    """Return whether there is a remainder that has not the sign of the divisor."""
    zero = sql.whole(0)
    negative = sql.is_less(_rest(to), zero), sql.is_less(to[1], zero.copy())
    return sql.conjunction(
        sql.infix(exp.NEQ, _rest(to), zero.copy()), sql.infix(exp.NEQ, *negative)
    )


def _cut_quotient(to: Written) -> Sql:
    """Return a quotient cut towards zero; the one overflow is that by -1."""
    divisor = sql.function("nullif", _nonzero(to[1]), sql.whole(-1))
    opposite = whole_difference(sql.bigint(0), to[0])
    by_minus_one = sql.is_equal(to[1], sql.whole(-1))
    return sql.case([(by_minus_one, opposite)], sql.infix(exp.IntDiv, to[0], divisor))


def _floor_divide(to: Written) -> Sql:
    """Return a quotient rounded down."""
    if not to.real:
        down = sql.case([(_signs_differ(to), sql.bigint(1))], sql.bigint(0))
        return whole_difference(_cut_quotient(to), down)
    exact = sql.minus(to.joint(0), _rest(to))
    quotient = _quotient_of_doubles(exact, to.joint(1))
    down = sql.case([(_signs_differ(to), sql.double(1))], sql.double(0))
    return _zero_is_zero(_round_double(sql.minus(quotient, down)))


def _modulo(to: Written) -> Sql:
    """Return a remainder with the sign of the divisor."""
    if not to.real:
        shifted = whole_sum(_rest(to), to[1])
        return sql.case([(_signs_differ(to), shifted)], _rest(to))
    up = sql.case([(_signs_differ(to), to.joint(1))], sql.double(0))
    return _zero_is_zero(sql.plus(_rest(to), up))


def _negate(to: Written) -> Sql:
    """Return 0 - x."""
    if to.real:
        return sql.minus(sql.double(0), to[0])
    return whole_difference(sql.bigint(0), to[0])


def _clip(to: Written) -> Sql:
    """Return a number within bounds; NaN is greater than all, and stays."""
    branches = [(sql.is_less(to.joint(0), to.joint(1)), to.joint(1))]
    if to.types[0] == "f64":
        branches.append((sql.function("isnan", to[0]), to[0]))
    branches.append((sql.is_less(to.joint(2), to.joint(0)), to.joint(2)))
    return sql.case(branches, to.joint(0))


def _abs(to: Written) -> Sql:
    """Return the size of a number."""
    if to.real:
        return sql.function("abs", to[0])
    return sql.case([(sql.is_less(to[0], sql.whole(0)), _negate(to))], to[0])


def _floor_double(number: Sql) -> Sql:
    """Return a double rounded down as a double: Spark's floor is an integer."""
    nearest = sql.function("rint", number)
    above = sql.infix(exp.GT, nearest, number.copy())
    return sql.minus(nearest.copy(), sql.case([(above, sql.double(1))], sql.double(0)))


def _round_down(to: Written) -> Sql:
    """Return a multiple of a step; the least i64 have none below."""
    step = to.options["step"]
    if isinstance(step, float) or to.real:
        size = to.bind(float(step), "f64")
        steps = _quotient_of_doubles(sql.as_type(to[0], "DOUBLE"), size)
        return _zero_is_zero(sql.multiplied_by(_floor_double(steps), size.copy()))
    size, least = to.bind(step, "i64"), to.bind(least_multiple(step), "i64")
    below = whole_difference(to[0], sql.function("pmod", to[0], size))
    return sql.case([(sql.is_less(to[0], least), least.copy())], below)


def _round_double(number: Sql) -> Sql:
    """Return the nearest whole double, halves away from zero: rint is exact but there.

    The distance to it is exact, so that one half is told from what is almost one.
    """
    nearest = sql.function("rint", number)
    rest = sql.minus(number.copy(), nearest)
    up = sql.conjunction(
        sql.is_equal(rest, sql.half()), sql.is_less(sql.double(0), number.copy())
    )
    down = sql.conjunction(
        sql.is_equal(rest.copy(), sql.minus(sql.double(0), sql.half())),
        sql.is_less(number.copy(), sql.double(0)),
    )
    return sql.case(
        [
            (up, sql.plus(nearest.copy(), sql.double(1))),
            (down, sql.minus(nearest.copy(), sql.double(1))),
        ],
        nearest.copy(),
    )


def not_a_number() -> Sql:
    """Return NaN, with which values are compared: isnan says no of what is missing."""
    return sql.as_type(sql.letters("NaN"), "DOUBLE")


def lies_infinitely_far(number: Sql) -> Sql:
    """Return whether a double is an infinity."""
    far = sql.as_type(sql.letters("Infinity"), "DOUBLE")
    return sql.is_equal(sql.function("abs", number), far)


def _round(to: Written) -> Sql:
    """Return a number with so many digits, if it can be moved so far."""
    if not to.real:
        return to[0]
    size = to.bind(10.0 ** to.options["digits"], "f64")
    shifted = sql.multiplied_by(to[0], size)
    moved = _quotient_of_doubles(_round_double(shifted), size.copy())
    stays = sql.infix(
        exp.Or, lies_infinitely_far(shifted.copy()), sql.function("isnan", to[0])
    )
    return sql.case([(stays, to[0])], _zero_is_zero(moved))


def _sqrt(to: Written) -> Sql:
    """Return a root of what is not negative: NaN is above all, and stays."""
    number = sql.as_type(to[0], "DOUBLE")
    not_negative = sql.case([(sql.is_at_most(sql.double(0), number), number.copy())])
    return sql.function("sqrt", not_negative)


def within_64_bits(to: Written) -> Sql:
    """Return a double that an i64 can hold, or NULL."""
    low, high = to.bind(-_BEYOND, "f64"), to.bind(_BEYOND, "f64")
    inside = sql.conjunction(sql.is_at_most(low, to[0]), sql.is_less(to[0], high))
    return sql.case([(inside, to[0])])


def _integer(rounding: str) -> Entry:
    """Return the entry of a rounding to an integer."""

    def entry(to: Written) -> Sql:
        return sql.function(rounding, within_64_bits(to)) if to.real else to[0]

    return entry


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the rounding safe."""
    if to.real:
        return _real_steps(to, to.options["low"], to.options["high"])
    between = _shift_and_round(to, to.options["exponent"])
    return whole_steps(to, to[0], between, whole_difference)


def _real_steps(to: Written, low: int, high: int) -> Sql:
    """Return the steps of a double; NaN is above all, and has none."""
    exponent = to.options["exponent"]
    first = to.bind(math.ldexp(low, exponent), "f64")
    last = to.bind(math.ldexp(high, exponent), "f64")
    scale = to.bind(math.ldexp(1, -exponent), "f64")
    origin = to.options.get("origin", 0)
    value = to[0] if to.reads else sql.case([(_between_ends(to, first, last), to[0])])
    steps = sql.function("floor", sql.plus(sql.multiplied_by(value, scale), sql.half()))
    if origin:
        steps = whole_difference(steps, to.bind(origin, "i64"))
    return sql.case([
        (sql.is_less(to[0], first.copy()), to.bind(low - origin, "i64")),
        (sql.is_at_most(to[0], last.copy()), steps),
        (sql.is_less(to[0], not_a_number()), to.bind(high - origin, "i64")),
    ])


def _between_ends(to: Written, first: Sql, last: Sql) -> Sql:
    """Return whether a value lies between the ends of a lattice."""
    return sql.conjunction(sql.is_at_most(first, to[0]), sql.is_at_most(to[0], last))


def _shift_and_round(to: Written, exponent: int) -> Sql:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    if exponent == 0:
        return to[0]
    if exponent <= 0:  # between the thresholds x * 2**-e has at most 41 bits
        size = sql.bigint(1 << min(-exponent, _LONGEST_SHIFT))
        return whole_product(to[0], size)
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return whole_product(to[0], sql.bigint(0))
    shifted = sql.function("shiftright", to[0], sql.whole(exponent))
    rest = sql.function("shiftright", to[0], sql.whole(exponent - 1))
    return whole_sum(shifted, sql.infix(exp.BitwiseAnd, rest, sql.bigint(1)))


def _portion(to: Written) -> Sql:
    """Return a portion of a number of steps: squares of 31 bits, or of 31 in all."""
    low, place = to.options["low"], to.options["place"]
    size = sql.bigint(to.options["high"] - low)
    fine = sql.bigint(1 << to.options["finer"])
    above = replace(to, options={**to.options, "origin": low})

    def height() -> Sql:
        """Return the steps above the low end, for portion 0 below the high one."""
        steps = _steps(above)
        return steps if place else whole_difference(size.copy(), steps)

    square = whole_product(whole_product(height(), height()), fine.copy())
    share = sql.infix(exp.IntDiv, square, size.copy())
    if place != 1:
        return share
    rest = whole_difference(whole_product(height(), fine), share)
    return whole_product(sql.bigint(2), rest)


def _let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Return what is made of values that are computed once.

    An array of them stands for their names: the function of an array is called with its
    entry.
    """
    names = [f"v{place}" for place in range(len(values))]
    pairs = [(sql.letters(n), value) for n, value in zip(names, values, strict=True)]
    fields = [part for pair in pairs for part in pair]
    body = make(*(exp.column(name, table="v") for name in names))
    listed = sql.function("array", sql.function("named_struct", *fields))
    each = exp.Lambda(this=body, expressions=[exp.to_identifier("v")])
    return sql.function(
        "element_at", sql.function("transform", listed, each), sql.whole(1)
    )


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **exponential_entries(_let),
    arithmetic.ADD: _infix(exp.Add, "try_add"),
    arithmetic.SUBTRACT: _infix(exp.Sub, "try_subtract"),
    arithmetic.MULTIPLY: _infix(exp.Mul, "try_multiply"),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.QUOTIENT: _cut_quotient,
    arithmetic.REMAINDER: _rest,
    arithmetic.NEGATE: _negate,
    numeric.CLIP: _clip,
    numeric.ABS: _abs,
    numeric.ROUND_DOWN: _round_down,
    numeric.ROUND: _round,
    numeric.SQRT: _sqrt,
    numeric.FLOOR: _integer("floor"),
    numeric.CEIL: _integer("ceil"),
    lattice_steps.STEPS: _steps,
    lattice_steps.PORTION: _portion,
}
