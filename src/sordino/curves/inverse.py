"""Where a decreasing bound meets its targets: epsilons from deltas."""

import math
from collections.abc import Callable

import numpy as np

from sordino.curves import normal
from sordino.curves.points import ELEMENTARY, Floats
from sordino.curves.search import find_crossings

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
    few = range(zero + normal.FEW, faint, normal.FEW)
    ends = [_ends(delta, part) for part in np.split(distinct, [zero, *few, faint])[1:]]
    epsilons: Floats = np.concatenate((np.full(zero, none), *ends))
    return epsilons[places]


def _ends(delta: Callable[[Floats], Floats], targets: Floats) -> Floats:
    """Return the epsilons of ascending positive targets."""

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
