"""Intervals of counts, sums and linear forms; of a number that showed its group.

A form is a factor for each of some numbers with independent noises of one kind. At the
exact answer x a certain form, which depends on x, is pure noise: an interval holds the
x at which its value could be.

Of groups with the exact number n those show whose noisy number y reaches the cut T, so
the law of what is seen is cut at T. To each n belong the y of greatest density that
make up the confidence; the interval of y has the n to which it belongs
(docs/proofs/intervals.md, lemma 5). Below the cut nothing can be told: groups far too
small that show look alike.
"""

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from sordino.losses.curves.points import Floats
from sordino.noise.additive import AbstractNoiseMechanism
from sordino.noise.sums import AbstractBlend, blend_of
from sordino.numbers import probability, up
from sordino.numbers.arrays import with_gaps

if TYPE_CHECKING:
    import pyarrow as pa


ROUNDING = 2.0**-48
"""More than a few operations in doubles round, relative to the sizes of their terms."""


def error_names(name: str) -> tuple[str, ...]:
    """Return the names of the three columns of errors of an aggregate.

    >>> error_names("n")
    ('n sd', 'n low', 'n high')
    """
    return f"{name} sd", f"{name} low", f"{name} high"


def rank_names(name: str) -> tuple[str, str]:
    """Return the names of the columns that tell where a chosen value stands.

    >>> rank_names("age")
    ('age ranks low', 'age ranks high')
    """
    return f"{name} ranks low", f"{name} ranks high"


def names_among(name: str, errors: Container[str]) -> tuple[str, ...]:
    """Return the names of the columns of errors that an answer has in a table.

    >>> names_among("age", ["age sd", "age ranks low", "age ranks high"])[2:]
    ('age high', 'age ranks low', 'age ranks high')
    """
    ranks = rank_names(name)
    return error_names(name) + (ranks if ranks[0] in errors else ())


@final
class Bars(NamedTuple):
    """Standard deviations of the noise and the ends of intervals, NaN where unknown."""

    sd: Floats
    low: Floats
    high: Floats

    def columns(self, name: str) -> "dict[str, pa.Array]":
        """Return the columns of a table of errors, null where unknown.

        >>> list(Bars(np.zeros(1), np.zeros(1), np.zeros(1)).columns("n"))
        ['n sd', 'n low', 'n high']
        """
        return {
            part: with_gaps(values)
            for part, values in zip(error_names(name), self, strict=True)
        }

    def move(self, start: float, width: float, most: float) -> "Bars":
        """Return the bars of start + width * answer, cut to start ... most.

        What doubles round goes outward.
        """
        pad = ROUNDING * (abs(start) + abs(most) + width)
        low, high = start + width * self.low - pad, start + width * self.high + pad
        return Bars(width * self.sd, low, high).clip(start, most)

    def clip(self, least: float, most: float) -> "Bars":
        """Return the bars with ends where the exact answer can be.

        Where no more than a point were left the noise went beyond that, and a point
        would look sure: then they are the bars of the nearest possible answer.

        >>> bars = Bars(np.ones(3), np.array([-7.0, -30, -12]), np.array([5.0, -18, 0]))
        >>> bars.clip(0, 100).low.tolist(), bars.clip(0, 100).high.tolist()
        ([0.0, 0.0, 0.0], [5.0, 6.0, 6.0])
        """
        low, high = np.clip(self.low, least, most), np.clip(self.high, least, most)
        beyond = (low == high) & (self.low < self.high)
        if beyond.any():
            half = (self.high[beyond] - self.low[beyond]) / 2
            # what was an integer stays one
            whole = self.low[beyond] == np.rint(self.low[beyond])
            half = np.where(whole, np.ceil(half), half)
            low[beyond] = np.maximum(low[beyond] - half, least)
            high[beyond] = np.minimum(high[beyond] + half, most)
        return Bars(self.sd, low, high)

    @property
    def outward(self) -> "Bars":
        """Return the bars, ends that are no integers moved by one step of doubles."""
        low, high = (
            np.where(end == np.rint(end), end, np.nextafter(end, far))
            for end, far in ((self.low, -np.inf), (self.high, np.inf))
        )
        return Bars(self.sd, low, high)

    @property
    def root(self) -> "Bars":
        """Return the bars of the roots of answers that are not negative.

        The standard deviation is the delta method's, at the middle of the interval.
        """
        low, high = np.sqrt(self.low), np.sqrt(self.high)
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = np.where(high > 0, self.sd / (low + high), self.sd)
        return Bars(sd, low, high)


