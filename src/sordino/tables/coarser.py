"""Between tables of one crossing: sums of finer cells, and coarser ones spread out."""

import numpy as np

from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Numbers


def add_up(
    crossing: Crossing, table: Levels, cells: Numbers, coarser: Levels
) -> Numbers:
    """Return a coarser table of a table's cells, in their dtype."""
    sums, axis = cells, 0
    for tree, level, above in zip(crossing.trees, table, coarser, strict=True):
        if not level:
            continue
        if not above:
            sums = sums.sum(axis=axis)
            continue
        if above < level:
            starts = tree.starts(above, level)[:-1]
            sums = np.add.reduceat(sums, starts, axis=axis)
        axis += 1
    return np.asarray(sums)


def spread_out(
    crossing: Crossing, coarser: Levels, cells: Numbers, table: Levels
) -> Numbers:
    """Return, for each cell of a finer table, the cell of a coarser one it lies in."""
    spread, axis = cells, 0
    for tree, level, above in zip(crossing.trees, table, coarser, strict=True):
        if not level:
            continue
        if not above:
            spread = np.expand_dims(spread, axis)
        elif above < level:
            starts = tree.starts(above, level)
            spread = np.repeat(spread, np.diff(starts), axis=axis)
        axis += 1
    return np.broadcast_to(spread, crossing.shape(table))
