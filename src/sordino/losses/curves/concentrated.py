"""The curve of rho-zCDP: the conversion to delta, and the trade-off that rho implies.

Delta (Canonne, Kamath and Steinke 2020): for any a > 1,

    delta(epsilon) <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)^(a - 1) / a.

Trade-off: the test with rates (alpha, t) is a function of the output, so for any a > 1

    g(alpha, t) = t^a alpha^(1 - a) + (1 - t)^a (1 - alpha)^(1 - a)
                <= exp((a - 1) a rho).

g is convex, so its tangent plane at any point (alpha, t), on the boundary or not, is a
line above every attainable test. Choosing a and the point badly costs tightness only.

Kernel: mathematics.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.losses.curves.curve import AbstractCurve, End
from sordino.losses.curves.laws import Laws, Profile, symmetric
from sordino.losses.curves.normal import FEW, each, inverse
from sordino.losses.curves.points import ELEMENTARY, Floats, find_least, grow
from sordino.numbers import INFINITE, Exact, Extended, ball, up
from sordino.numbers.rounding import precision

_BITS = 128
_LEAST = 5e-324
_GOLDEN = (5**0.5 - 1) / 2
_NO_LINE = (0.0, 1.0)
_ORDERS = (-14.0, 16.0)
"""ln(a - 1) is searched here; any order is sound."""


def converted_delta(rho: Exact, epsilon: Floats) -> Floats:
    """Return upper bounds on delta for epsilon >= 0, at nearly the best order each."""
    order = _best(lambda u: _log_delta(up(rho), epsilon, u)[0], len(epsilon))
    if len(epsilon) > FEW:
        value, size = _log_delta(up(rho), epsilon, order)
        # exp may underflow to 0, which is no bound
        return np.exp(np.minimum(value + size * ELEMENTARY, 0.0)) + _LEAST
    pairs = dict(zip(epsilon.tolist(), order.tolist(), strict=True))
    return each(lambda e: min(1.0, up(_delta_ball(rho, e, pairs[e]))), epsilon)


def orders(rho: Exact, alpha: Floats) -> Floats:
    """Return ln(a - 1) for nearly the best order a at each alpha."""
    size = up(rho)
    return _best(lambda u: _greatest(size, alpha, 1 + np.exp(u)), len(alpha))


def lines(rho: Exact, alpha: Floats, order: Floats) -> tuple[Floats, Floats]:
    """Return bounds (epsilon, delta) whose lines touch the curve near alpha.

    Where none is certain the line is (0, 1), which bounds every test.
    """
    rate = _greatest(up(rho), alpha, 1 + np.exp(order))
    touching = [
        _line(rho, float(a), float(t), float(u)) if 0 < a < t < 1 else _NO_LINE
        for a, t, u in zip(alpha, rate, order, strict=True)
    ]
    return np.array([e for e, _ in touching]), np.array([d for _, d in touching])


def _log_delta(rho: float, epsilon: Floats, order: Floats) -> tuple[Floats, Floats]:
    less = np.exp(order)
    a = 1 + less
    terms = (
        less * a * rho,
        -less * epsilon,
        less * (order - np.log1p(less)),
        -np.log1p(less),
    )
    sizes = np.sum(np.abs(terms), axis=0) + less * np.abs(order) + 1
    return np.sum(terms, axis=0), sizes


def _delta_ball(rho: Exact, epsilon: float, order: float) -> arb:
    with precision(_BITS):
        less = arb(float(np.exp(order)))
        a = 1 + less
        return (less * (a * ball(rho) - arb(epsilon) + (less / a).log())).exp() / a


def _greatest(rho: float, alpha: Floats, a: Floats) -> Floats:
    """Return nearly the greatest t with g(alpha, t) within its bound, by halving."""
    low, high = alpha.copy(), np.ones_like(alpha)
    limit = np.minimum((a - 1) * a * rho, 1e4)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        here, away = (1 - a) * np.log(alpha), (1 - a) * np.log1p(-alpha)
        for _ in range(34):
            t = np.where(low > 0.5, (low + high) / 2, np.sqrt(low * high))
            first, second = a * np.log(t) + here, a * np.log1p(-t) + away
            within = np.logaddexp(first, second) <= limit
            low, high = np.where(within, t, low), np.where(within, high, t)
    return low


def _line(rho: Exact, alpha: float, rate: float, order: float) -> tuple[float, float]:
    """Return (epsilon, delta) of the tangent line at one point, delta enclosed.

    From G_t (t - t0) + G_alpha (alpha - alpha0) <= limit - g(alpha0, t0): a line of
    slope -G_alpha / G_t. Its logarithm is rounded up, which only raises the line.
    """
    with precision(_BITS):
        less, x, t = arb(float(np.exp(order))), arb(alpha), arb(rate)
        a = 1 + less
        first = (t / x) ** a
        second = ((1 - t) / (1 - x)) ** a
        by_t = a * (first * x / t - second * (1 - x) / (1 - t))
        by_alpha = less * (second - first)
        slack = (less * a * ball(rho)).exp() - first * x - second * (1 - x)
        slope = -by_alpha / by_t
        steeper = up(slope.log())
        height = t - slope * x + slack / by_t
        # of balls a comparison is true only where it is certain
        certain = by_t > 0 and height.is_finite() and steeper < 1e300
        keeps = certain and steeper >= 0
        return (steeper, min(1.0, up(height))) if keeps else _NO_LINE


def _best(value: Callable[[Floats], Floats], count: int) -> Floats:
    """Return the argument that nearly minimises each entry, by golden sections."""
    low, high = np.full(count, _ORDERS[0]), np.full(count, _ORDERS[1])
    left = high - _GOLDEN * (high - low)
    right = low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(28):
        shrink = at_left < at_right
        low, high = np.where(shrink, low, left), np.where(shrink, right, high)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        fresh = value(np.where(shrink, left, right))
        at_left, at_right = (
            np.where(shrink, fresh, at_right),
            np.where(shrink, at_left, fresh),
        )
    answer: Floats = (low + high) / 2
    return answer


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


@final
@dataclass(frozen=True, eq=False)
class ConcentratedCurve(AbstractCurve):
    """With probability `reserve` everything, else any rho-zCDP release."""

    rho: Extended
    reserve: Fraction = Fraction(0)

    @property
    def end(self) -> End:
        epsilon = Fraction(0) if self.rho == 0 else INFINITE
        return End(epsilon, self.reserve, self.rho is not INFINITE)

    def laws(self) -> Laws:
        return (symmetric(concentrated_profile(self.rho, self.reserve)),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return the lesser of the conversion at the best order and the curve's chord.

        The chord gains up to a fifth where delta is large, nothing where it is small,
        and costs a table for each new rho: it is drawn where it gains.
        """
        delta = self._conversion(epsilon)
        gaining = np.flatnonzero((delta > up(self.reserve) + _GAINED) & (epsilon > 0))
        if not len(gaining) or self.rho is INFINITE:
            return delta
        known = _tangents(max(self.rho, _LEAST_RHO))
        # at the deepest rates no order that is searched touches, and slopes fall again
        slopes = np.maximum.accumulate(known.epsilon[::-1])
        touch = np.interp(epsilon[gaining], slopes, known.alpha[::-1])
        for at, profile in self._closely(touch):
            chord = profile.delta_at(epsilon[gaining[at]])
            delta[gaining[at]] = np.minimum(delta[gaining[at]], chord)
        return delta

    def epsilon(self, delta: Floats) -> Floats:
        small = delta <= up(self.reserve) + _GAINED
        epsilon = np.empty_like(delta)
        epsilon[small] = inverse(self._conversion, delta[small])
        epsilon[~small] = inverse(self.delta, delta[~small])
        return epsilon

    def tpr(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[1]

    def _conversion(self, epsilon: Floats) -> Floats:
        rho, reserve = self.rho, up(self.reserve)
        if rho is INFINITE or rho == 0:
            return np.full_like(epsilon, reserve if rho == 0 else 1.0)
        converted = converted_delta(rho, epsilon)
        # delta falls from the advantage at 0
        inner = np.minimum(converted, concentrated_advantage(rho))
        return (reserve + (1 - reserve) * inner) * (1 + ELEMENTARY)

    def _rates(self, alpha: Floats) -> tuple[Floats, Floats]:
        """Return the rates by tangents near alpha, or near beta where that is less.

        The curve is its own mirror image.
        """
        upper, lower = concentrated_profile(self.rho, self.reserve).rates(alpha)
        touch = np.minimum(alpha, lower) / max(1 - up(self.reserve), _LEAST_NORMAL)
        for at, profile in self._closely(touch):
            upper[at], lower[at] = profile.rates(alpha[at])
        return upper, lower

    def _closely(self, touch: Floats) -> Iterator[tuple[NDArray[np.intp], Profile]]:
        if self.rho is INFINITE or self.rho == 0:
            return
        with np.errstate(divide="ignore"):
            bands = np.floor(np.log(touch))
        for band in np.unique(bands[np.isfinite(bands)]).tolist():
            profile = dense_profile(self.rho, self.reserve, int(band))
            yield np.flatnonzero(bands == band), profile


@lru_cache(maxsize=1024)
def dense_profile(rho: Exact, delta: Fraction, band: int) -> Profile:
    """Return the profile with many more tangents at the rates of one band.

    The bands overlap, so that none has a wide gap at its ends.
    """
    whole, reserve = concentrated_profile(rho, delta), up(delta)
    depth = np.linspace(band - _OVERLAP, band + 1 + _OVERLAP, _BAND_POINTS)
    known = _tangents(max(rho, _LEAST_RHO))
    order = np.interp(depth, np.log(known.alpha), known.order)
    epsilon, bound = lines(rho, np.exp(depth), order)
    return Profile.of(
        np.append(whole.epsilon, epsilon),
        np.append(whole.delta, grow(reserve + (1 - reserve) * bound)),
    )


@lru_cache(maxsize=256)
def concentrated_profile(rho: Extended, delta: Fraction) -> Profile:
    """Return bounds from tangents of the curve, the advantage and the conversion."""
    reserve = up(delta)
    if rho is INFINITE or rho == 0:
        return Profile(np.zeros(1), np.array([reserve if rho == 0 else 1.0]))
    rho = max(rho, _LEAST_RHO)
    start, reach = concentrated_advantage(rho), _reach(rho)
    tangents = _tangents(rho)
    grid = np.linspace(0, reach, _POINTS)
    direct = converted_delta(rho, grid)
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
    # exp(-708) is the least normal double
    deepest = max(math.log(_LEAST_DELTA) - _reach(rho), -690.0)
    fixed = math.log(max((1 - concentrated_advantage(rho)) / 2, 1e-290))
    alpha = np.exp(fixed + (deepest - fixed) * np.linspace(1, 0, _POINTS) ** 2)
    order = orders(rho, alpha)
    return Tangents(alpha, order, *lines(rho, alpha, order))


def _reach(rho: Exact) -> float:
    size = up(rho)
    return size + 2 * math.sqrt(size * -math.log(_LEAST_DELTA))


@lru_cache(maxsize=1024)
def concentrated_advantage(rho: Exact) -> float:
    """Return the a with a ln((1 + a)/(1 - a)) = rho, rounded up.

    For the pair of rates (alpha, alpha + a), the greater of the two divergences is at
    least half their sum, and that is at least a ln((1 + a)/(1 - a)).
    """

    def enough(advantage: float) -> bool:
        with precision(128):
            a = arb(advantage)
            return bool(a * ((1 + a) / (1 - a)).log() >= ball(rho))

    return min(find_least(enough, 0.0, math.nextafter(1.0, 0.0)), 1.0)
