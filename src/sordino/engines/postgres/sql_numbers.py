"""How PostgreSQL writes operations on numbers.

Integers meet as numbers of any length, and come back where they fit into 64 bits.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from sqlglot import exp

from sordino.engines.postgres import sql_doubles as doubles
from sordino.engines.postgres.guards import (
    all_of,
    let,
    narrow,
    narrow_double,
    numeric,
    real,
    whole_quotient,
)
from sordino.engines.postgres.sql_remainders import (
    doubles_rounded_down,
    rest_of_doubles,
)
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.exponential_entries import exponential_entries
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.whole_steps import whole_steps
from sordino.expressions import arithmetic, lattice_steps
from sordino.expressions import numeric as numbers
from sordino.expressions.numeric import least_multiple
from sordino.expressions.tree import Operation

_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41


def _nonzero(number: Sql) -> Sql:
    """Return a number, 0 as null: what is divided by null is null."""
    return exp.Nullif(this=number, expression=sql.whole(0))


def _infix(kind: type[exp.Expression], of_doubles: Callable[[Sql, Sql], Sql]) -> Entry:
    """Return the entry of an operator between two numbers."""

    def entry(to: Written) -> Sql:
        if to.real:
            return of_doubles(to.joint(0), to.joint(1))
        return narrow(sql.infix(kind, numeric(to[0]), numeric(to[1])))

    return entry


def _divide(to: Written) -> Sql:
    """Return a quotient of doubles."""
    dividend, divisor = (sql.as_type(part, "DOUBLE") for part in to.each())
    return doubles.double_quotient(dividend, divisor)


def _floor_parts(to: Written, make: Callable[[Sql, Sql, Sql], Sql]) -> Sql:
    """Return what is made of dividend, divisor and Python's remainder of integers."""

    def parts(dividend: Sql, divisor: Sql) -> Sql:
        rest = sql.function("mod", dividend.copy(), divisor.copy())
        shifted = sql.plus(rest, divisor.copy())
        return make(dividend, divisor, sql.function("mod", shifted, divisor.copy()))

    return let((numeric(to[0]), _nonzero(numeric(to[1]))), parts)


def _floor_divide(to: Written) -> Sql:
    """Return a quotient rounded down."""
    if to.real:
        return doubles_rounded_down(to.joint(0), _nonzero(to.joint(1)))
    return _floor_parts(
        to,
        lambda dividend, divisor, rest: narrow(
            sql.function("div", sql.minus(dividend, rest), divisor)
        ),
    )


def _modulo(to: Written) -> Sql:
    """Return the remainder with the sign of the divisor."""
    if to.real:
        return rest_of_doubles(to.joint(0), _nonzero(to.joint(1)))
    return _floor_parts(to, lambda _, __, rest: narrow(rest))


def _cut(name: str) -> Entry:
    """Return the entry of a division of integers that is cut towards zero."""

    def entry(to: Written) -> Sql:
        return narrow(sql.function(name, numeric(to[0]), _nonzero(numeric(to[1]))))

    return entry


def _negate(to: Written) -> Sql:
    """Return 0 - x."""
    if to.real:
        return sql.minus(sql.double(0), to[0])
    return narrow(sql.minus(sql.whole(0), numeric(to[0])))


def _clip(to: Written) -> Sql:
    """Return a number within bounds; NaN is greater than all, and stays."""
    branches = [(sql.is_less(to.joint(0), to.joint(1)), to.joint(1))]
    if to.types[0] == "f64":
        branches.append((doubles.equals_nan(to[0]), to[0]))
    branches.append((sql.is_less(to.joint(2), to.joint(0)), to.joint(2)))
    return sql.case(branches, to.joint(0))


def _abs(to: Written) -> Sql:
    """Return the size of a number."""
    return (
        doubles.size_of(to[0]) if to.real else narrow(doubles.size_of(numeric(to[0])))
    )


def _round_down(to: Written) -> Sql:
    """Return a multiple of a step; the least i64 have none below."""
    step = to.options["step"]
    if isinstance(step, float) or to.real:
        wide = to.bind(float(step), "f64")
        steps = doubles.double_quotient(sql.as_type(to[0], "DOUBLE"), wide)
        return doubles.double_product(sql.function("floor", steps), wide.copy())
    least = to.bind(least_multiple(step), "i64")

    def below(number: Sql) -> Sql:
        wide = numeric(to.bind(step, "i64"))
        rest = sql.plus(sql.function("mod", numeric(number), wide), wide.copy())
        rest = sql.function("mod", rest, wide.copy())
        down = narrow(sql.minus(numeric(number.copy()), rest))
        return sql.case([(sql.is_less(number.copy(), least), least.copy())], down)

    return let((to[0],), below)


