"""The formulas behind the closed forms: pure, approximate and concentrated curves."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.curves import concentrated, normal
from sordino.curves.laws.law import AbstractLossLaw, Atoms, mirror_law
from sordino.curves.points import ELEMENTARY, Floats, grow
from sordino.curves.profile import Profile, symmetric
from sordino.curves.search import find_crossings, find_least
from sordino.numbers import INFINITE, Exact, Extended, ball, up
from sordino.numbers.precision import precision

_FLOOR = 5e-324
_FARTHEST = 1e300
_FAINT = float(np.finfo(np.float64).tiny)
_POINTS = 320
_GAINED = 1e-4
"""Where delta is less, the chord of the curve gains nothing on the conversion."""
_LEAST_DELTA = 1e-60
_LEAST_RHO = Fraction(1, 10**24)
"""A lesser rho has the curve of this one: exp(epsilon) is 1 to twelve digits there."""
_OVERLAP = 0.125
"""How far a band of rates reaches into its neighbours; its width is a factor e."""
_BAND_POINTS = 81
"""Tangents of a band, 1/64 apart: between two a rate is about 1e-5 too far up."""
_LEAST_NORMAL = 1e-300
_NONE = np.zeros(0)


def pure_delta(limit: Extended, delta: Fraction, epsilon: Floats) -> Floats:
    """Return delta + (1 - delta) (1 - exp(e - limit)) / (1 + exp(-limit)), e < limit.

    That is randomized response that fails with probability delta, which dominates
    every (limit, delta)-DP release (Kairouz, Oh and Viswanath 2015).
    """
    most, reserve = up(limit), up(delta)
    if math.isinf(most):
        return np.ones_like(epsilon)
    below = np.minimum(epsilon - most, 0.0)
    inner = -np.expm1(below) / (1 + math.exp(-most))
    slack = ELEMENTARY * most * np.exp(below)
    found = reserve + (1 - reserve) * grow(inner + slack)
    return np.where(epsilon >= most, reserve, np.minimum(found * (1 + ELEMENTARY), 1))


def pure_epsilon(limit: Extended, delta: Fraction, target: Floats) -> Floats:
    """Return the epsilon of the same curve, or the limit where that is less."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most):
        return np.full_like(target, math.inf)
    found = inverse(lambda e: pure_delta(limit, delta, e), np.maximum(target, reserve))
    return np.where(target < reserve, math.inf, np.minimum(found, most))


@lru_cache(maxsize=1024)
def pure_profile(limit: Extended, delta: Fraction) -> Profile:
    """Return the two points that hold the whole curve: at 0 and at the limit."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most) or most == 0:
        return Profile(np.zeros(1), np.array([reserve if most == 0 else 1.0]))
    start = float(pure_delta(limit, delta, np.zeros(1))[0])
    return Profile(np.array([0.0, most]), np.array([start, reserve]))


def response(limit: Extended, delta: Fraction) -> AbstractLossLaw:
    """Return the law of randomized response that fails with probability delta."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most) or most == 0:
        lost = reserve if most == 0 else 1.0
        return mirror_law(_NONE, _NONE, _NONE, lost)
    truth = (1 - reserve) / (1 + math.exp(-most))
    lie = truth * math.exp(-most)
    ends = np.array([-most, most])
    masses = np.array([lie, truth])
    return Atoms(ends, masses, masses[::-1].copy(), reserve, most)


def zcdp_delta(rho: Extended, delta: Fraction, epsilon: Floats) -> Floats:
    """Return the lesser of the conversion at the best order and the curve's chord.

    The chord gains up to a fifth where delta is large, nothing where it is small, and
    costs a table for each new rho: it is drawn where it gains.
    """
    found = _converted(rho, delta, epsilon)
    gaining = np.flatnonzero((found > up(delta) + _GAINED) & (epsilon > 0))
    if not len(gaining) or rho is INFINITE:
        return found
    known = _tangents(max(rho, _LEAST_RHO))
    # at the deepest rates no order that is searched touches, and the slopes fall again
    slopes = np.maximum.accumulate(known.epsilon[::-1])
    touch = np.interp(epsilon[gaining], slopes, known.alpha[::-1])
    for at, profile in _closely(rho, delta, touch):
        chord = profile.delta_at(epsilon[gaining[at]])
        found[gaining[at]] = np.minimum(found[gaining[at]], chord)
    return found


def zcdp_epsilon(rho: Extended, delta: Fraction, target: Floats) -> Floats:
    """Return the epsilon of the same curve; small targets are met without the chord."""
    small = target <= up(delta) + _GAINED
    found = np.empty_like(target)
    found[small] = inverse(lambda e: _converted(rho, delta, e), target[small])
    found[~small] = inverse(lambda e: zcdp_delta(rho, delta, e), target[~small])
    return found


def _converted(rho: Extended, delta: Fraction, epsilon: Floats) -> Floats:
    """Return delta by the conversion at the best order, within the advantage."""
    reserve = up(delta)
    if rho is INFINITE or rho == 0:
        return np.full_like(epsilon, reserve if rho == 0 else 1.0)
    inner = np.minimum(concentrated.converted_delta(rho, epsilon), zcdp_advantage(rho))
    return (reserve + (1 - reserve) * inner) * (1 + ELEMENTARY)


def zcdp_rates(rho: Extended, delta: Fraction, alpha: Floats) -> tuple[Floats, Floats]:
    """Return the rates of the curve by tangents that touch it close by.

    By those near alpha, or near beta where that is less: the curve is its own mirror
    image.
    """
    upper, lower = zcdp_profile(rho, delta).rates(alpha)
    touch = np.minimum(alpha, lower) / max(1 - up(delta), _LEAST_NORMAL)
    for at, profile in _closely(rho, delta, touch):
        upper[at], lower[at] = profile.rates(alpha[at])
    return upper, lower


