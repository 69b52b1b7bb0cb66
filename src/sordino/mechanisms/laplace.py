"""Laplace noise for floats."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final, overload

from sordino._fields import fill, make
from sordino.losses.base import Budget, Loss, PureDP
from sordino.losses.noise_losses import LaplaceLoss
from sordino.losses.vectors import laplace_vector
from sordino.mechanisms.kit.distance import Distance, change_ratio, l1
from sordino.mechanisms.kit.domain import Metric
from sordino.mechanisms.kit.fitting import (
    guarantees_of,
    least_noise,
    positive_distance,
    scale_guess,
)
from sordino.mechanisms.kit.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.mechanisms.noise_mechanism import (
    AbstractFloatMechanism,
    FloatOptions,
    read_float_options,
)
from sordino.numbers import Exact, Infinity, Number, positive
from sordino.sensitivity import Sensitivity


@final
@dataclass(frozen=True, init=False, repr=False)
class Laplace(AbstractFloatMechanism):
    """Add Laplace noise to floats: density exp(-|z| / scale) / (2 scale).

    The answer is the nearest float to the exact sum of the value and a real draw.
    `granularity=k` instead rounds the value to the grid 2**k and draws on that grid;
    the rounding counts towards the distance, a step for each value that one unit can
    change. `values` says how many those are; unless it is said, single numbers alone
    are answered on a grid.

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | NaN or infinity in the data | `InvalidData` |
    | an empty array | an empty array |
    | a list or an array on a grid, `values` not said | refused |
    | a sum beyond the largest float | the largest float |

    >>> Laplace("0.1").map(1).epsilon
    Fraction(10, 1)
    """

    scale: Exact
    dtype: str
    granularity: int | None
    values: int | None
    input_metric: ClassVar[Metric] = "l1"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(
        self,
        scale: Number,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> None:
        """Read the scale exactly."""
        fill(
            self,
            scale=positive(scale=scale),
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
        return make(cls, scale=Fraction(0), **options)

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> LaplaceLoss | PureDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of epsilon = l1 / scale, for any two inputs l1 apart.

        A shift of one value by l1 is the worst such change (docs/proofs/noise.md,
        lemma 1), so the curve is that of one Laplace draw; where a `Sensitivity`
        bounds the change of each value, that of the worst vector (lemma 6). On a grid
        it is the curve of epsilon; a plain number is then the change of `values`
        values, or of one.
        """
        if isinstance(d_in, Sensitivity) and self.granularity is None and self.scale:
            return laplace_vector(d_in, self.scale)
        epsilon = change_ratio(l1(d_in, self.rounding), self.scale)
        return LaplaceLoss(epsilon) if self.granularity is None else PureDP(epsilon)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[FloatOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Laplace.for_loss(PureDP("0.1"), 1).scale
        Fraction(10, 1)
        """
        change = positive_distance(l1(d_in, cls.no_noise(**options).rounding), d_in)
        guess = scale_guess(change, guarantees_of(loss).epsilon)
        return least_noise(lambda scale: cls(scale, **options), loss, d_in, [guess])