def unknown_bars(size: int) -> Bars:
    """Return the bars of answers whose distance from the exact ones is private."""
    return Bars(*(np.full(size, np.nan) for _ in range(3)))


def blank_missing(bars: Bars, missing: Any) -> Bars:
    """Return the bars, NaN where the answer is missing."""
    return Bars(*(np.where(missing, np.nan, part) for part in bars))


@final
@dataclass(frozen=True)
class Noise:
    """The noise of a mechanism, in units of the answer.

    The answer is unit * (exact integer + noise). `rounding` is the greatest distance by
    which it was moved afterwards: 1/2 where a count was rounded to an integer.
    """

    mechanism: AbstractNoiseMechanism
    unit: Fraction = Fraction(1)
    rounding: Fraction = Fraction(0)

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation; a rounding adds one third of its square."""
        drawn = self.mechanism.law.deviation * up(self.unit)
        return float(np.hypot(drawn, up(self.rounding) / np.sqrt(3)))

    def reach(self, confidence: Fraction) -> float:
        """Return a t with P[|noise| <= t] >= confidence."""
        error = self.mechanism.error(confidence)
        if error == np.inf:
            return np.inf  # no Fraction can hold it
        return up(Fraction(error) * self.unit + self.rounding)

    @property
    def blend(self) -> AbstractBlend:
        """Law of the sum of several draws of this noise."""
        return self.mechanism.law.blend

    @cached_property
    def spread(self) -> float:
        """Return the scale of the noise among the real ones of its kind."""
        return self.mechanism.law.spread * up(self.unit)

    @cached_property
    def slip(self) -> float:
        """Return how far the noise is at most from the real one of that scale."""
        return self.mechanism.law.slip * up(self.unit) + up(self.rounding)

    def keeps_integers(self, factor: float) -> bool:
        """Say whether an integer stays one under a factor times this noise."""
        on_integers = self.rounding > 0 or self.mechanism.law.slip > 0
        return factor == 0 or (
            on_integers and (self.unit * Fraction(factor)).denominator == 1
        )

    def times(self, factor: Fraction) -> "Noise":
        """Return the noise in other units of the answer."""
        return Noise(self.mechanism, self.unit * factor, self.rounding * factor)


Form: TypeAlias = tuple[float, ...]

_WIDE: Final = 4.0
_FARTHEST: Final = 160
"""Noise no wider than `_WIDE` is farther out once in 10**20 draws at most."""
SPENT: Final = 1 / 20
"""What the size of a group that shows takes of the chance to miss."""
_HALVINGS: Final = 50
_BLOCK: Final = 1 << 14
"""How many groups are worked through together."""
_LEVELS: Final = np.array([1 - 2.0**-6, 0.9, 0.7, 0.5, *2.0 ** -np.arange(2.0, 100.0)])
"""Chances to show are rounded down to these, so that few intervals differ in level."""
_FREE: Final = 0.8
"""The part of the remaining chance to miss that independent noises may use."""


@final
@dataclass(frozen=True)
class Shown:
    """Why groups show: a form in their noisy numbers reached a cut."""

    weights: Form
    cut: float


@final
class Level(NamedTuple):
    """Some groups, and the chance to miss that is left for their intervals."""

    rows: Any
    alpha: float
    chance: float
    """At most that of showing, where the group is as small as it may be; 1 if known."""


@final
@dataclass(frozen=True, eq=False)
class Sums:
    """Noisy numbers of each group, their noises, and why the group shows."""

    values: tuple[Floats, ...]
    noises: tuple[Noise, ...]
    shown: Shown | None = None
    reaches: dict[tuple[bytes, float], Floats] = field(default_factory=dict)
    """How far the noise of forms goes, which is alike for all groups."""

    def in_blocks(self, rule: Callable[["Sums"], Sequence[Floats]]) -> Sequence[Floats]:
        """Return the columns that a rule makes of the numbers, some groups at a time.

        What is made on the way stays in the cache of a core. Of no group does a rule
        see any other.
        """
        size = len(self.values[0])
        if size <= _BLOCK:
            return rule(self)
        blocks = [
            rule(replace(self, values=tuple(value[rows] for value in self.values)))
            for rows in (slice(n, n + _BLOCK) for n in range(0, size, _BLOCK))
        ]
        return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]

    @cached_property
    def spreads(self) -> Floats:
        """Return the scales of the noises."""
        return np.array([noise.spread for noise in self.noises])

    @cached_property
    def slips(self) -> Floats:
        """Return how far each number is at most from one with real noise."""
        return np.array([noise.slip for noise in self.noises])

    def value_of(self, form: Form, rows: Any = slice(None)) -> Floats:
        """Return the value of a form for each group."""
        terms = [
            factor * value[rows]
            for factor, value in zip(form, self.values, strict=True)
        ]
        return np.asarray(sum(terms), np.float64)

    def reach(self, forms: ArrayLike, alpha: float) -> Floats:
        """Return how far the noise of forms goes, but with the chance alpha.

        The first axis of `forms` runs over the numbers. For any form that is a norm.
        """
        mark = np.asarray(forms, np.float64).tobytes(), alpha
        if mark not in self.reaches:
            blend, sizes, slips = self._sizes(forms)
            if self.shown is None and sizes.size <= _SHORT:
                # of noises, forms and a confidence: the same for whoever asks again
                far = _reach_of(blend, sizes.shape, sizes.tobytes(), alpha)
            else:
                far = blend.reach(sizes, alpha)
            self.reaches[mark] = far + slips
        return self.reaches[mark]

    def contain(self, x: Floats, forms: ArrayLike, alpha: float) -> Any:
        """Tell where a value of size x is no farther out than the reach."""
        blend, sizes, slips = self._sizes(forms)
        return (np.abs(x) <= slips) | blend.contains(np.abs(x) - slips, sizes, alpha)

    def sd(self, forms: ArrayLike) -> Floats:
        """Return the standard deviation of the noise of forms."""
        drawn = np.array([noise.sd for noise in self.noises])
        return np.sqrt(np.tensordot(drawn**2, np.asarray(forms, np.float64) ** 2, 1))

    def rounded_sd(self, form: Form) -> float:
        """Return the standard deviation of the noise of a form, rounded to an integer.

        Its square is the sum over k of (2 k - 1) P[|noise| >= k - 1/2]; where the noise
        is wide the rounding adds 1/12, as it does for any smooth law.
        """
        sd = float(self.sd(form))
        pairs = zip(self.noises, form, strict=True)
        if all(noise.keeps_integers(factor) for noise, factor in pairs):
            return sd
        if sd > _WIDE:
            return math.hypot(sd, 12**-0.5)
        k = np.arange(1.0, _FARTHEST)
        blend, sizes, _ = self._sizes(form)
        beyond = np.exp(blend.log_tail(k - 0.5, sizes))
        return math.sqrt(2 * float((2 * k - 1) @ beyond))

    def levels(self, form: Form, alpha: float) -> Iterator[Level]:
        """Yield the groups by the chance to miss that a form in their noise may have.

        Where the form shares no noise with what showed the group it keeps all of it.
        Else some is spent on how small the group may be; given its size, a miss is at
        most as likely as without the cut, over the chance to show.
        """
        size = len(self.values[0])
        if self.shown is None or not np.dot(np.abs(form), np.abs(self.shown.weights)):
            yield Level(slice(None), alpha, 1.0)
            return
        chances = np.exp(np.minimum(self._log_showing(alpha * SPENT), 0.0))
        steps = np.searchsorted(-_LEVELS, -chances)
        left = alpha * (1 - SPENT)  # the bound on the size took the rest
        for step in np.unique(steps) if size else ():
            # rounded down: too small a chance only widens the interval
            chance = float(_LEVELS[step]) if step < len(_LEVELS) else 0.0
            yield Level(np.flatnonzero(steps == step), left * chance, chance)

    def split(self, form: Form) -> tuple[Form, Form] | None:
        """Split a form into noises that do not decide what is shown, and the rest.

        None where either is empty.
        """
        if self.shown is None:
            return None
        marks = [weight != 0 for weight in self.shown.weights]
        free = tuple(
            0.0 if mark else factor for mark, factor in zip(marks, form, strict=True)
        )
        bound = tuple(factor - other for factor, other in zip(form, free, strict=True))
        return (free, bound) if any(free) and any(bound) else None

    def reach_apart(self, parts: tuple[Any, Any], level: Level) -> Floats:
        """Return the reach of a form of two parts, each within its own."""
        free, bound = parts
        # free noises are not cut by what is shown: they keep all of the chance
        left = level.alpha / level.chance if level.chance else 0.0
        return self.reach(free, left * _FREE) + self.reach(
            bound, level.alpha * (1 - _FREE)
        )

    def _sizes(self, forms: ArrayLike) -> tuple[AbstractBlend, Floats, Floats]:
        """Return the law of the noises in forms, their scales, and how far they slip.

        Noises that are in none of the forms are left out.
        """
        factors = np.abs(np.asarray(forms, np.float64))
        factors = factors.reshape(len(self.noises), -1)
        sizes = factors * self.spreads[:, None]
        there = np.flatnonzero(sizes.any(axis=1))
        there = there if len(there) else np.arange(1)
        blend = blend_of([self.noises[place].blend for place in there])
        return blend, sizes[there], self.slips @ factors

    def _log_showing(self, alpha: float) -> Floats:
        """Return ln P[a group shows], at the least size that it has but for alpha.

        A size n is too small where P[noise >= value - n] < alpha P[noise >= cut - n]:
        of groups of that size which show, so few reach the value.
        """
        assert self.shown is not None  # noqa: S101 asked where groups show
        blend, sizes, slips = self._sizes(self.shown.weights)
        value = np.maximum(self.value_of(self.shown.weights) - slips, self.shown.cut)
        low, high = np.zeros_like(value), np.maximum(value, 0.0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            beyond = blend.log_tail(value - middle, sizes)
            showing = blend.log_tail(self.shown.cut - middle, sizes)
            small = beyond < np.log(alpha) + showing
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        # the smaller size shows less often, so the interval is no narrower
        return blend.log_tail(self.shown.cut - low, sizes)


_SHORT: Final = 1024
"""Factors of forms whose reach is found once; that of more is a small part."""


@lru_cache(maxsize=64)
def _reach_of(
    blend: AbstractBlend, shape: tuple[int, ...], sizes: bytes, alpha: float
) -> Floats:
    return blend.reach(np.frombuffer(sizes).reshape(shape), alpha)


_STEPS: Final = 64
LogTail: TypeAlias = Callable[[Floats], Floats]
"""ln P[noise >= x]."""


def invert_cut_law(sums: "Sums", alpha: float, least: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of the form that showed the groups."""
    assert sums.shown is not None  # noqa: S101 asked where groups show
    weights, cut = sums.shown.weights, sums.shown.cut
    value = sums.value_of(weights)
    tail, slack, step = _law(sums)
    reach = float(sums.reach(weights, alpha)[0]) + step
    if not np.isfinite(reach):
        return np.full_like(value, max(least, 0.0)), np.full_like(value, np.inf)
    lower = np.maximum(value - slack, cut)
    upper = np.maximum(value + slack, cut)

    def holds(n: Floats, seen: Floats) -> Any:
        return _holds(n, seen, (cut, alpha), tail)

    first = np.full_like(value, max(least, 0.0))
    low = _edge(lambda n: holds(n, lower), np.minimum(first, lower), lower, step)
    high = _edge(lambda n: holds(n, upper), upper + reach, upper, step)
    return low, high


