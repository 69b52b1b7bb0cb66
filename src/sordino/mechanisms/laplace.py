"""Laplace noise for floats.

>>> Laplace(2).map(1)
PureDP(epsilon=1/2)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

from sordino.distributions.base import AbstractLaw
from sordino.losses.closed import PureDP
from sordino.mechanisms.base import AbstractMechanism
from sordino.mechanisms.carrier import FloatCarrier
from sordino.mechanisms.distance import l1, over, rounding
from sordino.mechanisms.domain import Metric, NumberDomain, float_domain, grid_exponent
from sordino.mechanisms.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.numbers import Exact, positive


@final
@dataclass(frozen=True, init=False)
class Laplace(AbstractMechanism):
    """Add Laplace noise to floats; the answer is the nearest float to the exact sum.

    `granularity=None` draws continuous noise. `granularity=k` rounds the value to the
    grid 2**k and adds noise on that grid; the rounding counts towards the distance.

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; `Laplace.no_noise()` adds none |
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
        """Read the scale exactly; refuse one that adds no noise."""
        self._set(positive(scale=scale), dtype, granularity)

    @classmethod
    def no_noise(cls, *, dtype: str = "f64", granularity: int | None = None) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        silent._set(Fraction(0), dtype, granularity)
        return silent
