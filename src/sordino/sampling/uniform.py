"""Uniform integers below any limits, from uniform words by rejection."""

import numpy as np
from numpy.typing import NDArray

from sordino.sampling.bits import BitSource


def uniform_below(limits: NDArray[np.int64], bits: BitSource) -> NDArray[np.int64]:
    """Return for each limit in [1, 2**62] an independent uniform integer below it.

    As many digits as the limit needs are drawn, and drawn anew while they reach it:
    the mask is at least limit - 1, also where a double rounds that up.
    """
    digits = np.frexp((limits - 1).astype(np.float64))[1].astype(np.uint64)
    masks = (np.uint64(1) << digits) - np.uint64(1)
    draws = (bits.words(limits.size) & masks).view(np.int64)
    open_ = np.flatnonzero(draws >= limits)
    while open_.size:
        again = (bits.words(open_.size) & masks[open_]).view(np.int64)
        draws[open_] = again
        open_ = open_[again >= limits[open_]]
    return draws
