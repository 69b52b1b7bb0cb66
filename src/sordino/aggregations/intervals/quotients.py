"""Intervals of means and shares (Fieller), and of variances, from noisy moments.

If x is the exact quotient of two sums, the form top - x bottom is 0 but for its noise,
for any size of the group. So the interval holds the x at which the form lies within the
reach of its own noise (docs/proofs/intervals.md, lemma 3).

If m and v are the exact mean and variance, second - 2 m first + (m**2 - v) count is 0
but for its noise. The mean is held in a wide interval at a small part of the chance to
miss; the interval of v holds all that fit one of those means (lemma 4). In small groups
the upper end is found about a centre between the mean and the middle of the range:
there the noise grows less where the mean may be far off (lemma 4, b).
"""

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from sordino.aggregations.intervals.linear_forms import (
    ROUNDING,
    Bars,
    Form,
    Level,
    Sums,
    blank_missing,
)
from sordino.losses.curves.points import Floats
from sordino.numbers import probability

_PIECES: Final = 256
"""Pieces of the range; in each, a chord bounds the reach from above."""
_LARGE: Final = 5.0
"""Of groups that look smaller, in deviations of their size, no deviation is known."""
_STEPS: Final = tuple(_PIECES >> n for n in range(1, _PIECES.bit_length()))
"""By how many pieces a search goes on: half of them, a quarter, to the last one."""


@final
class Ends(NamedTuple):
    """Intervals, and where the divisor is surely positive."""

    low: Floats
    high: Floats
    sure: Any


def quotient_bars(
    sums: Sums,
    top: Form,
    bottom: Form,
    confidence: Any,
    within: tuple[float, float] = (0.0, 1.0),
) -> Bars:
    """Return the bars of top / bottom, cut to the public range of the exact quotient.

    All of the range where the divisor may be 0.
    """
    alpha = float(1 - probability(confidence=confidence))
    low, high, sure = quotient_ends(sums, top, bottom, alpha, within)
    whole, part = sums.value_of(bottom), sums.value_of(top)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x = np.clip(part / whole, *within)
        forms = np.array([a - x * b for a, b in zip(top, bottom, strict=True)])
        sd = np.minimum(sums.sd(forms) / whole, (within[1] - within[0]) / 2)
    # noise alone may have made it large: then its error is not the delta method's
    large = sure & (whole >= _LARGE * sums.sd(bottom))
    bars = Bars(np.where(large, sd, np.nan), low, high)
    return blank_missing(bars, np.isnan(whole + part))


def quotient_ends(
    sums: Sums, top: Form, bottom: Form, alpha: float, within: tuple[float, float]
) -> Ends:
    """Return the ends of the intervals of quotients that miss with a chance of alpha.

    Where a part of the noise showed nothing, its own reach is a second bound.
    """
    size = len(sums.values[0])
    ends = Ends(np.full(size, within[0]), np.full(size, within[1]), np.zeros(size, "?"))
    points = np.linspace(*within, _PIECES + 1)
    forms = np.array([a - points * b for a, b in zip(top, bottom, strict=True)])
    # any x in general: which noises the forms have is the same for almost all
    general = tuple(a + b for a, b in zip(np.abs(top), np.abs(bottom), strict=True))
    parts = sums.split(general)
    for level in sums.levels(general, alpha):
        whole, part = sums.value_of(bottom, level.rows), sums.value_of(top, level.rows)
        reaches = [sums.reach(forms, level.alpha)]
        if parts is not None and level.chance < 1:
            reaches.append(_reaches_apart(sums, forms, level))
        several = _ends_in_range(whole, part, points, reaches)
        for column, values in zip(ends, several, strict=True):
            column[level.rows] = values
    return ends


def _ends_in_range(
    whole: Floats, part: Floats, points: Floats, reaches: list[Floats]
) -> Ends:
    """Return the ends; of the nearest quotient there can be, were they but a point."""
    ends = _narrowest(whole, part, points, reaches)
    within = points[[0, -1]]
    beyond = ends.sure & (ends.low == ends.high) & np.isin(ends.low, within)
    if beyond.any():  # the noise went beyond the range
        divisor = whole[beyond]
        nearest = np.clip(part[beyond], *np.outer(within, divisor))
        near = _narrowest(divisor, nearest, points, reaches)
        ends.low[beyond], ends.high[beyond] = near.low, near.high
    return ends


