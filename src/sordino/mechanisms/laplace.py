"""Laplace noise for floats."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

from sordino.losses.closed import PureDP
from sordino.mechanisms.base import AbstractFloatMechanism, set_float_fields
from sordino.mechanisms.distance import l1, ratio
from sordino.mechanisms.domain import Metric
from sordino.mechanisms.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.numbers import Exact, positive


@final
@dataclass(frozen=True, init=False)
class Laplace(AbstractFloatMechanism):
    """Add Laplace noise to floats: density exp(-|z| / scale) / (2 scale).

    The answer is the nearest float to the exact sum of the value and a real draw.
    `granularity=k` instead rounds the value to the grid 2**k and draws on that grid;
    the rounding counts towards the distance.

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | NaN or infinity in the data | `InvalidData` |
    | an empty array | an empty array |
    | a sum beyond the largest float | the largest float |

    >>> Laplace("0.1").map(1).epsilon
    Fraction(10, 1)
    """

    scale: Exact
    dtype: str
    granularity: int | None

    def __init__(
        self, scale: Any, *, dtype: str = "f64", granularity: int | None = None
    ) -> None:
        """Read the scale exactly."""
        set_float_fields(self, dtype, granularity, scale=positive(scale=scale))

    @classmethod
    def no_noise(cls, *, dtype: str = "f64", granularity: int | None = None) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        set_float_fields(silent, dtype, granularity, scale=Fraction(0))
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

    def map(self, d_in: Any) -> PureDP:
        """Return l1 / scale: for any z, |log p(z) - log p(z + d)| <= |d| / scale."""
        return PureDP(ratio(l1(d_in, self.granularity), self.scale))
