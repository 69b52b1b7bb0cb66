"""All margins of some columns: which tables there are, and their contrasts.

Columns of public keys are trees: one column a tree of one level, region > city of two.
A tree with n leaves has n numbers that tell all that counts of its leaves do: their sum
and, for each level, the contrasts of the children of each of its nodes.

n numbers are cut into halves, these again, until each is alone. With a numbers on the
left of a cut, b on its right and g what both have in common, the contrast of the cut is
(b sum(left) - a sum(right)) / g: an integer, orthogonal to the sum and to all other
contrasts, with the square a b (a + b) / g**2. For any n these are n - 1 contrasts, and
few different squares (docs/proofs/margins.md, lemma 1).

Kernel: sensitivity.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.data import KeySet
from sordino.data.key_columns import ranks
from sordino.errors import InvalidParameter, InvalidQuery, show

if TYPE_CHECKING:
    import pyarrow as pa


Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]


@final
@dataclass(frozen=True, eq=False)
class Halving:
    """Cuts of ranges of numbers, those of one depth together, the first ones first.

    A cut divides the places from `low` to `high` at `middle`; `left` and `right` are
    what its contrast takes of each side. Ranges of a tree lie in units of its leaves,
    and weigh as many as they have children there.
    """

    low: Integers
    middle: Integers
    high: Integers
    left: Integers
    right: Integers
    ends: tuple[int, ...]
    """Where each depth ends."""

    @classmethod
    def of(cls, starts: Integers) -> "Halving":
        """Halve adjacent ranges, given by their ends, until each is one leaf.

        >>> cuts = Halving.of(np.array([0, 3, 4]))
        >>> [one.tolist() for one in (cuts.low, cuts.middle, cuts.high, cuts.squares)]
        [[0, 0], [2, 1], [3, 2], [6, 2]]
        """
        low, high = starts[:-1], starts[1:]
        cuts: list[tuple[Integers, Integers, Integers]] = []
        while True:
            wide = high - low > 1
            low, high = low[wide], high[wide]
            if not low.size:
                break
            middle = (low + high + 1) // 2
            cuts.append((low, middle, high))
            low = np.column_stack([low, middle]).ravel()
            high = np.column_stack([middle, high]).ravel()
        return cls._join_depths(cuts)

    @classmethod
    def _join_depths(cls, cuts: list[tuple[Integers, Integers, Integers]]) -> "Halving":
        none = np.zeros(0, np.int64)
        low, middle, high = (
            np.concatenate([none, *(cut[part] for cut in cuts)]) for part in range(3)
        )
        common = np.gcd(middle - low, high - middle)
        left, right = (high - middle) // common, (middle - low) // common
        ends = np.cumsum([depth[0].size for depth in cuts]).tolist()
        return cls(low, middle, high, left, right, tuple(ends))

    def stretch(self, starts: Integers) -> "Halving":
        """Return the same cuts of coarser numbers, each made of finer ones.

        `starts` says where each coarser number begins among the finer ones.
        """
        low, middle, high = starts[self.low], starts[self.middle], starts[self.high]
        return Halving(low, middle, high, self.left, self.right, self.ends)

    @property
    def squares(self) -> Integers:
        """Return the square of each contrast, as a vector of what it was cut from."""
        return self.left * self.right * (self.left + self.right) * self._common

    @cached_property
    def _common(self) -> Integers:
        """Greatest common divisors of both sides of each cut, for cuts of `of`."""
        return (self.middle - self.low) // self.right

    def contrasts(self, numbers: Numbers) -> Numbers:
        """Return the contrasts of numbers along the first axis."""
        sums = np.zeros((numbers.shape[0] + 1, *numbers.shape[1:]), numbers.dtype)
        np.cumsum(numbers, axis=0, out=sums[1:])
        low, middle, high = sums[self.low], sums[self.middle], sums[self.high]
        left, right = (
            _upright(weights, numbers) for weights in (self.left, self.right)
        )
        return np.asarray(left * (middle - low) - right * (high - middle))

    def divide(self, sums: Numbers, contrasts: Numbers) -> None:
        """Divide the sum that stands at the beginning of each range, in place.

        Afterwards a sum stands at the beginning of each half.
        """
        first = 0
        for end in self.ends:
            part = slice(first, end)
            low, middle = self.low[part], self.middle[part]
            left, right = (
                _upright(side[part], sums) for side in (self.left, self.right)
            )
            whole = sums[low]
            sums[low] = (contrasts[part] + right * whole) / (left + right)
            sums[middle] = whole - sums[low]
            first = end


def _upright(numbers: Integers, shape: Numbers) -> Integers:
    return numbers.reshape(-1, *([1] * (shape.ndim - 1)))


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
    """All tables of up to `order` columns, each column at any level of its tree.

    Or those that are chosen alone.
    """

    trees: tuple[Tree, ...]
    order: int
    chosen: tuple[Levels, ...] = ()

    @cached_property
    def tables(self) -> tuple[Levels, ...]:
        """Return the tables that are told, those of fewer trees first."""
        if self.chosen:
            return tuple(sorted(self.chosen, key=_rank))
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
    def parts(self) -> tuple[Levels, ...]:
        """Return the tables and all that are coarser, those of fewer trees first."""
        if not self.chosen:
            return self.tables
        parts = {part for table in self.chosen for part in parts_of(table)}
        return tuple(sorted(parts, key=_rank))

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
        tables, parts, cells = self._count_chosen() if self.chosen else self._count()
        for what, many, most in (
            ("tables", tables, MOST_TABLES),
            ("tables within tables", parts, _MOST_PARTS),
        ):
            if many > most:
                raise InvalidQuery(
                    f"these margins are {many:,} {what}, and the limit is {most:,}",
                    "Lower the order, or name fewer columns.",
                )
        if cells > MOST_CELLS:
            raise InvalidQuery(
                f"the largest of these tables would have {cells:.3g} cells, and the "
                f"limit is {MOST_CELLS:,}",
                "Lower the order, or name fewer keys.",
            )

    def _count(self) -> tuple[int, int, int]:
        """Return how many tables, tables within tables and cells of a table."""
        tables, parts = [1], [1]  # counted: a list of them could fill the memory
        for tree in self.trees:
            tables = _count_choices(tables, tree.depth, self.order)
            parts = _count_choices(parts, sum(range(2, tree.depth + 2)), self.order)
        largest = sorted((int(tree.sizes[-1]) for tree in self.trees), reverse=True)
        return sum(tables), sum(parts), math.prod(largest[: self.order])

    def _count_chosen(self) -> tuple[int, int, int]:
        within = (math.prod(level + 1 for level in table) for table in self.chosen)
        return len(self.chosen), sum(within), max(map(self.cells, self.chosen))


def _rank(table: Levels) -> tuple[int, list[int], Levels]:
    """Return a key by which tables stand as `Crossing.tables` lists them."""
    places = [place for place, level in enumerate(table) if level]
    return len(places), places, table


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