def _narrowest(
    whole: Floats, part: Floats, points: Floats, reaches: list[Floats]
) -> Ends:
    """Return the ends that some reaches leave together."""
    several = [_crossings(whole, part, points, reach) for reach in reaches]
    least, most, sure = several[0]
    for lower, upper, also in several[1:]:
        least = np.where(also, np.maximum(least, lower), least)
        most = np.where(also, np.minimum(most, upper), most)
        sure |= also
    return Ends(np.minimum(least, most), np.maximum(least, most), sure)


def _reaches_apart(sums: Sums, forms: Floats, level: Level) -> Floats:
    """Return the reach of forms, with independent noises bounded by themselves."""
    assert sums.shown is not None  # noqa: S101 asked where groups show
    marks = np.array(sums.shown.weights) != 0
    free, bound = forms.copy(), forms.copy()
    free[marks], bound[~marks] = 0.0, 0.0
    return sums.reach_apart((free, bound), level)


def _crossings(whole: Floats, part: Floats, points: Floats, reach: Floats) -> Ends:
    """Return where x whole - reach and x whole + reach cross the part.

    Both rise with x where the whole is greater than any slope of the reach, which is a
    norm and so lies below its chords; elsewhere all of the range is given.
    """
    step = points[1] - points[0]
    with np.errstate(invalid="ignore"):
        slope = np.abs(np.diff(reach)).max() / step
    sure = whole > slope if np.isfinite(slope) else np.zeros(whole.shape, np.bool_)
    divisor = np.where(sure, whole, 1.0)
    low = _first_crossing(divisor, part, points, reach)
    # mirrored: the greatest x of x whole - reach <= part
    mirrored = points[0] + points[-1] - points[::-1]
    ends = points[0] + points[-1]
    high = ends - _first_crossing(divisor, ends * divisor - part, mirrored, reach[::-1])
    return Ends(np.where(sure, low, points[0]), np.where(sure, high, points[-1]), sure)


def _first_crossing(
    whole: Floats, part: Floats, points: Floats, reach: Floats
) -> Floats:
    """Return the least x of the range with x whole + reach(x) >= part."""
    first = np.zeros(whole.shape, np.intp)
    for step in _STEPS:
        first += step * (_form_at(first + step, whole, points, reach) < part)
    last = first + 1
    left, right = (_form_at(place, whole, points, reach) for place in (first, last))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((part - left) / (right - left), 0.0, 1.0)
    return np.asarray(points[first] + share * (points[last] - points[first]))


def _form_at(place: Any, whole: Floats, points: Floats, reach: Floats) -> Floats:
    form: Floats = points.take(place)
    form *= whole
    form += reach.take(place)
    return form


def ratio_bars(
    sums: Sums,
    top: tuple[Form, float],
    bottom: tuple[Form, float],
    confidence: Any,
) -> Bars:
    """Return the bars of a quotient of two forms, each plus a number, of any size.

    From minus to plus infinity where the divisor may be 0. At x the form top - x bottom
    is noise alone; as far from the quotient as |top - x bottom| at it, over how far the
    divisor is from its own reach, it is surely farther out than the reach of its noise.
    """
    alpha = float(1 - probability(confidence=confidence))
    size = len(sums.values[0])
    bars = Bars(np.full(size, np.nan), np.full(size, -np.inf), np.full(size, np.inf))
    noisy = [np.asarray(form) for form, _ in (top, bottom)]
    general = tuple((np.abs(noisy[0]) + np.abs(noisy[1])).tolist())
    for level in sums.levels(general, alpha):
        part, whole = (
            sums.value_of(form, level.rows) + number for form, number in (top, bottom)
        )
        reach = float(sums.reach(bottom[0], level.alpha)[0])
        sure = np.abs(whole) > reach
        rows = np.arange(size)[level.rows][sure]
        sized = _Ratio(sums, noisy, part[sure], whole[sure], level.alpha)
        bars.low[rows], bars.high[rows] = sized.end(-1.0, reach), sized.end(1.0, reach)
        large = np.abs(whole[sure]) >= _LARGE * float(sums.sd(bottom[0]))
        bars.sd[rows] = np.where(large, sized.sd, np.nan)
    missing = np.isnan(sums.value_of(top[0]) + sums.value_of(bottom[0]))
    return blank_missing(bars, missing)


