"""Thresholded releases: noise each value of a map, keep what reaches the threshold.

For a map whose keys are themselves private. A key that one person alone contributes
must not appear, so its value plus noise has to pass a threshold that it seldom reaches:
one new key passes with chance p, the inclusive tail P[Z >= T - linf], any of l0 of them
with delta = 1 - (1 - p)**l0 (docs/proofs/thresholds.md).

A map is read as a number for every key, 0 for an absent one. Two maps at distance
(l0, l1, linf) differ at no more than l0 keys, by at most linf at each and l1 in all;
at distance (l0, l2, linf) the Euclidean norm of the change is at most l2.

Kernel: mathematics.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import Any, Final, Literal, TypeAlias, TypedDict, TypeVar, final, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.losses.loss import Loss, PureDP
from sordino.losses.thresholded import Headline, JointLoss
from sordino.noise.additive import (
    COARSEST_GRID,
    FINEST_GRID,
    AbstractNoise,
    AbstractNoiseMechanism,
)
from sordino.noise.law import AbstractLaw, Tails
from sordino.noise.numbers import (
    FLOATS,
    INTEGERS,
    AbstractCarrier,
    FloatCarrier,
    IntegerCarrier,
    Kind,
    MapDomain,
    NumberDomain,
    Passing,
    float_format,
)
from sordino.noise.sampling.bits import Bits, BitSource
from sordino.noise.sampling.floats import Threshold
from sordino.noise.sampling.integers import Tail, passes
from sordino.noise.sensitivity import Sensitivity
from sordino.noise.threshold.maps import open_map
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Infinity,
    Number,
    arguments,
    ball,
    distance,
    exact,
    finite,
    fraction,
    product,
    rational_above,
    root,
    shortest,
    sqrt,
    total,
)
from sordino.numbers.exact import floor_exact
from sordino.numbers.rounding import precision

_PRECISION = 96
_FINE = 256
_COARSE = 1e-300


@lru_cache(maxsize=1024)
def any_passes(law: Tails, gap: Fraction, keys: int) -> Fraction:
    """Return 1 - (1 - P[Z >= gap])**keys, rounded up to a short decimal."""
    digits = _PRECISION
    while True:
        with precision(digits):
            above = _decimal_above(_any(law, gap, keys))
        if above is not None:
            return above
        digits *= 2


def _decimal_above(chance: arb) -> Fraction | None:
    """Return the decimal of a double, above a chance and at most a step too far up.

    None asks for more precision. A chance of an unbounded law is never 0.
    """
    near = float(chance.mid())
    for point in (near, math.nextafter(near, math.inf)):
        decimal = _decimal(point)
        if ball(decimal) >= chance:
            below = math.nextafter(math.nextafter(point, 0.0), 0.0)
            tight = below == 0 or ball(_decimal(below)) < chance
            return min(decimal, Fraction(1)) if tight else None
    return None


def _decimal(point: float) -> Fraction:
    return shortest(point) if point > _COARSE else Fraction(point)


def _any(law: Tails, gap: Fraction, keys: int) -> arb:
    """Enclose the chance, from whichever of p and 1 - p is small."""
    if gap <= 0:
        return 1 - law.chance_above(-gap) ** keys
    chance = -(keys * (-law.at_least(gap)).log1p()).expm1()
    # nothing is known: the chance that bounds all
    return chance if chance.is_finite() else arb(1)


def each_passes(delta: Fraction, keys: int) -> Fraction:
    """Return the greatest p whose 1 - (1 - p)**keys is at most delta, rounded down.

    >>> float(each_passes(Fraction(3, 4), 2))
    0.5
    """
    with precision(_FINE):
        stays = (-ball(delta)).log1p() / keys
        return fraction((-stays.expm1()).lower()) if delta < 1 else Fraction(1)


Norm = Literal["l1", "l2"]

MapDistance: TypeAlias = (
    tuple[Number | Infinity, Number | Infinity, Number | Infinity] | Sensitivity
)
"""The `d_in` of a thresholded release: (l0, l1, linf) or (l0, l2, linf)."""

_FINEST: Final = Fraction(2) ** -1074
"""Every double is a multiple of this."""


@final
@dataclass(frozen=True)
class Change:
    """A change of a map after rounding: how many keys, how much in all and each."""

    l0: int | Infinity
    whole: Extended
    linf: Extended

    def keep(self, keys: int, norm: Norm, least: Fraction) -> "Change":
        """Return the change left to `keys` keys when the other l0 - keys are new.

        A key that is new, or vanishes, changes by `least` or more.
        """
        power = 1 if norm == "l1" else 2
        if self.l0 == 0 or keys == 0:
            return NO_CHANGE
        whole, linf = self.whole, self.linf
        if whole is not INFINITE:
            spent = (Fraction(self.l0) - keys) * least**power
            left = max(rational_above(whole**power) - spent, Fraction(0))
            whole = left if norm == "l1" else sqrt(left)
        if linf is not INFINITE:
            linf = rational_above(linf)
        return _tighten(keys, whole, linf, norm, None, False)


NO_CHANGE: Final = Change(0, Fraction(0), Fraction(0))


def read_change(
    d_in: Any, norm: Norm, unit: Fraction | None, *, integer: bool
) -> Change:
    """Return a stated distance, tightened; with a unit, after rounding to multiples.

    Integers change by integers, so what must be integral is floored. Rounding to a grid
    moves a value of a changed key by less than a unit relative to its neighbour, and
    only changed keys can round differently: it adds to each of the l0 of them.
    """
    if isinstance(d_in, Sensitivity):
        stated = (d_in.l0, d_in.l1 if norm == "l1" else d_in.l2, d_in.linf)
    else:
        stated = _read_triple(d_in, norm)
    return _tighten(*stated, norm, unit, integer)


def _read_triple(d_in: Any, norm: Norm) -> tuple[int, Extended, Extended]:
    expected = f"must be three numbers (l0, {norm}, linf)"
    if not isinstance(d_in, (tuple, list)) or len(d_in) != 3:
        example = "Write d_in=(1, 1, 1), or sd.Sensitivity(l0=1, linf=1)."
        raise InvalidParameter("d_in", d_in, expected, example)
    count, whole, largest = d_in
    return (
        arguments.integer(l0=count, least=0),
        distance(**{norm: whole}),
        distance(linf=largest),
    )


@lru_cache(maxsize=1024)
def _tighten(
    l0: int | Infinity,
    whole: Extended,
    linf: Extended,
    norm: Norm,
    unit: Fraction | None,
    integer: bool,  # noqa: FBT001 a cache takes arguments by position
) -> Change:
    """Replace each bound by what the others imply where that is less."""
    if integer:
        whole = _integer_norm(whole, norm)
        linf = floor_to(linf, Fraction(1))
        l0 = _count(l0, whole, norm)
    if 0 in (l0, whole, linf):
        return NO_CHANGE
    linf = min(linf, whole)
    if integer:
        linf = floor_to(linf, Fraction(1))
    whole = min(whole, _most(l0, linf, norm))
    if integer or unit is None:
        return Change(l0, whole, linf)
    # values are multiples of 2**-1074: rounding moves them by less than a unit
    excess = unit - _FINEST
    linf = floor_to(total(linf, excess), unit)
    whole = total(whole, _most(l0, excess, norm))
    if norm == "l1":
        whole = floor_to(whole, unit)
    whole = min(whole, _most(l0, linf, norm))
    return Change(l0, whole, min(linf, floor_to(whole, unit)))


def _count(l0: int | Infinity, whole: Extended, norm: Norm) -> int | Infinity:
    if l0 is not INFINITE or whole is INFINITE:
        return l0
    return math.floor(whole if norm == "l1" else whole**2)


def _most(l0: int | Infinity, each: Extended, norm: Norm) -> Extended:
    keys = INFINITE if l0 is INFINITE else Fraction(l0)
    return product(each, keys if norm == "l1" else root(keys))


def _integer_norm(whole: Extended, norm: Norm) -> Extended:
    if norm == "l1" or whole is INFINITE:
        return floor_to(whole, Fraction(1))
    return root(floor_to(whole**2, Fraction(1)))


def floor_to(value: Extended, unit: Fraction) -> Fraction | Infinity:
    """Return the greatest multiple of the unit within a bound.

    >>> floor_to(Fraction(7, 2), Fraction(1)), floor_to(sqrt(Fraction(5)), Fraction(1))
    (Fraction(3, 1), Fraction(2, 1))
    """
    if value is INFINITE:
        return INFINITE
    return floor_exact(value / unit) * unit


DrawKeys = Callable[[NDArray[np.int64]], Any]
"""Turns positions in a public listing of the absent keys into those keys."""


@final
@dataclass(frozen=True)
class AbsentKeys:
    """Keys of value 0, all alike: noise, a threshold, and the grid of their sums."""

    noise: AbstractNoise
    threshold: Fraction
    grid: int | None
    values: NumberDomain

    @cached_property
    def unit(self) -> Fraction | None:
        """Return the step of the grid."""
        return None if self.grid is None else Fraction(2) ** self.grid

    @cached_property
    def level(self) -> Fraction:
        """Return the least size of a sum that passes."""
        level = abs(self.threshold)
        # a sum on the grid has to reach the multiple above
        return level if self.unit is None else ceil(level / self.unit) * self.unit

    def release(
        self, n_absent_keys: Any, draw_keys: DrawKeys
    ) -> tuple[Any, NDArray[Any]]:
        """Return the keys that pass, in the order of the listing, and their values."""
        count = arguments.integer(n_absent_keys=n_absent_keys, least=0, most=2**63 - 1)
        if not callable(draw_keys):
            raise InvalidParameter(
                "draw_keys",
                draw_keys,
                "must be a function",
                "Try draw_keys=lambda positions: keys[positions].",
            )
        tail, bits = self.noise.tail(self.level), Bits()
        places, answers = [], []
        if tail is not None:
            places = passes(self._chance, count, bits)
            answers = [self._answer(tail, bits) for _ in places]
        keys = draw_keys(np.array(places, np.int64))
        if len(keys) != len(places):
            raise InvalidParameter(
                "draw_keys",
                draw_keys,
                "must return one key for each position it is given",
                "Index an array of the absent keys by the positions.",
            )
        return keys, np.array(answers, self.values.numpy)

    def _chance(self) -> arb:
        # inclusive: a sum at the level passes
        return self.noise.law(self.grid).at_least(self.level)

    def _answer(self, tail: Tail, bits: BitSource) -> Any:
        """Return one noisy value at or beyond the threshold, on its side of 0."""
        sign = 1 if self.threshold > 0 else -1
        if self.unit is None:
            target = float_format(self.values.dtype)
            return sign * tail.nearest(self.level, target, bits)
        exact_sum = sign * (self.level + tail.steps(self.unit, bits) * self.unit)
        if not self.values.is_integer:
            return float_format(self.values.dtype).round(exact_sum)
        least, most = self.values.bounds
        return max(least, min(most, int(exact_sum)))


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
        """Parameters of the noise, and the chance that a new key is shown."""

    @abstractmethod
    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the noise on keys that both maps have."""

    @cached_property
    def values(self) -> NumberDomain:
        """Return the domain of the values of a map."""
        return NumberDomain(self.dtype)

    @property
    def input_domain(self) -> MapDomain:
        return MapDomain(self.values)

    @cached_property
    def law(self) -> AbstractLaw:
        return self.noise.law(self._grid)

    @cached_property
    def carrier(self) -> AbstractCarrier:
        """Carrier: adds the noise, and compares the sums with the threshold."""
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
        # the order that keys came in may itself be private
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

        >>> from sordino.noise.threshold.laplace import LaplaceThreshold
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
        return read_change(d_in, self.norm, self.unit, integer=integer)

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
        if apart.linf is INFINITE or apart.l0 is INFINITE:  # a new key surely shows
            return Fraction(1)
        return any_passes(self.law, self._gap(apart.linf, threshold), apart.l0)

    def _most_keys(self, apart: Change) -> int:
        """Return how many integers can change: each changes by 1 or more."""
        power = 1 if self.norm == "l1" else 2
        most = floor_to(finite(apart.whole) ** power, Fraction(1))
        return int(min(apart.l0, most))

    @cached_property
    def _rule(self) -> Threshold:
        return Threshold(self.threshold, self.threshold > 0)

    @cached_property
    def _grid(self) -> int | None:
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
        # upwards: a larger change only raises delta
        return level - rational_above(linf)


@final
@dataclass(frozen=True)
class KeptKeys:
    """The loss of the noise by how many of the changed keys both maps have."""

    mechanism: AbstractThresholdMechanism
    apart: Change

    def __call__(self, keys: int) -> Loss:
        mechanism = self.mechanism
        least = Fraction(1 if mechanism.values.is_integer else 0)
        left = self.apart.keep(keys, mechanism.norm, least)
        return mechanism.noise_loss(left) if left.l0 else PureDP(0)


def read_threshold_options(
    threshold: Any, dtype: str, granularity: int | None
) -> dict[str, Any]:
    """Return the threshold of a mechanism and its options by name, checked."""
    values = NumberDomain(arguments.choice((*FLOATS, *INTEGERS), dtype=dtype))
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
    return arguments.integer(
        granularity=granularity, least=FINEST_GRID, most=COARSEST_GRID
    )
