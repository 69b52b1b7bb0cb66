"""Rows of many groups counted in the bins of one public grid."""

from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidData

Whole: TypeAlias = NDArray[np.int64]

MOST_ROWS = 1 << 38
"""A group of this many rows or more is refused: sums of scores must fit."""

MOST_BINS = 1 << 61


@final
@dataclass(frozen=True, eq=False)
class BinCounts:
    """How many rows of each group lie in each bin, 0 where nothing is said.

    Group g holds `positions` and `counts` from starts[g] up to starts[g + 1], its
    positions ascending within 0 .. size - 1.
    """

    starts: Whole
    positions: Whole
    counts: Whole
    size: int

    @staticmethod
    def of(
        group: Any, position: Any, count: Any, *, groups: Any, size: Any
    ) -> "BinCounts":
        """Return the bins of rows (group, position, count) in any order.

        >>> bins = BinCounts.of([1, 0, 1], [7, 2, 3], [1, 1, 5], groups=3, size=8)
        >>> bins.starts.tolist(), bins.positions.tolist()
        ([0, 1, 3, 3], [2, 3, 7])
        """
        number = _validate.integer(groups=groups, least=0)
        most = _validate.integer(size=size, least=1, most=MOST_BINS)
        columns = [_column(values) for values in (group, position, count)]
        if len({column.size for column in columns}) > 1:
            raise InvalidData("groups, positions and counts must have the same length.")
        order = np.lexsort((columns[1], columns[0]))
        owner, where, rows = (column[order] for column in columns)
        _check(owner, where, rows, (number, most))
        starts = np.searchsorted(owner, np.arange(number + 1))
        bins = BinCounts(starts.astype(np.int64), where, rows, most)
        if rows.size and int(bins.totals.max()) >= MOST_ROWS:
            raise InvalidData(
                "a group has 2**38 rows or more: too many to be counted exactly."
            )
        return bins

    @property
    def groups(self) -> int:
        """Return how many groups there are."""
        return self.starts.size - 1

    @property
    def totals(self) -> Whole:
        """Return how many rows each group has."""
        rows = np.append(0, np.cumsum(self.counts))
        totals: Whole = rows[self.starts[1:]] - rows[self.starts[:-1]]
        return totals

    def part(self, first: int, last: int) -> "BinCounts":
        """Return some of the groups."""
        begin, end = self.starts[first], self.starts[last]
        starts = self.starts[first : last + 1] - begin
        return BinCounts(
            starts, self.positions[begin:end], self.counts[begin:end], self.size
        )

    def join(self, last: Whole) -> "BinCounts":
        """Return coarser bins: of neighbouring ones, each up to a last one, ascending.

        >>> fine = BinCounts.of([0, 0, 0], [1, 2, 7], [5, 1, 3], groups=1, size=8)
        >>> fine.join(np.array([2, 6, 7])).counts.tolist()
        [6, 3]
        """
        owner = np.repeat(np.arange(self.groups), np.diff(self.starts))
        cells = owner * last.size + np.searchsorted(last, self.positions)
        filled, first = np.unique(cells, return_index=True)
        rows = np.append(0, np.cumsum(self.counts))
        starts = np.searchsorted(filled, np.arange(self.groups + 1) * last.size)
        return BinCounts(
            starts.astype(np.int64),
            filled % last.size,
            np.diff(rows[np.append(first, cells.size)]),
            last.size,
        )

    def mirror(self) -> "BinCounts":
        """Return the bins counted from the other end.

        >>> bins = BinCounts.of([0, 1, 1], [1, 2, 7], [5, 1, 3], groups=2, size=8)
        >>> bins.mirror().positions.tolist(), bins.mirror().counts.tolist()
        ([6, 0, 5], [5, 3, 1])
        """
        owner = np.repeat(np.arange(self.groups), np.diff(self.starts))
        turned = self.starts[owner] + self.starts[owner + 1] - 1
        order = turned - np.arange(owner.size)
        positions = self.size - 1 - self.positions[order]
        return BinCounts(self.starts, positions, self.counts[order], self.size)


def _column(values: Any) -> Whole:
    """Return a flat array of integers."""
    column = np.asarray(values)
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
        raise InvalidData(
            "groups, positions and counts must be flat arrays of integers."
        )
    if column.size and int(column.max()) >= MOST_BINS:
        raise InvalidData("a group, a position or a count is 2**61 or more.")
    return column.astype(np.int64, copy=False)


def _check(owner: Whole, where: Whole, rows: Whole, most: tuple[int, int]) -> None:
    """Refuse what is outside the grid, negative, or said twice; `owner` ascends."""
    if not owner.size:
        return
    if owner[0] < 0 or owner[-1] >= most[0]:
        raise InvalidData("a group lies outside 0 to groups - 1.")
    if where.min() < 0 or where.max() >= most[1]:
        raise InvalidData("a position lies outside 0 to size - 1.")
    if rows.min() < 0 or int(rows.max()) * rows.size >= MOST_BINS:
        raise InvalidData("a count is negative, or there are too many rows.")
    if ((np.diff(owner) == 0) & (np.diff(where) == 0)).any():
        raise InvalidData("a bin of a group is counted twice. Add its rows up first.")
