"""Tables of one or two trees made not negative, level by level from the top down.

The sums of a table are those of the tables above it, which have been made: of the one
with its first tree a level higher, and of the one with its second. Such cells always
exist: rows and columns cross completely, and have the same sum (docs/proofs/margins.md,
lemma 5). Small errors of large tables are so kept: what is spread among many cells
does not move what they add up to.
"""

import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sordino.tables.coarser import add_up, spread_out
from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Integers, Numbers
from sordino.tables.projection import Groups, nearest_both, nearest_sums
from sordino.tables.whole_cells import round_cells

Fit: TypeAlias = Callable[[Numbers, list[Groups]], Numbers]


def fit_down(crossing: Crossing, finest: Levels, cells: Numbers) -> Numbers:
    """Return the cells of the finest table, not negative, nearest at every stage."""
    return _top_down(crossing, finest, cells, _nearest)


def whole_down(crossing: Crossing, finest: Levels, cells: Numbers) -> Integers:
    """Return whole cells of the finest table, near at every stage."""
    return _top_down(crossing, finest, cells, _whole).astype(np.int64)


def _top_down(crossing: Crossing, finest: Levels, cells: Numbers, fit: Fit) -> Numbers:
    """Return the finest table, made of the tables above it."""
    tables: dict[Levels, Numbers] = {}
    for table in itertools.product(*(range(level + 1) for level in finest)):
        sums = add_up(crossing, finest, cells, table)
        above = [tables[parent] for parent in _parents(table)]
        groups = [
            _groups(crossing, parent, known, table)
            for parent, known in zip(_parents(table), above, strict=True)
        ]
        tables[table] = fit(sums.ravel(), groups).reshape(sums.shape)
    return tables[finest]


def _parents(table: Levels) -> list[Levels]:
    """Return the tables in which one tree is a level higher.

    >>> _parents((2, 1)), _parents((0, 0))
    ([(1, 1), (2, 0)], [])
    """
    return [
        (*table[:place], level - 1, *table[place + 1 :])
        for place, level in enumerate(table)
        if level
    ]


def _groups(crossing: Crossing, above: Levels, sums: Numbers, table: Levels) -> Groups:
    """Return the groups of a table that are the cells of one above it."""
    numbers = np.arange(sums.size).reshape(sums.shape)
    return Groups(spread_out(crossing, above, numbers, table).ravel(), sums.ravel())


def _nearest(cells: Numbers, groups: list[Groups]) -> Numbers:
    """Return the nearest cells that are not negative and have the sums given."""
    if not groups:
        return np.maximum(cells, 0.0)
    if len(groups) == 1:
        return nearest_sums(cells, groups[0])
    second, first = sorted(groups, key=lambda group: group.sums.size)
    return nearest_both(cells, first, second)


def _whole(cells: Numbers, groups: list[Groups]) -> Numbers:
    """Return whole cells with the whole sums given."""
    if not groups:
        return np.rint(cells)
    return round_cells(cells, groups[0], groups[-1])
