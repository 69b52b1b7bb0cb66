"""Exact and outward-rounded conversions between headline parameters.

Each result is the least parameter that holds for every loss with the given one.
"""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sordino.curves.normal import normal_quantile
from sordino.numbers import INFINITE, Exact, Extended, ball, up
from sordino.numbers.precision import precision

_BITS = 192


@lru_cache(maxsize=4096)
def pure_to_rho(epsilon: Extended) -> Extended:
    """Return epsilon tanh(epsilon/2), rounded up: attained by randomized response."""
    if epsilon is INFINITE:
        return INFINITE
    with precision(_BITS):
        return _upper_end(ball(epsilon) * (ball(epsilon) / 2).tanh())


@lru_cache(maxsize=4096)
def pure_to_mu(epsilon: Extended) -> Extended:
    """Return 2 Phi^-1(1 / (1 + exp(-epsilon))), rounded up.

    The pure curve is two straight lines that meet at alpha = beta; the Gaussian curve
    is convex, so it lies below them when it passes below their meeting point.
    """
    if epsilon is INFINITE:
        return INFINITE
    if epsilon == 0:
        return Fraction(0)
    with precision(_BITS + 2 * math.ceil(min(up(epsilon), 1e4))):
        return _upper_end(2 * normal_quantile(1 / (1 + ball(epsilon).exp())))


@lru_cache(maxsize=4096)
def laplace_to_rho(ratio: Extended) -> Extended:
    """Return r + exp(-r) - 1, rounded up, for Laplace noise with shift/scale = r.

    Harrison and Manurangsi 2025: the order 1 is the worst of D_a / a.
    """
    if ratio is INFINITE:
        return INFINITE
    with precision(_BITS):
        return _upper_end(ball(ratio) + (-ball(ratio)).expm1())


@lru_cache(maxsize=4096)
def geometric_to_rho(shift: int, scale: Exact) -> Extended:
    """Return (D - 2a(1 - a^D)/(1 - a^2))/s, a = exp(-1/s), rounded up: the divergence.

    Harrison and Manurangsi 2025: as for Laplace noise, the order 1 is the worst.
    """
    with precision(_BITS):
        rate = -1 / ball(scale)
        a = rate.exp()
        lost = 2 * a * (rate * shift).expm1() / (2 * rate).expm1()
        return _upper_end((arb(shift) - lost) / ball(scale))


@lru_cache(maxsize=4096)
def sampled_epsilon(epsilon: Extended, rate: Fraction) -> Extended:
    """Return ln(1 + q (exp(epsilon) - 1)), rounded up, or epsilon where that is less.

    The epsilon of a release on a Poisson sample of rate q.
    """
    if epsilon is INFINITE:
        return INFINITE
    with precision(_BITS):
        top = up((ball(rate) * ball(epsilon).expm1()).log1p())
    return min(epsilon, Fraction(top)) if math.isfinite(top) else epsilon


def _upper_end(value: arb) -> Extended:
    """Return the upper end as an exact rational of a double."""
    top = up(value)
    return INFINITE if math.isinf(top) else Fraction(max(top, 0.0))
