"""Discrete Gaussian noise for integers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

from sordino.losses.base import Budget
from sordino.losses.closed import ZCDP
from sordino.losses.noise import DiscreteGaussianLoss
from sordino.losses.vectors import discrete_gaussian_vector
from sordino.mechanisms.kit.distance import l2, ratio
from sordino.mechanisms.kit.domain import Metric
from sordino.mechanisms.kit.fitting import changed, guaranteed, least_noise, over
from sordino.mechanisms.kit.noise import AbstractNoise, GaussianNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractIntegerMechanism,
    set_integer_fields,
    variance_of,
)
from sordino.numbers import Exact, sqrt
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

    def __init__(
        self, *, variance: Any = None, scale: Any = None, dtype: str = "i64"
    ) -> None:
        """Read the variance exactly."""
        set_integer_fields(self, dtype, variance=variance_of(variance, scale))

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        set_integer_fields(silent, dtype, variance=Fraction(0))
        return silent

    @property
    def scale(self) -> Exact:
        """Return the square root of the variance parameter."""
        return sqrt(self.variance)

    @property
    def input_metric(self) -> Metric:
        """Return the l2 distance."""
        return "l2"

    @property
    def output_measure(self) -> type[ZCDP]:
        """Return zero-concentrated differential privacy."""
        return ZCDP

    @property
    def noise(self) -> AbstractNoise:
        """Return Gaussian noise, or none."""
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    def map(self, d_in: Any) -> Any:
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
        return ZCDP(ratio(change, self.scale) ** 2 / 2)

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Any, **options: Any) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> DiscreteGaussian.for_loss(ZCDP("1/8"), 1).variance
        Fraction(4, 1)
        """
        change = changed(l2(d_in), d_in)
        given = guaranteed(loss)
        guesses = [over(change**2, 2 * given.rho), over(change, given.mu) ** 2]
        return least_noise(
            lambda variance: cls(variance=variance, **options), loss, d_in, guesses
        )
