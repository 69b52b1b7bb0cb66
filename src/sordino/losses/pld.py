"""Composition of privacy loss distributions: one common grid, every bound a true bound.

The loss of a composition is the sum of independent losses. Each law is put on one grid
(`grid`), the sums are formed by FFT at a few exponential tilts (`convolve`), and what
comes out is a `Profile`: upper bounds on delta, with every error charged.

A tilt is named by the depth z it serves: deltas near exp(-z^2 / 2).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sordino.losses.coarseness import COARSENESS
from sordino.losses.convolve import Factor, Moment, Stack, Sum, stacked, summed, tilted
from sordino.losses.grid import Grid, on_grid
from sordino.losses.law import AbstractLossLaw
from sordino.losses.points import ELEMENTARY, Floats, raised
from sordino.losses.profile import Profile
from sordino.losses.progress import watched, watching

DEPTHS = (0.0, 4.0, 8.0, 12.0)
"""The tilts, by depth: the last serves deltas down to 1e-50."""

_RUNGS = (9.0, 6.0, 4.0, 2.0, 1.0, 0.5)
"""Other tilts tried for the ends of the window, in units of the tilted deviation."""

_BOUNDED = 1e-3
"""A tilted variance below this share of the plain one: the losses are bounded there."""

_SEARCH = 12
_NEAR = 0.7
_FLAT = 1e-9
_DOUBT = 1e-13
_TINY = 1e-16
"""Mass of a tilted sum left outside each end of the window."""

_PRECISION = 6e-7
"""Wanted error of the mean loss, in standard deviations of the sum."""

_FINEST = 1 << 15
_LARGEST = 1 << 20
_WIDEST = 1 << 18
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
        step = _wanted(self.parts, widest)
        anchor = _common(anchors) if anchors else 0.0
        if not anchor:
            return step
        if anchor < step:  # a lattice too fine to follow: several losses in a cell
            return anchor * math.floor(step / anchor)
        return anchor / math.ceil(anchor / step)

    @property
    def width(self) -> float:
        """Return the width of the widest law, which decides the cost."""
        return _widest(self.parts)

    @cached_property
    def grids(self) -> tuple[tuple[Grid, int], ...]:
        """Return every law on the grid."""
        parts = watched(self.parts, "composing: loss")
        return tuple((on_grid(law, self.step), times) for law, times in parts)

    @cached_property
    def origin(self) -> int:
        """Return the index of the loss that sums of indices begin at."""
        return sum(grid.start * times for grid, times in self.grids)

    @cached_property
    def breach(self) -> float:
        """Return the mass of P at infinity, of a total that may exceed one."""
        logs = 0.0
        whole = 0.0
        for grid, times in self.grids:
            total = float(grid.masses.sum()) + grid.infinity
            finite = min(grid.infinity / total, 1.0)
            logs += times * (math.log1p(-finite) if finite < 1 else -math.inf)
            whole += times * math.log(total)
        return min(-math.expm1(logs) * math.exp(whole) * (1 + ELEMENTARY), 1.0)

    @cached_property
    def profiles(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""
        return {}

    def profile(self, depth: float) -> Profile:
        """Return upper bounds on delta, sharpest near exp(-depth^2 / 2)."""
        if depth not in self.profiles:
            with watching():
                self.profiles[depth] = self._profile(depth)
        return self.profiles[depth]

    def moment(self, tilt: float) -> Moment:
        """Return the moment of the sum of all indices."""
        found = [stack.moments(tilt)[1] for stack in self.stacks]
        return Moment(
            math.fsum(one.log for one in found),
            math.fsum(one.mean for one in found),
            math.fsum(one.variance for one in found),
        )

    @cached_property
    def stacks(self) -> list[Stack]:
        """Return the laws on the grid, stacked by length."""
        return stacked(self.grids)

    def _tilt(self, depth: float) -> tuple[float, Moment]:
        """Return a tilt whose Chernoff exponent is about depth^2 / 2."""
        plain = self.moment(0.0)
        if depth == 0 or plain.variance < _FLAT:
            return 0.0, plain
        low, high = 0.0, math.inf
        tilt = depth / math.sqrt(plain.variance)
        for _ in range(_SEARCH):
            found = self.moment(tilt)
            reached = math.sqrt(2 * max(tilt * found.mean - found.log, 0.0))
            if (
                abs(reached - depth) < _NEAR
                or found.variance < plain.variance * _BOUNDED
            ):
                return tilt, found
            low, high = (tilt, high) if reached < depth else (low, tilt)
            guess = tilt * depth / max(reached, depth / 8)
            tilt = guess if low < guess < high else (low + min(high, 4 * tilt)) / 2
        return tilt, self.moment(tilt)

    def _window(self, tilt: float, there: Moment) -> tuple[int, int]:
        """Return the indices beyond which the tilted sum has mass at most _TINY.

        By the Chernoff bound with another tilt: steps shrink while it improves.
        """
        unit = 1 / math.sqrt(max(there.variance, _FLAT))
        ends = [self._end(tilt, there, sign * unit) for sign in (-1, 1)]
        low, high = max(ends[0], 0.0), min(ends[1], float(self.reach))
        return math.floor(low), max(math.ceil(high), math.floor(low))

    def _end(self, tilt: float, there: Moment, unit: float) -> float:
        """Return the best Chernoff bound on one end of the window, signed as `unit`."""
        best = math.inf
        for rung in _RUNGS:
            other = math.fsum(s.log_moment(tilt + rung * unit) for s in self.stacks)
            bound = (other - there.log - math.log(_TINY)) / (rung * abs(unit))
            if bound > best:
                break
            best = bound
        return math.copysign(best, best * unit)

    @cached_property
    def reach(self) -> int:
        """Return the greatest index of the sum."""
        return sum((len(grid.masses) - 1) * times for grid, times in self.grids)

    def beneath(self, epsilon: Floats) -> Floats:
        """Return lower bounds on delta: the optimistic side, to show the gap by.

        Each loss was moved to an end of its cell, on average by at most step^2 / 7 up.
        By Hoeffding's inequality the sum moved by more than `moved` with chance at most
        _DOUBT; all masses together exceed 1 by what was charged for errors.
        """
        plain = self.profile(0.0)
        count = sum(times for _, times in self.parts)
        lattice = _common([law.step for law, _ in self.parts]) == self.step
        spread = math.sqrt(count * -math.log(_DOUBT) / 2) * self.step
        moved = 0.0 if lattice else spread + count * self.step**2 / 7
        charged = self.excess + self.breach + (0.0 if lattice else _DOUBT)
        return np.maximum(plain.delta_at(epsilon + moved) - charged, 0.0)

    @cached_property
    def excess(self) -> float:
        """Return by how much the masses of the plain sum exceed 1, from above."""
        if len(self.grids) == 1 and self.grids[0][1] == 1:
            grid = self.grids[0][0]
            return max(float(grid.masses.sum()) + grid.infinity - 1, 0.0) + ELEMENTARY
        there = self.moment(0.0)
        low, high = self._window(0.0, there)
        found = self._summed(0.0, low, high)
        whole = float((found.masses + found.error).sum())
        grown = whole * math.exp(there.log) * (1 + 1e-12)
        return max(grown - 1, 0.0) + 2 * _TINY + len(found.masses) * ELEMENTARY / 64

    def _summed(self, tilt: float, low: int, high: int) -> Sum:
        """Return the tilted sum in a window."""
        from scipy import fft  # noqa: PLC0415 scipy is loaded when needed

        size = fft.next_fast_len(max(high - low + 1, 16), real=True)
        return summed(self._factors(tilt), low, size)

    def _profile(self, depth: float) -> Profile:
        """Return the profile by one tilt."""
        if self.breach >= 1:
            return Profile(np.zeros(1), np.ones(1))
        if len(self.grids) == 1 and self.grids[0][1] == 1:
            grid = self.grids[0][0]
            return tail_profile(grid.masses, self.origin, self.step, grid.infinity)
        tilt, there = self._tilt(depth)
        low, high = self._window(tilt, there)
        found = self._summed(tilt, low, high)
        return self._charged(found, low, tilt, there.log)

    def _factors(self, tilt: float) -> list[Factor]:
        """Return the tilted masses."""
        logs = np.zeros(len(self.grids))
        for stack in self.stacks:
            logs[list(stack.rows)] = stack.moments(tilt)[0]
        return [
            Factor(tilted(grid, tilt, log), times, 0.0)
            for (grid, times), log in zip(self.grids, logs.tolist(), strict=True)
        ]

    def _charged(self, total: Sum, low: int, tilt: float, log_total: float) -> Profile:
        """Undo the tilt and charge the errors: per mass, and beyond the window."""
        index = low + np.arange(len(total.masses))
        with np.errstate(over="ignore"):
            weight = np.exp(np.minimum(log_total - tilt * index, 700.0))
        masses = (total.masses + total.error) * weight * (1 + 1e-12)
        beyond = math.exp(min(log_total - tilt * (index[-1] + 1), 0.0)) * _TINY
        inside = index <= self.reach
        beyond = beyond if index[-1] < self.reach else 0.0
        found = tail_profile(
            masses[inside], self.origin + low, self.step, self.breach + beyond
        )
        # a tilt takes the weight from the losses below the window
        start = 1.0 if tilt > 0 and self.origin + low > 0 else found.delta[0]
        return found.starting(float(start))


def both_ways(
    sides: Sequence[tuple[tuple[AbstractLossLaw, int], ...]],
) -> tuple[Convolution, ...]:
    """Return the sums in each direction, on one grid."""
    first = Convolution(sides[0])
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
    kept = masses[first:reach]
    losses: Floats = (start + first + np.arange(len(kept), dtype=np.float64)) * step
    if not len(kept):
        return Profile(np.zeros(1), np.array([min(infinity, 1.0)]))
    if losses[0] > 0:
        losses, kept = np.append(0.0, losses), np.append(0.0, kept)
    # doubles hold exp(loss) unless it is huge; sums are longer in any case
    wide = losses if losses[-1] < _HUGE else losses.astype(np.longdouble)
    terms = kept * np.exp(-wide)
    q_tail = np.cumsum(terms[::-1], dtype=np.longdouble)[::-1]
    falls = np.exp(wide[:-1]) * np.expm1(np.diff(wide)) * q_tail[1:].astype(wide.dtype)
    above = np.append(np.cumsum(falls[::-1], dtype=np.longdouble)[::-1], 0.0) + infinity
    bounds = raised(above.astype(np.float64), ELEMENTARY * (1 + losses[-1] / 8))
    return Profile(losses, np.minimum.accumulate(bounds)).starting(float(bounds[0]))


def _common(steps: Sequence[float]) -> float:
    """Return the least of the steps if the others are its multiples, else 0."""
    least = min(steps)
    if least <= 0 or not all(math.isfinite(step) for step in steps):
        return 0.0
    ratios = [step / least for step in steps]
    common = all(abs(ratio - round(ratio)) < 1e-11 * ratio for ratio in ratios)
    return least if common else 0.0


def _widest(parts: Sequence[tuple[AbstractLossLaw, int]]) -> float:
    """Return the width of the widest law."""
    return max(_NARROWEST, *(law.span[1] - law.span[0] for law, _ in parts))


def _wanted(parts: Sequence[tuple[AbstractLossLaw, int]], widest: float) -> float:
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
