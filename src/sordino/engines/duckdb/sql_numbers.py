"""How DuckDB writes operations on numbers.

Integers are added and multiplied as HUGEINT, where no two of them can overflow, and
come back by TRY_CAST; `+ 0.0` turns -0.0 into 0.0. Nothing here can raise.
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
from sordino.expressions.numeric import LARGEST_STEP, least_multiple
from sordino.expressions.tree import Operation

_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41
_WHOLE_BITS: Final = 51
"""Sums and differences of so many steps, and of the ends of a lattice, are exact."""
_MOST: Final = "sordino most"


def _huge(number: Sql) -> Sql:
    """Return an integer of 128 bits."""
    return sql.as_type(number, "HUGEINT")


def _narrow(number: Sql) -> Sql:
    """Return an integer of 64 bits, or NULL."""
    return sql.as_type_or_null(number, "BIGINT")


def _zero_is_zero(number: Sql) -> Sql:
    """Return a double, -0.0 as 0.0."""
    return sql.plus(number, sql.double(0))


def _infix(kind: type[exp.Expression]) -> Entry:
    """Return the entry of an operator between two numbers."""

    def entry(to: Written) -> Sql:
        if to.real:
            return _zero_is_zero(sql.infix(kind, to.joint(0), to.joint(1)))
        return _narrow(sql.infix(kind, _huge(to[0]), _huge(to[1])))

    return entry


def _nonzero(number: Sql) -> Sql:
    """Return a number, 0 as NULL: what is divided by NULL is NULL."""
    return sql.function("nullif", number, sql.whole(0))


def _divide(to: Written) -> Sql:
    """Return a quotient of doubles."""
    number, other = sql.as_type(to[0], "DOUBLE"), sql.as_type(to[1], "DOUBLE")
    return _zero_is_zero(sql.infix(exp.Div, number, _nonzero(other)))


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


def _by_small(to: Written) -> bool:
    """Tell whether an integer is divided by a literal by which nothing overflows."""
    divisor = to.known[1].constant
    return not to.real and divisor is not None and 0 < divisor <= LARGEST_STEP


def _bare_rest(to: Written) -> Sql:
    """Return the remainder of a division by a positive literal, with its own sign."""
    return sql.infix(exp.Mod, to[0], to[1])


def _whole_parts(to: Written) -> tuple[Sql, Sql, Sql]:
    """Return dividend, divisor (0 as NULL) and Python's remainder as HUGEINT."""
    number, other = _huge(to[0]), _nonzero(_huge(to[1]))
    shifted = sql.plus(sql.infix(exp.Mod, number, other), other.copy())
    return number.copy(), other.copy(), sql.infix(exp.Mod, shifted, other.copy())


def _floor_divide(to: Written) -> Sql:
    """Return a quotient rounded down."""
    if _by_small(to):
        negative = sql.is_less(_bare_rest(to), sql.bigint(0))
        down = sql.case([(negative, sql.bigint(1))], sql.bigint(0))
        return sql.minus(sql.infix(exp.IntDiv, to[0], to[1]), down)
    if not to.real:
        number, other, rest = _whole_parts(to)
        return _narrow(sql.infix(exp.IntDiv, sql.minus(number, rest), other))
    exact = sql.minus(to.joint(0), _rest(to))
    quotient = sql.infix(exp.Div, exact, _nonzero(to.joint(1)))
    down = sql.case([(_signs_differ(to), sql.double(1))], sql.double(0))
    return _zero_is_zero(sql.function("round", sql.minus(quotient, down)))


def _modulo(to: Written) -> Sql:
    """Return a remainder with the sign of the divisor."""
    if _by_small(to):
        positive = sql.plus(_bare_rest(to), to[1])
        return sql.infix(exp.Mod, positive, to[1])
    if not to.real:
        return _narrow(_whole_parts(to)[2])
    up = sql.case([(_signs_differ(to), to.joint(1))], sql.double(0))
    return _zero_is_zero(sql.plus(_rest(to), up))


def _cut_entry(kind: type[exp.Expression]) -> Entry:
    """Return the entry of a division of integers that is cut towards zero."""

    def entry(to: Written) -> Sql:
        return _narrow(sql.infix(kind, _huge(to[0]), _nonzero(_huge(to[1]))))

    return entry


def _negate(to: Written) -> Sql:
    """Return 0 - x."""
    if to.real:
        return sql.minus(sql.double(0), to[0])
    return _narrow(sql.minus(_huge(sql.whole(0)), _huge(to[0])))


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
    return _narrow(sql.function("abs", _huge(to[0])))


def _round_down(to: Written) -> Sql:
    """Return a multiple of a step; the least i64 have none below."""
    step = to.options["step"]
    if isinstance(step, float) or to.real:
        size = to.bind(float(step), "f64")
        steps = sql.infix(exp.Div, sql.as_type(to[0], "DOUBLE"), size)
        return _zero_is_zero(
            sql.multiplied_by(sql.function("floor", steps), size.copy())
        )
    size, least = to.bind(step, "i64"), to.bind(least_multiple(step), "i64")
    rest = sql.plus(sql.infix(exp.Mod, to[0], size), size.copy())
    rest = sql.infix(exp.Mod, rest, size.copy())
    below = _narrow(sql.minus(_huge(to[0]), _huge(rest)))
    return sql.case([(sql.is_less(to[0], least), least.copy())], below)


def _round(to: Written) -> Sql:
    """Return a number with so many digits, if it can be moved so far."""
    if not to.real:
        return to[0]
    size = to.bind(10.0 ** to.options["digits"], "f64")
    shifted = sql.multiplied_by(to[0], size)
    moved = sql.infix(exp.Div, sql.function("round", shifted), size.copy())
    stays = sql.infix(
        exp.Or, sql.function("isinf", shifted.copy()), sql.function("isnan", to[0])
    )
    return sql.case([(stays, to[0])], _zero_is_zero(moved))


