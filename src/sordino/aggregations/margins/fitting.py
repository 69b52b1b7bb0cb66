"""Tables made to agree, not negative, whole: level by level from the top down.

The sums of a table are those of the tables above it, which have been made: of the one
with its first tree a level higher, and of the one with its second. Such cells always
exist: rows and columns cross completely, and have the same sum (docs/proofs/margins.md,
lemma 5). Small errors of large tables are so kept.

Of cells that are not negative and have these sums the nearest are taken. Groups of the
first kind are met exactly, by an amount taken off all of their cells; that of the
second kind is found by Newton's steps (section 5).
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias, final

import numpy as np

from sordino.aggregations.margins.crossing import (
    MOST_CELLS,
    Crossing,
    Integers,
    Levels,
    Numbers,
    add_up,
    parts_of,
    spread_out,
)
from sordino.aggregations.margins.joint_law import Measured, agree, fit_law, solve
from sordino.aggregations.margins.measuring import contrasts_of, restore
from sordino.errors import InvalidQuery

_STEPS: Final = 60
_CLOSE: Final = 1e-7
_ROUNDS: Final = 100
_FLAT: Final = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """In which group each cell lies, and what the cells of each add up to."""

    places: Integers
    sums: Numbers

    def add(self, cells: Numbers) -> Numbers:
        """Return the sum of the cells of each group."""
        return np.bincount(self.places, cells, minlength=self.sums.size)

    def less(self, cells: Numbers, taken: Numbers) -> Numbers:
        """Return the cells less what is taken off in each group."""
        return np.asarray(cells - taken[self.places])

    def excess(self, cells: Numbers) -> Numbers:
        """Amount by which the cells of each group exceed its sum, none left negative.

        Those that would be negative are 0 (Michelot 1986).
        """
        some = np.ones(cells.size, np.bool_)
        for _ in range(_ROUNDS):
            many = np.maximum(self.add(some), 1)
            taken = (self.add(np.where(some, cells, 0.0)) - self.sums) / many
            negative = some & (cells < taken[self.places])
            if not negative.any():
                break
            some &= ~negative
        return np.asarray(taken)


def nearest_sums(cells: Numbers, first: Groups) -> Numbers:
    """Return the nearest cells that are not negative and add up, group by group.

    >>> one_group = Groups(np.zeros(3, int), np.array([5.0]))
    >>> nearest_sums(np.array([5.0, -1.0, 2.0]), one_group)
    array([4., 0., 1.])
    """
    return np.maximum(first.less(cells, first.excess(cells)), 0.0)


def nearest_both(cells: Numbers, first: Groups, second: Groups) -> Numbers:
    """Return the nearest cells that are not negative and have the sums of both kinds.

    There are such cells where each group of one kind that crosses one of the other
    crosses all that this one crosses, and both have the same sums in all. What is taken
    off for one kind is found for what is taken off for the other, in turn; Newton's
    steps between shorten that way.
    """
    beside = second.excess(cells)
    for _ in range(_STEPS):
        nearest = nearest_sums(second.less(cells, beside), first)
        beyond = second.add(nearest) - second.sums
        if np.abs(beyond).max() <= _CLOSE * max(float(second.sums.max()), 1.0):
            break
        stepped = beside + _newton_step(nearest, first, second, beyond)
        heights = (_height(cells, taken, first, second) for taken in (stepped, beside))
        if next(heights) > next(heights):
            beside = stepped
        taken = first.excess(second.less(cells, beside))
        beside = second.excess(first.less(cells, taken))
    return nearest


def _height(cells: Numbers, beside: Numbers, first: Groups, second: Groups) -> float:
    nearest = nearest_sums(second.less(cells, beside), first)
    far = nearest - cells
    return float(np.vdot(far, far) / 2 + beside @ (second.add(nearest) - second.sums))


def _newton_step(
    nearest: Numbers, first: Groups, second: Groups, beyond: Numbers
) -> Numbers:
    some = nearest > 0
    many = np.maximum(first.add(some), 1)
    alive = second.add(some)
    flat = np.where(alive > 0, _FLAT, second.add(np.ones(some.size)))

    def weigh(step: Numbers) -> Numbers:
        moved = np.where(some, step[second.places], 0.0)
        mean = (first.add(moved) / many)[first.places]
        return np.asarray(second.add(np.where(some, moved - mean, 0.0)) + flat * step)

    return solve(weigh, beyond, np.maximum(alive, 1.0))


_ALL: Final = 2**62


def round_cells(cells: Numbers, first: Groups, second: Groups) -> Integers:
    """Return whole cells with the sums of both kinds of groups, none below its floor.

    Every cell gets its whole part. Of what its groups still lack, one goes to each cell
    as long as there is any, those with the largest remainders first; what is left over
    then goes wherever both groups lack something. Where groups of both kinds cross
    completely, nothing is left over.
    """
    floors = np.floor(cells)
    whole = floors.astype(np.int64)
    lacking = [
        (groups.sums - groups.add(floors)).round().astype(np.int64).tolist()
        for groups in (first, second)
    ]
    order = np.argsort(floors - cells, kind="stable")
    for most in (1, _ALL):
        order = _hand_out(whole, order, (first, second), lacking, most)
    return whole


def _hand_out(
    whole: Integers,
    order: Integers,
    kinds: tuple[Groups, Groups],
    lacking: list[list[int]],
    most: int,
) -> Integers:
    """Give to cells in an order what both of their groups lack, each at most so much.

    Return the cells of groups that still lack something.
    """
    rows, other = lacking
    places = (groups.places[order].tolist() for groups in kinds)
    for cell, row, column in zip(order.tolist(), *places, strict=True):
        units = min(rows[row], other[column], most)
        if units > 0:
            whole[cell] += units
            rows[row] -= units
            other[column] -= units
    left = [
        np.array(each)[groups.places] > 0
        for groups, each in zip(kinds, lacking, strict=True)
    ]
    return np.flatnonzero(left[0] & left[1])


Fit: TypeAlias = Callable[[Numbers, list[Groups]], Numbers]


def fit_down(crossing: Crossing, finest: Levels, cells: Numbers) -> Numbers:
    """Return the cells of the finest table, not negative, nearest at every stage."""
    return _top_down(crossing, finest, cells, _nearest)


def whole_down(crossing: Crossing, finest: Levels, cells: Numbers) -> Integers:
    """Return whole cells of the finest table, near at every stage."""
    return _top_down(crossing, finest, cells, _whole).astype(np.int64)


def _top_down(crossing: Crossing, finest: Levels, cells: Numbers, fit: Fit) -> Numbers:
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
    numbers = np.arange(sums.size).reshape(sums.shape)
    return Groups(spread_out(crossing, above, numbers, table).ravel(), sums.ravel())


def _nearest(cells: Numbers, groups: list[Groups]) -> Numbers:
    if not groups:
        return np.maximum(cells, 0.0)
    if len(groups) == 1:
        return nearest_sums(cells, groups[0])
    second, first = sorted(groups, key=lambda group: group.sums.size)
    return nearest_both(cells, first, second)


def _whole(cells: Numbers, groups: list[Groups]) -> Numbers:
    if not groups:
        return np.rint(cells)
    return round_cells(cells, groups[0], groups[-1])


MOST_JOINT: Final = 2**20
"""Cells of a law of three columns or more."""
_WIDEST: Final = 2**12
_CERTAIN: Final = 1e4
"""How much more precise what is known is than what is measured best."""
_FIT_ROUNDS: Final = 200
_FIT_CLOSE: Final = 1e-9


@final
@dataclass(frozen=True, eq=False)
class JointFit:
    """Contrasts of a crossing with their precisions, and tables that are known.

    What is made of them is made of noisy numbers and public facts alone.
    """

    crossing: Crossing
    contrasts: Mapping[Levels, Numbers]
    precisions: Mapping[Levels, float]
    """Of each part that was measured: one over the variance of its contrasts."""
    known: Mapping[Levels, Numbers] = field(default_factory=dict)

    @classmethod
    def of_tables(
        cls,
        crossing: Crossing,
        noisy: Mapping[Levels, Numbers],
        variances: Mapping[Levels, float],
    ) -> "JointFit":
        """Fit to noisy tables measured apart, weighed by their variances."""
        _refuse_large(crossing)
        finest = crossing.finest
        cells = agree(crossing, finest, noisy, variances)
        parts = dict.fromkeys(part for table in noisy for part in parts_of(table))
        contrasts = {
            part: contrasts_of(crossing, part, add_up(crossing, finest, cells, part))
            for part in parts
        }
        precisions = {
            part: sum(
                crossing.cells(part) / (variances[table] * crossing.cells(table))
                for table in noisy
                if all(map(int.__le__, part, table))
            )
            for part in parts
        }
        return cls(crossing, contrasts, precisions)

    @cached_property
    def cells(self) -> Numbers:
        """Return the cells of the finest table: not negative, as near as can be."""
        _refuse_large(self.crossing)
        if len(self.crossing.trees) <= 2:
            rough = restore(self.crossing, self.crossing.finest, self.contrasts)
            return fit_down(self.crossing, self.crossing.finest, rough)
        best = max(self.precisions.values())
        certain = dict.fromkeys(self.contrasts, best * _CERTAIN)
        measured = Measured.of(
            self.crossing, self.contrasts, certain | dict(self.precisions)
        )
        cells = fit_law(measured).reshape(self.crossing.shape(self.crossing.finest))
        return _rake(self.crossing, cells, self.known)

    @cached_property
    def whole_cells(self) -> Integers:
        """Return whole cells near those, with whole sums near theirs."""
        if len(self.crossing.trees) <= 2:
            return whole_down(self.crossing, self.crossing.finest, self.cells)
        running = np.rint(np.cumsum(self.cells))
        whole: Integers = np.diff(running, prepend=0).astype(np.int64)
        return whole.reshape(self.cells.shape)


def _refuse_large(crossing: Crossing) -> None:
    most = MOST_CELLS if len(crossing.trees) <= 2 else MOST_JOINT
    wide = len(crossing.trees) > 2 and max(int(t.sizes[-1]) for t in crossing.trees)
    if crossing.joint_cells > most or wide > _WIDEST:
        raise InvalidQuery(
            f"tables of {len(crossing.trees)} columns are adjusted by a law of all "
            f"their combinations: these are {crossing.joint_cells:.3g}, with up to "
            f"{wide or most:,} values of a column, and the limits are {most:,} and "
            f"{_WIDEST:,}",
            "Use release.tables, which add up as they are, or ask for fewer columns.",
        )


def _rake(
    crossing: Crossing, cells: Numbers, known: Mapping[Levels, Numbers]
) -> Numbers:
    """Return cells with the sums that are known: each is multiplied until they have.

    It changes as little of the law as can be, in relative entropy.
    """
    for _ in range(_FIT_ROUNDS if known else 0):
        far = 0.0
        for table, counts in known.items():
            sums = add_up(crossing, crossing.finest, cells, table)
            far = max(far, float(np.abs(counts - sums).max()))
            factor = np.divide(counts, sums, out=np.zeros(sums.shape), where=sums > 0)
            cells *= spread_out(crossing, table, factor, crossing.finest)
        if far <= _FIT_CLOSE * max(1.0, float(cells.sum())):
            break
    return cells
