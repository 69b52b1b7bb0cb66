"""Two-sided geometric noise for integers: the discrete Laplace law."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

from sordino.losses.base import Budget
from sordino.losses.closed import PureDP
from sordino.losses.noise import GeometricLoss
from sordino.losses.vectors import geometric_vector
from sordino.mechanisms.kit.distance import l1, ratio
from sordino.mechanisms.kit.domain import Metric
from sordino.mechanisms.kit.fitting import changed, guaranteed, least_noise, over
from sordino.mechanisms.kit.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractIntegerMechanism,
    set_integer_fields,
)
from sordino.numbers import Exact, positive
from sordino.sensitivity import Sensitivity


@final
@dataclass(frozen=True, init=False, repr=False)
class Geometric(AbstractIntegerMechanism):
    """Add integer noise Z with P[Z = z] proportional to exp(-|z| / scale).

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | scale of 2**57 or more | exact, but drawn one by one: a microsecond each |
    | a float in the data, even 3.0 | `InvalidData` |
    | an integer outside the dtype | `InvalidData` |
    | a sum outside the dtype | the end of the dtype, taken after the exact sum |

    >>> Geometric("1/3", dtype="u8").map(1).epsilon
    Fraction(3, 1)
    """

    scale: Exact
    dtype: str

    def __init__(self, scale: Any, *, dtype: str = "i64") -> None:
        """Read the scale exactly."""
        set_integer_fields(self, dtype, scale=positive(scale=scale))

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        set_integer_fields(silent, dtype, scale=Fraction(0))
        return silent

    @property
    def input_metric(self) -> Metric:
        """Return the l1 distance."""
        return "l1"

    @property
    def output_measure(self) -> type[PureDP]:
        """Return pure differential privacy."""
        return PureDP

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    def map(self, d_in: Any) -> Any:
        """Return the loss of epsilon = l1 / scale, for any vectors l1 apart.

        A shift of one value by l1 is the worst such change (docs/proofs/noise.md,
        lemma 1), so the curve for a whole l1 is that of one geometric draw; where a
        `Sensitivity` bounds the change of each value, that of the worst vector
        (lemma 6).
        """
        if isinstance(d_in, Sensitivity) and self.scale:
            return geometric_vector(d_in, self.scale)
        change = l1(d_in)
        epsilon = ratio(change, self.scale)
        if isinstance(change, Fraction) and change.denominator == 1 and self.scale:
            return GeometricLoss(change.numerator, self.scale)
        return PureDP(epsilon)

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Any, **options: Any) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Geometric.for_loss(PureDP("0.1"), 1).scale
        Fraction(10, 1)
        """
        guess = over(changed(l1(d_in), d_in), guaranteed(loss).epsilon)
        return least_noise(lambda scale: cls(scale, **options), loss, d_in, [guess])
