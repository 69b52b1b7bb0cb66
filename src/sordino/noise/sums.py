"""Sums of independent noises of one kind, each times a factor, in doubles.

`sizes` holds the scales: its first axis runs over the noises, the others over cases.
A sum of n equal Laplace noises is G - G', each a sum of n exponentials; its tail is an
average of Poisson tails, all positive, so nothing cancels (docs/proofs/over-time.md,
lemma 2). With different scales u_j the tail is twice the sum of w_j exp(-x / u_j) / 2,
w_j the product of u_j**2 / (u_j**2 - u_i**2) over the others; scales that are nearly
equal are moved apart upwards, which only makes the tail larger (docs/proofs/
intervals.md, lemma 1). Of more than four of these the terms cancel: then, and where
Laplace and Gaussian noise meet, the tail is a sum over the characteristic function,
whose error has a bound (lemma 7).

>>> blend = LaplaceBlend()
>>> one, two = np.array([[1.0]]), np.array([[1.0], [1.0]])
>>> blend.reach(one, 0.05).round(3), blend.reach(two, 0.05).round(3)
(array([2.996]), array([4.113]))
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.numbers import ball, up
from sordino.numbers.normal import log_normal_chance
from sordino.numbers.rounding import precision

Floats: TypeAlias = NDArray[np.float64]

_STEPS: Final = 60
"""Bisections of a reach: as many as a double has digits."""
_OUTWARD: Final = 1 + 1e-9
"""Far more than doubles err in positive terms."""


@lru_cache(maxsize=4096)
def reach_of_equal(number: int, alpha: float) -> float:
    """Upper (1 - alpha) quantile of |L1 + ... + Ln| for unit Laplace noise.

    >>> round(reach_of_equal(1, 0.05), 6) == round(-math.log(0.05), 6)
    True
    """
    # each noise stays within log(number / alpha), but for alpha in all
    low, high = 0.0, number * math.log(number / alpha) + 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        outside = 2 * _half_tail(number, middle) >= alpha
        low, high = (middle, high) if outside else (low, middle)
    return high * _OUTWARD  # the upper end: an interval may be too wide, never narrow


def _half_tail(number: int, x: float) -> float:
    places = np.arange(number)
    logarithms = places * math.log(x) - x - _log_factorials(number)
    within = np.cumsum(np.exp(logarithms))[::-1]
    return float(np.dot(_weights(number), within))


@lru_cache(maxsize=64)
def _weights(number: int) -> Floats:
    """Return the chances C(n + i - 1, i) / 2**(n + i) for i below n."""
    sizes = (
        math.lgamma(number + i)
        - math.lgamma(i + 1)
        - math.lgamma(number)
        - (number + i) * math.log(2)
        for i in range(number)
    )
    return np.asarray(np.exp(list(sizes)))


@lru_cache(maxsize=64)
def _log_factorials(number: int) -> Floats:
    return np.array([math.lgamma(m + 1) for m in range(number)])


_APART: Final = 1e-4
"""Scales nearer than this, relatively, are moved apart: differences keep 8 digits."""
_FAINT: Final = 1e-3
"""A scale that is less than this share of the greatest is taken for it."""
_FEW: Final = 4
"""Terms of unequal scales cancel the more, the more of them there are."""
_SLIGHT: Final = 1 / 64
"""Among many scales, one that is less than this share of the greatest is raised."""
_LEFT_OUT: Final = 2.0**-40
"""What a sum over the characteristic function may leave out, of either kind."""
_MOST_POINTS: Final = 1 << 15
_LARGE: Final = 700.0
_PIECE: Final = 22
"""Waves are added up so many at once, as a power of two."""
_BLENDS_OUTWARD: Final = 1 + 2.0**-30
_DIGITS: Final = 64
_LEAST: Final = 2.0**-1000


class AbstractBlend(ABC):
    """The law of sum e_j X_j for independent standard noises X_j of one kind.

    Obligation: for any factors, reach is not less than the true quantile of the size of
    the sum, and as a function of the factors it is a norm up to rounding.
    """

    is_normal: ClassVar[bool] = False

    @abstractmethod
    def reach(self, sizes: Floats, alpha: float) -> Floats:
        """Return a t with P[|sum| > t] <= alpha for each case."""

    @abstractmethod
    def contains(self, x: Floats, sizes: Floats, alpha: float) -> NDArray[np.bool_]:
        """Tell where |sum| = x is no farther out than the reach."""

    @abstractmethod
    def log_tail(self, x: Floats, sizes: Floats) -> Floats:
        """Return ln P[sum >= x]; the last axis of x runs over cases."""


@final
@dataclass(frozen=True)
class LaplaceBlend(AbstractBlend):
    """Laplace noises: standard ones have density exp(-|x|) / 2."""

    def reach(self, sizes: Floats, alpha: float) -> Floats:
        greatest = np.abs(sizes).max(axis=0)
        if alpha <= 0:
            return np.where(greatest > 0, np.inf, 0.0)
        numbers = np.count_nonzero(sizes, axis=0)
        if len(sizes) > _FEW and np.all((np.abs(sizes) == greatest) | (sizes == 0)):
            far = [reach_of_equal(int(n), alpha) if n else 0.0 for n in numbers]
            return np.asarray(greatest * far)
        if len(sizes) > _FEW:
            return _each_reach(sizes, np.zeros_like(greatest), alpha)
        # each of the J noises stays within its own reach at alpha / J
        low = np.zeros_like(greatest)
        high = np.abs(sizes).sum(axis=0) * math.log(len(sizes) / alpha)
        scales, weights = _terms(sizes)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            half = reduce(np.add, weights * np.exp(-middle / scales))
            inside = 2 * half >= alpha
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        # the upper end: too wide an interval is true, too narrow is not
        return np.asarray(high * _BLENDS_OUTWARD)

    def contains(self, x: Floats, sizes: Floats, alpha: float) -> NDArray[np.bool_]:
        return 2 * self._half(np.abs(x), sizes) >= alpha

    def log_tail(self, x: Floats, sizes: Floats) -> Floats:
        half = np.minimum(self._half(np.abs(x), sizes), 0.5)
        with np.errstate(divide="ignore"):
            return np.where(x > 0, np.log(half), np.log1p(-half))

    def _half(self, x: Floats, sizes: Floats) -> Floats:
        """Return P[sum > x] for x >= 0, slightly too large."""
        if len(sizes) > _FEW:
            return _each_half(x, sizes, np.zeros(sizes.shape[1]))
        scales, weights = _terms(sizes)
        total: Floats = np.zeros(np.broadcast(x, scales[0]).shape)
        for scale, weight in zip(scales, weights, strict=True):
            total += weight * np.exp(-x / scale)
        return np.maximum(total, 0.0)


@final
@dataclass(frozen=True)
class GaussianBlend(AbstractBlend):
    """Gaussian noises: their sum is one, of the root of the sum of squares."""

    is_normal: ClassVar[bool] = True

    def reach(self, sizes: Floats, alpha: float) -> Floats:
        spread = np.sqrt((np.asarray(sizes) ** 2).sum(axis=0))
        if alpha <= 0:
            return np.where(spread > 0, np.inf, 0.0)
        return np.asarray(spread * _normal_reach(alpha) * _BLENDS_OUTWARD)

    def contains(self, x: Floats, sizes: Floats, alpha: float) -> NDArray[np.bool_]:
        return np.asarray(np.abs(x) <= self.reach(sizes, alpha))

    def log_tail(self, x: Floats, sizes: Floats) -> Floats:
        spread = np.sqrt((np.asarray(sizes) ** 2).sum(axis=0))
        return np.asarray(log_normal_chance(-x / np.maximum(spread, _LEAST)))


@final
@dataclass(frozen=True)
class MixedBlend(AbstractBlend):
    """Laplace and Gaussian noises side by side."""

    normal: tuple[bool, ...]
    """Which of the noises are Gaussian."""

    def reach(self, sizes: Floats, alpha: float) -> Floats:
        return _each_reach(*self._parts(sizes), alpha)

    def contains(self, x: Floats, sizes: Floats, alpha: float) -> NDArray[np.bool_]:
        return 2 * _each_half(np.abs(x), *self._parts(sizes)) >= alpha

    def log_tail(self, x: Floats, sizes: Floats) -> Floats:
        half = np.minimum(_each_half(np.abs(x), *self._parts(sizes)), 0.5)
        with np.errstate(divide="ignore"):
            return np.where(x > 0, np.log(half), np.log1p(-half))

    def _parts(self, sizes: Floats) -> tuple[Floats, Floats]:
        normal = np.array(self.normal)
        listed = np.abs(np.asarray(sizes, np.float64))
        return listed[~normal], np.sqrt((listed[normal] ** 2).sum(axis=0))


def blend_of(blends: Sequence[AbstractBlend]) -> AbstractBlend:
    """Law of a sum of noises, each of its own kind."""
    normal = tuple(blend.is_normal for blend in blends)
    return MixedBlend(normal) if len({*normal}) > 1 else blends[0]


def _each_reach(sizes: Floats, spreads: Floats, alpha: float) -> Floats:
    """Return the reach of each case, from Laplace scales and a Gaussian deviation."""
    spreads = np.ravel(spreads)
    there = (np.abs(sizes).max(axis=0, initial=0.0) > 0) | (spreads > 0)
    if alpha <= 0:
        return np.where(there, np.inf, 0.0)
    law = _Characteristic.of(np.abs(sizes), spreads)
    low, high = np.zeros(len(spreads)), law.farthest(alpha)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        outside = 2 * law.half(middle) >= alpha
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.where(there, high * _BLENDS_OUTWARD, 0.0)


def _each_half(x: Floats, sizes: Floats, spreads: Floats) -> Floats:
    """Return P[sum > x] for x >= 0, slightly too large; the last axis runs over cases.

    Of one case there may be many x.
    """
    shape = np.broadcast_shapes(np.shape(x), np.shape(spreads))
    values, deviations = (np.broadcast_to(each, shape) for each in (x, spreads))
    inner = np.abs(sizes).reshape(len(sizes), *[1] * (len(shape) - 1), -1)
    scales = np.broadcast_to(inner, (len(sizes), *shape)).reshape(
        len(sizes), values.size
    )
    law = _Characteristic.of(scales, np.ascontiguousarray(deviations).ravel())
    half = law.half(np.ascontiguousarray(values).ravel())
    return np.asarray(half.reshape(shape))


@final
@dataclass(frozen=True, eq=False)
class _Characteristic:
    """Laws of Laplace noises and one Gaussian, by their characteristic functions.

    P[sum > x] is 1/2 less the sum over k of sin(t_k x) phi(t_k) / pi / (k + 1/2),
    t_k = (k + 1/2) step, but for P[|sum| > 2 pi / step - x] and what lies beyond the
    last k (docs/proofs/intervals.md, lemma 7). The last axis runs over cases.
    """

    scales: Floats
    spreads: Floats

    @classmethod
    def of(cls, scales: Floats, spreads: Floats) -> "_Characteristic":
        """Return the laws; slight scales are raised, which makes tails larger."""
        least = np.maximum(scales.max(axis=0, initial=0.0) * _SLIGHT, _LEAST)
        return cls(np.where(scales > 0, np.maximum(scales, least), 0.0), spreads)

    def farthest(self, alpha: float) -> Floats:
        """Return a t with P[|sum| > t] <= alpha, by Chernoff's bound."""
        greatest = self.scales.max(axis=0, initial=0.0)
        rate = 1 / (2 * np.maximum(np.maximum(greatest, self.spreads / 4), _LEAST))
        moments = -np.log1p(-((self.scales * rate) ** 2)).sum(axis=0)
        logarithm = moments + (self.spreads * rate) ** 2 / 2 + math.log(2 / alpha)
        return np.asarray(logarithm / rate)

    def half(self, x: Floats) -> Floats:
        """Return P[sum > x] for each x >= 0, slightly too large."""
        reach = self.farthest(_LEFT_OUT)
        step = math.pi / reach
        number = 64
        while (
            number < _MOST_POINTS and self._bound_rest(step * number).max() > _LEFT_OUT
        ):
            number *= 2
        is_noisy = (self.scales > 0).any(axis=0) | (self.spreads > 0)
        half: Floats = _LEFT_OUT + self._bound_rest(step * number)
        inside = np.flatnonzero(x < reach)
        for cases in np.array_split(inside, (len(inside) * number >> _PIECE) + 1):
            places = np.arange(number)[:, None] + 0.5
            points = places * step[cases]
            phi = np.exp(self._log_phi(points, cases)) / places
            waves = (np.sin(points * x[cases]) * phi).sum(axis=0) / math.pi
            half[cases] += np.maximum(0.5 - waves, 0.0)
        return np.where(is_noisy, half, 0.0)

    def _log_phi(self, points: Floats, cases: Any) -> Floats:
        """Logarithm of the characteristic functions at points of each case."""
        value: Floats = -((self.spreads[cases] * points) ** 2) / 2
        for scale in self.scales:
            value -= np.log1p((scale[cases] * points) ** 2)
        return value

    def _bound_rest(self, last: Floats) -> Floats:
        """Bound what the terms from a point on add up to, several times over."""
        # 1 / (1 + u**2 t**2) < (u t)**-2, which is added up as an integral
        there = self.scales > 0
        falls = 2 * np.maximum(there.sum(axis=0), 0.5)
        sized = np.where(there, self.scales, 1 / last)
        laplace = np.exp(np.minimum(-2 * np.log(sized * last).sum(axis=0), _LARGE))
        far = (self.spreads * last) ** 2
        with np.errstate(divide="ignore"):
            normal = np.where(far > 0, np.exp(-far / 2) / far, 1.0)
        least = np.minimum(np.minimum(laplace / falls, normal), 1.0)
        return np.asarray(4 / math.pi * least)


def _terms(sizes: Floats) -> tuple[Floats, Floats]:
    scales = _distinct(np.abs(np.asarray(sizes, np.float64)))
    squares = (scales / scales[-1]) ** 2
    weights = np.full_like(scales, 0.5)
    for place, square in enumerate(squares):
        for other in (*squares[:place], *squares[place + 1 :]):
            weights[place] *= square
            weights[place] /= square - other
    return scales, weights


def _distinct(sizes: Floats) -> Floats:
    """Return the scales of each case in order, equal ones moved apart upwards."""
    scales: Any = np.sort(sizes, axis=0)
    least = np.maximum(_FAINT * scales[-1], _LEAST)
    scales[0] = np.maximum(scales[0], least)
    for place in range(1, len(scales)):
        scales[place] = np.maximum(scales[place], scales[place - 1] * (1 + _APART))
    return np.asarray(scales)


@lru_cache(maxsize=256)
def _normal_reach(alpha: float) -> float:
    """Return the quantile of the size of a standard normal number, rounded up."""
    with precision(_DIGITS):
        return up(arb(2).sqrt() * ball(Fraction(alpha)).erfcinv()) if alpha < 1 else 0.0
