"""Laplace noise above a threshold: one number for each key, or several by their sum.

Kernel: mathematics.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple, Self, Unpack, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.losses.closed import ApproxDP
from sordino.losses.curves.points import Floats
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import JointLoss
from sordino.noise.additive import (
    AbstractNoise,
    AbstractNoiseMechanism,
    NoNoise,
    change_ratio,
    guarantees_of,
)
from sordino.noise.laplace import (
    ContinuousLaplaceLaw,
    GeometricLoss,
    Laplace,
    LaplaceLoss,
    LaplaceNoise,
    LaplaceSumLaw,
)
from sordino.noise.numbers import MapDomain, Metric, NumberDomain
from sordino.noise.sampling.bits import Bits, BitSource
from sordino.noise.threshold.fitting import (
    fit_threshold,
    positive_change,
    positive_delta,
)
from sordino.noise.threshold.mechanism import (
    AbstractThresholdMechanism,
    Change,
    KeptKeys,
    MapDistance,
    Norm,
    ThresholdOptions,
    any_passes,
    each_passes,
    read_threshold_options,
)
from sordino.numbers import (
    INFINITE,
    Exact,
    Number,
    arguments,
    finite,
    frozen,
    positive,
    rational_above,
    shortest,
    up,
)
from sordino.numbers.canonical import Words, exact_words

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
        scale = positive(scale=scale)
        frozen.fill(
            self, scale=scale, **read_threshold_options(threshold, dtype, granularity)
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {
            "noise": "geometric",
            "scale": exact_words(self.scale),
            "threshold": exact_words(self.threshold),
        }

    @classmethod
    def no_noise(
        cls, threshold: Number, *, dtype: str = "f64", granularity: int | None = None
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        options = read_threshold_options(threshold, dtype, granularity)
        return frozen.make(cls, scale=Fraction(0), **options)

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
        fitted = frozen.change(
            probe, scale=rational_above(finite(apart.whole)) / epsilon
        )
        return fit_threshold(fitted, apart, delta, negative=negative)

    @property
    def noise(self) -> AbstractNoise:
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    def headline(self, apart: Change) -> ApproxDP:
        return ApproxDP(change_ratio(apart.whole, self.scale), self.delta(apart))

    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the worst change: as many keys as can change by linf.

        For any change the one with the same l1 on the fewest keys is no better hidden
        (docs/proofs/noise.md); its keys are independent, so their losses compose.
        """
        if self.scale == 0 or apart.whole is INFINITE or apart.linf is INFINITE:
            return PureDP(change_ratio(apart.whole, self.scale))
        whole, each = rational_above(apart.whole), rational_above(apart.linf)
        # as many keys as can change by the most, and one for the rest
        copies = min(int(apart.l0), math.floor(whole / each))
        rest = whole - copies * each if copies < apart.l0 else Fraction(0)
        return compose([self._one(each) * copies, self._one(rest)])

    def _one(self, shift: Fraction) -> Loss:
        if self.unit is None:
            return LaplaceLoss(shift / self.scale)
        # numbers in units differ by whole steps: a part of one cannot happen
        steps = math.floor(shift / self.unit)
        if steps > _MOST_STEPS:
            return PureDP(shift / self.scale)
        return GeometricLoss(steps, self.scale / self.unit)


_MOST_NUMBERS: Final = 4
_SLACK: Final = Fraction(1, 2**20)
"""Of the scale: what rounding to doubles may add to a sum of noisy numbers."""
_ROUNDING: Final = Fraction(1, 2**49)
"""Of the exact numbers: the same."""
_BEYOND: Final = 1 + Fraction(1, 2**50)
"""What larger noise, whose rounding adds more, adds to a chance."""
_FARTHEST: Final = 800.0
_HALVINGS: Final = 60
_NEXT: Final = 1 + 2.0**-45


@final
class ShownRows(NamedTuple):
    """The rows whose noisy numbers reached a threshold together, and these numbers."""

    rows: NDArray[np.intp]
    answers: tuple[Floats, ...]


