"""How exactly each part of a crossing is measured, what it costs, and how far it errs.

A contrast with the square s of a part with the precision t gets noise of the variance
s / t. One row anywhere then moves all contrasts together by mu with mu**2 the sum of
t p, where p is the product of 1 - 1 / children over the trees of the part
(docs/proofs/margins.md, lemmas 2 and 3).

Kernel: sensitivity.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.margins.crossing import (
    Crossing,
    Integers,
    Levels,
    Numbers,
    Tree,
    parts_of,
)
from sordino.noise.gaussian import Gaussian
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import finite, rational_above

if TYPE_CHECKING:
    import pyarrow as pa


Floats: TypeAlias = NDArray[np.float64]

_DIGITS: Final = 10
"""Binary digits of a precision: few different ones make few samplers."""


_MOST_CASES: Final = 2**12
"""Ways in which two cells part, times parts, that are tried: beyond, lemma 3 alone."""


@final
@dataclass(frozen=True)
class CellChange:
    """How far one unit moves the counts of all combinations of keys, and which way."""

    size: Sensitivity
    each_way: int | None = None
    """Rows that come, and rows that leave, at most; unknown without such a limit."""
    is_one_way: bool = False
    """Whether all rows of a unit come, or all leave."""


@final
@dataclass(frozen=True, eq=False)
class Precisions:
    """The precision of each part of a crossing; what is known publicly has none."""

    crossing: Crossing
    parts: Mapping[Levels, Fraction]

    def square(self, change: CellChange) -> Fraction:
        """Return mu**2 of all contrasts: for any rows whose counts move by a change.

        Of cells c that move by d_c: the sum of d_c d_e G_ce is at most that of the
        squares times G - H, and the square of the whole times H (lemma 3), where H is
        less if no d_c d_e is negative. Rows that take the place of others move
        contrasts by the distance of two cells, for each of them (lemma 4).
        """
        length = rational_above(finite(change.size.l2) ** 2)
        whole = rational_above(finite(change.size.l1) ** 2)
        if whole == length:
            return self._alone * length
        extra = self._extra
        if change.is_one_way:
            extra = min(extra, self._added_by_two)
        square = (self._alone - extra) * length + extra * whole
        if change.each_way is not None:
            square = min(square, change.each_way**2 * max(self._alone, self._distance))
        return square

    def times(self, factor: Fraction) -> "Precisions":
        """All precisions multiplied by a factor, and so the square of mu."""
        more = {part: precision * factor for part, precision in self.parts.items()}
        return Precisions(self.crossing, more)

    @cached_property
    def _shifts(self) -> dict[Levels, Fraction]:
        caps = [_most_moved(tree) for tree in self.crossing.trees]
        return {
            part: precision
            * math.prod(caps[place][level] for place, level in _tree_levels(part))
            for part, precision in self.parts.items()
        }

    @cached_property
    def _alone(self) -> Fraction:
        """Return G: what one row adds to mu**2, at most."""
        return sum(self._shifts.values(), Fraction(0))

    @cached_property
    def _extra(self) -> Fraction:
        """Return H: what two rows in different cells add, at most, either way.

        They differ in one of the trees, where they add 1 / siblings and not
        1 - 1 / siblings; there the last level is the worst.
        """
        trees = self.crossing.trees
        less = [Fraction(0)] * len(trees)
        spared = [_discount(tree) for tree in trees]
        for part, moved in self._shifts.items():
            for place, level in _tree_levels(part):
                if level == trees[place].depth:
                    less[place] += moved * spared[place]
        apart = [
            saved
            for saved, tree in zip(less, trees, strict=True)
            if int(tree.sizes[-1]) > 1
        ]
        return self._alone - min(apart, default=Fraction(0))

    @cached_property
    def _added_by_two(self) -> Fraction:
        """H+, the most that two rows in different cells add, if both come.

        Contrasts that part the cells in an odd number of trees take away from it.
        """
        if self._count_cases > _MOST_CASES:
            return self._alone
        most = Fraction(0)
        for parted in self._partings():
            added = Fraction(0)
            for part, precision in self.parts.items():
                trees = zip(self.crossing.trees, parted, part, strict=True)
                least, most_of, odd = zip(
                    *starmap(_parting_factors, trees), strict=True
                )
                size = -math.prod(least) if sum(odd) % 2 else math.prod(most_of)
                added += precision * size
            most = max(most, added)
        return most

    @cached_property
    def _distance(self) -> Fraction:
        """The most that one row adds, which leaves a cell and comes to another.

        It is the most where nodes have the most children, whatever parts the cells.
        """
        if self._count_cases > _MOST_CASES:
            return 4 * self._alone
        caps = [_most_moved(tree) for tree in self.crossing.trees]
        shared = [self._sum_in_common(parted, caps) for parted in self._partings()]
        return 2 * (self._alone - min(shared, default=self._alone))

    def _sum_in_common(self, parted: Levels, caps: list[list[Fraction]]) -> Fraction:
        whole = Fraction(0)
        for part, precision in self.parts.items():
            product = precision
            for cap, here, level in zip(caps, parted, part, strict=True):
                if level > here + 1:
                    product *= 0
                else:
                    product *= cap[level] - (level == here + 1)
            whole += product
        return whole

    def _partings(self) -> Iterator[Levels]:
        """Yield the last level of each tree that two different cells have in common."""
        ways = [
            [
                level
                for level in range(tree.depth + 1)
                if level == tree.depth or int(tree.children[level].max()) > 1
            ]
            for tree in self.crossing.trees
        ]
        finest = self.crossing.finest
        return (parted for parted in itertools.product(*ways) if parted != finest)

    @property
    def _count_cases(self) -> int:
        partings = math.prod(tree.depth + 1 for tree in self.crossing.trees)
        return partings * len(self.parts)

    def variances(self, table: Levels) -> Floats:
        """Return the variance of each cell of a table."""
        whole = np.zeros(self.crossing.shape(table))
        for part in parts_of(table):
            if part not in self.parts:
                continue
            caused: Any = np.float64(1 / self.parts[part])
            for tree, level, below in zip(
                self.crossing.trees, part, table, strict=True
            ):
                if below:
                    caused = np.multiply.outer(caused, _shares(tree, level, below))
            whole += caused
        return whole


def best_precisions(
    crossing: Crossing,
    known: Iterable[Levels] = (),
    weights: Mapping[Levels, Fraction] | None = None,
) -> Precisions:
    """Return precisions with which the mean variances of all tables are least together.

    They are for mu = 1 of one row, nearly: what they cost is asked of them. Tables that
    are `known` publicly need no measurement, nor what they are made of. Each variance
    counts by the square of the table's weight, so a table that nothing is shared with
    has a part of the budget by its weight.
    """
    means = [_mean_shares(tree) for tree in crossing.trees]
    free = {part for table in known for part in parts_of(table)}
    caused = dict.fromkeys(crossing.parts, 0.0)
    for table in crossing.tables:
        weight = float((weights or {}).get(table, 1)) ** 2
        places = _tree_levels(table)
        for part in parts_of(table):
            caused[part] += weight * math.prod(
                means[place][part[place], level] for place, level in places
            )
    moved = [[float(cap) for cap in _most_moved(tree)] for tree in crossing.trees]
    prices = {
        part: math.prod(moved[place][level] for place, level in _tree_levels(part))
        for part in crossing.parts
    }
    wanted = {
        part: math.sqrt(caused[part] / price)
        for part, price in prices.items()
        if price and part not in free
    }
    whole = math.fsum(prices[part] * precision for part, precision in wanted.items())
    rounded = {part: _short(precision / whole) for part, precision in wanted.items()}
    return Precisions(crossing, rounded)


def _tree_levels(levels: Levels) -> list[tuple[int, int]]:
    return [(place, level) for place, level in enumerate(levels) if level]


def _short(value: float) -> Fraction:
    size = math.frexp(value)[1] - _DIGITS
    return Fraction(round(math.ldexp(value, -size))) * Fraction(2) ** size


def _most_moved(tree: Tree) -> list[Fraction]:
    """Return for each level the most of 1 - 1 / children, 1 for the top.

    It is how far one row moves the contrasts of the level, squared and in units of
    their squares.
    """
    most = [1 - Fraction(1, int(sizes.max())) for sizes in tree.children]
    return [Fraction(1), *most]


def _parting_factors(
    tree: Tree, parted: int, level: int
) -> tuple[Fraction, Fraction, bool]:
    """Return the least and the most size of what a tree adds, and if it takes away.

    Two leaves have the node of the level `parted` in common, and none below.
    """
    if level == 0:
        return Fraction(1), Fraction(1), False
    if level > parted + 1:
        return Fraction(0), Fraction(0), False
    most, fewest = children_at(tree, level)
    if level == parted + 1:
        return Fraction(1, most), Fraction(1, fewest), True
    # below the first level a node may be its parent's only child
    least = 1 - Fraction(1, fewest) if level == 1 else Fraction(0)
    return least, 1 - Fraction(1, most), False


def children_at(tree: Tree, level: int) -> tuple[int, int]:
    """Return the most children of a node above a level, and the fewest of several."""
    sizes = tree.children[level - 1]
    return int(sizes.max()), int(sizes[sizes > 1].min(initial=sizes.max()))


def _discount(tree: Tree) -> Fraction:
    """Return which part of what a row moves two of them do not, in different leaves.

    Of the last level: one less the greatest 1 / siblings over the most that is moved.
    """
    siblings = tree.children[-1][tree.children[-1] > 1]
    if not siblings.size:
        return Fraction(1)
    return 1 - Fraction(1, int(siblings.min())) / _most_moved(tree)[-1]


def _shares(tree: Tree, level: int, below: int) -> Floats:
    """Return how much of a variance each node of a lower level has from a level.

    A node has 1 - 1 / siblings of its own level's, and its parent's over siblings**2.
    """
    siblings = [
        sizes[above] for sizes, above in zip(tree.children, tree.parents, strict=True)
    ]
    share = 1 - 1 / siblings[level - 1] if level else np.ones(1)
    for each in range(level, below):
        share = share[tree.parents[each]] / siblings[each] ** 2.0
    return np.asarray(share, np.float64)


def _mean_shares(tree: Tree) -> Floats:
    means = np.zeros((tree.depth + 1, tree.depth + 1))
    for below in range(tree.depth + 1):
        for level in range(below + 1):
            means[level, below] = _shares(tree, level, below).mean()
    return means


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


@final
class ContrastNoise(NamedTuple):
    """Contrasts of one variance: their noise, their integers, and where they belong."""

    mechanism: Gaussian
    values: Numbers
    places: list[tuple[Levels, Integers]]


def contrast_noise(precisions: Precisions, tally: Tally) -> Iterator[ContrastNoise]:
    """Give all contrasts with the noise that hides them, by its variance."""
    crossing = precisions.crossing
    exact: dict[Fraction, list[tuple[Levels, Integers, Integers]]] = {}
    for part, precision in precisions.parts.items():
        counts = contrasts_of(crossing, part, tally.table(crossing, part)).ravel()
        squares = squares_of(crossing, part).ravel()
        for square in np.unique(squares).tolist():
            places = np.flatnonzero(squares == square)
            alike = exact.setdefault(square / precision, [])
            alike.append((part, places, counts[places]))
    for variance, alike in exact.items():
        whole = np.concatenate([contrasts for _, _, contrasts in alike])
        where = [(part, places) for part, places, _ in alike]
        yield ContrastNoise(
            Gaussian(variance=variance), whole.astype(np.float64), where
        )


def measure(precisions: Precisions, tally: Tally) -> dict[Levels, Numbers]:
    """Return all contrasts with noise that is exactly Gaussian around each integer."""
    crossing = precisions.crossing
    noisy = {
        part: np.zeros(squares_of(crossing, part).shape) for part in precisions.parts
    }
    for mechanism, values, where in contrast_noise(precisions, tally):
        drawn, first = mechanism(values), 0
        for part, places in where:
            noisy[part].reshape(-1)[places] = drawn[first : first + places.size]
            first += places.size
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
