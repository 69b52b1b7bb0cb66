"""Roots of rationals: exact numbers that no fraction equals.

Kernel: mathematics.
"""

import math
from fractions import Fraction
from functools import total_ordering
from numbers import Rational
from typing import TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.numbers.frozen import fill

FORMS = 'Write a number such as 2, 0.5, "0.1", "1/3", "1e-6" or "sqrt(2)".'
"""How a refusal ends."""


@final
@total_ordering
class Radical:
    """An irrational root `radicand ** (1 / index)`, index a power of two.

    Closed under multiplication, division, integer powers and square roots, and
    compared exactly. Built by `sqrt`, which returns a Fraction where it can.

    >>> sqrt(Fraction(2)) * sqrt(Fraction(8)), sqrt(Fraction(2)) < Fraction(3, 2)
    (Fraction(4, 1), True)
    """

    __slots__ = ("index", "radicand")
    radicand: Fraction
    index: int

    def __init__(self, radicand: Fraction, index: int) -> None:
        """Trust the caller that the root is irrational and `index` least."""
        fill(self, radicand=radicand, index=index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Radical is frozen: cannot set {name}")

    def __repr__(self) -> str:
        text = str(self.radicand)
        for _ in range(self.index.bit_length() - 1):
            text = f"sqrt({text})"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return Radical, (self.radicand, self.index)

    def __hash__(self) -> int:
        return hash((self.radicand, self.index))

    def __eq__(self, other: object) -> bool:
        """Compare exactly; a root in least form equals no rational."""
        if isinstance(other, Radical):
            return (self.radicand, self.index) == (other.radicand, other.index)
        if isinstance(other, (Rational, float)):
            return False
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        """Compare by powers that make both sides rational."""
        if isinstance(other, float) and not math.isfinite(other):
            return NotImplemented if math.isnan(other) else other > 0
        if isinstance(other, (Rational, float)):
            bound = as_fraction(other)
            return bound > 0 and self.radicand < bound**self.index
        if isinstance(other, Radical):
            index = max(self.index, other.index)
            return _power(self, index) < _power(other, index)
        return NotImplemented

    def __mul__(self, other: object) -> "Exact":
        if isinstance(other, (Rational, Radical)):
            return _rooted_product(self, other, 1)
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> "Exact":
        if isinstance(other, (Rational, Radical)):
            return _rooted_product(self, other, -1)
        return NotImplemented

    def __rtruediv__(self, other: object) -> "Exact":
        if isinstance(other, Rational):
            return as_fraction(other) * self**-1
        return NotImplemented

    def __pow__(self, exponent: int) -> "Exact":
        return _root(self.radicand**exponent, self.index)

    def __float__(self) -> float:
        """Return the least double not below the root."""
        # About 64 binary digits of the root; irrational, it lies above any prefix.
        shift = 64 - _log2(self.radicand) // self.index
        digits = math.floor(self.radicand * Fraction(2) ** (self.index * shift))
        for _ in range(self.index.bit_length() - 1):
            digits = math.isqrt(digits)
        exponent = max(-shift + digits.bit_length() - 53, -1074)
        try:
            return math.ldexp((digits >> (exponent + shift)) + 1, exponent)
        except OverflowError:
            return math.inf


Exact: TypeAlias = Fraction | Radical
"""An exact number as the library holds it."""


def sqrt(value: "Exact") -> Exact:
    """Return the exact square root of a number that is not negative.

    >>> sqrt(Fraction(9, 4)), sqrt(Fraction(2))
    (Fraction(3, 2), sqrt(2))
    """
    if isinstance(value, Radical):
        return Radical(value.radicand, value.index * 2)
    return _root(value, 2)


def floor_exact(value: "Exact") -> int:
    """Return the greatest integer not above a number.

    >>> floor_exact(Fraction(-1, 2)), floor_exact(sqrt(Fraction(8)))
    (-1, 2)
    """
    if isinstance(value, Fraction):
        return math.floor(value)
    count, index = math.floor(value.radicand), value.index
    while index > 1:  # the floor of a root is that of the root of the floor
        count, index = math.isqrt(count), index // 2
    return count


def _root(radicand: Fraction, index: int) -> Exact:
    while index > 1:
        above, below = math.isqrt(radicand.numerator), math.isqrt(radicand.denominator)
        # isqrt rounds down: only perfect squares come back whole
        if above**2 != radicand.numerator or below**2 != radicand.denominator:
            return Radical(radicand, index)
        radicand, index = Fraction(above, below), index // 2
    return radicand


def _power(value: "Exact | Rational", exponent: int) -> Fraction:
    """Return a power that is rational because `exponent` is a multiple of the index."""
    if isinstance(value, Radical):
        return value.radicand ** (exponent // value.index)
    return as_fraction(value) ** exponent


def as_fraction(value: "Rational | float") -> Fraction:
    """Return a rational made of Python integers: NumPy's would overflow."""
    if isinstance(value, float):
        return Fraction(value)
    return Fraction(int(value.numerator), int(value.denominator))


def _rooted_product(root: Radical, other: "Radical | Rational", sign: int) -> Exact:
    index = max(root.index, other.index if isinstance(other, Radical) else 1)
    if not isinstance(other, Radical) and other < 0:
        raise InvalidParameter("factor", other, "must not be negative", FORMS)
    return _root(_power(root, index) * _power(other, index) ** sign, index)


def _log2(value: Fraction) -> int:
    """Return about log2, within one."""
    return value.numerator.bit_length() - value.denominator.bit_length()
