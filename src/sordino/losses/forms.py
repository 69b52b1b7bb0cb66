"""The formulas behind the closed forms: pure, approximate and concentrated curves."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb

from sordino.losses import concentrated, conversion, normal
from sordino.losses.base import Guarantees
from sordino.losses.law import AbstractLossLaw, Atoms, mirrored
from sordino.losses.points import ELEMENTARY, Floats, raised
from sordino.losses.profile import Profile, symmetric
from sordino.losses.root import crossing, least
from sordino.numbers import Exact, ball, up
from sordino.numbers.precision import precision

_FLOOR = 5e-324
_FARTHEST = 1e300
_POINTS = 320
_GAINED = 1e-4
"""Where delta is less, the chord of the curve gains nothing on the conversion."""
_LEAST_DELTA = 1e-60
_LEAST_RHO = Fraction(1, 10**24)
"""A lesser rho has the curve of this one: exp(epsilon) is 1 to twelve digits there."""
_NONE = np.zeros(0)


def pure_guarantees(epsilon: Exact | float, delta: Fraction) -> Guarantees:
    """Return what (epsilon, delta)-DP implies: a reserve delta beside epsilon."""
    rho, mu = conversion.pure_to_rho(epsilon), conversion.pure_to_mu(epsilon)
    return Guarantees(epsilon, delta, rho, mu)


def pure_delta(limit: Exact | float, delta: Fraction, epsilon: Floats) -> Floats:
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
    found = reserve + (1 - reserve) * raised(inner + slack)
    return np.where(epsilon >= most, reserve, np.minimum(found * (1 + ELEMENTARY), 1))


def pure_epsilon(limit: Exact | float, delta: Fraction, target: Floats) -> Floats:
    """Return the epsilon of the same curve, or the limit where that is less."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most):
        return np.full_like(target, math.inf)
    found = inverse(lambda e: pure_delta(limit, delta, e), np.maximum(target, reserve))
    return np.where(target < reserve, math.inf, np.minimum(found, most))


