"""Intervals of quotients and variances from a box of noisy sums, wider than need be."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from sordino.aggregations.intervals.bars import Bars
from sordino.aggregations.intervals.noise import Noise
from sordino.curves.points import Floats
from sordino.numbers import probability

_ROUNDING = 2.0**-48
"""More than the formulas below round, relative to the sizes of their terms."""


@final
class Box(NamedTuple):
    """The ends of intervals."""

    low: Floats
    high: Floats


@final
@dataclass(frozen=True)
class Combined:
    """The noise of a sum of noisy numbers, each times a factor."""

    terms: tuple[tuple[Noise, float], ...]

    @property
    def sd(self) -> float:
        """Return the standard deviation of independent noises."""
        return float(np.sqrt(sum((one.sd * by) ** 2 for one, by in self.terms)))

    def reach(self, confidence: Fraction) -> float:
        """Return a t with P[|noise| <= t] >= confidence: each within its own reach."""
        each = _joint(confidence, len(self.terms))
        return sum(one.reach(each) * by for one, by in self.terms) * (1 + _ROUNDING)


AnyNoise: TypeAlias = Noise | Combined


def ratio(
    deviation: ArrayLike,
    count: ArrayLike,
    noises: tuple[Noise, Noise],
    confidence: Any,
    within: tuple[float, float],
    offset: float = 0.0,
) -> Bars:
    """Return the bars of offset + deviation / count, cut to the public range.

    For any dependence of the two noises: each sum misses its own interval with half the
    allowed chance, and the quotients of all pairs in the box make the interval.
    """
    top, bottom = _floats(deviation, count)
    each = _joint(confidence, 2)
    aside, around = (noise.reach(each) for noise in noises)
    less, more, sure = _inverses(bottom, around)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low = np.minimum((top - aside) * less, (top - aside) * more)
        high = np.maximum((top + aside) * less, (top + aside) * more)
        slope = top / bottom
        sd = np.hypot(noises[0].sd, slope * noises[1].sd) / bottom
        pad = _ROUNDING * (np.maximum(np.abs(low), np.abs(high)) + abs(offset))
        bars = Bars(sd, offset + low - pad, offset + high + pad)
    return _cut(bars, within, sure, np.isnan(top + bottom))


def share(
    first: ArrayLike,
    second: ArrayLike,
    noises: tuple[Noise, Noise],
    confidence: Any,
    within: tuple[float, float],
) -> Bars:
    """Return the bars of low + (high - low) * first / (first + second).

    That is a mean from the sums of x - low and of high - x: neither is negative, so the
    share grows in the first and falls in the second.
    """
    sums = _floats(first, second)
    each = _joint(confidence, 2)
    a, b = (
        _box(s, noise.reach(each), 0) for s, noise in zip(sums, noises, strict=True)
    )
    start, width = within[0], within[1] - within[0]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = a.low / (a.low + b.high), a.high / (a.high + b.low)
        moved = np.hypot(noises[0].sd * sums[1], noises[1].sd * sums[0])
        sd = width * moved / (sums[0] + sums[1]) ** 2
    pad = _ROUNDING * (abs(start) + width)
    bars = Bars(sd, start + width * low - pad, start + width * high + pad)
    return _cut(bars, within, a.low + b.low > 0, np.isnan(sums[0] + sums[1]))


def variance(
    moments: Sequence[ArrayLike],
    noises: Sequence[AnyNoise],
    confidence: Any,
    within: tuple[float, float],
) -> Bars:
    """Return the bars of s2 / count - (s1 / count)**2, for moments (count, s1, s2).

    The values lie in the public range `within`; s1 and s2 may be taken from any origin.
    """
    noisy = _floats(*moments)
    reaches = [noise.reach(_joint(confidence, 3)) for noise in noises]
    less, more, sure = _inverses(noisy[0], reaches[0])
    size = _box(np.abs(noisy[1]), reaches[1], 0)
    square = _box(noisy[2], reaches[2], 0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = _parabolas(size, square, (less, more))
        pad = _ROUNDING * (square.high * more + (size.high * more) ** 2)
    bars = Bars(_variance_sd(noisy, noises), low - pad, high + pad)
    greatest = (within[1] - within[0]) ** 2 / 4
    return _cut(bars, (0.0, greatest), sure, np.isnan(noisy[0] + noisy[1] + noisy[2]))


def _parabolas(size: Box, square: Box, ends: tuple[Floats, Floats]) -> Box:
    """Return the range of s2 t - s1**2 t**2 for t = 1 / count between the ends.

    Both bounds are concave in t: the least is at an end, the greatest at the vertex, or
    at the end nearest to it.
    """
    flat, steep = size.low**2, size.high**2
    vertex = np.where(flat > 0, square.high / (2 * flat), np.inf)
    best = np.clip(vertex, *ends)
    lows = [square.low * t - steep * t**2 for t in ends]
    return Box(np.minimum(*lows), square.high * best - flat * best**2)


def stdev(
    moments: Sequence[ArrayLike],
    noises: Sequence[AnyNoise],
    confidence: Any,
    within: tuple[float, float],
) -> Bars:
    """Return the bars of the root of the variance."""
    squared = variance(moments, noises, confidence, within)
    count, s1, s2 = _floats(*moments)
    greatest = (within[1] - within[0]) / 4
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        value = np.sqrt(s2 / count - (s1 / count) ** 2)
        sd = np.minimum(squared.sd / (2 * value), greatest)
    return Bars(sd, np.sqrt(squared.low), np.sqrt(squared.high))


def _variance_sd(moments: Sequence[Floats], noises: Sequence[AnyNoise]) -> Floats:
    """Return the delta method's standard deviation, from the noisy moments."""
    count, s1, s2 = moments
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean, square = s1 / count, s2 / count
        slopes = (2 * mean**2 - square, -2 * mean, np.ones_like(mean))
        parts = (slope * noise.sd for slope, noise in zip(slopes, noises, strict=True))
        found: Floats = np.sqrt(sum(part**2 for part in parts)) / count
    return found


def _box(values: Floats, reach: float, least: float) -> Box:
    """Return the interval of each value, cut from below."""
    return Box(np.maximum(values - reach, least), np.maximum(values + reach, least))


def _floats(*arrays: ArrayLike) -> list[Floats]:
    """Return arrays of doubles."""
    return [np.asarray(array, np.float64) for array in arrays]


def _joint(confidence: Any, count: int) -> Fraction:
    """Return the confidence of each of several statements that hold together."""
    return 1 - (1 - probability(confidence=confidence)) / count


def _inverses(count: Floats, around: float) -> tuple[Floats, Floats, Any]:
    """Return the ends of 1 / count, and where the count is surely positive."""
    sure = count - around > 0
    safe = np.where(sure, count, 2 * around if np.isfinite(around) else np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 / (safe + around), 1 / (safe - around), sure


def _cut(bars: Bars, within: tuple[float, float], sure: Any, missing: Any) -> Bars:
    """Cut to the public range; all of it where unsure, nothing where missing.

    Within a range, no standard deviation exceeds half its width.
    """
    ends = (
        np.where(missing, np.nan, np.where(sure, np.clip(end, *within), whole))
        for end, whole in zip(bars[1:], within, strict=True)
    )
    sd = np.minimum(bars.sd, (within[1] - within[0]) / 2)
    return Bars(np.where(sure & ~missing, sd, np.nan), *ends)