@final
@dataclass(frozen=True, init=False, repr=False)
class LaplaceSumThreshold(AbstractNoiseMechanism):
    """Add Laplace noise to each number of a key; show it if their sum is large enough.

    A distance is stated in the sums of the numbers of each key, none of which is
    negative: how many of them change, by how much in all, and by how much each.

    | case | what happens |
    |---|---|
    | the exact numbers of a key are all 0 | it counts as absent, and never shows |
    | a change of nothing | costs nothing |
    | one number | as `LaplaceThreshold` |

    >>> mechanism = LaplaceSumThreshold(1, 20, numbers=2)
    >>> loss = mechanism.map((1, 1, 1))
    >>> loss.epsilon, round(float(loss.delta), 12)
    (Fraction(1, 1), 2.9415e-08)
    """

    scale: Exact
    threshold: Fraction
    numbers: int
    input_metric: ClassVar[Metric] = "l0, l1, linf"
    output_measure: ClassVar[type[ApproxDP]] = ApproxDP
    input_domain: ClassVar[MapDomain] = MapDomain(NumberDomain("f64"))

    def __init__(self, scale: Number, threshold: Number, *, numbers: int) -> None:
        level = positive(threshold=threshold)
        if not isinstance(level, Fraction):
            raise InvalidParameter(
                "threshold", threshold, "must be rational", "Try threshold=20."
            )
        count = arguments.integer(numbers=numbers, least=1, most=_MOST_NUMBERS)
        size = positive(scale=scale)
        frozen.fill(self, scale=size, threshold=level, numbers=count)

    @property
    def certificate(self) -> dict[str, Words]:
        return {
            "noise": "laplace",
            "scale": exact_words(self.scale),
            "threshold": exact_words(self.threshold),
        }

    @classmethod
    def for_loss(cls, loss: ApproxDP, d_in: MapDistance, *, numbers: int) -> Self:
        """Return the least scale, and for it the least threshold, within a loss.

        >>> pair = LaplaceSumThreshold.for_loss(
        ...     ApproxDP(1, "1e-6"), (1, 1, 1), numbers=2
        ... )
        >>> pair.scale, round(float(pair.threshold), 3)
        (Fraction(1, 1), 16.279)
        """
        apart = positive_change(cls(1, 1, numbers=numbers).change(d_in), d_in)
        known = guarantees_of(loss)
        epsilon, delta = known.epsilon, positive_delta(loss, known.delta)
        if epsilon is INFINITE or epsilon == 0:
            raise InvalidParameter(
                "loss", loss, "needs a positive epsilon", 'Use sd.ApproxDP(1, "1e-6").'
            )
        scale = rational_above(finite(apart.whole)) / epsilon
        level = up(_largest(apart) + _margin(scale, apart))
        level += up(scale) * _quantile(numbers, each_passes(delta, int(apart.l0)))
        while True:
            mechanism = cls(scale, shortest(level), numbers=numbers)
            if mechanism.delta(apart) <= delta:
                return mechanism
            level *= _NEXT

    @property
    def noise(self) -> AbstractNoise:
        return LaplaceNoise(self.scale)

    @property
    def law(self) -> ContinuousLaplaceLaw:
        return ContinuousLaplaceLaw(self.scale)

    def __call__(self, value: Sequence[Any]) -> ShownRows:
        """Return the rows that show, and their noisy numbers.

        For any keys the answer's law depends on each row's numbers alone.
        """
        return self.select(value, Bits())

    def select(self, value: Sequence[Any], bits: BitSource) -> ShownRows:
        """Return the same, with noise that is drawn from some bits."""
        exact_numbers = [np.asarray(column, np.float64) for column in value]
        if len(exact_numbers) != self.numbers:
            raise InvalidParameter(
                "value",
                len(exact_numbers),
                f"must be {self.numbers} arrays, one for each number",
                "Give the numbers of all keys, number by number.",
            )
        present = np.flatnonzero(np.any(exact_numbers, axis=0))
        noise = Laplace(self.scale).carrier
        noisy = [noise.many(column[present], bits) for column in exact_numbers]
        # a sum of doubles: the margin in delta charges its rounding
        above = np.flatnonzero(np.sum(noisy, axis=0) >= up(self.threshold))
        return ShownRows(present[above], tuple(column[above] for column in noisy))

    def map(self, d_in: MapDistance) -> JointLoss:
        """Return the loss between maps at distance d_in: headline and joint curve.

        For any two maps at distance d_in a key in both differs by noise on numbers
        whose sizes add up to its change, and a key in one is silent but with chance
        delta: docs/proofs/moments.md, lemma 4.
        """
        apart = self.change(d_in)
        headline = ApproxDP(change_ratio(apart.whole, self.scale), self.delta(apart))
        if apart.linf is INFINITE or headline.delta in {0, 1}:
            return JointLoss(headline, headline.delta, 1, None)
        keys = KeptKeys(LaplaceThreshold(self.scale, self.threshold), apart)
        return JointLoss(headline, self._chance(apart, 1), int(apart.l0), keys)

    def change(self, d_in: MapDistance) -> Change:
        """Return a distance, tightened."""
        return LaplaceThreshold(self.scale, self.threshold).change(d_in)

    def delta(self, apart: Change) -> Fraction:
        """Return the chance that any key of a change shows that one map lacks."""
        if apart.l0 == 0:
            return Fraction(0)
        if INFINITE in {apart.linf, apart.l0}:
            return Fraction(1)
        return self._chance(apart, int(apart.l0))

    def _chance(self, apart: Change, keys: int) -> Fraction:
        gap = self.threshold - _largest(apart) - _margin(self.scale, apart)
        law = LaplaceSumLaw(self.numbers, self.scale)
        return min(any_passes(law, gap, keys) * _BEYOND, Fraction(1))


def _largest(apart: Change) -> Fraction:
    return rational_above(finite(apart.linf))


def _margin(scale: Exact, apart: Change) -> Fraction:
    """Return by how much less than a threshold a sum of doubles may come from."""
    return rational_above(scale) * _SLACK + _largest(apart) * _ROUNDING


@lru_cache(maxsize=256)
def _quantile(numbers: int, chance: Fraction) -> float:
    law, wanted = LaplaceSumLaw(numbers, Fraction(1)), float(chance)
    low, high = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = float(law.at_least(Fraction(middle)).mid()) > wanted
        low, high = (middle, high) if beyond else (low, middle)
    return high