@lru_cache(maxsize=1024)
def pure_profile(limit: Exact | float, delta: Fraction) -> Profile:
    """Return the two points that hold the whole curve: at 0 and at the limit."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most) or most == 0:
        return Profile(np.zeros(1), np.array([reserve if most == 0 else 1.0]))
    start = float(pure_delta(limit, delta, np.zeros(1))[0])
    return Profile(np.array([0.0, most]), np.array([start, reserve]))


def response(limit: Exact | float, delta: Fraction) -> AbstractLossLaw:
    """Return the law of randomized response that fails with probability delta."""
    most, reserve = up(limit), up(delta)
    if math.isinf(most) or most == 0:
        lost = reserve if most == 0 else 1.0
        return mirrored(_NONE, _NONE, _NONE, lost)
    truth = (1 - reserve) / (1 + math.exp(-most))
    lie = truth * math.exp(-most)
    ends = np.array([-most, most])
    masses = np.array([lie, truth])
    return Atoms(ends, masses, masses[::-1].copy(), reserve, most)


def zcdp_guarantees(rho: Exact | float, delta: Fraction) -> Guarantees:
    """Return rho beside its reserve; only rho = 0 implies anything else."""
    nothing = Fraction(0) if rho == 0 else math.inf
    return Guarantees(nothing, delta, rho, nothing)


def zcdp_delta(rho: Exact | float, delta: Fraction, epsilon: Floats) -> Floats:
    """Return the lesser of the conversion at the best order and the curve's chord.

    The chord gains up to a fifth where delta is large, nothing where it is small, and
    costs a table for each new rho: it is drawn where it gains.
    """
    found = _converted(rho, delta, epsilon)
    gaining = (found > up(delta) + _GAINED) & (epsilon > 0)
    if gaining.any():
        chord = zcdp_profile(rho, delta).delta_at(epsilon[gaining])
        found[gaining] = np.minimum(found[gaining], chord)
    return found


def zcdp_epsilon(rho: Exact | float, delta: Fraction, target: Floats) -> Floats:
    """Return the epsilon of the same curve; small targets are met without the chord."""
    small = target <= up(delta) + _GAINED
    found = np.empty_like(target)
    found[small] = inverse(lambda e: _converted(rho, delta, e), target[small])
    found[~small] = inverse(lambda e: zcdp_delta(rho, delta, e), target[~small])
    return found


def _converted(rho: Exact | float, delta: Fraction, epsilon: Floats) -> Floats:
    """Return delta by the conversion at the best order, within the advantage."""
    reserve = up(delta)
    if isinstance(rho, float) or rho == 0:
        return np.full_like(epsilon, reserve if rho == 0 else 1.0)
    inner = np.minimum(concentrated.delta(rho, epsilon), zcdp_advantage(rho))
    return (reserve + (1 - reserve) * inner) * (1 + ELEMENTARY)


def zcdp_rates(
    rho: Exact | float, delta: Fraction, alpha: Floats
) -> tuple[Floats, Floats]:
    """Return the rates of the curve, by its own tangent at each of a few points."""
    profile = zcdp_profile(rho, delta)
    upper, lower = profile.rates(alpha)
    if isinstance(rho, float) or rho == 0 or len(alpha) > normal.FEW:
        return upper, lower
    reserve = up(delta)
    touch = np.minimum(alpha, lower) / max(1 - reserve, 1e-300)
    for index, point in enumerate(touch):
        inside = np.array([point])[: int(point > 0)]
        epsilon, bound = concentrated.lines(rho, inside)
        if len(epsilon):
            joint = Profile(epsilon, raised(reserve + (1 - reserve) * bound))
            rising = np.array([alpha[index] <= lower[index]])
            high, low = normal.tangents(
                alpha[index : index + 1], rising, joint.epsilon, joint.delta
            )
            upper[index] = min(upper[index], high[0])
            lower[index] = max(lower[index], low[0])
    return upper, lower


@lru_cache(maxsize=256)
def zcdp_profile(rho: Exact | float, delta: Fraction) -> Profile:
    """Return bounds from tangents of the curve, the advantage and the conversion."""
    reserve = up(delta)
    if isinstance(rho, float) or rho == 0:
        return Profile(np.zeros(1), np.array([reserve if rho == 0 else 1.0]))
    rho = max(rho, _LEAST_RHO)
    size = up(rho)
    start = zcdp_advantage(rho)
    reach = size + 2 * math.sqrt(size * -math.log(_LEAST_DELTA))
    deepest = max(math.log(_LEAST_DELTA) - reach, -690.0)
    fixed = max((1 - start) / 2, 1e-290)
    alpha = np.exp(np.linspace(deepest, math.log(fixed), _POINTS))
    epsilon, bound = concentrated.lines(rho, alpha)
    grid = np.linspace(0, reach, _POINTS)
    direct = concentrated.delta(rho, grid)
    points = np.concatenate(([0.0], epsilon, grid))
    bounds = np.concatenate(([start], bound, direct))
    return Profile.of(points, raised(reserve + (1 - reserve) * bounds))


def zcdp_laws(rho: Exact | float) -> tuple[AbstractLossLaw, ...]:
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

    return min(least(enough, 0.0, math.nextafter(1.0, 0.0)), 1.0)


def inverse(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
    """Return for each target an epsilon where a decreasing bound is seen to meet it.

    A long array of targets is answered along a grid of the searched ends.
    """

    def found(target: float) -> float:
        if target <= 0:
            return 0.0 if delta(np.zeros(1))[0] <= 0 else math.inf

        def excess(epsilon: float) -> float:
            value = float(delta(np.array([epsilon]))[0])
            gap = math.log(max(value, _FLOOR)) - math.log(target)
            # logarithms round: the bound itself says whether the target is met
            return min(gap, 0.0) if value <= target else max(gap, _FLOOR)

        high = 1.0
        while excess(high) > 0 and high < _FARTHEST:
            high *= 4
        low = 0.0 if high == 1.0 else high / 4
        return crossing(excess, low, high, ELEMENTARY / 8)

    if len(targets) <= normal.FEW:
        return normal.each(found, targets)
    distinct = np.unique(targets)
    if len(distinct) > normal.FEW:
        # an epsilon for a smaller delta serves a larger one
        distinct = distinct[:: len(distinct) // normal.FEW + 1]
    ends = normal.each(found, distinct)
    return ends[np.searchsorted(distinct, targets, side="right") - 1]