_HALVINGS_OF_RATIOS: Final = 40


@final
@dataclass(frozen=True, eq=False)
class _Ratio:
    """Quotients whose divisor is surely not 0, and the chance to miss."""

    sums: Sums
    noisy: list[Floats]
    part: Floats
    whole: Floats
    alpha: float

    @property
    def middle(self) -> Floats:
        return self.part / self.whole

    @property
    def sd(self) -> Floats:
        return self.sums.sd(self._forms(self.middle)) / np.abs(self.whole)

    def end(self, side: float, reach: float) -> Floats:
        """Return the outermost x to one side at which the form may be noise alone."""
        inside, outside = self.middle, self.middle + side * self._farthest(reach)
        for _ in range(_HALVINGS_OF_RATIOS):
            x = (inside + outside) / 2
            off = self.part - x * self.whole
            fits = self.sums.contain(off, self._forms(x), self.alpha)
            inside, outside = np.where(fits, x, inside), np.where(fits, outside, x)
        # the outer of the last two, and what doubles round: never too narrow
        return np.asarray(outside + side * ROUNDING * np.abs(outside))

    def _farthest(self, reach: float) -> Floats:
        # the reach is a norm: at most the sum of those of the numbers alone
        alone = self.sums.reach(np.eye(len(self.noisy[0])), self.alpha)
        far = alone @ np.abs(self._forms(self.middle))
        return np.asarray(far / (np.abs(self.whole) - reach))

    def _forms(self, x: Floats) -> Floats:
        top, bottom = (form[:, None] for form in self.noisy)
        return np.asarray(top - x * bottom)


_MEAN: Final = 1 / 10
"""The part of the chance to miss that is spent on the mean."""
_COUNT: Final = 1 / 50
"""The chance that the count is farther off, as a share of that of the variance."""
_CENTRING: Final = 3.0
"""The share of centring, times the count, over the reach of the sum of squares."""
_CELLS: Final = 4
"""Cells of the interval of means; the lower end is bounded between their ends."""
_HALVINGS: Final = 16
_GREATEST: Final = 0.25
_HALF: Final = 0.5


def spread_bars(
    sums: Sums, count: Form, first: Form, second: Form, confidence: Any
) -> Bars:
    """Return the bars of variances of values between 0 and 1, from three moments.

    All of the range, 0 to 1/4, where the count may be 0.
    """
    alpha = float(1 - probability(confidence=confidence))
    size = len(sums.values[0])
    bars = Bars(np.full(size, np.nan), np.zeros(size), np.full(size, _GREATEST))
    least, most, _ = quotient_ends(sums, first, count, alpha * _MEAN, (0.0, 1.0))
    every = tuple(np.abs((count, first, second)).sum(axis=0).tolist())
    centring = _CENTRING * float(sums.reach(second, alpha)[0])
    for level in sums.levels(every, alpha * (1 - _MEAN) / (1 + _COUNT)):
        rows = level.rows
        moments = _Moments(sums, count, first, second, level, centring)
        low, high = moments.ends_in_range(least[rows], most[rows])
        bars.low[rows] = np.where(moments.sure, low, 0.0)
        bars.high[rows] = np.where(moments.sure, high, _GREATEST)
        bars.sd[rows] = np.where(moments.sure & moments.large, moments.sd, np.nan)
    values = sum(sums.value_of(form) for form in (count, first, second))
    return blank_missing(bars, np.isnan(values))


