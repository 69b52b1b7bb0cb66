"""Laws whose losses fill a range that both worlds share."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from sordino.curves.laws.law import AbstractLossLaw, cells
from sordino.curves.points import ELEMENTARY, Floats


@dataclass(frozen=True)
class AbstractRangeLaw(AbstractLossLaw):
    """Losses from -ratio to ratio, both attained, on no lattice and in no table."""

    ratio: float
    margin: ClassVar[float] = ELEMENTARY
    step: ClassVar[float] = 0.0
    table_size: ClassVar[int] = 0

    @property
    def deviation(self) -> float:
        """Return about the ratio, and at most about that of the exponential part."""
        return min(self.ratio, 2.0)

    @property
    def anchor(self) -> float:
        """Return the greatest loss: half of P has it, or the density is highest."""
        return self.ratio

    @property
    def span(self) -> tuple[float, float]:
        """Return the range."""
        return -self.ratio, self.ratio


@final
@dataclass(frozen=True)
class LaplaceLaw(AbstractRangeLaw):
    """Laplace noise whose shift is `ratio` scales."""

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from P[L >= l] = 1 - exp((l - ratio)/2)/2 inside the range.

        Q[L >= l] = P[L <= -l]; half of P lies on the loss `ratio` itself.
        """
        inside = np.clip(edges, -self.ratio, self.ratio)
        above = np.exp((-self.ratio - inside) / 2) / 2
        below = np.exp((inside - self.ratio) / 2) / 2
        low, high = edges <= -self.ratio, edges > self.ratio
        p_below = np.where(low, 0.0, np.where(high, 1.0, below))
        q_above = np.where(low, 1.0, np.where(high, 0.0, above))
        return cells(1 - p_below, p_below), cells(q_above, 1 - q_above)


@final
@dataclass(frozen=True)
class BoundedRangeLaw(AbstractRangeLaw):
    """The worst choice by scores: density of the loss exp(l/2) under P.

    It dominates every bounded-range pair: see docs/proofs/selection.md, section 1.
    """

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from the closed tails; Q is the reflection of P."""
        inside = np.clip(edges, -self.ratio, self.ratio)
        p = cells(self._upper_mass(inside), self._lower_mass(inside))
        return p, cells(self._lower_mass(-inside), self._upper_mass(-inside))

    def _upper_mass(self, loss: Floats) -> Floats:
        """Return P[L >= loss] = (1 - exp((loss - ratio)/2)) / (1 - exp(-ratio))."""
        return np.expm1((loss - self.ratio) / 2) / math.expm1(-self.ratio)

    def _lower_mass(self, loss: Floats) -> Floats:
        """Return P[L < loss], the rest, without a difference of near numbers."""
        rest = np.expm1(-(loss + self.ratio) / 2) / math.expm1(-self.ratio)
        return np.exp((loss - self.ratio) / 2) * rest
