"""Which tables there are: a level of each tree, and all that are coarser."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, final

import numpy as np

from sordino.errors import InvalidQuery
from sordino.tables.halving import Integers
from sordino.tables.trees import Tree

if TYPE_CHECKING:
    import pyarrow as pa

Levels: TypeAlias = tuple[int, ...]
"""A table: the level of each tree by which it is divided, 0 where it is not."""
Name: TypeAlias = tuple[str, ...]
"""The columns of a table, in the order of the keys."""

MOST_CELLS: Final = 2**21
"""Of one table: contrasts are sums of rows times that, and their squares, at most
a * b * (a + b) for parts of a and b cells, stay below 2**62: exact in 64 bits."""
MOST_TABLES: Final = 10_000
_MOST_PARTS: Final = 2**18


@final
@dataclass(frozen=True, eq=False)
class Crossing:
    """All tables of up to so many trees together, each at any of its levels."""

    trees: tuple[Tree, ...]
    order: int

    @cached_property
    def tables(self) -> tuple[Levels, ...]:
        """Return the tables, those of fewer trees first: any coarser one is of them."""
        tables = []
        for several in range(self.order + 1):
            for chosen in itertools.combinations(range(len(self.trees)), several):
                depths = (range(1, self.trees[place].depth + 1) for place in chosen)
                for levels in itertools.product(*depths):
                    placed = dict(zip(chosen, levels, strict=True))
                    tables.append(
                        tuple(placed.get(place, 0) for place in range(len(self.trees)))
                    )
        return tuple(tables)

    @cached_property
    def names(self) -> dict[Name, Levels]:
        """Return the tables by their columns."""
        return {self.name(table): table for table in self.tables}

    def name(self, table: Levels) -> Name:
        """Return the columns of a table."""
        pairs = zip(self.trees, table, strict=True)
        return tuple(tree.columns[level - 1] for tree, level in pairs if level)

    def shape(self, table: Levels) -> tuple[int, ...]:
        """Return how many values each column of a table has."""
        pairs = zip(self.trees, table, strict=True)
        return tuple(int(tree.sizes[level]) for tree, level in pairs if level)

    def cells(self, table: Levels) -> int:
        """Return how many cells a table has."""
        return math.prod(self.shape(table))

    @property
    def finest(self) -> Levels:
        """Return the table of all trees together, whether it is asked for or not."""
        return tuple(tree.depth for tree in self.trees)

    @property
    def joint_cells(self) -> int:
        """Return how many cells the table of all trees together has."""
        return math.prod(int(tree.sizes[-1]) for tree in self.trees)

    def nodes(self, table: Levels, place: int) -> Integers:
        """Return in which node of one of its trees each cell of a table lies."""
        shape = self.shape(table)
        axis = place - table[:place].count(0)
        numbers = np.arange(shape[axis]).reshape(-1, *([1] * (len(shape) - axis - 1)))
        return np.broadcast_to(numbers, shape).ravel()

    def keys(self, table: Levels) -> "pa.Table":
        """Return the keys of a table: all combinations of its columns' values."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        columns = {}
        for place, (tree, level) in enumerate(zip(self.trees, table, strict=True)):
            if level:
                nodes = pa.array(self.nodes(table, place))
                columns[tree.columns[level - 1]] = tree.values[level - 1].take(nodes)
        return pa.table(columns)

    def refuse_large(self) -> None:
        """Refuse more tables, or larger ones, than can be made; nothing is listed."""
        tables, parts = [1], [1]
        for tree in self.trees:
            tables = _count_choices(tables, tree.depth, self.order)
            parts = _count_choices(parts, sum(range(2, tree.depth + 2)), self.order)
        largest = sorted((int(tree.sizes[-1]) for tree in self.trees), reverse=True)
        for what, many, most in (
            ("tables", sum(tables), MOST_TABLES),
            ("tables within tables", sum(parts), _MOST_PARTS),
        ):
            if many > most:
                raise InvalidQuery(
                    f"these margins are {many:,} {what}, and the limit is {most:,}",
                    "Lower the order, or name fewer columns.",
                )
        if math.prod(largest[: self.order]) > MOST_CELLS:
            raise InvalidQuery(
                "the largest of these tables would have "
                f"{math.prod(largest[: self.order]):.3g} cells, and the limit is "
                f"{MOST_CELLS:,}",
                "Lower the order, or name fewer keys.",
            )


def parts_of(table: Levels) -> Iterator[Levels]:
    """Yield the parts that a table is made of: itself and all that are coarser.

    >>> list(parts_of((2, 0)))
    [(0, 0), (1, 0), (2, 0)]
    """
    return itertools.product(*(range(level + 1) for level in table))


def _count_choices(known: list[int], ways: int, order: int) -> list[int]:
    """Return the numbers of choices, by how many trees they are of, with one more."""
    with_it = [0, *(ways * count for count in known)]
    without = [*known, 0]
    pairs = zip(with_it, without, strict=True)
    return [count + other for count, other in pairs][: order + 1]
