"""Stretches of candidates that a search for an extreme walks over.

Few candidates are walked one by one. Many are joined to stretches, some of equal
length and some whose length is a fixed share of their distance from zero: the answer
is near in either sense, and a range that is far too wide takes few steps more.
"""

from typing import Final

import numpy as np

from sordino.aggregations.candidates import AbstractCandidates
from sordino.aggregations.measurements import Integers

_MOST: Final = 2**16
"""So many candidates are walked one by one."""
_EQUAL: Final = 2**14
_PER_DOUBLING: Final = 16


def stretches(candidates: AbstractCandidates) -> Integers:
    """Return the last candidate of each stretch, ascending.

    >>> from sordino.aggregations.candidates import candidates
    >>> stretches(candidates(0, 3, "i64")).tolist()
    [0, 1, 2, 3]
    >>> stretches(candidates(0, 10**9, "f64")).size < 17_000
    True
    """
    last = candidates.last
    if last < _MOST:
        return np.arange(last + 1)
    even = np.linspace(0, last, _EQUAL + 1).astype(np.int64)
    doublings = np.arange(last.bit_length() * _PER_DOUBLING + 1)
    away = np.exp2(doublings / _PER_DOUBLING).astype(np.int64)
    origin = candidates.origin
    ends = np.concatenate([even, origin - away, [origin], origin + away])
    return np.unique(np.append(ends[(ends >= 0) & (ends < last)], last))
