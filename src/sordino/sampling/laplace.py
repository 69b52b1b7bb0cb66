"""The two-sided exponential shape: f(t) = exp(-|t| / scale)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.numbers import Exact, ball, up
from sordino.numbers.precision import enclose
from sordino.sampling.shape import AbstractFamily, AbstractShape


@final
@dataclass(frozen=True)
class LaplaceShape(AbstractShape):
    """exp(-|t| / scale), `scale` in blocks."""

    scale: Exact

    def reach(self) -> int:
        """Return 24 log(2) scales: f falls to 2**-24 there."""
        return int(16.7 * up(self.scale)) + 1

    def profile(self, count: int) -> NDArray[np.float64]:
        """Return the powers of exp(-1 / scale): k roundings err below k * 2**-52."""
        step = enclose(lambda: (-1 / ball(self.scale)).exp())
        steps = np.full(count, float(step.mid()))
        steps[0] = 1.0
        return np.multiply.accumulate(steps)

    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return rho / scale, wherever the block starts."""
        del start
        return rho * (1.0 / up(self.scale))

    def exponent(self, distance: arb) -> arb:
        """Return distance / scale."""
        return distance / ball(self.scale)

    def slope(self, distance: int) -> arb:
        """Return 1 / scale: the exponent is a straight line."""
        del distance
        return 1 / ball(self.scale)


@final
@dataclass(frozen=True)
class LaplaceFamily(AbstractFamily):
    """exp(-|x| / scale), `scale` in units of the answer."""

    scale: Exact

    @property
    def spread(self) -> Exact:
        """Return the scale."""
        return self.scale

    def shape(self, exponent: int) -> LaplaceShape:
        """Return the density in blocks of width 2**exponent."""
        return LaplaceShape(self.scale / Fraction(2) ** exponent)
