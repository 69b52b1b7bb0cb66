"""The only conversions to float: each names its direction.

>>> from sordino.numbers.radical import sqrt
>>> up(Fraction(1, 3)) > Fraction(1, 3) > down(Fraction(1, 3))
True
"""

import math
from fractions import Fraction
from typing import Literal

from flint import arb, fmpq

from sordino.numbers.precision import precision
from sordino.numbers.radical import Exact, Radical

_END_BITS = 128
_RATIONAL_BITS = 256
_BEYOND = 1100
"""A power of two beyond which every double is 0 or infinite, in either direction."""


def ball(value: "Exact") -> arb:
    """Return an enclosure at the working precision of flint."""
    if isinstance(value, Radical):
        root = ball(value.radicand)
        for _ in range(value.index.bit_length() - 1):
            root = root.sqrt()
        return root
    return arb(fmpq(value.numerator, value.denominator))


def fraction(point: arb) -> Fraction:
    """Return an exact ball as a rational."""
    mantissa, exponent = map(int, point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def shortest(value: float) -> Fraction:
    """Return what a finite double stands for: its shortest decimal.

    >>> shortest(0.1), shortest(2.5e-7)
    (Fraction(1, 10), Fraction(1, 4000000))
    """
    return Fraction(float.__repr__(value))


def up(value: "Exact | float | arb") -> float:
    """Return the least double that is not below the value.

    >>> from sordino.numbers.radical import sqrt
    >>> up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    return _round(value, 1)


def down(value: "Exact | float | arb") -> float:
    """Return the greatest double that is not above the value."""
    return _round(value, -1)


def rational_above(value: Exact) -> Fraction:
    """Return a rational not below the number, above it by at most one part in 2**250.

    >>> from sordino.numbers.radical import sqrt
    >>> 0 < rational_above(sqrt(Fraction(2))) ** 2 - 2 < Fraction(1, 2**200)
    True
    """
    if isinstance(value, Fraction):
        return value
    with precision(_RATIONAL_BITS):
        return fraction(ball(value).upper())


def rounded_up(value: "Exact") -> Fraction:
    """Return the least short decimal, as doubles are printed, not below the value.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(1, 10))
    (Fraction(33333333333333337, 100000000000000000), Fraction(1, 10))
    """
    near = down(value)
    while shortest(near) < value:
        near = math.nextafter(near, math.inf)
    return shortest(near)


def floor_log2(value: "Exact") -> int:
    """Return the greatest e with 2**e <= value, for a positive value.

    >>> from sordino.numbers.radical import sqrt
    >>> floor_log2(Fraction(3, 8)), floor_log2(sqrt(Fraction(8)))
    (-2, 1)
    """
    if isinstance(value, Radical):
        return floor_log2(value.radicand) // value.index
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent - (Fraction(2) ** exponent > value)


def _round(value: "Exact | float | arb", towards: Literal[1, -1]) -> float:
    """Round to a double in one direction."""
    if isinstance(value, float):
        return value
    if isinstance(value, Radical):
        return _directed_root(value, towards)
    if isinstance(value, arb):
        return _directed_ball(value, towards)
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if math.isinf(nearest):
        return nearest if nearest * towards > 0 else math.nextafter(nearest, 0.0)
    error = (Fraction(nearest) - value) * towards
    return nearest if error >= 0 else math.nextafter(nearest, math.inf * towards)


def _directed_root(value: Radical, towards: Literal[1, -1]) -> float:
    """Round a root: start from an enclosure and step until the powers agree."""
    digits = 128
    while True:
        with precision(digits):
            enclosure = ball(value)
            low, high = fraction(enclosure.lower()), fraction(enclosure.upper())
        answer = _round(high, towards)
        if answer == _round(low, towards):
            return answer
        digits *= 2


def _directed_ball(value: arb, towards: Literal[1, -1]) -> float:
    """Round the outer end of a ball."""
    if not value.is_finite():
        return math.inf * towards
    with precision(_END_BITS):
        end = value.upper() if towards > 0 else value.lower()
    mantissa, exponent = map(int, end.man_exp())
    size = exponent + abs(mantissa).bit_length()
    exponent += min(0, _BEYOND - size) + max(0, -_BEYOND - size)
    return _round(Fraction(mantissa) * Fraction(2) ** exponent, towards)
