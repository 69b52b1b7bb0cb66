"""Tables made to agree, not negative, whole: level by level from the top down.

The sums of a table are those of the tables above it, which have been made: of one where
tables lie in each other, of at most two elsewhere. Such cells always exist: rows and
columns cross completely, and have the same sum (docs/proofs/margins.md, lemma 5). Small
errors of large tables are so kept.

Of cells that are not negative and have these sums the nearest are taken. Groups of the
first kind are met exactly, by an amount taken off all of their cells; that of the
second kind is found by Newton's steps (section 5).
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, starmap
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
from sordino.aggregations.margins.joint_law import Law, Measured, agree, fit_law, solve
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

    return solve(weigh, beyond, lambda left: left / np.maximum(alive, 1.0))


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


@final
@dataclass(frozen=True, eq=False)
class WayDown:
    """Tables from the coarsest on, and those above each whose sums it must have."""

    crossing: Crossing
    above: Mapping[Levels, tuple[Levels, ...]]

    @classmethod
    def find(
        cls, crossing: Crossing, tables: Iterable[Levels], known: Iterable[Levels]
    ) -> "WayDown | None":
        """Return the way to the finest table, where sums can be kept on it.

        It goes through all tables of two trees, and through those asked for of more if
        they lie in each other, at several levels: the fit of a law would say little
        more there.
        """
        top = (0,) * len(crossing.trees)
        listed = sorted({*tables, top, crossing.finest}, key=sum)
        nested = all(starmap(_lies_in, pairwise(listed)))
        if nested and (len(listed) > 2 or len(crossing.trees) <= 2):
            way = cls._find_among(crossing, {*listed, *known})
            if way is not None:
                return way
        if len(crossing.trees) > 2:
            return None
        levels = (range(level + 1) for level in crossing.finest)
        return cls._find_among(crossing, set(itertools.product(*levels)))

    @classmethod
    def _find_among(cls, crossing: Crossing, tables: set[Levels]) -> "WayDown | None":
        """Return the way through tables, and through what any two of them share."""
        more = {tuple(map(min, *pair)) for pair in itertools.product(tables, repeat=2)}
        ordered = sorted(tables | more, key=sum)
        above = {table: _lowest_above(table, ordered) for table in ordered}
        is_way = all(len(several) <= 2 for several in above.values())
        return cls(crossing, above) if is_way else None

    def go(self, cells: Numbers, fit: Fit) -> Numbers:
        """Return the cells of the finest table, each table fitted to those above it."""
        crossing = self.crossing
        tables: dict[Levels, Numbers] = {}
        for table, several in self.above.items():
            sums = add_up(crossing, crossing.finest, cells, table)
            groups = [
                _groups(crossing, above, tables[above], table) for above in several
            ]
            tables[table] = fit(sums.ravel(), groups).reshape(sums.shape)
        return tables[crossing.finest]

    def nearest(self, cells: Numbers) -> Numbers:
        """Return cells of the finest table, not negative, nearest at every stage."""
        return self.go(cells, _nearest)

    def whole(self, cells: Numbers) -> Integers:
        """Return whole cells of the finest table, near at every stage."""
        return self.go(cells, _whole).astype(np.int64)


def _lies_in(table: Levels, finer: Levels) -> bool:
    return all(map(int.__le__, table, finer))


def _lowest_above(table: Levels, ordered: list[Levels]) -> tuple[Levels, ...]:
    """Return the coarser tables of which a table is made, and no other coarser one is.

    >>> _lowest_above((1, 1), [(0, 0), (0, 1), (1, 0), (1, 1)])
    ((0, 1), (1, 0))
    """
    coarser = [other for other in ordered if other != table and _lies_in(other, table)]
    return tuple(
        near
        for near in coarser
        if not any(near != other and _lies_in(near, other) for other in coarser)
    )


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
    tables: Collection[Levels]
    """The tables that were asked for; others are fitted and not told."""
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
        _refuse_large(crossing, WayDown.find(crossing, noisy, ()))
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
        return cls(crossing, [*noisy], contrasts, precisions)

    @property
    def cells(self) -> Numbers:
        """Return the cells of the finest table: not negative, as near as can be."""
        return self._result[0]

    @property
    def note(self) -> str:
        """Say which tables the fit has not reached, in a bounded number of steps."""
        return self._result[1]

    @cached_property
    def _result(self) -> tuple[Numbers, str]:
        _refuse_large(self.crossing, self._way)
        if self._way is not None:
            rough = restore(self.crossing, self.crossing.finest, self.contrasts)
            return self._way.nearest(rough), ""
        best = max(self.precisions.values())
        certain = dict.fromkeys(self.contrasts, best * _CERTAIN)
        measured = Measured.of(
            self.crossing, self.contrasts, certain | dict(self.precisions)
        )
        law = fit_law(measured)
        cells = law.cells.reshape(self.crossing.shape(self.crossing.finest))
        cells, far = _rake(self.crossing, cells, self.known)
        return cells, " ".join(self._shortfalls(law, far))

    def _shortfalls(self, law: Law, far: float) -> Iterator[str]:
        off = [
            table for table in self.tables if any(p in law.far for p in parts_of(table))
        ]
        if off:
            yield (
                f"The fit stopped after {law.steps} steps: {len(off):,} of "
                f"{len(self.tables):,} tables are up to {max(law.far.values()):.2g} "
                "deviations of their noise from it."
            )
        if far:
            yield f"Public totals are met within {far:.2g}."

    @cached_property
    def _way(self) -> WayDown | None:
        return WayDown.find(self.crossing, self.tables, self.known)

    @cached_property
    def whole_cells(self) -> Integers:
        """Return whole cells near those, with whole sums near theirs."""
        if self._way is not None:
            return self._way.whole(self.cells)
        running = np.rint(np.cumsum(self.cells))
        whole: Integers = np.diff(running, prepend=0).astype(np.int64)
        return whole.reshape(self.cells.shape)


def _refuse_large(crossing: Crossing, way: WayDown | None) -> None:
    most = MOST_JOINT if way is None else MOST_CELLS
    if crossing.joint_cells > most:
        raise InvalidQuery(
            f"adjusted tables are made of all combinations of their columns: these are "
            f"{crossing.joint_cells:.3g}, and the limit is {most:,}",
            "Use release.tables, which add up as they are, or ask for fewer columns.",
        )


def _rake(
    crossing: Crossing, cells: Numbers, known: Mapping[Levels, Numbers]
) -> tuple[Numbers, float]:
    """Return cells with the sums that are known: each is multiplied until they have.

    It changes as little of the law as can be, in relative entropy. Return as well how
    far the sums are, where they cannot be met in a bounded number of rounds.
    """
    for _ in range(_FIT_ROUNDS if known else 0):
        far = 0.0
        for table, counts in known.items():
            sums = add_up(crossing, crossing.finest, cells, table)
            far = max(far, float(np.abs(counts - sums).max()))
            factor = np.divide(counts, sums, out=np.zeros(sums.shape), where=sums > 0)
            cells *= spread_out(crossing, table, factor, crossing.finest)
        if far <= _FIT_CLOSE * max(1.0, float(cells.sum())):
            return cells, 0.0
    return cells, far if known else 0.0
