"""Gaussian noise on a map with unknown keys, released above a threshold."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

from sordino.losses.base import Loss
from sordino.losses.closed import ZCDP, ApproxZCDP, GaussianDP
from sordino.losses.noise import DiscreteGaussianLoss
from sordino.mechanisms.base import variance_of
from sordino.mechanisms.change import Change, Norm, floored
from sordino.mechanisms.distance import ratio
from sordino.mechanisms.domain import Metric
from sordino.mechanisms.noise import AbstractNoise, GaussianNoise, NoNoise
from sordino.mechanisms.thresholded import (
    AbstractThresholdMechanism,
    set_threshold_fields,
)
from sordino.numbers import Exact, sqrt

_MOST_STEPS = 1 << 20
"""A change of more steps of the grid than this is priced by its rho alone."""


@final
@dataclass(frozen=True, init=False)
class GaussianThreshold(AbstractThresholdMechanism):
    """Add Gaussian noise to the values of a map; keep the keys that reach a threshold.

    On floats the noise is Gaussian on the reals, rounded once with the sum, or on the
    grid 2**granularity; on integers it is the discrete Gaussian. The edge cases are
    those of `LaplaceThreshold`, with l2 for l1.

    >>> loss = GaussianThreshold(scale=1, threshold=20).map((1, 1, 1))
    >>> loss.rho, float(loss.delta)
    (Fraction(1, 2), 8.527223952630977e-81)
    """

    variance: Exact
    threshold: Fraction
    dtype: str
    granularity: int | None

    def __init__(
        self,
        *,
        variance: Any = None,
        scale: Any = None,
        threshold: Any,
        dtype: str = "f64",
        granularity: int | None = None,
    ) -> None:
        """Read the variance and the threshold exactly."""
        spread = variance_of(variance, scale)
        set_threshold_fields(self, threshold, dtype, granularity, variance=spread)

    @classmethod
    def no_noise(
        cls, threshold: Any, *, dtype: str = "f64", granularity: int | None = None
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        none = Fraction(0)
        set_threshold_fields(silent, threshold, dtype, granularity, variance=none)
        return silent

    @property
    def scale(self) -> Exact:
        """Return the standard deviation, on integers that of the continuous law."""
        return sqrt(self.variance)

    @property
    def norm(self) -> Norm:
        """Return l2."""
        return "l2"

    @property
    def input_metric(self) -> Metric:
        """Return how many keys, how far in all, and how much each."""
        return "l0, l2, linf"

    @property
    def output_measure(self) -> type[ApproxZCDP]:
        """Return approximate zero-concentrated differential privacy."""
        return ApproxZCDP

    @property
    def noise(self) -> AbstractNoise:
        """Return Gaussian noise, or none."""
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    def headline(self, apart: Change) -> ApproxZCDP:
        """Return rho = l2**2 / (2 variance) and delta, the chance of a new key."""
        rho = ratio(apart.whole**2, 2 * self.variance)
        return ApproxZCDP(rho, self.delta(apart))

    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the noise on keys that both maps have.

        Continuous noise depends on l2 alone. On a lattice the curve is exact where one
        key changes, or each by one step, which is the worst of such changes; any other
        change is bounded by its rho.
        """
        mu = ratio(apart.whole, self.scale)
        if self._unit is None or isinstance(mu, float):
            return GaussianDP(mu)
        steps = apart.linf / self._unit
        if (apart.l0 == 1 or steps == 1) and steps <= _MOST_STEPS:
            copies = int(floored((apart.whole / apart.linf) ** 2, Fraction(1)))
            one = DiscreteGaussianLoss(int(steps), self.variance / self._unit**2)
            return one * copies
        return ZCDP(mu**2 / 2)
