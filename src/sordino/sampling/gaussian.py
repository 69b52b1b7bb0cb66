"""The Gaussian shape: f(t) = exp(-t**2 / (2 variance))."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.numbers import Exact, ball, sqrt, up
from sordino.numbers.precision import enclose
from sordino.sampling.shape import AbstractFamily, AbstractShape


@final
@dataclass(frozen=True)
class GaussianShape(AbstractShape):
    """exp(-t**2 / (2 variance)), `variance` in squared blocks."""

    variance: Exact

    def reach(self) -> int:
        """Return 5.8 standard deviations: f falls to 2**-24 there."""
        return int(5.8 * up(sqrt(self.variance))) + 1

    def profile(self, count: int) -> NDArray[np.float64]:
        """Return f(k) as the product of f(1) d**j over j < k, d = exp(-1 / variance).

        d**j errs by at most 2j roundings, so the product of k such factors errs by at
        most k**2 + 3k: below 2**-32 relative for the k <= 800 that are asked for.
        """
        first = enclose(lambda: (-1 / (2 * ball(self.variance))).exp())
        step = enclose(lambda: (-1 / ball(self.variance)).exp())
        ratios = np.full(count, float(step.mid()))
        ratios[:1] = 1.0
        ratios[1:2] = float(first.mid())
        np.multiply.accumulate(ratios[1:], out=ratios[1:])
        return np.multiply.accumulate(ratios)

    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return rho (2 start + rho) / (2 variance)."""
        return rho * (2.0 * start + rho) * (0.5 / up(self.variance))

    def exponent(self, distance: arb) -> arb:
        """Return distance**2 / (2 variance)."""
        return distance * distance / (2 * ball(self.variance))

    def slope(self, distance: int) -> arb:
        """Return the tangent distance / variance: the exponent is convex."""
        return distance / ball(self.variance)


@final
@dataclass(frozen=True)
class GaussianFamily(AbstractFamily):
    """exp(-x**2 / (2 variance)), `variance` in squared units of the answer."""

    variance: Exact

    @property
    def spread(self) -> Exact:
        """Return the standard deviation of the continuous law."""
        return sqrt(self.variance)

    def shape(self, exponent: int) -> GaussianShape:
        """Return the density in blocks of width 2**exponent."""
        return GaussianShape(self.variance / Fraction(4) ** exponent)
