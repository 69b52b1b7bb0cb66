"""Laplace noise on a map with unknown keys, released above a threshold."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final

from sordino import _fields
from sordino.errors import InvalidParameter
from sordino.losses.base import Loss, PureDP, compose
from sordino.losses.closed import ApproxDP
from sordino.losses.noise_losses import GeometricLoss, LaplaceLoss
from sordino.mechanisms.kit.change import Change, MapDistance, Norm
from sordino.mechanisms.kit.distance import change_ratio
from sordino.mechanisms.kit.domain import Metric
from sordino.mechanisms.kit.fitting import guarantees_of
from sordino.mechanisms.kit.noise import AbstractNoise, LaplaceNoise, NoNoise
from sordino.mechanisms.kit.threshold_fitting import (
    fit_threshold,
    positive_change,
    positive_delta,
)
from sordino.mechanisms.threshold_mechanism import (
    AbstractThresholdMechanism,
    ThresholdOptions,
    read_threshold_options,
)
from sordino.numbers import INFINITE, Exact, Number, finite, positive, rational_above

_MOST_STEPS = 1 << 20
"""A change of more steps of the grid than this is priced by its epsilon alone."""


@final
@dataclass(frozen=True, init=False, repr=False)
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
    (Fraction(1, 1), 2.801398218768634e-09)
    >>> LaplaceThreshold("1e-3", 10, dtype="i32")({"c": 40, "b": 20, "a": 1})
    {'b': 20, 'c': 40}
    """

    scale: Exact
    threshold: Fraction
    dtype: str
    granularity: int | None
    norm: ClassVar[Norm] = "l1"
    input_metric: ClassVar[Metric] = "l0, l1, linf"
    output_measure: ClassVar[type[ApproxDP]] = ApproxDP

    def __init__(
        self,
        scale: Number,
        threshold: Number,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
    ) -> None:
        """Read the scale and the threshold exactly."""
        scale = positive(scale=scale)
        _fields.fill(
            self, scale=scale, **read_threshold_options(threshold, dtype, granularity)
        )

    @classmethod
    def no_noise(
        cls, threshold: Number, *, dtype: str = "f64", granularity: int | None = None
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        options = read_threshold_options(threshold, dtype, granularity)
        return _fields.make(cls, scale=Fraction(0), **options)

    @classmethod
    def for_loss(
        cls,
        loss: ApproxDP,
        d_in: MapDistance,
        *,
        negative: bool = False,
        **options: Unpack[ThresholdOptions],
    ) -> Self:
        """Return the least scale, and for it the least threshold, within a loss.

        For any d_in the answer's own `map(d_in)` is within the loss.

        >>> fitted = LaplaceThreshold.for_loss(ApproxDP(1, "1e-6"), (1, 1, 1))
        >>> fitted.scale, round(float(fitted.threshold), 4)
        (Fraction(1, 1), 14.1224)
        """
        probe = cls(1, 1, **options)
        apart = positive_change(probe.change(d_in), d_in)
        guarantees = guarantees_of(loss)
        epsilon, delta = guarantees.epsilon, positive_delta(loss, guarantees.delta)
        if epsilon is INFINITE or epsilon == 0:
            raise InvalidParameter(
                "loss",
                loss,
                "must have a positive epsilon",
                'Use sd.ApproxDP(1, "1e-6").',
            )
        fitted = _fields.change(
            probe, scale=rational_above(finite(apart.whole)) / epsilon
        )
        return fit_threshold(fitted, apart, delta, negative=negative)

    @property
    def noise(self) -> AbstractNoise:
        """Return Laplace noise, or none."""
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    def headline(self, apart: Change) -> ApproxDP:
        """Return epsilon = l1 / scale and delta, the chance that a new key appears."""
        return ApproxDP(change_ratio(apart.whole, self.scale), self.delta(apart))

    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the worst change: as many keys as can change by linf.

        For any change the one with the same l1 on the fewest keys is no better hidden
        (docs/proofs/noise.md); its keys are independent, so their losses compose.
        """
        if self.scale == 0 or apart.whole is INFINITE or apart.linf is INFINITE:
            return PureDP(change_ratio(apart.whole, self.scale))
        whole, each = rational_above(apart.whole), rational_above(apart.linf)
        copies = min(int(apart.l0), math.floor(whole / each))
        rest = whole - copies * each if copies < apart.l0 else Fraction(0)
        return compose([self._one(each) * copies, self._one(rest)])

    def _one(self, shift: Fraction) -> Loss:
        """Return the loss of the noise on one key."""
        if self.unit is None:
            return LaplaceLoss(shift / self.scale)
        steps = math.floor(shift / self.unit)
        if steps > _MOST_STEPS:
            return PureDP(shift / self.scale)
        return GeometricLoss(steps, self.scale / self.unit)