def _round(to: Written) -> Sql:
    """Return a number with so many digits, if it can be moved so far."""
    if not to.real:
        return to[0]
    wide = to.bind(10.0 ** to.options["digits"], "f64")

    def rounded(number: Sql, shifted: Sql) -> Sql:
        moved = sql.infix(exp.Div, doubles.nearest_whole(shifted), wide.copy())
        finite = sql.is_less(doubles.size_of(shifted.copy()), real(math.inf))
        return sql.case([(finite, doubles.zero_is_zero(moved))], number)

    return let(
        (to[0],),
        lambda number: let(
            (number, doubles.double_product(number.copy(), wide)), rounded
        ),
    )


def _sqrt(to: Written) -> Sql:
    """Return a root of what is not negative: NaN is above all, and stays."""

    def root(number: Sql) -> Sql:
        positive = sql.case([(sql.is_at_most(sql.double(0), number), number.copy())])
        return sql.function("sqrt", positive)

    return let((sql.as_type(to[0], "DOUBLE"),), root)


def _integer(rounding: str) -> Entry:
    """Return the entry of a rounding to an integer."""

    def entry(to: Written) -> Sql:
        return narrow_double(sql.function(rounding, to[0])) if to.real else to[0]

    return entry


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the cast safe."""
    exponent = to.options["exponent"]

    def steps(number: Sql) -> Sql:
        if to.real:
            return _real_steps(to, number)
        return whole_steps(to, number, _between(number, exponent), sql.minus)

    return let((to[0],), steps)


def _real_steps(to: Written, number: Sql) -> Sql:
    """Return the steps of a double; NaN is above all, and has none."""
    low, high = to.options["low"], to.options["high"]
    exponent, origin = to.options["exponent"], to.options.get("origin", 0)
    scale = to.bind(math.ldexp(1, -exponent), "f64")
    moved = sql.plus(sql.multiplied_by(number.copy(), scale), sql.half())
    steps = sql.as_type(sql.function("floor", moved), "BIGINT")
    first, last = (to.bind(math.ldexp(end, exponent), "f64") for end in (low, high))
    branches = [(sql.is_less(number.copy(), first), to.bind(low - origin, "i64"))]
    if exponent > 0:  # so near to zero that no double is small enough for it
        near = real(math.ldexp(1, exponent - 2))
        branches.append((
            all_of(
                sql.is_less(doubles.size_of(number.copy()), near),
                sql.is_at_most(number.copy(), last.copy()),
            ),
            to.bind(-origin, "i64"),
        ))
    if origin:
        steps = sql.minus(steps, to.bind(origin, "i64"))
    branches += [
        (sql.is_at_most(number.copy(), last), steps),
        (
            sql.negation(doubles.equals_nan(number.copy())),
            to.bind(high - origin, "i64"),
        ),
    ]
    return sql.case(branches)


def _between(number: Sql, exponent: int) -> Sql:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    if exponent <= 0:  # between the thresholds x * 2**-e has at most 41 bits
        wide = sql.bigint(1 << min(-exponent, _LONGEST_SHIFT))
        return sql.multiplied_by(number.copy(), wide)
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return sql.multiplied_by(number.copy(), sql.bigint(0))
    shifted, rest = (
        sql.infix(exp.BitwiseRightShift, number.copy(), sql.whole(places))
        for places in (exponent, exponent - 1)
    )
    return sql.plus(shifted, sql.infix(exp.BitwiseAnd, rest, sql.bigint(1)))


def _portion(to: Written) -> Sql:
    """Return a portion of a number of steps: squares of 31 bits, or of 31 in all."""
    low, place = to.options["low"], to.options["place"]
    whole = sql.bigint(to.options["high"] - low)
    fine = sql.bigint(1 << to.options["finer"])
    above = _steps(replace(to, options={**to.options, "origin": low}))
    # the steps above the low end, for portion 0 below the high one
    height = above if place else sql.minus(whole.copy(), above)

    def portion(steps: Sql) -> Sql:
        square = sql.multiplied_by(sql.multiplied_by(steps, steps.copy()), fine.copy())
        share = whole_quotient(square, whole.copy())
        if place != 1:
            return share
        rest = sql.minus(sql.multiplied_by(steps.copy(), fine), share)
        return sql.multiplied_by(sql.bigint(2), rest)

    return let((height,), portion)


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **exponential_entries(let),
    arithmetic.ADD: _infix(exp.Add, doubles.double_sum),
    arithmetic.SUBTRACT: _infix(exp.Sub, doubles.double_difference),
    arithmetic.MULTIPLY: _infix(exp.Mul, doubles.double_product),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.QUOTIENT: _cut("div"),
    arithmetic.REMAINDER: _cut("mod"),
    arithmetic.NEGATE: _negate,
    numbers.CLIP: _clip,
    numbers.ABS: _abs,
    numbers.ROUND_DOWN: _round_down,
    numbers.ROUND: _round,
    numbers.SQRT: _sqrt,
    numbers.FLOOR: _integer("floor"),
    numbers.CEIL: _integer("ceil"),
    lattice_steps.STEPS: _steps,
    lattice_steps.PORTION: _portion,
}
