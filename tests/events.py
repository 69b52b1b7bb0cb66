"""What an attacker can see, cut into cells: enough to know how well two worlds differ.

A cell is an event, and so is any union of cells. The delta of the cells is therefore at
most the true one, whatever the cut, and equal to it where the cells are single answers.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

Masses: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[Masses, Masses]
"""The masses of the same cells in one world and in the other."""

ROUNDING = 1e-12
"""What differences of tails, which lie near 1, may be off by."""


def best(pair: Pair, epsilon: float) -> float:
    """Return the greatest P(S) - exp(epsilon) Q(S) over events S made of cells."""
    p, q = pair
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def together(pairs: Iterable[Pair]) -> Pair:
    """Return the cells of independent answers, seen side by side."""
    p, q = np.ones(1), np.ones(1)
    for one, other in pairs:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return p, q


def limits(loss: Any, epsilons: Sequence[float]) -> dict[float, float]:
    """Return the delta that a loss allows at each epsilon, and what rounding adds."""
    deltas = loss.delta_at(np.array(epsilons))
    return dict(zip(epsilons, deltas * (1 + 1e-9) + ROUNDING, strict=True))


def breaks(allowed: dict[float, float], pair: Pair) -> list[float]:
    """Return the epsilons at which cells differ by more than is allowed, either way.

    >>> import sordino as sd
    >>> fair = np.array([0.5, 0.5]), np.array([0.4, 0.6])
    >>> breaks(limits(sd.PureDP("0.3"), [0.0, 0.1]), fair)
    []
    >>> breaks(limits(sd.PureDP("0.1"), [0.0, 0.1]), fair)
    [0.0, 0.1]
    """
    ways = pair, pair[::-1]
    return [
        epsilon
        for epsilon, limit in allowed.items()
        if max(best(way, epsilon) for way in ways) > limit
    ]


def noise_cells(mechanism: Any, edges: Sequence[Any], shifts: Sequence[Any]) -> Pair:
    """Return the masses of two shifts of a mechanism's noise between edges."""
    tails = [np.array([mechanism.cdf(e - s) for e in edges]) for s in shifts]
    one, other = (np.diff(np.concatenate(([0.0], tail, [1.0]))) for tail in tails)
    return one, other


def descending(most: Any, count: int, whole: Any, step: Any) -> list[tuple[Any, ...]]:
    """Return the ways to change numbers in steps, by `most` each and `whole` in all.

    Of changes that differ by their order or their signs one is returned: noise that is
    symmetric, and independent, does not tell them apart.

    >>> descending(2, 2, 3, 1)
    [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]
    """
    sizes = [step * i for i in range(math.floor(most / step), -1, -1)]
    found = itertools.combinations_with_replacement(sizes, count)
    return sorted(change for change in found if sum(change) <= whole)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the delta of N(mu, 1) against N(0, 1) at any epsilon."""
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    x = epsilon / mu
    return float(ndtr(mu / 2 - x) - math.exp(epsilon + log_ndtr(-mu / 2 - x)))