@final
@dataclass(frozen=True, eq=False)
class _Moments:
    """The moments of some groups, and the chance to miss that is left for them."""

    sums: Sums
    count: Form
    first: Form
    second: Form
    level: Level
    centring: float
    """The share of centring times the count: the same for all groups, and public."""
    is_near: bool = False
    """Whether squares beyond what they can be are moved to the nearest possible."""

    @property
    def whole(self) -> Floats:
        return self.sums.value_of(self.count, self.level.rows)

    @property
    def reach_of_count(self) -> Floats:
        return self.sums.reach(self.count, self.level.alpha)

    @property
    def sure(self) -> Any:
        return self.whole > self.reach_of_count

    @property
    def large(self) -> Any:
        return self.whole >= _LARGE * self.sums.sd(self.count)

    @property
    def sd(self) -> Floats:
        """Return the delta method's standard deviation, at most half of the range."""
        parts = (self.first, self.second)
        first, second = (self.sums.value_of(form, self.level.rows) for form in parts)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            mean = np.clip(first / self.whole, 0.0, 1.0)
            value = np.clip(second / self.whole - mean**2, 0.0, _GREATEST)
            spread = self.sums.sd(self._forms(mean, 0.0, value)) / self.whole
            return np.minimum(spread, _GREATEST / 2)

    def ends_in_range(self, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Return the ends; of the nearest variance there can be, were they a point."""
        low, high = self.ends(least, most)
        beyond = self.sure & (low == high) & np.isin(low, (0.0, _GREATEST))
        if beyond.any():
            rows = np.arange(len(self.sums.values[0]))[self.level.rows][beyond]
            near = replace(self, level=self.level._replace(rows=rows), is_near=True)
            low[beyond], high[beyond] = near.ends(least[beyond], most[beyond])
        return low, high

    def ends(self, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Return the least and the greatest variance that fits one of the means.

        The greatest is at an end of the means and of the shares of centring. Between
        two points of the means the second moment about a mean is below its chord by at
        most a quarter of their squared distance, times the count: so much is taken off
        for the least.
        """
        bend = ((most - least) / _CELLS) ** 2 / 4
        loose = bend * (self.whole + self.reach_of_count)
        points = np.linspace(0.0, 1.0, _CELLS + 1)
        lows = [
            self._end(least + (most - least) * point, 0.0, loose, -1.0)
            for point in points
        ]
        highs = [
            self._end(mean, share, 0.0, 1.0)
            for mean in (least, most)
            for share in self._shares
        ]
        return np.minimum.reduce(lows), np.maximum.reduce(highs)

    @property
    def _shares(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest share of centring of counts within reach.

        The share falls with the exact count, and is at most a half.
        """
        off = self.sums.reach(self.count, self.level.alpha * _COUNT)
        return self._share_of(self.whole + off), self._share_of(self.whole - off)

    def _share_of(self, size: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(size > 0, self.centring / size, _HALF)
        return np.fmin(share, _HALF)

    def _end(self, mean: Floats, share: Any, loose: Any, side: float) -> Floats:
        """Return the outermost variance to one side that fits a mean, by bisection."""
        whole, squares = self.whole, self._squares(mean, share)
        if self.is_near:
            squares = np.clip(squares, 0.0, _GREATEST * np.maximum(whole, 0.0))
        squares -= loose
        # a norm is greatest where all factors are as great as the greatest
        farthest = np.maximum(
            np.abs(self._forms(mean, share, 0.0)).max(axis=0),
            np.abs(self._forms(mean, share, _GREATEST)).max(axis=0),
        )
        even = self.sums.reach(np.ones(len(self.sums.noises)), self.level.alpha)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            near = np.clip(squares / whole, 0.0, _GREATEST)
            far = squares / whole + side * farthest * even / whole
            far = np.clip(far, 0.0, _GREATEST)
            for _ in range(_HALVINGS):
                middle = (near + far) / 2
                off = np.maximum(side * (middle * whole - squares), 0.0)
                forms = self._forms(mean, share, middle)
                fits = self.sums.contain(off, forms, self.level.alpha)
                near, far = np.where(fits, middle, near), np.where(fits, far, middle)
        return np.asarray(far)

    def _squares(self, mean: Floats, share: Any) -> Floats:
        moments = (self.count, self.first, self.second)
        count, first, second = (
            self.sums.value_of(form, self.level.rows) for form in moments
        )
        once, never = _factors(mean, share)
        return np.asarray(second - once * first + never * count)

    def _forms(self, mean: Floats, share: Any, variance: Any) -> Floats:
        once, never = _factors(mean, share)
        return np.array([
            square - once * value + (never - variance) * number
            for number, value, square in zip(
                self.count, self.first, self.second, strict=True
            )
        ])


def _factors(mean: Floats, share: Any) -> tuple[Floats, Floats]:
    """Factors of sum and count in squares about a mean: one taken off, one added.

    The squares are taken about a centre a share of the way from the mean to the middle
    of the range, less what that adds to them if the mean is right.
    """
    once = share + 2 * mean * (1 - share)
    return once, mean**2 * (1 - 2 * share) + share * mean
