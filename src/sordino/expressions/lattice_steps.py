"""Numbers as whole steps of a public lattice: what sums are made of.

steps(x) = floor(min(max(x, low * 2^e), high * 2^e) / 2^e + 1/2) - origin

And the three nonnegative integers into which a number is divided for its square (see
docs/proofs/moments.md, lemma 1): with k = steps(x), W = high - low and m = 2^finer,

portion 2 = floor(k^2 m / W), portion 1 = 2 (k m - portion 2), portion 0 = W m - both
"""

import math
from typing import Final

from sordino import _validate
from sordino.expressions import facts
from sordino.expressions.base import AbstractExpression, Value
from sordino.expressions.fluent import lift
from sordino.expressions.literals import LEAST, MOST
from sordino.expressions.tree import Argument, Call, Operation
from sordino.schema import NUMBERS, Column

FARTHEST: Final = 2**40
"""The most steps on either side: their sums stay exact, and each is a double."""
WIDEST: Final = 2**31
"""The most steps whose square fits into 64 bits."""
_LONGEST_PORTION: Final = 31
"""Finer portions than of so many bits could have squares beyond 64 bits."""
STEEPEST: Final = 960
"""Beyond this exponent the ends of a lattice need not be doubles."""


def _facts(
    argument: Argument, low: int, high: int, exponent: int, origin: int = 0
) -> Column:
    """Return the facts of a number of steps: NaN has none."""
    del low, high, exponent, origin
    facts.require_types("steps", (argument,), NUMBERS, 'Try .cast("f64").')
    lost = "NaN is not on a lattice" if argument.column.nan else None
    return facts.result("i64", (argument,), lost=lost)


def _meaning(
    number: Value, low: int, high: int, exponent: int, origin: int = 0
) -> Value:
    """Return the number of steps from an origin."""
    if isinstance(number, int):
        return _of_integer(number, low, high, exponent) - origin
    if math.isnan(number):
        return None
    first, last = math.ldexp(low, exponent), math.ldexp(high, exponent)
    steps_up = min(max(number, first), last) * math.ldexp(1, -exponent)
    return math.floor(steps_up + 0.5) - origin


def _of_integer(number: int, low: int, high: int, exponent: int) -> int:
    """Return the number of steps, in exact integers."""
    if exponent <= 0:
        return min(max(number << -exponent, low), high)
    return min(max((number + (1 << exponent - 1)) >> exponent, low), high)


def _portion_facts(
    argument: Argument, low: int, high: int, exponent: int, place: int, finer: int
) -> Column:
    """Return the facts of a number of steps."""
    del place, finer
    return _facts(argument, low, high, exponent)


def _portion(
    number: Value, low: int, high: int, exponent: int, place: int, finer: int
) -> Value:
    """Return one of the three integers; portion 0 is that of the mirrored number."""
    steps = _meaning(number, low, high, exponent, low)
    if not isinstance(steps, int):
        return None
    width = high - low
    height = steps if place else width - steps
    square = (height * height << finer) // width
    return 2 * ((height << finer) - square) if place == 1 else square


STEPS: Final = Operation("steps", _facts, _meaning, copies=4)
PORTION: Final = Operation("portion", _portion_facts, _portion, copies=12)

OPERATIONS: Final = (STEPS, PORTION)


def steps(
    expression: AbstractExpression, low: int, high: int, exponent: int, origin: int = 0
) -> AbstractExpression:
    """Return how many steps of 2**exponent a number is, within [low, high].

    They are counted from an origin, given in steps.

    Halves go up. Infinities are at the ends; missing and NaN are missing. For an i64
    this is exact, for an f64 it is floor(x * 2**-exponent + 0.5) in doubles.

    >>> from sordino.expressions.language import col
    >>> money = steps(col("x"), 0, 400, -2)
    >>> [money.value({"x": x}) for x in (1.3, -5.0, math.inf, math.nan, 99)]
    [5, 0, 400, None, 396]
    """
    _validate.integer(low=low, least=-FARTHEST, most=FARTHEST)
    _validate.integer(high=high, least=low, most=FARTHEST)
    _validate.integer(exponent=exponent, least=-STEEPEST, most=STEEPEST)
    _validate.integer(origin=origin, least=-FARTHEST, most=FARTHEST)
    options = {"low": int(low), "high": int(high), "exponent": int(exponent)}
    if origin:
        options["origin"] = int(origin)
    return Call(STEPS, (lift(expression),), options)


def portion(
    expression: AbstractExpression,
    low: int,
    high: int,
    exponent: int,
    place: int,
    finer: int,
) -> AbstractExpression:
    """Return one of the integers whose sum is (high - low) 2**finer for every number.

    >>> from sordino.expressions.language import col
    >>> parts = [portion(col("x"), 0, 8, 0, place, 3) for place in (0, 1, 2)]
    >>> [[part.value({"x": x}) for part in parts] for x in (0, 3, 8)]
    [[64, 0, 0], [25, 30, 9], [0, 0, 64]]
    """
    wide = _validate.integer(high=high, least=low + 1, most=FARTHEST) - low
    finest = max(0, _LONGEST_PORTION - wide.bit_length())
    options = {
        "low": _validate.integer(low=low, least=-FARTHEST, most=FARTHEST),
        "high": int(high),
        "exponent": _validate.integer(
            exponent=exponent, least=-STEEPEST, most=STEEPEST
        ),
        "place": _validate.integer(place=place, least=0, most=2),
        "finer": _validate.integer(finer=finer, least=0, most=finest),
    }
    _validate.integer(width=wide, least=1, most=WIDEST)
    return Call(PORTION, (lift(expression),), options)


def thresholds(low: int, high: int, exponent: int) -> tuple[int, int]:
    """Return up to where an i64 has `low` steps, and from where it has `high`.

    Both are within 64 bits or one beyond.

    >>> thresholds(-3, 5, -1), thresholds(1, 2**40, 40)
    ((-2, 3), (1099511627776, 9223372036854775808))
    """
    if exponent < 0:
        first, last = low >> -exponent, -(-high >> -exponent)
    else:
        first, last = low << exponent, high << exponent
    return min(max(first, LEAST - 1), MOST), max(min(last, MOST + 1), LEAST)
