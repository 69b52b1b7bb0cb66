"""Intervals of quotients: means and shares, by Fieller's argument.

If x is the exact quotient of two sums, the form top - x bottom is 0 but for its noise,
for any size of the group. So the interval holds the x at which the form lies within the
reach of its own noise (docs/proofs/intervals.md, lemma 3).
"""

from typing import Any, Final, NamedTuple, final

import numpy as np

from sordino.aggregations.intervals.bars import Bars, blank_missing
from sordino.aggregations.intervals.sums import Form, Level, Sums
from sordino.curves.points import Floats
from sordino.numbers import probability

_PIECES: Final = 256
"""Pieces of the range; in each, a chord bounds the reach from above."""
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
    bars = Bars(np.where(sure, sd, np.nan), low, high)
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
        least, most, sure = _crossings(
            whole, part, points, sums.reach(forms, level.alpha)
        )
        if parts is not None and level.chance < 1:
            lower, upper, also = _crossings(
                whole, part, points, _reaches_apart(sums, forms, level)
            )
            least = np.where(also, np.maximum(least, lower), least)
            most = np.where(also, np.minimum(most, upper), most)
            sure |= also
        ends.low[level.rows] = np.minimum(least, most)
        ends.high[level.rows] = np.maximum(least, most)
        ends.sure[level.rows] = sure
    return ends


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
    """Return x whole + reach(x) at one of the points of each group."""
    form: Floats = points.take(place)
    form *= whole
    form += reach.take(place)
    return form
