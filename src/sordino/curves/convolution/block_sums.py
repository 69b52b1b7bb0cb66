"""Very many laws on one grid, summed block by block, so that few are held at once.

A block becomes one law on the same grid: at each index the least of the bounds that
several tilts give on its mass. What lies outside the windows of all tilts is moved to
larger losses, so the law dominates the sum of the block.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from sordino.curves.convolution.grid import Grid
from sordino.curves.convolution.grid_sums import DEPTHS, TINY, GridSums
from sordino.curves.points import Floats

_BLOCK = 1 << 20
"""Points of the laws of a block."""

_FEWEST = 8
"""A sum of fewer laws is hardly shorter than they are together."""

_UNIT = float(np.finfo(np.float64).eps) / 2


def sum_blocks(grids: Iterable[tuple[Grid, int]]) -> Iterator[tuple[Grid, int]]:
    """Give laws of the same sum, each block as one; the last are given as they are."""
    block: list[tuple[Grid, int]] = []
    points = 0
    for grid, times in grids:
        block.append((grid, times))
        points += len(grid.masses)
        if points > _BLOCK and len(block) >= _FEWEST:
            yield condense(GridSums(tuple(block))), 1
            block, points = [], 0
    yield from block


def condense(sums: GridSums) -> Grid:
    """Return one law that dominates the sum, as sharp in its tail as in its bulk."""
    if sums.breach >= 1:
        return Grid(sums.origin, np.zeros(1), 1.0)
    first, masses, beyond = 0, np.zeros(0), 0.0
    for depth in DEPTHS:
        tilt, there = sums.tilt(depth)
        low, bounds, rest = sums.bounds(tilt, there)
        # a sum of n logarithms is off by n units of their sizes; below 0 is only what
        # laws lack that have mass at infinity
        sizes = 1 + abs(there.log) - 2 * math.log1p(-sums.breach)
        bounds *= 1 + 2 * _UNIT * len(sums.grids) * sizes
        if depth == 0:
            first, masses, beyond = low, bounds, rest
            masses[0] += 2 * TINY if low > 0 else 0.0
            continue
        start = max(low - first, 0)
        bounds = bounds[max(first - low, 0) :]
        masses, wider = _least(masses, start, bounds, beyond)
        beyond = rest if wider else beyond
    return Grid(sums.origin + first, masses, min(sums.breach + beyond, 1.0))


def _least(
    masses: Floats, start: int, bounds: Floats, beyond: float
) -> tuple[Floats, bool]:
    """Return the least of both bounds on masses, and whether there are more now.

    The second begin at `start`. Where there are none in between, what lies beyond the
    first moves to the least of the second.
    """
    if start > len(masses):
        masses = np.append(masses, np.zeros(start - len(masses)))
        bounds[:1] += beyond
    common = min(len(masses) - start, len(bounds))
    shared = masses[start : start + common]
    np.minimum(shared, bounds[:common], out=shared)
    return np.append(masses, bounds[common:]), len(bounds) > common
