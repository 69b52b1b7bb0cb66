"""The chance that a key nobody else has appears in a thresholded release.

One new key passes with chance p, the inclusive tail P[Z >= T - linf]; the chance that
any of l0 of them does is 1 - (1 - p)**l0, computed in logarithms and rounded up by at
most one step of a double.
"""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sordino.distributions.base import Tails
from sordino.numbers import ball, fraction, shortest
from sordino.numbers.precision import precision

_PRECISION = 96
_FINE = 256
_COARSE = 1e-300


@lru_cache(maxsize=1024)
def any_passes(law: Tails, gap: Fraction, keys: int) -> Fraction:
    """Return 1 - (1 - P[Z >= gap])**keys, rounded up to a short decimal."""
    digits = _PRECISION
    while True:
        with precision(digits):
            above = _decimal_above(_any(law, gap, keys))
        if above is not None:
            return above
        digits *= 2


def _decimal_above(chance: arb) -> Fraction | None:
    """Return the decimal of a double, above a chance and at most a step too far up.

    None asks for more precision. A chance of an unbounded law is never 0.
    """
    near = float(chance.mid())
    for point in (near, math.nextafter(near, math.inf)):
        decimal = _decimal(point)
        if ball(decimal) >= chance:
            below = math.nextafter(math.nextafter(point, 0.0), 0.0)
            tight = below == 0 or ball(_decimal(below)) < chance
            return min(decimal, Fraction(1)) if tight else None
    return None


def _decimal(point: float) -> Fraction:
    """Return the decimal of a double; the least doubles are too coarse for theirs."""
    return shortest(point) if point > _COARSE else Fraction(point)


def _any(law: Tails, gap: Fraction, keys: int) -> arb:
    """Enclose the chance, from whichever of p and 1 - p is small."""
    if gap <= 0:
        return 1 - law.chance_above(-gap) ** keys
    chance = -(keys * (-law.at_least(gap)).log1p()).expm1()
    return chance if chance.is_finite() else arb(1)


def each_passes(delta: Fraction, keys: int) -> Fraction:
    """Return the greatest p whose 1 - (1 - p)**keys is at most delta, rounded down.

    >>> float(each_passes(Fraction(3, 4), 2))
    0.5
    """
    with precision(_FINE):
        stays = (-ball(delta)).log1p() / keys
        return fraction((-stays.expm1()).lower()) if delta < 1 else Fraction(1)
