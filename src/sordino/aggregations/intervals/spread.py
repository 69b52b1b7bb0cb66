"""Intervals of variances, from noisy moments.

If m and v are the exact mean and variance, second - 2 m first + (m**2 - v) count is 0
but for its noise. The mean is held in a wide interval at a small part of the chance to
miss; the interval of v holds all that fit one of those means
(docs/proofs/intervals.md, lemma 4).

In small groups the upper end is found about a centre between the mean and the middle
of the range: there the noise grows less where the mean may be far off (lemma 4, b).
"""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from sordino.aggregations.intervals.bars import Bars, blank_missing
from sordino.aggregations.intervals.quotient import quotient_ends
from sordino.aggregations.intervals.sums import Form, Level, Sums
from sordino.curves.points import Floats
from sordino.numbers import probability

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
        low, high = moments.ends(least[rows], most[rows])
        bars.low[rows] = np.where(moments.sure, low, 0.0)
        bars.high[rows] = np.where(moments.sure, high, _GREATEST)
        bars.sd[rows] = np.where(moments.sure, moments.sd, np.nan)
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

    @property
    def whole(self) -> Floats:
        """Return the noisy counts."""
        return self.sums.value_of(self.count, self.level.rows)

    @property
    def reach_of_count(self) -> Floats:
        """Return how far the noise of a count goes."""
        return self.sums.reach(self.count, self.level.alpha)

    @property
    def sure(self) -> Any:
        """Tell where the count is surely positive, so that ends rise with sums."""
        return self.whole > self.reach_of_count

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
        """Return the share of centring of a count."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(size > 0, self.centring / size, _HALF)
        return np.fmin(share, _HALF)

    def _end(self, mean: Floats, share: Any, loose: Any, side: float) -> Floats:
        """Return the outermost variance to one side that fits a mean, by bisection."""
        whole, squares = self.whole, self._squares(mean, share) - loose
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
        """Return the noisy sum of squared distances from a mean."""
        moments = (self.count, self.first, self.second)
        count, first, second = (
            self.sums.value_of(form, self.level.rows) for form in moments
        )
        once, never = _factors(mean, share)
        return np.asarray(second - once * first + never * count)

    def _forms(self, mean: Floats, share: Any, variance: Any) -> Floats:
        """Return the forms that are pure noise at a mean and a variance."""
        once, never = _factors(mean, share)
        return np.array([
            square - once * value + (never - variance) * number
            for number, value, square in zip(
                self.count, self.first, self.second, strict=True
            )
        ])


def _factors(mean: Floats, share: Any) -> tuple[Floats, Floats]:
    """Return what is taken of the sum, and added of the count, in squares about a mean.

    The squares are taken about a centre a share of the way from the mean to the middle
    of the range, less what that adds to them if the mean is right.
    """
    once = share + 2 * mean * (1 - share)
    return once, mean**2 * (1 - 2 * share) + share * mean
