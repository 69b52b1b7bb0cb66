"""Columns of public keys as trees: a column is one of one level, region > city of two.

A tree with n leaves has n numbers that say all that counts of its leaves say: their sum
and, for each level, the contrasts of the children of each of its nodes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from sordino.errors import InvalidParameter, show
from sordino.keysets import KeySet
from sordino.keysets.canonical import ranks
from sordino.tables.halving import Halving, Integers, Numbers

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True, eq=False)
class Tree:
    """Columns from the top down: each value lies in one value of the column above.

    Level 0 is all of it; the nodes of level l are the values of the l-th column.
    """

    columns: tuple[str, ...]
    values: "tuple[pa.Array, ...]"
    """The values of the nodes of each level from 1 on, children beside each other."""
    parents: tuple[Integers, ...]
    """For each level from 1 on, the place of the parent of each node."""

    @classmethod
    def of(cls, keys: KeySet, columns: tuple[str, ...]) -> "Tree":
        """Return the tree of columns of keys, refusing those that do not nest."""
        rows = keys[columns].table()
        above = np.zeros(rows.num_rows, np.int64)
        values, parents = [], []
        for place, column in enumerate(columns):
            nodes = ranks(rows.select(columns[: place + 1]))
            first = np.unique(nodes, return_index=True)[1]
            taken = rows[column].combine_chunks().take(first)
            if len(taken.unique()) < len(taken):
                raise _not_nested(columns[place - 1], column, taken)
            values.append(taken)
            parents.append(above[first])
            above = nodes
        return cls(columns, tuple(values), tuple(parents))

    @property
    def depth(self) -> int:
        """Return the number of levels below the top."""
        return len(self.columns)

    @cached_property
    def sizes(self) -> Integers:
        """Return the number of nodes of each level, the top included."""
        return np.array([1, *(len(nodes) for nodes in self.values)])

    def starts(self, level: int, below: int) -> Integers:
        """Return where the nodes of a level begin among those of a level below.

        The last number is where they end.
        """
        return self._starts[level][below - level]

    @cached_property
    def _starts(self) -> list[list[Integers]]:
        """Return the starts of each level among those from itself down."""
        table = []
        for level, size in enumerate(self.sizes.tolist()):
            starts = [np.arange(size + 1)]
            for parents, above in zip(
                self.parents[level:], self.sizes[level:].tolist(), strict=False
            ):
                edges = np.searchsorted(parents, np.arange(above + 1))
                starts.append(edges[starts[-1]])
            table.append(starts)
        return table

    @cached_property
    def halvings(self) -> tuple[Halving, ...]:
        """Return the cuts of each level from 1 on, among its own nodes."""
        return tuple(
            Halving.of(self.starts(level - 1, level))
            for level in range(1, self.depth + 1)
        )

    @cached_property
    def children(self) -> tuple[Integers, ...]:
        """Return, for each level from 1 on, how many children each parent has."""
        return tuple(
            np.bincount(parents, minlength=int(above))
            for parents, above in zip(self.parents, self.sizes, strict=False)
        )

    @cached_property
    def places(self) -> tuple[Integers, ...]:
        """Return, for each level, in which of its nodes each leaf lies."""
        places = [np.arange(self.sizes[-1])]
        for parents in reversed(self.parents):
            places.append(parents[places[-1]])
        return tuple(reversed(places))

    def contrasts(self, level: int, counts: Numbers) -> Numbers:
        """Return the contrasts of a level, of counts of its nodes along the first axis.

        Of the top there is one: the sum.
        """
        if level == 0:
            return np.asarray(counts.sum(axis=0, keepdims=True))
        return self.halvings[level - 1].contrasts(counts)

    def squares(self, level: int) -> Integers:
        """Return the squares of the contrasts of a level, 1 for the sum."""
        return np.ones(1, np.int64) if level == 0 else self.halvings[level - 1].squares

    def restore(self, level: int, contrasts: Numbers) -> Numbers:
        """Return counts of the nodes of a level from all contrasts down to it."""
        sums = np.zeros((int(self.sizes[level]), *contrasts.shape[1:]))
        sums[0] = contrasts[0]
        for each in range(1, level + 1):
            part = contrasts[int(self.sizes[each - 1]) : int(self.sizes[each])]
            cuts = self.halvings[each - 1].stretch(self.starts(each, level))
            cuts.divide(sums, part)
        return sums


def _not_nested(above: str, column: str, values: "pa.Array") -> InvalidParameter:
    """Return the refusal of a value that lies in several values of the column above."""
    import pyarrow.compute as pc  # noqa: PLC0415 loaded when needed

    counted = pc.value_counts(values)
    example = counted.field("values")[
        int(np.argmax(counted.field("counts").to_numpy()))
    ].as_py()
    return InvalidParameter(
        "hierarchies",
        f"{above} > {column}",
        f"must nest, and {show(example)} of {show(column)} lies in several of "
        f"{show(above)}",
        f"Make the values of {show(column)} different, with {show(above)} in them.",
    )
