"""Discrete Gaussian noise for integers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final, overload

from sordino._fields import fill, make
from sordino.losses.base import Budget, Loss
from sordino.losses.closed import ZCDP
from sordino.losses.noise_losses import DiscreteGaussianLoss
from sordino.losses.vectors import discrete_gaussian_vector
from sordino.mechanisms.kit.distance import Distance, change_ratio, l2
from sordino.mechanisms.kit.domain import Metric, integer_domain
from sordino.mechanisms.kit.fitting import (
    guarantees_of,
    least_noise,
    positive_distance,
    scale_guess,
)
from sordino.mechanisms.kit.noise import AbstractNoise, GaussianNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractIntegerMechanism,
    IntegerOptions,
    variance_of,
)
from sordino.numbers import Exact, Infinity, Number, product, sqrt
from sordino.sensitivity import Sensitivity

_TWO_STEPS = sqrt(Fraction(2))


@final
@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(AbstractIntegerMechanism):
    """Add integer noise Z with P[Z = z] proportional to exp(-z**2 / (2 variance)).

    Given by the variance parameter or its square root, the scale; the true variance is
    a little smaller where the scale is below one. The edge cases are those of
    `Geometric`.

    >>> DiscreteGaussian(scale=2).map(1).rho
    Fraction(1, 8)
    """

    variance: Exact
    dtype: str
    input_metric: ClassVar[Metric] = "l2"
    output_measure: ClassVar[type[ZCDP]] = ZCDP

    def __init__(
        self,
        *,
        variance: Number | None = None,
        scale: Number | None = None,
        dtype: str = "i64",
    ) -> None:
        """Read the variance exactly."""
        fill(
            self,
            variance=variance_of(variance, scale),
            dtype=integer_domain(dtype).dtype,
        )

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        return make(cls, variance=Fraction(0), dtype=integer_domain(dtype).dtype)

    @property
    def scale(self) -> Exact:
        """Return the square root of the variance parameter."""
        return sqrt(self.variance)

    @property
    def noise(self) -> AbstractNoise:
        """Return Gaussian noise, or none."""
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> DiscreteGaussianLoss | ZCDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of rho = l2**2 / (2 variance): for any order a, D_a <= a rho.

        Where a `Sensitivity` says that one value changes, or each by at most 1, the
        curve is the exact one; else only rho is known to hold (docs/proofs/noise.md,
        lemma 3). A plain number below sqrt(2) says enough: one value moves by 1.

        >>> DiscreteGaussian(scale=2).map(1)
        DiscreteGaussianLoss(shift=1, variance=4)
        """
        if isinstance(d_in, Sensitivity) and self.variance:
            return discrete_gaussian_vector(d_in, self.variance)
        change = l2(d_in)
        if 1 <= change < _TWO_STEPS and self.variance:
            return DiscreteGaussianLoss(1, self.variance)
        return ZCDP(change_ratio(change, self.scale) ** 2 / 2)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[IntegerOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> DiscreteGaussian.for_loss(ZCDP("1/8"), 1).variance
        Fraction(4, 1)
        """
        change = positive_distance(l2(d_in), d_in)
        guarantees = guarantees_of(loss)
        by_mu = scale_guess(change, guarantees.mu)
        guesses = [scale_guess(change**2 / 2, guarantees.rho), product(by_mu, by_mu)]
        return least_noise(
            lambda variance: cls(variance=variance, **options), loss, d_in, guesses
        )