def _closely(
    rho: Extended, delta: Fraction, touch: Floats
) -> Iterator[tuple[NDArray[np.intp], Profile]]:
    """Give profiles with many tangents around rates, and the places of those rates."""
    if rho is INFINITE or rho == 0:
        return
    with np.errstate(divide="ignore"):
        bands = np.floor(np.log(touch))
    for band in np.unique(bands[np.isfinite(bands)]).tolist():
        yield np.flatnonzero(bands == band), zcdp_close(rho, delta, int(band))


@lru_cache(maxsize=1024)
def zcdp_close(rho: Exact, delta: Fraction, band: int) -> Profile:
    """Return the profile with many more tangents at the rates of one band.

    The bands overlap, so that none has a wide gap at its ends.
    """
    whole, reserve = zcdp_profile(rho, delta), up(delta)
    depth = np.linspace(band - _OVERLAP, band + 1 + _OVERLAP, _BAND_POINTS)
    known = _tangents(max(rho, _LEAST_RHO))
    order = np.interp(depth, np.log(known.alpha), known.order)
    epsilon, bound = concentrated.lines(rho, np.exp(depth), order)
    return Profile.of(
        np.append(whole.epsilon, epsilon),
        np.append(whole.delta, grow(reserve + (1 - reserve) * bound)),
    )


@lru_cache(maxsize=256)
def zcdp_profile(rho: Extended, delta: Fraction) -> Profile:
    """Return bounds from tangents of the curve, the advantage and the conversion."""
    reserve = up(delta)
    if rho is INFINITE or rho == 0:
        return Profile(np.zeros(1), np.array([reserve if rho == 0 else 1.0]))
    rho = max(rho, _LEAST_RHO)
    start, reach = zcdp_advantage(rho), _reach(rho)
    tangents = _tangents(rho)
    grid = np.linspace(0, reach, _POINTS)
    direct = concentrated.converted_delta(rho, grid)
    points = np.concatenate(([0.0], tangents.epsilon, grid))
    bounds = np.concatenate(([start], tangents.delta, direct))
    return Profile.of(points, grow(reserve + (1 - reserve) * bounds))


@final
@dataclass(frozen=True, eq=False)
class Tangents:
    """Lines that touch the curve of a rho at rates alpha, ascending, and their orders.

    Over all rates that matter; the further down, the further apart.
    """

    alpha: Floats
    order: Floats
    epsilon: Floats
    delta: Floats


@lru_cache(maxsize=256)
def _tangents(rho: Exact) -> Tangents:
    """Return the tangents of one rho."""
    deepest = max(math.log(_LEAST_DELTA) - _reach(rho), -690.0)
    fixed = math.log(max((1 - zcdp_advantage(rho)) / 2, 1e-290))
    alpha = np.exp(fixed + (deepest - fixed) * np.linspace(1, 0, _POINTS) ** 2)
    order = concentrated.orders(rho, alpha)
    return Tangents(alpha, order, *concentrated.lines(rho, alpha, order))


def _reach(rho: Exact) -> float:
    """Return an epsilon beyond which delta is next to nothing."""
    size = up(rho)
    return size + 2 * math.sqrt(size * -math.log(_LEAST_DELTA))


def zcdp_laws(rho: Extended) -> tuple[AbstractLossLaw, ...]:
    """Return the law of the best known curve of all rho-zCDP releases."""
    return (symmetric(zcdp_profile(rho, Fraction(0))),)


@lru_cache(maxsize=1024)
def zcdp_advantage(rho: Exact) -> float:
    """Return the a with a ln((1 + a)/(1 - a)) = rho, rounded up.

    For the pair of rates (alpha, alpha + a), the greater of the two divergences is at
    least half their sum, and that is at least a ln((1 + a)/(1 - a)).
    """

    def enough(advantage: float) -> bool:
        with precision(128):
            a = arb(advantage)
            return bool(a * ((1 + a) / (1 - a)).log() >= ball(rho))

    return min(find_least(enough, 0.0, math.nextafter(1.0, 0.0)), 1.0)


def inverse(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
    """Return for each target an epsilon where a decreasing bound is seen to meet it.

    Below the normal doubles only balls tell bounds apart, so those are asked in few.
    """
    distinct, places = np.unique(targets, return_inverse=True)
    none = 0.0 if delta(np.zeros(1))[0] <= 0 else math.inf
    zero, faint = np.searchsorted(distinct, (_FLOOR, _FAINT))
    few = range(zero + normal.FEW, faint, normal.FEW)
    ends = [_ends(delta, part) for part in np.split(distinct, [zero, *few, faint])[1:]]
    found: Floats = np.concatenate((np.full(zero, none), *ends))
    return found[places]


def _ends(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
    """Return the epsilons of ascending positive targets."""

    def excess(epsilon: Floats) -> Floats:
        value = delta(epsilon)
        gap = np.log(np.maximum(value, _FLOOR)) - np.log(targets)
        # logarithms round: the bound itself says whether the target is met
        met, unmet = np.minimum(gap, 0.0), np.maximum(gap, _FLOOR)
        answer: Floats = np.where(value <= targets, met, unmet)
        return answer

    high = np.ones_like(targets)
    while (far := (excess(high) > 0) & (high < _FARTHEST)).any():
        high[far] *= 4
    low = np.where(high == 1, 0.0, high / 4)
    return find_crossings(excess, low, high, ELEMENTARY / 8)
