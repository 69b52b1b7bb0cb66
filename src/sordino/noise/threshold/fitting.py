"""The least noise and the least threshold of a thresholded release within a loss.

The threshold follows from the noise in closed form, by a quantile of its law. The noise
follows from epsilon or rho in closed form, and from (epsilon, delta) for Gaussian noise
by a search over one number, in doubles with a margin above their error.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np

from sordino.errors import InvalidParameter
from sordino.losses.curves.normal import near_gaussian_delta
from sordino.losses.curves.points import Floats, find_crossing
from sordino.losses.loss import PureDP
from sordino.losses.thresholded import ThresholdedLoss, threshold_loss
from sordino.noise.threshold.mechanism import (
    AbstractThresholdMechanism,
    Change,
    dtype_ends,
    each_passes,
)
from sordino.numbers import INFINITE, finite, frozen, rational_above, shortest, up

_MARGIN: Final = 1e-6
"""What a searched scale keeps free of delta, far above the error of doubles.

Where all changed keys but one are new, 1 / l0 of delta is left: no more may be kept.
"""
SPARE: Final = 1 - Fraction(1, 2**40)
"""What a joint curve, rounded up in doubles, may lose of delta."""
_CLOSE: Final = 1e-7
_STRIDE: Final = 0.1
_FAINTEST: Final = 1e-300
_LEAST_FLOAT: Final = Fraction(2) ** -149
_STRIDES: Final = 8000
"""Strides after which a search has left every scale that a double holds."""
_ORDERS: Final = 1 + np.geomspace(1e-3, 1e12, 375)
"""Up to ln(1 / delta) / epsilon is needed: the last serves the smallest epsilons."""


Mechanism = TypeVar("Mechanism", bound=AbstractThresholdMechanism)


def positive_change(apart: Change, d_in: Any) -> Change:
    """Return a change that noise can answer for: some, and bounded."""
    bounds = (apart.l0, apart.whole, apart.linf)
    if apart.l0 == 0 or INFINITE in bounds:
        raise InvalidParameter(
            "d_in",
            d_in,
            "must be positive and finite in each of its three numbers",
            "Say how many keys one unit can change, how much in all, how much each.",
        )
    return apart


def positive_delta(loss: Any, delta: Fraction) -> Fraction:
    """Return a delta that a threshold can meet."""
    if delta == 0:
        raise InvalidParameter(
            "loss",
            loss,
            "has delta 0, which no threshold can meet: each is passed sometimes",
            'Allow a small delta such as sd.ApproxDP(1, "1e-6").',
        )
    if delta == 1:
        raise InvalidParameter(
            "loss",
            loss,
            "has delta 1, which protects nothing: every threshold meets it",
            'Allow a small delta such as sd.ApproxDP(1, "1e-6").',
        )
    return delta


def fit_threshold(
    mechanism: Mechanism, apart: Change, delta: Fraction, *, negative: bool
) -> Mechanism:
    """Return the mechanism with the least threshold whose delta is within a given one.

    A negative threshold is the mirror image of the positive one.
    """
    level = least_threshold(mechanism, apart, delta)
    signed = -level if negative else level
    least, most = dtype_ends(mechanism.values)
    if not least <= signed <= most:
        raise InvalidParameter(
            "dtype",
            mechanism.dtype,
            f"cannot hold the threshold that is needed, {up(signed):g}",
            "Use a wider dtype or a larger loss.",
        )
    return frozen.change(mechanism, threshold=signed)


def least_threshold(
    mechanism: AbstractThresholdMechanism, apart: Change, delta: Fraction
) -> Fraction:
    """Return the least threshold, in floats of double length, whose delta is within.

    The passing chance left to each key is inverted by a quantile of the noise; on a
    lattice the inclusive tail begins one step above the quantile of the exclusive one.
    """
    chance = each_passes(delta, int(apart.l0))
    unit = mechanism.unit
    needed = mechanism.law.quantile(1 - chance)
    farthest = rational_above(finite(apart.linf))
    # one step more on a lattice: a sum at the level passes
    reach = rational_above(needed) + farthest + (unit or 0)
    level = _representable(reach, unit)
    # the quantile was rounded: the very delta decides
    while mechanism.delta_of(apart, level) > delta:
        level = _next(level, unit)
    return level


@lru_cache(maxsize=256)
def gaussian_ratio(
    apart: Change, epsilon: float, delta: Fraction, *, on_lattice: bool
) -> float:
    """Return the greatest change over scale for which the joint curve is within delta.

    Each new key is given the chance that uses up delta when all changed keys are new.
    Refused where even the faintest change leaves no room beside the other new keys.
    """
    keys = int(apart.l0)
    stays = math.log1p(-float(each_passes(delta * SPARE, keys)))
    fresh, ends = _blocks(keys)
    breach = -np.expm1(stays * (ends - 1))
    moved = epsilon + stays * (keys - fresh - ends + 1)
    size = np.abs(moved)
    most, largest = up(apart.whole), up(apart.linf)
    share = np.minimum(1.0, np.sqrt(keys - fresh) * largest / most)
    noise = _delta_by_rho if on_lattice else near_gaussian_delta
    target = math.log(delta * SPARE) + math.log1p(-min(_MARGIN, 1 / (4 * keys)))

    def excess(log_spread: float) -> float:
        ratios = share * math.exp(-log_spread)
        inner = noise(ratios, size)
        # Below zero delta follows from the other direction of the pair.
        inner = np.where(moved < 0, -np.expm1(-size) + np.exp(-size) * inner, inner)
        return math.log((breach + (1 - breach) * inner).max() + 1e-320) - target

    depth = math.sqrt(2 * max(-target, 1e-3))
    # sqrt(depth**2 + 2 epsilon) - depth, without a difference of near numbers
    ratio = 2 * epsilon / (math.sqrt(depth**2 + 2 * epsilon) + depth)
    logarithm = _root(excess, -math.log(max(ratio, _FAINTEST)))
    if math.isfinite(logarithm):
        return math.exp(-logarithm)
    raise InvalidParameter(
        "delta",
        float(delta),
        f"leaves no room for noise beside {keys} new keys",
        "Allow a larger delta, or bound the keys that one unit can change.",
    )


def _blocks(keys: int) -> tuple[Floats, Floats]:
    """Return where the cases of the joint curve begin and end, all new left out."""
    cases = threshold_loss(lambda _: PureDP(0), key_delta=0, keys=keys)
    assert isinstance(cases, ThresholdedLoss)  # noqa: S101 what it returns
    return np.array(cases.fresh[:-1], np.float64), np.array(cases.fresh[1:], np.float64)


def _root(excess: Callable[[float], float], start: float) -> float:
    """Return x where the decreasing `excess` is at most 0, close to its root.

    Left of the root it is nearly a straight line, right of it it may be flat. Infinite
    where no root is met within the strides that doubles allow.
    """
    high = _first_stride(lambda x: excess(x) <= 0, start, _STRIDE)
    low = _first_stride(lambda x: excess(x) > 0, high - _STRIDE, -_STRIDE)
    if not math.isfinite(low):
        return math.inf
    high = low + _STRIDE
    # `crossing` stops by relative width, so the bracket is moved to begin at 1.
    return (
        find_crossing(lambda x: excess(x - 1 + low), 1.0, 1 + high - low, _CLOSE)
        - 1
        + low
    )


def _first_stride(holds: Callable[[float], bool], start: float, stride: float) -> float:
    for step in range(_STRIDES if math.isfinite(start) else 0):
        if holds(start + step * stride):
            return start + step * stride
    return math.inf


def _delta_by_rho(ratio: Floats, epsilon: Floats) -> Floats:
    rho, less = ratio[:, None] ** 2 / 2, _ORDERS - 1
    logs = less * (_ORDERS * rho - epsilon[:, None])
    logs += less * np.log1p(-1 / _ORDERS) - np.log(_ORDERS)
    return np.asarray(np.exp(np.minimum(logs.min(axis=1), 0.0)))


def _representable(level: Fraction, unit: Fraction | None) -> Fraction:
    """Return the next positive level that the grid, or a double, holds."""
    if unit is not None:
        return max(math.ceil(level / unit), 1) * unit
    return max(shortest(up(level)), _LEAST_FLOAT)


def _next(level: Fraction, unit: Fraction | None) -> Fraction:
    if unit is not None:
        return level + unit
    return shortest(math.nextafter(up(level), math.inf))
