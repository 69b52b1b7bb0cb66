"""Thresholded releases: noise each value of a map, keep what reaches the threshold.

For a map whose keys are themselves private. A key that one person alone contributes
must not appear, so it has to pass a threshold that its value plus noise seldom reaches;
how seldom is delta (docs/proofs/thresholds.md).
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, TypedDict, TypeVar, final, overload

from numpy.typing import NDArray

from sordino import _validate
from sordino.distributions.base import AbstractLaw
from sordino.errors import InvalidParameter
from sordino.losses.base import Loss, PureDP
from sordino.losses.joint import Headline, JointLoss
from sordino.mechanisms.kit import change
from sordino.mechanisms.kit.absent_keys import AbsentKeys, DrawKeys
from sordino.mechanisms.kit.appearance import any_passes
from sordino.mechanisms.kit.carrier import (
    AbstractCarrier,
    FloatCarrier,
    IntegerCarrier,
    Passing,
)
from sordino.mechanisms.kit.change import Change, MapDistance, Norm, floor_to
from sordino.mechanisms.kit.containers import Kind
from sordino.mechanisms.kit.domain import (
    FLOATS,
    INTEGERS,
    MapDomain,
    NumberDomain,
    float_format,
)
from sordino.mechanisms.kit.maps import open_map
from sordino.mechanisms.noise_mechanism import (
    COARSEST_GRID,
    FINEST_GRID,
    AbstractNoiseMechanism,
)
from sordino.numbers import INFINITE, Exact, exact, finite, rational_above
from sordino.sampling.bits import Bits, BitSource
from sordino.sampling.sampler import Threshold

_HALF = Fraction(1, 2)


Key = TypeVar("Key")
Counts: TypeAlias = dict[Key, int] | dict[Key, float]
Keys = TypeVar("Keys")
Values = TypeVar("Values")


@final
class ThresholdOptions(TypedDict, total=False):
    """What `for_loss` passes on to a mechanism for maps."""

    dtype: str
    granularity: int | None


class AbstractThresholdMechanism(AbstractNoiseMechanism):
    """Add noise to the values of a map and keep the keys that reach a threshold.

    A positive threshold T keeps a key when value + noise >= T, a negative one, as in a
    mirror, when value + noise <= T; the exact sum decides, before any rounding or
    saturation. A value of 0 counts as absent: its key gets no noise and never passes.
    The keys kept come in their canonical order, whatever order they were given in.
    """

    threshold: Fraction
    dtype: str
    granularity: int | None

    @property
    @abstractmethod
    def norm(self) -> Norm:
        """Return the norm in which the whole change of a map is stated."""

    @abstractmethod
    def headline(self, apart: Change) -> Headline:
        """Return the parameters of the noise beside the chance of a new key."""

    @abstractmethod
    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the noise on keys that both maps have."""

    @cached_property
    def values(self) -> NumberDomain:
        """Return the domain of the values of a map."""
        return NumberDomain(self.dtype)

    @property
    def input_domain(self) -> MapDomain:
        """Return maps from keys to numbers of the dtype."""
        return MapDomain(self.values)

    @cached_property
    def law(self) -> AbstractLaw:
        """Return the law of the noise on the integers, the grid or the reals."""
        return self.noise.law(self._grid)

    @cached_property
    def carrier(self) -> AbstractCarrier:
        """Return what adds the noise to values and compares the sums."""
        if self.values.is_integer:
            return IntegerCarrier(self.values, self.noise.integers())
        sampler = self.noise.floats(self.granularity, float_format(self.dtype))
        return FloatCarrier(self.values, sampler, self.granularity)

    @overload
    def __call__(self, value: Counts[Key]) -> dict[Key, float]: ...
    @overload
    def __call__(self, value: tuple[Keys, Values]) -> tuple[Keys, Values]: ...
    @overload
    def __call__(self, value: Kind) -> Kind: ...

    def __call__(self, value: Any) -> Any:
        """Return the keys that pass, with their noisy values, in the kind of map given.

        For any order of the same keys and values the answer has the same law, and its
        order is that of the keys alone.
        """
        opened = open_map(value)
        rows, answers = self.carrier.select(opened.values, self._rule, Bits())
        order = opened.keys.order(rows)
        return opened.close(rows, order, answers[order])

    def select(self, values: NDArray[Any], bits: BitSource) -> Passing:
        """Return the places of the values that pass, ascending, and their answers.

        For keys that are kept elsewhere: whoever asks puts the answer into an order
        that depends on the keys alone.
        """
        return self.carrier.select(values, self._rule, bits)

    def map(self, d_in: MapDistance) -> JointLoss:
        """Return the loss between maps at distance d_in: headline and joint curve.

        For any two maps at distance d_in, keys in both differ by additive noise alone,
        and keys in one are silent but with chance delta: docs/proofs/thresholds.md.
        """
        apart = self.change(d_in)
        headline = self.headline(apart)
        if apart.linf is INFINITE or headline.delta in {0, 1}:
            return JointLoss(headline, headline.delta, 1, None)
        keys = self._most_keys(apart) if self.values.is_integer else int(apart.l0)
        chance = any_passes(self.law, self._gap(apart.linf, self.threshold), 1)
        return JointLoss(
            headline, chance, keys, KeptKeys(self, replace(apart, l0=keys))
        )

    def release_absent(
        self, n_absent_keys: Any, draw_keys: DrawKeys
    ) -> tuple[Any, Any]:
        """Return the absent keys of a public domain that pass, and their noisy values.

        For any listing of the absent keys the answer has the law of noising a 0 for
        each of them and keeping what passes, in time proportional to what passes.
        `draw_keys` is given ascending positions in that listing, an int64 array, and
        returns the keys there. Joined with the release of the present keys and sorted,
        this is a release over the whole domain: its keys are public, so its delta is 0.

        >>> from sordino.mechanisms.laplace_threshold import LaplaceThreshold
        >>> mechanism = LaplaceThreshold(1, 15, dtype="i64")
        >>> keys, values = mechanism.release_absent(10**8, lambda positions: positions)
        >>> len(keys) == len(values), bool((values >= 15).all())
        (True, True)
        """
        absent = AbsentKeys(self.noise, self.threshold, self._grid, self.values)
        return absent.release(n_absent_keys, draw_keys)

    def change(self, d_in: MapDistance) -> Change:
        """Return a distance tightened, the rounding to the grid included."""
        integer = self.values.is_integer
        return change.read_change(d_in, self.norm, self.unit, integer=integer)

    def delta(self, apart: Change) -> Fraction:
        """Return the chance that any key of a change appears that one map lacks.

        For any l0 keys of size at most linf: 1 - (1 - p)**l0 with the inclusive tail
        p = P[Z >= |T| - linf], which is exact also where linf reaches the threshold.
        """
        return self.delta_of(apart, self.threshold)

    def delta_of(self, apart: Change, threshold: Fraction) -> Fraction:
        """Return the delta that another threshold would have."""
        if apart.l0 == 0:
            return Fraction(0)
        if apart.linf is INFINITE or apart.l0 is INFINITE:
            return Fraction(1)
        return any_passes(self.law, self._gap(apart.linf, threshold), apart.l0)

    def _most_keys(self, apart: Change) -> int:
        """Return how many integers can change: each changes by 1 or more."""
        power = 1 if self.norm == "l1" else 2
        most = floor_to(finite(apart.whole) ** power, Fraction(1))
        return int(min(apart.l0, most))

    @cached_property
    def _rule(self) -> Threshold:
        """Return what exact sums are compared with."""
        return Threshold(self.threshold, self.threshold > 0)

    @cached_property
    def _grid(self) -> int | None:
        """Return the exponent of the grid of the noise, None for the reals."""
        return 0 if self.values.is_integer else self.granularity

    @cached_property
    def unit(self) -> Fraction | None:
        """Return the step of the grid of the noise."""
        return None if self._grid is None else Fraction(2) ** self._grid

    def _gap(self, linf: Exact, threshold: Fraction) -> Fraction:
        """Return how far noise must carry the largest new value to pass.

        On a grid that is from multiple to multiple. A threshold off the grid is priced
        at the nearest multiple: at most one step below what sums really have to reach.
        """
        level = abs(threshold)
        if self.unit is not None:
            level = math.floor(level / self.unit + _HALF) * self.unit
        return level - rational_above(linf)


