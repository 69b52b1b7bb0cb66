"""The one search of the library: where a decreasing test turns true."""

import math
from collections.abc import Callable

_STEPS = 400


def least(
    holds: Callable[[float], bool], low: float, high: float, relative: float = 0.0
) -> float:
    """Return x in [low, high] where `holds` is true, within tolerance of the least.

    `holds` is false, then true. The answer is always a point where it was seen true;
    infinity if it is not true at `high`. Doubles far apart are halved by exponent.

    >>> least(lambda x: x * x >= 2, 0.0, 2.0) >= math.sqrt(2)
    True
    """
    if holds(low):
        return low
    if not holds(high):
        return math.inf
    for _ in range(_STEPS):
        middle = _between(low, high)
        if not low < middle < high or high - low <= relative * abs(high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def crossing(
    excess: Callable[[float], float], low: float, high: float, relative: float
) -> float:
    """Return x where the decreasing `excess` is at most 0, close to its root.

    A secant search in a bracket (the Illinois rule): few evaluations for a smooth
    function, and the answer is the end of the bracket where `excess` was seen <= 0.
    """
    above, below = excess(low), excess(high)
    if above <= 0:
        return low
    if below > 0:
        return math.inf
    for step in range(_STEPS):
        if high - low <= relative * abs(high):
            break
        guess = (low + high) / 2
        if step % 4 != 3 and below < above < math.inf:
            straight = high - below * (high - low) / (below - above)
            guess = straight if low < straight < high else guess
        if not low < guess < high:
            break
        value = excess(guess)
        if value <= 0:
            high, below, above = guess, value, above / 2
        else:
            low, above, below = guess, value, below / 2
    return high


def _between(low: float, high: float) -> float:
    """Return the middle, geometric for positive ends far apart."""
    if low <= 0 < high and high > 2e-300:
        return min(high / 2, high * 1e-3) if low == 0 else (low + high) / 2
    if low > 0 and high > 4 * low:
        return math.sqrt(low) * math.sqrt(high)
    return low + (high - low) / 2
