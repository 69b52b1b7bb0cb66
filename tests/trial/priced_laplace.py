"""Laplace noise for floats, stated by its price."""

from dataclasses import dataclass
from typing import ClassVar, Self, final

from sordino.losses.loss import Loss, PureDP
from sordino.noise.additive import (
    AbstractFloatMechanism,
    AbstractNoise,
    Distance,
    NoNoise,
    change_ratio,
    l1,
    read_float_options,
)
from sordino.noise.laplace import LaplaceLoss, LaplaceNoise
from sordino.noise.numbers import Metric
from sordino.numbers import INFINITE, Extended, Number, positive
from sordino.numbers.frozen import fill, make


@final
@dataclass(frozen=True, init=False, repr=False)
class PricedLaplace(AbstractFloatMechanism):
    """Add Laplace noise of scale 1 / epsilon: a change of 1 costs epsilon.

    >>> PricedLaplace(3).map(2).epsilon
    Fraction(6, 1)
    """

    epsilon: Extended
    dtype: str
    granularity: int | None
    values: int | None
    input_metric: ClassVar[Metric] = "l1"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(self, epsilon: Number, *, dtype: str = "f64") -> None:
        """Read the price exactly."""
        fill(
            self,
            epsilon=positive(epsilon=epsilon),
            **read_float_options(dtype, None, None),
        )

    @classmethod
    def no_noise(cls, *, dtype: str = "f64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        return make(cls, epsilon=INFINITE, **read_float_options(dtype, None, None))

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        epsilon = self.epsilon
        return NoNoise() if epsilon is INFINITE else LaplaceNoise(1 / epsilon)

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of epsilon * l1: any shift is a Laplace pair so far apart."""
        epsilon = self.epsilon
        if epsilon is INFINITE:
            return PureDP(INFINITE if l1(d_in) else 0)
        return LaplaceLoss(change_ratio(l1(d_in), 1 / epsilon))
