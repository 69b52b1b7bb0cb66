"""Gaussian noise for floats."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final

from sordino._fields import fill, make
from sordino.losses.base import Budget
from sordino.losses.closed import ZCDP, GaussianDP
from sordino.mechanisms.kit.distance import Distance, change_ratio, l2
from sordino.mechanisms.kit.domain import Metric
from sordino.mechanisms.kit.fitting import (
    guarantees_of,
    least_noise,
    positive_distance,
    scale_guess,
)
from sordino.mechanisms.kit.noise import AbstractNoise, GaussianNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractFloatMechanism,
    FloatOptions,
    read_float_options,
    variance_of,
)
from sordino.numbers import Exact, Number, product, sqrt


@final
@dataclass(frozen=True, init=False, repr=False)
class Gaussian(AbstractFloatMechanism):
    """Add Gaussian noise to floats, given by its variance or its scale.

    The answer is the nearest float to the exact sum of the value and a real draw, a
    function of the sum alone, so the loss is that of the continuous Gaussian: exactly
    `GaussianDP`. `granularity=k` rounds the value to the grid 2**k and draws discrete
    Gaussian noise on it; such noise is not `GaussianDP`, and its loss is `ZCDP`.

    The edge cases are those of `Laplace`.

    >>> Gaussian(scale=2).map(1)
    GaussianDP(mu=0.5)
    >>> Gaussian(variance=2).map(1).rho
    Fraction(1, 4)
    """

    variance: Exact
    dtype: str
    granularity: int | None
    values: int | None
    input_metric: ClassVar[Metric] = "l2"

    def __init__(
        self,
        *,
        variance: Number | None = None,
        scale: Number | None = None,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> None:
        """Read the variance exactly."""
        fill(
            self,
            variance=variance_of(variance, scale),
            **read_float_options(dtype, granularity, values),
        )

    @classmethod
    def no_noise(
        cls,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        options = read_float_options(dtype, granularity, values)
        return make(cls, variance=Fraction(0), **options)

    @property
    def scale(self) -> Exact:
        """Return the standard deviation."""
        return sqrt(self.variance)

    @property
    def output_measure(self) -> "type[GaussianDP | ZCDP]":
        """Return Gaussian differential privacy, zero-concentrated on a grid."""
        return GaussianDP if self.granularity is None else ZCDP

    @property
    def noise(self) -> AbstractNoise:
        """Return Gaussian noise, or none."""
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    def map(self, d_in: Distance) -> "GaussianDP | ZCDP":
        """Return mu = l2 / sigma: any shift d is N(0, 1) against N(|d| / sigma, 1).

        On a grid, rho = l2**2 / (2 variance), rounding included (docs/proofs/noise.md);
        a plain number is then the change of `values` values, or of one.
        """
        mu = change_ratio(l2(d_in, self.rounding), self.scale)
        return GaussianDP(mu) if self.granularity is None else ZCDP(mu**2 / 2)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[FloatOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Gaussian.for_loss(ZCDP("1/8"), 1).variance
        Fraction(4, 1)
        """
        change = positive_distance(l2(d_in, cls.no_noise(**options).rounding), d_in)
        guarantees = guarantees_of(loss)
        by_mu = scale_guess(change, guarantees.mu)
        guesses = [scale_guess(change**2 / 2, guarantees.rho), product(by_mu, by_mu)]
        return least_noise(
            lambda variance: cls(variance=variance, **options), loss, d_in, guesses
        )
