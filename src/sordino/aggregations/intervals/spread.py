"""Intervals of variances, from noisy moments.

If m and v are the exact mean and variance, second - 2 m first + (m**2 - v) count is 0
but for its noise. The mean is held in a wide interval at a small part of the chance to
miss; the interval of v holds all that fit one of those means
(docs/proofs/intervals.md, lemma 4).
"""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from sordino.aggregations.intervals.bars import Bars, blank_missing
from sordino.aggregations.intervals.quotient import quotient_ends
from sordino.aggregations.intervals.sums import Form, Level, Sums
from sordino.curves.points import Floats
from sordino.numbers import probability

_MEAN: Final = 1 / 20
"""What the mean takes of the chance to miss."""
_CELLS: Final = 4
"""Cells of the interval of means; the lower end is bounded between their ends."""
_HALVINGS: Final = 16
_GREATEST: Final = 0.25


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
    for level in sums.levels(every, alpha * (1 - _MEAN)):
        rows = level.rows
        moments = _Moments(sums, count, first, second, level)
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
            spread = self.sums.sd(self._forms(mean, value)) / self.whole
            return np.minimum(spread, _GREATEST / 2)

    def ends(self, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Return the least and the greatest variance that fits one of the means.

        The greatest is at an end of the means. Between two points of them the second
        moment about a mean is below its chord by at most a quarter of their squared
        distance, times the count: so much is taken off for the least.
        """
        bend = ((most - least) / _CELLS) ** 2 / 4
        loose = bend * (self.whole + self.reach_of_count)
        points = np.linspace(0.0, 1.0, _CELLS + 1)
        lows = [
            self._end(least + (most - least) * share, loose, -1.0) for share in points
        ]
        highs = [self._end(mean, 0.0, 1.0) for mean in (least, most)]
        return np.minimum.reduce(lows), np.maximum(*highs)

    def _end(self, mean: Floats, loose: Any, side: float) -> Floats:
        """Return the outermost variance to one side that fits a mean, by bisection."""
        whole = self.whole
        moments = (self.count, self.first, self.second)
        count, first, second = (
            self.sums.value_of(form, self.level.rows) for form in moments
        )
        about = second - 2 * mean * first + mean**2 * count - loose
        # a norm is greatest where all factors are as great as the greatest
        farthest = np.maximum(
            np.abs(self._forms(mean, 0.0)).max(axis=0),
            np.abs(self._forms(mean, _GREATEST)).max(axis=0),
        )
        even = self.sums.reach(np.ones(len(self.sums.noises)), self.level.alpha)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            near = np.clip(about / whole, 0.0, _GREATEST)
            far = about / whole + side * farthest * even / whole
            far = np.clip(far, 0.0, _GREATEST)
            for _ in range(_HALVINGS):
                middle = (near + far) / 2
                off = np.maximum(side * (middle * whole - about), 0.0)
                forms = self._forms(mean, middle)
                fits = self.sums.contain(off, forms, self.level.alpha)
                near, far = np.where(fits, middle, near), np.where(fits, far, middle)
        return np.asarray(far)

    def _forms(self, mean: Floats, variance: Any) -> Floats:
        """Return the forms that are pure noise at a mean and a variance."""
        return np.array([
            square - 2 * mean * value + (mean**2 - variance) * number
            for number, value, square in zip(
                self.count, self.first, self.second, strict=True
            )
        ])
