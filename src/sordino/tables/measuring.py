"""From exact counts to noisy contrasts, and from these to all tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, final

import numpy as np

from sordino.mechanisms.gaussian import Gaussian
from sordino.tables.crossing import Crossing, Levels, parts_of
from sordino.tables.halving import Integers, Numbers
from sordino.tables.precisions import Precisions

if TYPE_CHECKING:
    import pyarrow as pa

Contrasts: TypeAlias = Mapping[Levels, Numbers]
"""Of each part of a crossing, with an axis for each of its trees."""

_MOST: Final = 2**53
"""Contrasts saturate here, where every integer is a double; no change grows by that."""


@final
@dataclass(frozen=True, eq=False)
class Tally:
    """How many rows there are with each combination of leaves that has any."""

    leaves: tuple[Integers, ...]
    """Of each tree, the place of the leaf."""
    rows: Integers

    @classmethod
    def of(cls, crossing: Crossing, counted: "pa.Table") -> "Tally":
        """Return the tally of counted keys; what is not among the public ones is none.

        The columns of keys come first, then the number of rows.
        """
        import pyarrow.compute as pc  # noqa: PLC0415 loaded when needed

        inside = np.ones(counted.num_rows, np.bool_)
        leaves = []
        for tree in crossing.trees:
            place = np.zeros(counted.num_rows, np.int64)
            for column, values in zip(tree.columns, tree.values, strict=True):
                places = pc.index_in(
                    counted[column].cast(values.type), values, skip_nulls=False
                )
                at = places.fill_null(-1).to_numpy().astype(np.int64)
                inside &= at >= 0
                above, place = place, np.maximum(at, 0)
                inside &= tree.parents[tree.columns.index(column)][place] == above
            leaves.append(place)
        rows = counted.column(counted.num_columns - 1).to_numpy()
        return cls(tuple(leaf[inside] for leaf in leaves), rows[inside])

    def table(self, crossing: Crossing, table: Levels) -> Integers:
        """Return the exact counts of a table.

        They are summed in doubles, which hold the sums of fewer than 2**53 rows.
        """
        place = np.zeros(self.rows.size, np.int64)
        for tree, level, leaf in zip(crossing.trees, table, self.leaves, strict=True):
            if level:
                place = place * tree.sizes[level] + tree.places[level][leaf]
        cells = crossing.cells(table)
        sums = np.bincount(place, self.rows, minlength=cells).astype(np.int64)
        return sums.reshape(crossing.shape(table))


def contrasts_of(crossing: Crossing, part: Levels, counts: Integers) -> Integers:
    """Return the exact contrasts of a part, of the counts of the table of its name."""
    numbers = counts
    trees = [pair for pair in zip(crossing.trees, part, strict=True) if pair[1]]
    for axis, (tree, level) in enumerate(trees):
        moved = tree.contrasts(level, np.moveaxis(numbers, axis, 0))
        numbers = np.moveaxis(moved, 0, axis)
    return np.clip(numbers, -_MOST, _MOST)


def squares_of(crossing: Crossing, part: Levels) -> Integers:
    """Return the squares of the contrasts of a part."""
    squares = np.ones((), np.int64)
    for tree, level in zip(crossing.trees, part, strict=True):
        if level:
            squares = np.multiply.outer(squares, tree.squares(level))
    return squares


def measure(precisions: Precisions, tally: Tally) -> dict[Levels, Numbers]:
    """Return all contrasts with noise that is exactly Gaussian around each integer."""
    crossing = precisions.crossing
    exact: dict[Fraction, list[tuple[Levels, Integers, Integers]]] = {}
    noisy: dict[Levels, Numbers] = {}
    for part, precision in precisions.parts.items():
        counts = contrasts_of(crossing, part, tally.table(crossing, part))
        squares = squares_of(crossing, part).ravel()
        noisy[part] = np.zeros(counts.shape)
        for square in np.unique(squares).tolist():
            places = np.flatnonzero(squares == square)
            alike = exact.setdefault(square / precision, [])
            alike.append((part, places, counts.ravel()[places]))
    for variance, alike in exact.items():
        whole = np.concatenate([contrasts for _, _, contrasts in alike])
        drawn = Gaussian(variance=variance)(whole.astype(np.float64))
        first = 0
        for part, places, each in alike:
            noisy[part].reshape(-1)[places] = drawn[first : first + each.size]
            first += each.size
    return noisy


def restore(crossing: Crossing, table: Levels, contrasts: Contrasts) -> Numbers:
    """Return a table from the contrasts of its parts."""
    shape = crossing.shape(table)
    trees = [
        (place, crossing.trees[place], level)
        for place, level in enumerate(table)
        if level
    ]
    whole = np.zeros(shape)
    for part in parts_of(table):
        block = tuple(
            slice(int(tree.sizes[part[place] - 1]), int(tree.sizes[part[place]]))
            if part[place]
            else slice(0, 1)
            for place, tree, _ in trees
        )
        if part in contrasts:
            whole[block] = contrasts[part].reshape(whole[block].shape)
    for axis, (_, tree, level) in enumerate(trees):
        moved = tree.restore(level, np.moveaxis(whole, axis, 0))
        whole = np.moveaxis(moved, 0, axis)
    return whole