@final
@dataclass(frozen=True)
class KeptKeys:
    """The loss of the noise by how many of the changed keys both maps have."""

    mechanism: AbstractThresholdMechanism
    apart: Change

    def __call__(self, keys: int) -> Loss:
        """Return the loss when `keys` keys are kept and the others are new."""
        mechanism = self.mechanism
        least = Fraction(1 if mechanism.values.is_integer else 0)
        left = self.apart.keep(keys, mechanism.norm, least)
        return mechanism.noise_loss(left) if left.l0 else PureDP(0)


def read_threshold_options(
    threshold: Any, dtype: str, granularity: int | None
) -> dict[str, Any]:
    """Return the threshold of a mechanism and its options by name, checked."""
    values = NumberDomain(_validate.choice((*FLOATS, *INTEGERS), dtype=dtype))
    if granularity is not None:
        granularity = _grid_of(granularity, values)
    level = threshold_of(threshold, values)
    return {"threshold": level, "dtype": dtype, "granularity": granularity}


def threshold_of(threshold: Any, values: NumberDomain) -> Fraction:
    """Return a threshold within a dtype, exactly; 0 is refused."""
    level = exact(threshold=threshold)
    if not isinstance(level, Fraction):
        raise InvalidParameter(
            "threshold", threshold, "must be a rational number", "Try threshold=20."
        )
    if level == 0:
        raise InvalidParameter(
            "threshold",
            threshold,
            "must not be 0: a key that one person alone contributes would pass it with "
            "a chance of about one half, and the sign says which side is kept",
            "Use a positive threshold to keep large values, a negative one for the "
            "mirror image.",
        )
    if values.is_integer and level.denominator != 1:
        raise InvalidParameter(
            "threshold",
            threshold,
            f"must be an integer for {values.dtype}",
            f"Try threshold={math.ceil(level)}.",
        )
    least, most = dtype_ends(values)
    if not least <= level <= most:
        raise InvalidParameter(
            "threshold",
            threshold,
            f"must lie within {values.dtype}, {least} to {most}",
            "Use a wider dtype.",
        )
    return level


def dtype_ends(values: NumberDomain) -> tuple[float, float]:
    """Return the least and the greatest number of a dtype."""
    if values.is_integer:
        return values.bounds
    largest = float_format(values.dtype).largest
    return -largest, largest


def _grid_of(granularity: Any, values: NumberDomain) -> int:
    """Return the exponent of a grid; that of the integers is 0 already."""
    if values.is_integer and granularity != 0:
        raise InvalidParameter(
            "granularity",
            granularity,
            f"has no meaning for {values.dtype}, whose grid is the integers",
            "Leave granularity out.",
        )
    return _validate.integer(
        granularity=granularity, least=FINEST_GRID, most=COARSEST_GRID
    )