def _law(sums: "Sums") -> tuple[LogTail, float, float]:
    """Return the tail of the number that showed the groups, its rounding and step.

    One number on a lattice has its own exact law; real noise, and sums, that of the
    reals, from which they lie apart by their slips.
    """
    assert sums.shown is not None  # noqa: S101 asked where groups show
    weights = np.abs(np.array(sums.shown.weights))
    alone = np.flatnonzero(weights)
    if len(alone) == 1:
        noise, weight = sums.noises[alone[0]], float(weights[alone[0]])
        law, unit = noise.mechanism.law, float(noise.unit) * weight
        step = unit if law.slip else 0.0
        rounding = float(noise.rounding) * weight
        return (lambda x: law.log_at_least(x / unit)), rounding, step
    sizes = (weights * sums.spreads)[alone, None]
    blend = blend_of([sums.noises[place].blend for place in alone])
    return (lambda x: blend.log_tail(x, sizes)), float(weights @ sums.slips), 0.0


def _holds(
    n: Floats, seen: Floats, cut_and_alpha: tuple[float, float], tail: LogTail
) -> Any:
    """Tell whether the densest set of the law around n holds the number seen.

    It does if the points nearer to n, from the cut on, have less than the confidence.
    """
    cut, alpha = cut_and_alpha
    away = np.abs(seen - n)
    showing, beyond = tail(cut - n), tail(away)
    inside = np.exp(showing)
    on_both_sides = 1 - 2 * np.exp(beyond) < (1 - alpha) * inside
    above_the_cut = beyond > np.log(alpha) + showing
    return np.where((seen <= n) | (n - away >= cut), on_both_sides, above_the_cut)


