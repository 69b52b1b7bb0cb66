"""No noise at all: a point mass at zero."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sordino.distributions.base import AbstractLaw
from sordino.distributions.blends import AbstractBlend, Floats, LaplaceBlend
from sordino.numbers import Exact


@final
@dataclass(frozen=True)
class PointMass(AbstractLaw):
    """P[Z = 0] = 1."""

    @property
    def deviation(self) -> float:
        """Return zero."""
        return 0.0

    @property
    def blend(self) -> AbstractBlend:
        """Return any: times 0 it adds nothing."""
        return LaplaceBlend()

    @property
    def spread(self) -> float:
        """Return zero."""
        return 0.0

    @property
    def slip(self) -> float:
        """Return zero."""
        return 0.0

    def log_at_least(self, x: Floats) -> Floats:
        """Return 0 up to zero, and no chance beyond."""
        return np.where(x <= 0, 0.0, -np.inf)

    def at_least(self, x: Exact) -> arb:
        """Return 1 up to zero."""
        return arb(int(x <= 0))

    def chance_above(self, x: Exact) -> arb:
        """Return 1 below zero."""
        return arb(int(x < 0))

    def upper_quantile(self, tail: Fraction) -> Exact:
        """Return zero, the only point."""
        return Fraction(0 * tail)

    def _lower_quantile(self, p: Fraction) -> Exact:
        """Return zero, the only point."""
        return Fraction(0 * p)