def _sqrt(to: Written) -> Sql:
    """Return a root of what is not negative: NaN is above all, and stays."""
    number = sql.as_type(to[0], "DOUBLE")
    not_negative = sql.case([(sql.is_at_most(sql.double(0), number), number.copy())])
    return sql.function("sqrt", not_negative)


def _integer(rounding: str) -> Entry:
    """Return the entry of a rounding to an integer."""

    def entry(to: Written) -> Sql:
        return _narrow(sql.function(rounding, to[0])) if to.real else to[0]

    return entry


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the cast safe."""
    if to.real:
        return _real_steps(to, to.options["low"], to.options["high"])
    between = _steps_between(to, to.options["exponent"])
    return whole_steps(to, to[0], between, _wide_difference)


def _real_steps(to: Written, low: int, high: int) -> Sql:
    """Return the steps of a double; NaN is above all, and has none.

    With z the steps above the low end, |z| - |z - width| is twice what z is within its
    bounds, less the width. That is exact up to 2**52 steps, and takes a third of the
    time that comparisons do (docs/proofs/queries.md, lemma 12).
    """
    exponent, origin = to.options["exponent"], to.options.get("origin", 0)
    scale = to.bind(math.ldexp(1, -exponent), "f64")
    above = sql.function("floor", sql.plus(sql.multiplied_by(to[0], scale), sql.half()))
    if low:
        above = sql.minus(above, to.bind(float(low), "f64"))
    width = to.bind(float(high - low), "f64")
    twice = sql.minus(_size(above), _size(sql.minus(above.copy(), width)))
    middle = to.bind((low + high) / 2 - origin, "f64")
    between = sql.plus(sql.multiplied_by(twice, sql.half()), middle)
    far = to.bind(math.ldexp(1, exponent + _WHOLE_BITS), "f64")
    ends = {-1: float(low - origin), 1: float(high - origin)}
    beyond = sql.case_of(
        sql.function("sign", to[0]),  # of NaN it is 0
        {sign: to.bind(end, "f64") for sign, end in ends.items()},
    )
    steps = sql.case([(sql.is_at_most(_size(to[0]), far), between)], beyond)
    return whole_double(steps, most=max(map(abs, map(int, ends.values()))))


def _size(number: Sql) -> Sql:
    """Return how far a double is from 0."""
    return sql.function("abs", number)


def whole_double(double: Sql, most: int) -> Sql:
    """Return a double that is an integer of at most this size as an i64."""
    value = sql.as_type(double, "BIGINT")
    value.meta[_MOST] = most
    return value


def size_of_double(value: Sql) -> int | None:
    """Return the greatest size of an i64 that was made of a double; None of others."""
    return value.meta.get(_MOST)


def _wide_difference(number: Sql, other: Sql) -> Sql:
    """Return number - other by way of 128 bits."""
    return _narrow(sql.minus(_huge(number), _huge(other)))


def _steps_between(to: Written, exponent: int) -> Sql:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    if exponent <= 0:  # between the thresholds x * 2**-e has at most 41 bits
        size = sql.bigint(1 << min(-exponent, _LONGEST_SHIFT))
        if to.reads:
            return sql.multiplied_by(to[0], size)
        return _narrow(sql.multiplied_by(_huge(to[0]), _huge(size)))
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return sql.multiplied_by(to[0], sql.bigint(0))
    shifted = sql.infix(exp.BitwiseRightShift, to[0], sql.whole(exponent))
    rest = sql.infix(exp.BitwiseRightShift, to[0], sql.whole(exponent - 1))
    return sql.plus(shifted, sql.infix(exp.BitwiseAnd, rest, sql.bigint(1)))


def _portion(to: Written) -> Sql:
    """Return a portion of a number of steps: squares of 31 bits, or of 31 in all."""
    low, place = to.options["low"], to.options["place"]
    size = sql.bigint(to.options["high"] - low)
    fine = sql.bigint(1 << to.options["finer"])
    above = replace(to, options={**to.options, "origin": low})

    def height() -> Sql:
        """Return the steps above the low end, for portion 0 below the high one."""
        steps = _steps(above)
        return steps if place else sql.minus(size.copy(), steps)

    square = sql.multiplied_by(sql.multiplied_by(height(), height()), fine.copy())
    share = sql.infix(exp.IntDiv, square, size.copy())
    if place != 1:
        return share
    rest = sql.minus(sql.multiplied_by(height(), fine), share)
    return sql.multiplied_by(sql.bigint(2), rest)


def _let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Return what is made of values that are computed once.

    A list of them stands for their names: the function of a list is called with its
    entry.
    """
    names = [f"v{place}" for place in range(len(values))]
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in zip(names, values, strict=True)
    ]
    entry = exp.to_identifier("v")
    body = make(
        *(sql.function("struct_extract", entry.copy(), sql.letters(n)) for n in names)
    )
    listed = exp.Array(expressions=[sql.function("struct_pack", *fields)])
    each = exp.Lambda(this=body, expressions=[entry])
    return sql.function(
        "list_extract", sql.function("list_transform", listed, each), sql.whole(1)
    )


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **exponential_entries(_let),
    arithmetic.ADD: _infix(exp.Add),
    arithmetic.SUBTRACT: _infix(exp.Sub),
    arithmetic.MULTIPLY: _infix(exp.Mul),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.QUOTIENT: _cut_entry(exp.IntDiv),
    arithmetic.REMAINDER: _cut_entry(exp.Mod),
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