def _edge(
    holds: Callable[[Floats], Any], outside: Floats, inside: Floats, step: float
) -> Floats:
    """Return the last point that holds, going outward; on a lattice one of it."""
    reached = holds(outside)
    near, far = inside, outside
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if step:
            # from the inside, which is on the lattice, by whole steps and at least one
            steps = np.trunc((far - near) / step)
            if not steps.any():
                break
            middle = near + np.sign(steps) * np.ceil(np.abs(steps) / 2) * step
        kept = holds(middle)
        near, far = np.where(kept, middle, near), np.where(kept, far, middle)
    # off a lattice the outer of the last two: too wide, never too narrow
    return np.where(reached, outside, near if step else far)


_WHOLE: Final = 2.0**53
"""Up to here every integer is a double."""


def additive(
    values: ArrayLike,
    noise: Noise,
    confidence: Any,
    least: float = -np.inf,
    most: float = np.inf,
) -> Bars:
    """Return the bars of noisy numbers: value - reach to value + reach.

    The ends are cut to the public range of the exact answer; the value is not, so that
    it stays unbiased. Where a number was rounded to an integer, so is its interval.
    """
    noisy = np.asarray(values, np.float64)
    reach = noise.reach(probability(confidence=confidence))
    if noise.rounding and np.isfinite(reach):
        reach = float(np.floor(reach))  # integers lie apart by integers
    sizes = np.maximum(np.abs(noisy), reach)
    whole = (np.rint(noisy) == noisy) & float(reach).is_integer()
    with np.errstate(invalid="ignore"):
        # integers up to 2**53 add up without rounding
        slack = np.where(whole & (2 * sizes <= _WHOLE), 0.0, 2 * np.spacing(sizes))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    low, high = noisy - reach - slack, noisy + reach + slack
    sd = np.where(np.isnan(noisy), np.nan, noise.sd)
    return Bars(sd, low, high).clip(least, most)


