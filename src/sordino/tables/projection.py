"""The nearest cells that are not negative and have the sums that are given.

Cells lie in groups of one kind, or of two that cross; each group has its sum. Groups of
the first kind are met exactly, by what is taken off all of their cells; what is taken
off those of the second is found by Newton's steps (docs/proofs/margins.md, section 5).
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from sordino.tables.agreement import solve
from sordino.tables.halving import Integers, Numbers

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
        """Return what is to be taken off all cells of a group so that they add up.

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
    """Return the height of the dual hill on whose top both kinds have their sums."""
    nearest = nearest_sums(second.less(cells, beside), first)
    far = nearest - cells
    return float(np.vdot(far, far) / 2 + beside @ (second.add(nearest) - second.sums))


def _newton_step(
    nearest: Numbers, first: Groups, second: Groups, beyond: Numbers
) -> Numbers:
    """Return what more is to be taken off, if the same cells stay above zero."""
    some = nearest > 0
    many = np.maximum(first.add(some), 1)
    alive = second.add(some)
    flat = np.where(alive > 0, _FLAT, second.add(np.ones(some.size)))

    def weigh(step: Numbers) -> Numbers:
        """Return how far the sums of the second kind move."""
        moved = np.where(some, step[second.places], 0.0)
        mean = (first.add(moved) / many)[first.places]
        return np.asarray(second.add(np.where(some, moved - mean, 0.0)) + flat * step)

    return solve(weigh, beyond, np.maximum(alive, 1.0))
