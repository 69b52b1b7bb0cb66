"""Intervals of counts, sums, and whatever is a form in noisy numbers."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from sordino.aggregations.intervals.bars import Bars, blank_missing
from sordino.aggregations.intervals.number_noise import Noise
from sordino.aggregations.intervals.selected import invert_cut_law
from sordino.aggregations.intervals.sums import Form, Sums
from sordino.curves.points import Floats
from sordino.numbers import probability

_WHOLE: Final = 2.0**53
"""Up to here every integer is a double."""
_ROUNDING: Final = 2.0**-48


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
        reach = float(np.floor(reach))
    sizes = np.maximum(np.abs(noisy), reach)
    whole = (np.rint(noisy) == noisy) & float(reach).is_integer()
    with np.errstate(invalid="ignore"):
        slack = np.where(whole & (2 * sizes <= _WHOLE), 0.0, 2 * np.spacing(sizes))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    low, high = noisy - reach - slack, noisy + reach + slack
    sd = np.where(np.isnan(noisy), np.nan, noise.sd)
    return Bars(sd, np.clip(low, least, most), np.clip(high, least, most))


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
    sd = np.full_like(value, float(sums.sd(form)))
    alpha = float(chance)
    factor = _factor_of_shown(sums, form)
    if factor:
        low, high = invert_cut_law(sums, alpha, least / factor)
        low, high = low * factor, high * factor
    else:
        reach = _reaches(sums, form, alpha)
        pad = _ROUNDING * (np.abs(value) + np.where(np.isfinite(reach), reach, 0.0))
        low, high = value - reach - pad, value + reach + pad
    if whole:
        low, high = _round_inward(low, high)
    bars = Bars(sd, np.clip(low, least, most), np.clip(high, least, most))
    return blank_missing(bars, np.isnan(value))


def reach(noises: tuple[Noise, ...], form: Form, confidence: Any) -> float:
    """Return how far the noise of a form goes at most, with a confidence.

    >>> from sordino.mechanisms.laplace import Laplace
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
    """Return how far each value may lie from the exact one."""
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
    return float(factor) if factor > 0 and (factor * weights == form).all() else 0.0


def _round_inward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest integer of each interval."""
    inner, outer = np.ceil(low), np.floor(high)
    empty = inner > outer
    return np.where(empty, low, inner), np.where(empty, high, outer)