def linear(
    sums: Sums,
    form: Form,
    confidence: Any,
    least: float = -np.inf,
    most: float = np.inf,
    *,
    whole: bool = False,
) -> Bars:
    """Return the bars of a form in noisy numbers.

    Where the form is what showed the groups, its law is cut, and the interval is that
    of the cut law. With `whole` the exact answer is an integer, and so are the ends.
    """
    chance = 1 - probability(confidence=confidence)
    if sums.shown is None and len(sums.noises) == 1 and form == (1.0,):
        return additive(sums.values[0], sums.noises[0], confidence, least, most)
    value = sums.value_of(form)
    sd = np.full_like(value, sums.rounded_sd(form) if whole else float(sums.sd(form)))
    alpha = float(chance)
    factor = _factor_of_shown(sums, form)
    if factor:
        low, high = invert_cut_law(sums, alpha, least / factor)
        low, high = low * factor, high * factor
    else:
        reach = _reaches(sums, form, alpha)
        pad = ROUNDING * (np.abs(value) + np.where(np.isfinite(reach), reach, 0.0))
        low, high = value - reach - pad, value + reach + pad
    if whole:
        low, high = _round_inward(low, high)
    return blank_missing(Bars(sd, low, high).clip(least, most), np.isnan(value))


def reach(noises: tuple[Noise, ...], form: Form, confidence: Any) -> float:
    """Return how far the noise of a form goes at most, with a confidence.

    >>> from sordino.noise.laplace import Laplace
    >>> noise = Noise(Laplace(2))
    >>> round(reach((noise, noise), (1.0, 1.0), "0.95"), 3)
    8.226
    """
    chance = 1 - probability(confidence=confidence)
    if len(noises) == 1:
        return noises[0].reach(1 - chance) * abs(form[0])
    nothing = tuple(np.zeros(1) for _ in noises)
    return float(Sums(nothing, noises).reach(form, float(chance))[0])


def _reaches(sums: Sums, form: Form, alpha: float) -> Floats:
    reaches = np.full(len(sums.values[0]), np.inf)
    parts = sums.split(form)
    for level in sums.levels(form, alpha):
        reach = sums.reach(form, level.alpha)
        if parts is not None and level.chance < 1:
            reach = np.minimum(reach, sums.reach_apart(parts, level))
        reaches[level.rows] = reach
    return reaches


def _factor_of_shown(sums: Sums, form: Form) -> float:
    """Return the multiple of the showing form that this form is, 0 if it is none."""
    if sums.shown is None:
        return 0.0
    weights = np.array(sums.shown.weights)
    place = int(np.argmax(np.abs(weights)))
    factor = form[place] / weights[place]
    # a negative multiple would be cut on its other side
    return float(factor) if factor > 0 and (factor * weights == form).all() else 0.0


def _round_inward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Round ends to the integers between them, where there is one.

    >>> low, high = _round_inward(np.array([0.2, 0.2]), np.array([2.7, 0.7]))
    >>> low.tolist(), high.tolist()
    ([1.0, 0.2], [2.0, 0.7])
    """
    inner, outer = np.ceil(low), np.floor(high)
    empty = inner > outer
    # without an integer inside, rounded ends would cross
    return np.where(empty, low, inner), np.where(empty, high, outer)
