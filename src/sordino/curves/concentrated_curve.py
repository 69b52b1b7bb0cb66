"""The best known curve of all rho-zCDP releases: a conversion, and tangents of it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.curves import concentrated
from sordino.curves.curve import AbstractCurve, End
from sordino.curves.inverse import inverse
from sordino.curves.laws.law import Laws
from sordino.curves.points import ELEMENTARY, Floats, grow
from sordino.curves.profile import Profile, symmetric
from sordino.curves.search import find_least
from sordino.numbers import INFINITE, Exact, Extended, ball, up
from sordino.numbers.precision import precision

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
        """Return the chance of failing; only a rho of 0 has an epsilon."""
        epsilon = Fraction(0) if self.rho == 0 else INFINITE
        return End(epsilon, self.reserve, self.rho is not INFINITE)

    def laws(self) -> Laws:
        """Return the law of the tangents, which serves both directions."""
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
        """Return the same curve; small targets are met without the chord."""
        small = delta <= up(self.reserve) + _GAINED
        epsilon = np.empty_like(delta)
        epsilon[small] = inverse(self._conversion, delta[small])
        epsilon[~small] = inverse(self.delta, delta[~small])
        return epsilon

    def tpr(self, alpha: Floats) -> Floats:
        """Return the rates by tangents that touch the curve close by."""
        return self._rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        """Return the rates by tangents that touch the curve close by."""
        return self._rates(alpha)[1]

    def _conversion(self, epsilon: Floats) -> Floats:
        """Return delta by the conversion at the best order, within the advantage."""
        rho, reserve = self.rho, up(self.reserve)
        if rho is INFINITE or rho == 0:
            return np.full_like(epsilon, reserve if rho == 0 else 1.0)
        converted = concentrated.converted_delta(rho, epsilon)
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
        """Give profiles with many tangents around rates, and where those rates are."""
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
    epsilon, bound = concentrated.lines(rho, np.exp(depth), order)
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
    fixed = math.log(max((1 - concentrated_advantage(rho)) / 2, 1e-290))
    alpha = np.exp(fixed + (deepest - fixed) * np.linspace(1, 0, _POINTS) ** 2)
    order = concentrated.orders(rho, alpha)
    return Tangents(alpha, order, *concentrated.lines(rho, alpha, order))


def _reach(rho: Exact) -> float:
    """Return an epsilon beyond which delta is next to nothing."""
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
