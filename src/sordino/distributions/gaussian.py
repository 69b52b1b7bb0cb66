"""Gaussian noise on the reals and on lattices."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, final

import numpy as np
from flint import arb, ctx, fmpq

from sordino.distributions.base import PRECISION, AbstractLatticeLaw, AbstractLaw
from sordino.distributions.blends import AbstractBlend, Floats, GaussianBlend
from sordino.numbers import Exact, ball, fraction, sqrt, up
from sordino.numbers.precision import precision

_WIDE: Final = 64**2
"""From this variance on the lattice sum is an integral with Euler-Maclaurin terms."""
_SMOOTH: Final = 9
"""From this variance on rounding to the lattice takes nothing away from it."""
_MOST_TERMS = 200
_CRAMER = Fraction("1.0865")
"""Cramer's bound: |He_n(z)| exp(-z**2 / 4) <= 1.0865 sqrt(n!) for every real z."""


@final
@dataclass(frozen=True)
class ContinuousGaussianLaw(AbstractLaw):
    """Density exp(-x**2 / (2 variance)) / sqrt(2 pi variance)."""

    variance: Exact

    @cached_property
    def deviation(self) -> float:
        """Return the square root of the variance."""
        return up(sqrt(self.variance))

    @property
    def blend(self) -> AbstractBlend:
        """Return sums of Gaussian noises."""
        return GaussianBlend()

    @property
    def spread(self) -> float:
        """Return the deviation."""
        return self.deviation

    @property
    def slip(self) -> float:
        """Return zero."""
        return 0.0

    def log_at_least(self, x: Floats) -> Floats:
        """Return the logarithm of the tail."""
        return self.blend.log_tail(x, np.array([[self.spread]]))

    def at_least(self, x: Exact) -> arb:
        """Return erfc(x / sqrt(2 variance)) / 2."""
        return (ball(x) / (2 * ball(self.variance)).sqrt()).erfc() / 2

    def chance_above(self, x: Exact) -> arb:
        """Return P[Z >= x]: a point has no mass."""
        return self.at_least(x)

    def upper_quantile(self, tail: Fraction) -> Exact:
        """Return sqrt(2 variance) erfc^-1(2 tail)."""
        if tail == Fraction(1, 2):
            return Fraction(0)
        return fraction(self._point(tail).upper())

    def _lower_quantile(self, p: Fraction) -> Exact:
        """Return the mirror image of the upper quantile, rounded up."""
        return fraction((-self._point(p)).upper())

    def _point(self, tail: Fraction) -> arb:
        """Enclose the point beyond which the mass is `tail`."""
        return (2 * ball(self.variance)).sqrt() * ball(2 * tail).erfcinv()


