"""Sums of independent losses on one grid, always pessimistic.

A law is put on a grid by connecting the dots, tilted, transformed and multiplied; the
result is a `Profile`: upper bounds on delta, with every error charged. Very many laws
are summed block by block. A block becomes one law on the same grid: at each index the
least of the bounds that several tilts give on its mass, and what lies outside the
windows of all tilts moved to larger losses, so that it dominates the sum of the block.

Kernel: mathematics.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sordino.losses.curves.laws import AbstractLossLaw, Profile
from sordino.losses.curves.points import COARSENESS, ELEMENTARY, Floats, grow
from sordino.losses.curves.transform import DEPTHS, TINY, Grid, GridSums, on_grid
from sordino.numbers.progress import open_ticker, tick_each

_BLOCK = 1 << 20
"""Points of the laws of a block."""

_FEWEST = 8
"""A sum of fewer laws is hardly shorter than they are together."""

_UNIT = float(np.finfo(np.float64).eps) / 2


def sum_blocks(grids: Iterable[tuple[Grid, int]]) -> Iterator[tuple[Grid, int]]:
    """Give laws of the same sum, each block as one; the last are given as they are."""
    block: list[tuple[Grid, int]] = []
    points = 0
    for grid, times in grids:
        block.append((grid, times))
        points += len(grid.masses)
        if points > _BLOCK and len(block) >= _FEWEST:
            yield condense(GridSums(tuple(block))), 1
            block, points = [], 0
    yield from block


def condense(sums: GridSums) -> Grid:
    """Return one law that dominates the sum, as sharp in its tail as in its bulk."""
    if sums.breach >= 1:
        return Grid(sums.origin, np.zeros(1), 1.0)
    first, masses, beyond = 0, np.zeros(0), 0.0
    for depth in DEPTHS:
        tilt, there = sums.tilt(depth)
        low, bounds, rest = sums.bounds(tilt, there)
        # a sum of n logarithms is off by n units of their sizes; below 0 is only what
        # laws lack that have mass at infinity
        sizes = 1 + abs(there.log) - 2 * math.log1p(-sums.breach)
        bounds *= 1 + 2 * _UNIT * len(sums.grids) * sizes
        if depth == 0:
            first, masses, beyond = low, bounds, rest
            # what lies below the window is raised into it
            masses[0] += 2 * TINY if low > 0 else 0.0
            continue
        start = max(low - first, 0)
        bounds = bounds[max(first - low, 0) :]
        masses, wider = _least(masses, start, bounds, beyond)
        beyond = rest if wider else beyond  # that of the longest window
    return Grid(sums.origin + first, masses, min(sums.breach + beyond, 1.0))


def _least(
    masses: Floats, start: int, bounds: Floats, beyond: float
) -> tuple[Floats, bool]:
    """Return the least of both bounds on masses, and whether there are more now.

    The second begin at `start`. Where there are none in between, what lies beyond the
    first moves to the least of the second.
    """
    if start > len(masses):
        masses = np.append(masses, np.zeros(start - len(masses)))
        bounds[:1] += beyond
    common = min(len(masses) - start, len(bounds))
    shared = masses[start : start + common]
    np.minimum(shared, bounds[:common], out=shared)
    return np.append(masses, bounds[common:]), len(bounds) > common


_PRECISION = 6e-7
"""Wanted error of the mean loss, in standard deviations of the sum."""

_FINEST = 1 << 15
_LARGEST = 1 << 20
_WIDEST = 1 << 18
_MANY = 1 << 22
"""Points of all laws together that are not held at once."""

_DOUBT = 1e-13
_HUGE = 300.0
_FARTHEST = 5000.0
_NARROWEST = 1e-6
_REACH = 26.0


@final
@dataclass(frozen=True, eq=False)
class Convolution:
    """Independent losses, each a law and how often it occurs, in one direction."""

    parts: tuple[tuple[AbstractLossLaw, int], ...]
    given_step: float = 0.0
    """A step that another direction uses, or 0 to choose."""

    @cached_property
    def step(self) -> float:
        """Return the step of the grid: the common lattice, or fine enough for all."""
        if self.given_step:
            return self.given_step
        lattice = _common([law.step for law, _ in self.parts])
        anchors = [law.anchor for law, _ in self.parts if law.anchor > 0]
        widest = _widest(self.parts)
        if lattice and widest / lattice < _LARGEST:
            return lattice
        step = _fine_step(self.parts, widest)
        anchor = _common(anchors) if anchors else 0.0
        if not anchor:
            return step
        if anchor < step:  # a lattice too fine to follow: several losses in a cell
            return anchor * math.floor(step / anchor)
        # an atom that the grid meets is not spread over a cell
        return anchor / math.ceil(anchor / step)

    @property
    def width(self) -> float:
        """Return the width of the widest law, which decides the cost."""
        return _widest(self.parts)

    @cached_property
    def grids(self) -> tuple[tuple[Grid, int], ...]:
        """Return every law on the grid; of very many, blocks summed already."""
        parts = tick_each(self.parts, "composing: loss")
        grids = ((on_grid(law, self.step), times) for law, times in parts)
        points = sum((law.span[1] - law.span[0]) / self.step for law, _ in self.parts)
        return tuple(grids if points < _MANY else sum_blocks(sum_blocks(grids)))

    @cached_property
    def sums(self) -> GridSums:
        """Return the sums at any tilt."""
        return GridSums(self.grids)

    @cached_property
    def profiles(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""
        return {}

    def profile(self, depth: float) -> Profile:
        """Return upper bounds on delta, sharpest near exp(-depth^2 / 2)."""
        if depth not in self.profiles:
            with open_ticker():
                self.profiles[depth] = self._profile(depth)
        return self.profiles[depth]

    def least_delta(self, epsilon: Floats) -> Floats:
        """Return lower bounds on delta: the optimistic side, to show the gap by.

        Each loss was moved to an end of its cell, on average by at most step^2 / 7 up.
        By Hoeffding's inequality the sum moved by more than `moved` with chance at most
        _DOUBT; all masses together exceed 1 by what was charged for errors. A block
        moved at most TINY to its least loss, and as much at each further tilt.
        """
        plain = self.profile(0.0)
        count = sum(times for _, times in self.parts)
        lattice = _common([law.step for law, _ in self.parts]) == self.step
        spread = math.sqrt(count * -math.log(_DOUBT) / 2) * self.step
        moved = 0.0 if lattice else spread + count * self.step**2 / 7
        charged = self.excess + self.sums.breach + (0.0 if lattice else _DOUBT)
        return np.maximum(plain.delta_at(epsilon + moved) - charged, 0.0)

    @cached_property
    def excess(self) -> float:
        """Return by how much the masses of the plain sum exceed 1, from above."""
        moved = len(DEPTHS) * TINY * (len(self.parts) - len(self.grids))
        if len(self.grids) == 1 and self.grids[0][1] == 1:
            grid = self.grids[0][0]
            whole = float(grid.masses.sum()) + grid.infinity
            return max(whole - 1, 0.0) + ELEMENTARY + moved
        there = self.sums.moment(0.0)
        low, high = self.sums.window(0.0, there)
        window = self.sums.window_sum(0.0, low, high)
        whole = float((window.masses + window.error).sum())
        grown = whole * math.exp(there.log) * (1 + 1e-12)
        rounded = len(window.masses) * ELEMENTARY / 64
        return max(grown - 1, 0.0) + 2 * TINY + rounded + moved

    def _profile(self, depth: float) -> Profile:
        if self.sums.breach >= 1:
            return Profile(np.zeros(1), np.ones(1))
        if len(self.grids) == 1 and self.grids[0][1] == 1:
            grid = self.grids[0][0]
            return tail_profile(grid.masses, self.sums.origin, self.step, grid.infinity)
        tilt, there = self.sums.tilt(depth)
        low, masses, beyond = self.sums.bounds(tilt, there)
        start = self.sums.origin + low
        profile = tail_profile(masses, start, self.step, self.sums.breach + beyond)
        # a tilt takes the weight from the losses below the window
        first = 1.0 if tilt > 0 and start > 0 else profile.delta[0]
        return profile.with_start(float(first))


def direction_sums(
    sides: Sequence[tuple[tuple[AbstractLossLaw, int], ...]],
) -> tuple[Convolution, ...]:
    """Return the sums in each direction, on one grid."""
    first = Convolution(sides[0])
    # the directions are compared point by point, so they share a grid
    step = max(first.step, *(_widest(parts) / _WIDEST for parts in sides))
    return tuple(Convolution(parts, step) for parts in sides)


def tail_profile(masses: Floats, start: int, step: float, infinity: float) -> Profile:
    """Return the profile of masses of P at the losses (start + j) step, and infinity.

    delta is linear in t = exp(epsilon) between losses with slope -Q[loss > epsilon], so
    it is summed from the far end in positive terms: no digits cancel.
    """
    first = max(0, -start)
    reach = max(math.floor(_FARTHEST / step) - start, first)
    # beyond any use, and beyond exp in long floats, a loss counts as infinite
    infinity += float(masses[reach:].sum())
    middle = masses[first:reach]
    losses: Floats = (start + first + np.arange(len(middle), dtype=np.float64)) * step
    if not len(middle):
        return Profile(np.zeros(1), np.array([min(infinity, 1.0)]))
    if losses[0] > 0:
        losses, middle = np.append(0.0, losses), np.append(0.0, middle)
    # doubles hold exp(loss) unless it is huge; sums are longer in any case
    wide = losses if losses[-1] < _HUGE else losses.astype(np.longdouble)
    terms = middle * np.exp(-wide)
    q_tail = np.cumsum(terms[::-1], dtype=np.longdouble)[::-1]
    falls = np.exp(wide[:-1]) * np.expm1(np.diff(wide)) * q_tail[1:].astype(wide.dtype)
    above = np.append(np.cumsum(falls[::-1], dtype=np.longdouble)[::-1], 0.0) + infinity
    # exp(loss) errs with its exponent
    bounds = grow(above.astype(np.float64), ELEMENTARY * (1 + losses[-1] / 8))
    # delta never rises: what does is rounding
    return Profile(losses, np.minimum.accumulate(bounds)).with_start(float(bounds[0]))


def _common(steps: Sequence[float]) -> float:
    least = min(steps)
    if least <= 0 or not all(math.isfinite(step) for step in steps):
        return 0.0
    ratios = [step / least for step in steps]
    common = all(abs(ratio - round(ratio)) < 1e-11 * ratio for ratio in ratios)
    return least if common else 0.0


def _widest(parts: Sequence[tuple[AbstractLossLaw, int]]) -> float:
    return max(_NARROWEST, *(law.span[1] - law.span[0] for law, _ in parts))


def _fine_step(parts: Sequence[tuple[AbstractLossLaw, int]], widest: float) -> float:
    """Return the step wanted: fine for the sum, and affordable.

    Connecting the dots moves the mean of one loss by about step^2 / 12.
    """
    count = sum(times for _, times in parts)
    deviation = math.sqrt(sum(n * law.deviation**2 for law, n in parts))
    accurate = math.sqrt(12 * _PRECISION * deviation / count)
    wanted = min(accurate, _REACH * deviation / _FINEST)
    return COARSENESS.get() * max(
        wanted, _REACH * deviation / _LARGEST, widest / _WIDEST
    )
