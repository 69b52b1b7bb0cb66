"""Two-sided geometric noise for integers: the discrete Laplace law."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final, overload

from sordino._fields import fill, make
from sordino.losses.base import Budget, Loss, PureDP
from sordino.losses.noise_losses import GeometricLoss
from sordino.losses.vectors import geometric_vector
from sordino.mechanisms.kit.distance import Distance, change_ratio, l1
from sordino.mechanisms.kit.domain import Metric, integer_domain
from sordino.mechanisms.kit.fitting import (
    guarantees_of,
    least_noise,
    positive_distance,
    scale_guess,
)
from sordino.mechanisms.kit.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractIntegerMechanism,
    IntegerOptions,
)
from sordino.numbers import Exact, Infinity, Number, positive
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
    input_metric: ClassVar[Metric] = "l1"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(self, scale: Number, *, dtype: str = "i64") -> None:
        """Read the scale exactly."""
        fill(self, scale=positive(scale=scale), dtype=integer_domain(dtype).dtype)

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        return make(cls, scale=Fraction(0), dtype=integer_domain(dtype).dtype)

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> GeometricLoss | PureDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of epsilon = l1 / scale, for any vectors l1 apart.

        A shift of one value by l1 is the worst such change (docs/proofs/noise.md,
        lemma 1), so the curve for a whole l1 is that of one geometric draw; where a
        `Sensitivity` bounds the change of each value, that of the worst vector
        (lemma 6).
        """
        if isinstance(d_in, Sensitivity) and self.scale:
            return geometric_vector(d_in, self.scale)
        change = l1(d_in)
        epsilon = change_ratio(change, self.scale)
        if isinstance(change, Fraction) and change.denominator == 1 and self.scale:
            return GeometricLoss(change.numerator, self.scale)
        return PureDP(epsilon)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[IntegerOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Geometric.for_loss(PureDP("0.1"), 1).scale
        Fraction(10, 1)
        """
        guess = scale_guess(
            positive_distance(l1(d_in), d_in), guarantees_of(loss).epsilon
        )
        return least_noise(lambda scale: cls(scale, **options), loss, d_in, [guess])
