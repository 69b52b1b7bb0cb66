"""Laplace noise on a map with unknown keys, released above a threshold."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

from sordino.losses.closed import ApproxDP
from sordino.mechanisms.change import Norm
from sordino.mechanisms.distance import ratio
from sordino.mechanisms.domain import Metric
from sordino.mechanisms.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.mechanisms.solving import least_threshold, spread_within
from sordino.mechanisms.thresholded import (
    AbstractThresholdMechanism,
    set_threshold_fields,
)
from sordino.numbers import Exact, positive


@final
@dataclass(frozen=True, init=False)
class LaplaceThreshold(AbstractThresholdMechanism):
    """Add Laplace noise to the values of a map; keep the keys that reach a threshold.

    On floats the noise is Laplace on the reals, rounded once with the sum, or on the
    grid 2**granularity; on integers it is the two-sided geometric.

    | case | what happens |
    |---|---|
    | threshold positive | keeps value + noise >= threshold |
    | threshold negative | keeps value + noise <= threshold |
    | threshold 0 | refused |
    | a value of 0 | counts as absent: never noised, never released |
    | an empty map | an empty map |
    | a change of nothing: l0, l1 or linf is 0 | costs nothing |
    | threshold not above linf | delta is exact, and large |
    | a key that is missing, a float, or stands twice | `InvalidData` |
    | NaN, an infinity, a bool or a value outside the dtype | `InvalidData` |
    | a sum outside the dtype | the end of the dtype, taken after the comparison |

    >>> mechanism = LaplaceThreshold(1, 20)
    >>> loss = mechanism.map((1, 1, 1))
    >>> loss.epsilon, float(loss.delta)
    (Fraction(1, 1), 2.80139821876864e-09)
    >>> LaplaceThreshold("1e-3", 10, dtype="i32")({"c": 40, "b": 20, "a": 1})
    {'b': 20, 'c': 40}
    """

    scale: Exact
    threshold: Fraction
    dtype: str
    granularity: int | None

    def __init__(
        self,
        scale: Any,
        threshold: Any,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
    ) -> None:
        """Read the scale and the threshold exactly."""
        scale = positive(scale=scale)
        set_threshold_fields(self, threshold, dtype, granularity, scale=scale)

    @classmethod
    def no_noise(
        cls, threshold: Any, *, dtype: str = "f64", granularity: int | None = None
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        silent = cls.__new__(cls)
        set_threshold_fields(silent, threshold, dtype, granularity, scale=Fraction(0))
        return silent

    @classmethod
    def for_loss(
        cls,
        loss: ApproxDP,
        d_in: Any,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
    ) -> Self:
        """Return the least scale and then the least threshold within a loss.

        For any d_in the answer's own `map(d_in)` is within the loss: it is checked.

        >>> fitted = LaplaceThreshold.for_loss(ApproxDP(1, "1e-6"), (1, 1, 1))
        >>> fitted.scale, round(float(fitted.threshold), 4)
        (Fraction(1, 1), 14.1224)
        """
        probe = cls(1, 1, dtype=dtype, granularity=granularity)
        scale = spread_within(probe.change(d_in).whole, loss, d_in)
        fitted = cls(scale, 1, dtype=dtype, granularity=granularity)
        level = least_threshold(fitted, loss, d_in)
        return cls(scale, level, dtype=dtype, granularity=granularity)

    @property
    def norm(self) -> Norm:
        """Return l1."""
        return "l1"

    @property
    def input_metric(self) -> Metric:
        """Return how many keys, how much in all, and how much each."""
        return "l0, l1, linf"

    @property
    def output_measure(self) -> type[ApproxDP]:
        """Return approximate differential privacy."""
        return ApproxDP

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    def map(self, d_in: Any) -> ApproxDP:
        """Return epsilon = l1 / scale and delta, the chance that a new key appears.

        For any two maps at distance d_in, keys in both differ by additive noise alone,
        and keys in one are silent but with chance delta: docs/proofs/thresholds.md.
        """
        apart = self.change(d_in)
        return ApproxDP(ratio(apart.whole, self.scale), self.delta(apart))