@final
@dataclass(frozen=True)
class DiscreteGaussianLaw(AbstractLatticeLaw):
    """P[K = k] proportional to exp(-(k unit)**2 / (2 variance))."""

    variance: Exact
    unit: Fraction = Fraction(1)

    @property
    def _sigma_squared(self) -> Exact:
        """Return the variance parameter in squared units."""
        return self.variance / self.unit**2

    @cached_property
    def deviation(self) -> float:
        """Return the root of the sum of squares, by the heights or by their transform.

        The variance is at most the parameter (Canonne, Kamath and Steinke 2020), and
        from 9 squared units on it is less by under one part in 2**200.
        """
        if self._sigma_squared >= _SMOOTH:
            return up(sqrt(self.variance))
        with precision(PRECISION):
            # beyond 64 units the heights, falling by more than half at each step, are
            # dwarfed: k**2 exp(-k**2 / 18) < 2**-300
            squares = sum((k * k * self._height(k) for k in range(1, 64)), arb(0))
            rest = 64**2 * self._height(64) * 2
            total = 2 * (squares + rest) / _total(self._sigma_squared, ctx.prec)
            return up(ball(self.unit) * total.sqrt())

    @property
    def blend(self) -> AbstractBlend:
        """Return sums of Gaussian noises."""
        return GaussianBlend()

    @property
    def spread(self) -> float:
        """Return the root of the variance parameter."""
        return up(sqrt(self.variance))

    @property
    def slip(self) -> float:
        """Return one unit (docs/proofs/intervals.md, lemma 2)."""
        return up(self.unit)

    def log_at_least(self, x: Floats) -> Floats:
        """Return the logarithm of each of the different tails, as balls."""
        places, back = np.unique(x, return_inverse=True)
        with precision(PRECISION):
            logarithms = [
                float(self.at_least(Fraction(place)).log().mid()) for place in places
            ]
        return np.array(logarithms)[back].reshape(np.shape(x))

    def mass(self, k: int) -> arb:
        """Return P[K = k]."""
        return self._height(k) / _total(self._sigma_squared, ctx.prec)

    def tail(self, k: int) -> arb:
        """Return P[K >= k] for k >= 1."""
        total = _total(self._sigma_squared, ctx.prec)
        if self._sigma_squared >= _WIDE:
            return self._integral(k) / total
        # Few terms lie either below k or, where the ratio has fallen, beyond it.
        if k * k <= self._sigma_squared:
            inner = sum((self._height(x) for x in range(1, k)), arb(0))
            return ((total - 1) / 2 - inner) / total
        return self._sum_from(k) / total

    def near_quantile(self, tail: float) -> int:
        """Take the continuous quantile."""
        with precision(64):
            point = arb(max(2 * min(tail, 0.5), 1e-300)).erfcinv()
        return int(float(point.mid()) * math.sqrt(2) * up(sqrt(self._sigma_squared)))

    def _height(self, x: int) -> arb:
        """Return exp(-x**2 / (2 spread))."""
        return (-(x * x) / (2 * ball(self._sigma_squared))).exp()

    def _sum_from(self, k: int) -> arb:
        """Sum the heights from k, each the last times a falling ratio.

        What is left after a term t whose successor ratio is r sums to at most t/(1-r).
        """
        term, step = self._height(k), (-1 / ball(self._sigma_squared)).exp()
        ratio = (-(2 * k + 1) / (2 * ball(self._sigma_squared))).exp()
        result = arb(0)
        least = term * arb(2) ** -(ctx.prec + 8)
        while not term < least:
            result += term
            term *= ratio
            ratio *= step
        rest = term / (1 - ratio)
        return result + rest.union(arb(0))

    def _integral(self, k: int) -> arb:
        """Sum the heights from k by Euler-Maclaurin, the remainder enclosed.

        With z = k / s, s**2 the spread, and n-th derivative (-1/s)**n He_n(z) f:
        sum = integral + f(k) / 2 + sum_j B_2j / (2j)! s**(1-2j) He_(2j-1)(z) f(k) + R,
        |R| <= 2 zeta(2m) / (2 pi)**2m times the integral of |f^(2m)|, by Cramer's bound
        at most 1.0865 sqrt((2m)!) s**(1-2m) * integral of exp(-u**2 / 4) from z.
        """
        spread = ball(self._sigma_squared)
        s = spread.sqrt()
        z, height = k / s, self._height(k)
        result = s * (arb.pi() / 2).sqrt() * (z / arb(2).sqrt()).erfc() + height / 2
        quarter = arb.pi().sqrt() * (z / 2).erfc()
        precise = result * arb(2) ** -ctx.prec
        before, now = arb(1), z
        remainder = result
        for j in range(1, _MOST_TERMS):
            n = 2 * j
            factorial = arb(n).fac()
            scale = s ** (1 - n)
            result += ball(_bernoulli(n)) / factorial * scale * now * height
            bound = ball(_CRAMER) * factorial.sqrt() * scale * quarter
            remainder = 2 * arb(n).zeta() / (2 * arb.pi()) ** n * bound
            if remainder < precise:
                break
            before, now = now, z * now - (n - 1) * before
            before, now = now, z * now - n * before
        return result + remainder.union(-remainder)


@lru_cache(maxsize=256)
def _bernoulli(n: int) -> Fraction:
    """Return the Bernoulli number B_n."""
    value = fmpq.bernoulli(n)
    return Fraction(int(value.p), int(value.q))


@lru_cache(maxsize=64)
def _total(spread: Exact, precision: int) -> arb:
    """Return the sum of exp(-k**2 / (2 spread)) over all integers.

    By Poisson summation it equals sqrt(2 pi spread) times the same sum at the dual
    spread 1 / (4 pi**2 spread); whichever converges faster is summed.
    """
    del (
        precision
    )  # a key of the cache: a ball is as wide as the precision it was made at
    value = ball(spread)
    wide = spread >= 1
    rate = 2 * arb.pi() ** 2 * value if wide else 1 / (2 * value)
    result, k = arb(1), 1
    while True:
        term = 2 * (-(k * k) * rate).exp()
        result += term
        k += 1
        if term < arb(2) ** -(ctx.prec + 8):
            # Later terms fall at least as fast as a geometric series of ratio 1/2.
            result += term.union(arb(0))
            break
    return (2 * arb.pi() * value).sqrt() * result if wide else result
