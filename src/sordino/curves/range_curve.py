"""The curve of a choice by scores: losses of all outcomes lie within a range."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from sordino.curves.curve import AbstractCurve, End
from sordino.curves.laws.law import Laws
from sordino.curves.laws.range_laws import BoundedRangeLaw
from sordino.curves.points import ELEMENTARY, Floats, grow, shrink
from sordino.curves.response import response_law
from sordino.numbers import INFINITE, Extended, up

_SMALLEST = 5e-324


@final
@dataclass(frozen=True, eq=False)
class RangeCurve(AbstractCurve):
    """Losses of all outcomes lie within a range of this width."""

    ratio: Extended
    gains_by_rho: ClassVar[bool] = True

    @property
    def end(self) -> End:
        """Return that no loss is greater than the width."""
        return End(self.ratio, Fraction(0), self.ratio is not INFINITE)

    def laws(self) -> Laws:
        """Return the law with this curve, which serves both directions."""
        ratio = up(self.ratio)
        if ratio == 0 or math.isinf(ratio):
            return (response_law(self.ratio),)
        return (BoundedRangeLaw(ratio),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return (1 - exp((e - ratio) / 2))**2 / (1 - exp(-ratio)) below the ratio."""
        ratio = up(self.ratio)
        if ratio == 0 or math.isinf(ratio):
            return np.full_like(epsilon, float(ratio > 0))
        short = -np.expm1(np.minimum(epsilon - ratio, 0.0) / 2)
        return grow(short**2 / -math.expm1(-ratio))

    def epsilon(self, delta: Floats) -> Floats:
        """Return ratio + 2 ln(1 - sqrt(delta (1 - exp(-ratio))))."""
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        short = shrink(np.sqrt(delta * -math.expm1(-ratio)))
        with np.errstate(divide="ignore"):
            epsilon = ratio + 2 * np.log1p(-short) * (1 - ELEMENTARY)
        return np.where(delta > 0, epsilon + ELEMENTARY * ratio, ratio)

    def tpr(self, alpha: Floats) -> Floats:
        """Return alpha / (alpha + exp(-ratio) (1 - alpha))."""
        least = math.exp(-up(self.ratio))
        if least == 0:
            return np.ones_like(alpha)
        missed = shrink(least * (1 - alpha))
        return grow(alpha / np.maximum(alpha + missed, _SMALLEST))

    def beta(self, alpha: Floats) -> Floats:
        """Return exp(-ratio) (1 - alpha) / (alpha + exp(-ratio) (1 - alpha))."""
        missed = shrink(math.exp(-up(self.ratio)) * (1 - alpha))
        return shrink(missed / np.maximum(alpha + missed, _SMALLEST))
