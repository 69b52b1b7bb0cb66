"""Between tables of one lattice: sums of finer cells, and coarser ones spread out."""

import numpy as np

from sordino.tables.halving import Numbers
from sordino.tables.lattice import Lattice, Levels


def add_up(lattice: Lattice, table: Levels, cells: Numbers, coarser: Levels) -> Numbers:
    """Return a coarser table of a table's cells, in their dtype."""
    found, axis = cells, 0
    for tree, level, above in zip(lattice.trees, table, coarser, strict=True):
        if not level:
            continue
        if not above:
            found = found.sum(axis=axis)
            continue
        if above < level:
            starts = tree.starts(above, level)[:-1]
            found = np.add.reduceat(found, starts, axis=axis)
        axis += 1
    return np.asarray(found)


def spread_out(
    lattice: Lattice, coarser: Levels, cells: Numbers, table: Levels
) -> Numbers:
    """Return, for each cell of a finer table, the cell of a coarser one it lies in."""
    found, axis = cells, 0
    for tree, level, above in zip(lattice.trees, table, coarser, strict=True):
        if not level:
            continue
        if not above:
            found = np.expand_dims(found, axis)
        elif above < level:
            starts = tree.starts(above, level)
            found = np.repeat(found, np.diff(starts), axis=axis)
        axis += 1
    return np.broadcast_to(found, lattice.shape(table))
