"""No noise at all: a point mass at zero."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from flint import arb

from sordino.distributions.base import AbstractLaw
from sordino.numbers import Exact


@final
@dataclass(frozen=True)
class PointMass(AbstractLaw):
    """P[Z = 0] = 1."""

    @property
    def deviation(self) -> float:
        """Return zero."""
        return 0.0

    def at_least(self, x: Exact) -> arb:
        """Return 1 up to zero."""
        return arb(int(x <= 0))

    def above(self, x: Exact) -> arb:
        """Return 1 below zero."""
        return arb(int(x < 0))

    def upper_quantile(self, tail: Fraction) -> Exact:
        """Return zero, the only point."""
        return Fraction(0 * tail)

    def _lower_quantile(self, p: Fraction) -> Exact:
        """Return zero, the only point."""
        return Fraction(0 * p)
