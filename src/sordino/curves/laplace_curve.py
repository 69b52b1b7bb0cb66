"""The curve of Laplace noise on one number."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sordino.curves.curve import AbstractCurve, End
from sordino.curves.laws.law import Laws
from sordino.curves.laws.range_laws import LaplaceLaw
from sordino.curves.points import ELEMENTARY, Floats
from sordino.curves.response import is_revealing, response_law
from sordino.numbers import INFINITE, Extended, up

_STEEPEST = 600.0


@final
@dataclass(frozen=True, eq=False)
class LaplaceCurve(AbstractCurve):
    """Laplace noise whose shift is `ratio` scales."""

    ratio: Extended

    @property
    def end(self) -> End:
        """Return that no loss is greater than the ratio."""
        return End(self.ratio, Fraction(0), self.ratio is not INFINITE)

    def laws(self) -> Laws:
        """Return the law with atoms at both ends and an exponential between."""
        ratio = up(self.ratio)
        if ratio == 0 or is_revealing(self.ratio):
            return (response_law(self.ratio),)
        return (LaplaceLaw(ratio),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return 1 - exp((e - ratio) / 2) below the ratio."""
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.ones_like(epsilon)
        gap = np.minimum(epsilon - ratio, 0.0) / 2
        return -np.expm1(gap) * (1 + ELEMENTARY)

    def epsilon(self, delta: Floats) -> Floats:
        """Return ratio + 2 ln(1 - delta)."""
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        with np.errstate(divide="ignore"):
            epsilon = ratio + 2 * np.log1p(-delta) * (1 - ELEMENTARY)
        return np.where(delta > 0, epsilon + ELEMENTARY * ratio, ratio)

    def tpr(self, alpha: Floats) -> Floats:
        """Return exp(ratio) alpha, beyond exp(-ratio)/2 what `beta` leaves if less.

        Before that beta is near 1, and one minus it would have lost the small digits.
        """
        ratio = up(self.ratio)
        if ratio > _STEEPEST:
            return np.ones_like(alpha)
        margin = ELEMENTARY * (1 + ratio / 24)
        first = math.exp(ratio) * (1 + margin) * alpha
        small = 2 * alpha <= math.exp(-ratio) * (1 + margin)
        return np.where(small, first, np.minimum(first, 1 - self.beta(alpha)))

    def beta(self, alpha: Floats) -> Floats:
        """Return 1 - exp(ratio) alpha, then exp(-ratio)/(4 alpha), then the mirror."""
        ratio = up(self.ratio)
        if ratio > _STEEPEST:
            return np.zeros_like(alpha)
        margin = ELEMENTARY * (1 + ratio / 24)
        shrink, growth = math.exp(-ratio) * (1 - margin), math.exp(ratio) * (1 + margin)
        first, last = 1 - growth * alpha, shrink * (1 - alpha)
        middle = shrink / (4 * np.maximum(alpha, shrink / 2)) * (1 - ELEMENTARY)
        after = np.where(alpha >= 0.5, last, middle)
        return np.maximum(np.where(2 * alpha <= shrink, first, after), 0.0)
