"""Sums of several independent Laplace noises of one scale."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import final

from flint import arb, arb_poly, fmpq

from sordino.numbers import Exact, ball


@final
@dataclass(frozen=True)
class LaplaceSumLaw:
    """The law of Z = L_1 + ... + L_count for Laplace noises of one scale."""

    count: int
    scale: Exact

    def at_least(self, x: Fraction) -> arb:
        """Return P[Z >= x]: exp(-t) times a polynomial in t = x / scale.

        Z is the difference of two Gamma(count) times: it exceeds t if fewer than
        `count` arrivals fall into t and another such time (docs/proofs/moments.md).
        """
        t = ball(abs(x)) / ball(self.scale)
        tail = (-t).exp() * arb_poly(self._factors)(t)
        return tail if x >= 0 else 1 - tail

    def chance_above(self, x: Fraction) -> arb:
        """Return P[Z >= x]: a point has no mass."""
        return self.at_least(x)

    @property
    def _factors(self) -> list[arb]:
        """Return those of the powers of t."""
        pieces = []
        for power in range(self.count):
            arrivals = (
                Fraction(comb(self.count - 1 + i, i), 2 ** (self.count + i))
                for i in range(self.count - power)
            )
            chance = sum(arrivals, Fraction(0)) / factorial(power)
            pieces.append(arb(fmpq(chance.numerator, chance.denominator)))
        return pieces
