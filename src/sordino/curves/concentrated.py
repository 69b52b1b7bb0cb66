"""What rho-zCDP alone implies: the conversion to delta, and the trade-off curve.

Delta (Canonne, Kamath and Steinke 2020): for any a > 1,

    delta(epsilon) <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)^(a - 1) / a.

Trade-off: the test with rates (alpha, t) is a function of the output, so for any a > 1

    g(alpha, t) = t^a alpha^(1 - a) + (1 - t)^a (1 - alpha)^(1 - a)
                <= exp((a - 1) a rho).

g is convex, so its tangent plane at any point (alpha, t), on the boundary or not, is a
line above every attainable test: a bound on delta at the slope of that line. Choosing a
and the point badly costs tightness only; the enclosure is computed at the choice.
"""

from collections.abc import Callable

import numpy as np
from flint import arb

from sordino.curves.normal import FEW, each
from sordino.curves.points import ELEMENTARY, Floats
from sordino.numbers import Exact, ball, up
from sordino.numbers.precision import precision

_BITS = 128
_LEAST = 5e-324
_GOLDEN = (5**0.5 - 1) / 2
_NO_LINE = (0.0, 1.0)
_ORDERS = (-14.0, 16.0)
"""ln(a - 1) is searched here; any order is sound."""


def converted_delta(rho: Exact, epsilon: Floats) -> Floats:
    """Return upper bounds on delta for epsilon >= 0, at nearly the best order each."""
    order = _best(lambda u: _log_delta(up(rho), epsilon, u), len(epsilon))
    if len(epsilon) > FEW:
        value, size = _log_delta_sized(up(rho), epsilon, order)
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


def _log_delta_sized(
    rho: float, epsilon: Floats, order: Floats
) -> tuple[Floats, Floats]:
    """Return the logarithm of the bound and the sum of the sizes of its terms."""
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


def _log_delta(rho: float, epsilon: Floats, order: Floats) -> Floats:
    """Return the logarithm of the bound."""
    return _log_delta_sized(rho, epsilon, order)[0]


def _delta_ball(rho: Exact, epsilon: float, order: float) -> arb:
    """Return the bound at one order, enclosed."""
    with precision(_BITS):
        less = arb(float(np.exp(order)))
        a = 1 + less
        return (less * (a * ball(rho) - arb(epsilon) + (less / a).log())).exp() / a


def _greatest(rho: float, alpha: Floats, a: Floats) -> Floats:
    """Return nearly the greatest t with g(alpha, t) within its bound, by halving."""
    low, high = alpha.copy(), np.ones_like(alpha)
    limit = np.minimum((a - 1) * a * rho, 1e4)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for _ in range(34):
            t = np.where(low > 0.5, (low + high) / 2, np.sqrt(low * high))
            first = a * np.log(t) + (1 - a) * np.log(alpha)
            second = a * np.log1p(-t) + (1 - a) * np.log1p(-alpha)
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
