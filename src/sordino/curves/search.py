"""The one search of the library: where a decreasing test turns true."""

import math
from collections.abc import Callable

import numpy as np

from sordino.curves.points import Floats

_STEPS = 400


def find_least(
    holds: Callable[[float], bool], low: float, high: float, relative: float = 0.0
) -> float:
    """Return x in [low, high] where `holds` is true, within tolerance of the least.

    `holds` is false, then true. The answer is always a point where it was seen true;
    infinity if it is not true at `high`. Doubles far apart are halved by exponent.

    >>> find_least(lambda x: x * x >= 2, 0.0, 2.0) >= math.sqrt(2)
    True
    """
    if holds(low):
        return low
    if not holds(high):
        return math.inf
    for _ in range(_STEPS):
        middle = _middle(low, high)
        if not low < middle < high or high - low <= relative * abs(high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def find_crossing(
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


def find_crossings(
    excess: Callable[[Floats], Floats], low: Floats, high: Floats, relative: float
) -> Floats:
    """Return where each of many decreasing functions is at most 0, close to its root.

    A secant search in brackets (the rule of Anderson and Bjorck), each guess moved by
    half of what is tolerated towards the far end, so that both ends close in. Answers
    are ends where `excess` was seen <= 0; infinity where it was not at `high`.
    """
    low, high, above, below = low.copy(), high.copy(), excess(low), excess(high)
    high[below > 0] = np.inf
    np.copyto(high, low, where=above <= 0)
    fell_last = rose_last = np.zeros(len(low), dtype=bool)
    for step in range(_STEPS):
        width, close = high - low, relative * high
        guess = low + width / 2
        if step % 8 != 7:
            with np.errstate(all="ignore"):
                straight = high - below * width / (below - above)
            straight += np.where(2 * straight < low + high, close, -close) / 2
            np.copyto(guess, straight, where=(low < straight) & (straight < high))
        going = (width > close) & (low < guess) & (guess < high)
        if not going.any():
            break
        value = excess(np.where(going, guess, high))
        fell = going & (value <= 0)
        rose = going & ~fell
        above = np.where(fell & fell_last, above * _less(value, below), above)
        below = np.where(rose & rose_last, below * _less(value, above), below)
        np.copyto(high, guess, where=fell)
        np.copyto(below, value, where=fell)
        np.copyto(low, guess, where=rose)
        np.copyto(above, value, where=rose)
        fell_last, rose_last = fell, rose
    return high


def _less(value: Floats, before: Floats) -> Floats:
    """Return by how much to shrink the value at an end that stays."""
    with np.errstate(all="ignore"):
        share = 1 - value / before
    return np.where(share > 0, share, 0.5)


def _middle(low: float, high: float) -> float:
    """Return the middle, geometric for positive ends far apart."""
    if low <= 0 < high and high > 2e-300:
        return min(high / 2, high * 1e-3) if low == 0 else (low + high) / 2
    if low > 0 and high > 4 * low:
        return math.sqrt(low) * math.sqrt(high)
    return low + (high - low) / 2
