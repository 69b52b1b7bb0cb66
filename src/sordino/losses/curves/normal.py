"""The trade-off between N(0, 1) and N(mu, 1); where a bound meets its target.

With x = epsilon/mu - mu/2 and Phi the normal law (Balle and Wang 2018; Dong, Roth and
Su 2022, where f is Phi(Phi^-1(1 - alpha) - mu)):

    delta(epsilon) = Phi(-x) - exp(epsilon) Phi(-x - mu).

Few points are enclosed in balls. A long array is answered by tangents: for any e,
tpr(alpha) <= delta(e) + exp(e) alpha, so an error in choosing e costs tightness of
second order, and never the bound.

Kernel: mathematics.
"""

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from sordino.losses.curves.points import ELEMENTARY, Floats, find_crossings
from sordino.numbers import Exact, ball, down, up
from sordino.numbers.normal import (
    NORMAL_ERROR,
    log_normal_chance,
    normal_quantile_of,
    scaled_normal_tail,
)
from sordino.numbers.rounding import enclose

FEW = 64
"""Up to this many points are answered by ball arithmetic."""

_UNDERFLOW = 1e-320


def gaussian_delta(mu: Exact, epsilon: Floats) -> Floats:
    """Return upper bounds on delta for epsilon >= 0."""
    if len(epsilon) <= FEW:
        return each(lambda e: up(enclose(lambda: _delta_ball(mu, e))), epsilon)
    return _delta_doubles(up(mu), epsilon)


def gaussian_tpr(mu: Exact, alpha: Floats) -> Floats:
    """Return upper bounds on the true positive rate."""
    if len(alpha) <= FEW:
        return each(lambda a: up(enclose(lambda: _rate_ball(mu, a, 1))), alpha)
    return _by_tangents(up(mu), alpha)[0]


def gaussian_beta(mu: Exact, alpha: Floats) -> Floats:
    """Return lower bounds on the false negative rate."""
    if len(alpha) <= FEW:
        return each(lambda a: down(enclose(lambda: _rate_ball(mu, a, -1))), alpha)
    return _by_tangents(up(mu), alpha)[1]


def near_gaussian_delta(mu: Floats, epsilon: Floats) -> Floats:
    """Return delta at any epsilon as near as doubles are, without a margin.

    A search may follow it; what it finds is then asked for a bound. With x as above and
    y = x + mu, exp(epsilon - y^2 / 2) is exp(-x^2 / 2): the two tails share it. Where y
    is negative, so is epsilon.
    """
    with np.errstate(all="ignore"):
        x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        tails = scaled_normal_tail(np.abs(np.stack(np.broadcast_arrays(x, y))))
        both = np.copysign(tails[0], x) - np.copysign(tails[1], y)
        delta = (
            np.exp(-x * x / 2) * both
            + (x < 0)
            - (y < 0) * np.exp(np.minimum(epsilon, 0.0))
        )
        nothing = np.maximum(-np.expm1(epsilon), 0.0)
    return np.where(mu > 0, np.maximum(delta, 0.0), nothing)


def each(function: Callable[[float], float], values: Floats) -> Floats:
    """Return a function of one number, applied to each."""
    return np.array([function(float(value)) for value in values], dtype=np.float64)


def tail(x: arb) -> arb:
    """Return Phi(-x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_quantile(alpha: arb) -> arb:
    """Return the z with Phi(-z) = alpha."""
    return (2 * alpha).erfcinv() * arb(2).sqrt()


def _delta_ball(mu: Exact, epsilon: float) -> arb:
    size, x = ball(mu), arb(epsilon) / ball(mu) - ball(mu) / 2
    first = tail(x)
    exact = first - arb(epsilon).exp() * tail(x + size)
    # exp(epsilon) may overflow: delta lies between 0 and its first term
    return exact if exact.is_finite() else first.union(arb(0))


def _rate_ball(mu: Exact, alpha: float, side: int) -> arb:
    """Return the true positive rate (side 1) or the false negative rate (side -1)."""
    if alpha in (0.0, 1.0):  # there the quantile is infinite, which no ball holds
        return arb((alpha == 1.0) == (side == 1))
    return tail((normal_quantile(arb(alpha)) - ball(mu)) * side)


def _delta_doubles(mu: float, epsilon: Floats) -> Floats:
    x = epsilon / mu - mu / 2
    log_tail = log_normal_chance(-x)
    exponent = epsilon + log_normal_chance(-x - mu) - log_tail
    # x carries a relative error, and the logarithm of the tail moves by at most
    # |x| + 1 for each unit of x, because that bounds the hazard rate of the normal law
    slack = ELEMENTARY * (1 + np.abs(x) + mu) * (np.abs(x) + epsilon / mu + mu + 1)
    slack += NORMAL_ERROR * (1 + 2 * np.abs(log_tail) + epsilon)
    delta = np.exp(log_tail) * (-np.expm1(np.minimum(exponent, 0.0)) + slack)
    # delta is at most the tail, also where that has no logarithm
    delta = np.where(np.isneginf(log_tail), 0.0, delta)
    # what underflows to 0 is no bound
    answer: Floats = np.minimum(delta + _UNDERFLOW, 1.0)
    return answer


def _by_tangents(mu: float, alpha: Floats) -> tuple[Floats, Floats]:
    with np.errstate(over="ignore", invalid="ignore"):
        touch = -mu * normal_quantile_of(alpha) - mu * mu / 2
        # exp(709) overflows; any epsilon gives a true line
        epsilon = np.minimum(np.nan_to_num(np.abs(touch), nan=0.0), 700.0)
    return tangents(alpha, touch >= 0, epsilon, _delta_doubles(mu, epsilon))


def tangents(
    alpha: Floats, rising: np.ndarray, epsilon: Floats, bound: Floats
) -> tuple[Floats, Floats]:
    """Return (tpr, beta) at alpha from a bound on delta at one epsilon >= 0 each.

    Where `rising`, the line tpr <= delta + exp(epsilon) alpha; elsewhere its mirror
    image beta >= exp(-epsilon) (1 - alpha - delta), valid since both directions are
    bounded by the same delta.
    """
    # beyond 709 the growth is infinite, and both bounds are the trivial ones: a number
    # in its place would be smaller than the growth, which is the attacker's
    with np.errstate(over="ignore"):
        growth = np.exp(epsilon) * (1 + ELEMENTARY)
        grown = (
            np.where(alpha > 0, growth, 0.0) * alpha
        )  # infinity times 0 is no number
        forward = np.minimum((bound + grown) * (1 + ELEMENTARY), 1.0)
    back = np.maximum((1 - alpha) * (1 - ELEMENTARY) - bound, 0.0) / growth
    upper = np.where(rising, forward, 1 - back)
    lower = np.where(rising, 1 - forward, back * (1 - ELEMENTARY))
    return upper, np.maximum(lower, 0.0)


_FLOOR = 5e-324
_FARTHEST = 1e300
_FAINT = float(np.finfo(np.float64).tiny)


def inverse(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
    """Return for each target an epsilon where a decreasing bound is seen to meet it.

    Below the normal doubles only balls tell bounds apart, so those are asked in few.
    """
    distinct, places = np.unique(targets, return_inverse=True)
    none = 0.0 if delta(np.zeros(1))[0] <= 0 else math.inf
    zero, faint = np.searchsorted(distinct, (_FLOOR, _FAINT))
    few = range(zero + FEW, faint, FEW)
    ends = [_ends(delta, part) for part in np.split(distinct, [zero, *few, faint])[1:]]
    epsilons: Floats = np.concatenate((np.full(zero, none), *ends))
    return epsilons[places]


def _ends(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
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
