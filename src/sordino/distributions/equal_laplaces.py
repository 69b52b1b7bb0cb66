"""Sums of many Laplace noises of one scale: how far they go.

A sum of n standard ones is G - G', each a sum of n exponentials. Given G' = g the tail
of G at x + g is that of a Poisson law, which averages over g to terms that are all
positive, so nothing cancels (docs/proofs/over-time.md, lemma 2).
"""

import math
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_STEPS: Final = 60
_OUTWARD: Final = 1 + 1e-9
"""Far more than doubles err in positive terms."""


@lru_cache(maxsize=4096)
def reach_of_equal(number: int, alpha: float) -> float:
    """Return a t with P[|sum| > t] <= alpha, for so many of scale 1.

    >>> round(reach_of_equal(1, 0.05), 6) == round(-math.log(0.05), 6)
    True
    """
    low, high = 0.0, number * math.log(number / alpha) + 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        outside = 2 * _half_tail(number, middle) >= alpha
        low, high = (middle, high) if outside else (low, middle)
    return high * _OUTWARD


def _half_tail(number: int, x: float) -> float:
    """Return P[sum > x] for x >= 0."""
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
    """Return the logarithms of m! for m below n."""
    return np.array([math.lgamma(m + 1) for m in range(number)])
