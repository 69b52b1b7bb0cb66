"""Sums of independent losses on one grid at any tilt: moments, windows, masses.

A tilt is named by the depth z it serves: deltas near exp(-z^2 / 2).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sordino.curves.convolution.grid import Grid
from sordino.curves.convolution.transform import (
    Factor,
    Moment,
    Stack,
    WindowSum,
    convolve,
    stack_rows,
    tilt_masses,
    transform_size,
)
from sordino.curves.points import ELEMENTARY, Floats

DEPTHS = (0.0, 4.0, 8.0, 12.0)
"""The tilts, by depth: the last serves deltas down to 1e-50."""

_RUNGS = (9.0, 6.0, 4.0, 2.0, 1.0, 0.5)
"""Other tilts tried for the ends of the window, in units of the tilted deviation."""

_BOUNDED = 1e-3
"""A tilted variance below this share of the plain one: the losses are bounded there."""

_SEARCH = 12
_NEAR = 0.7
_FLAT = 1e-9
TINY = 1e-16
"""Mass of a tilted sum left outside each end of the window."""


@final
@dataclass(frozen=True, eq=False)
class GridSums:
    """Independent losses on one grid and how often each occurs."""

    grids: tuple[tuple[Grid, int], ...]

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

    def moment(self, tilt: float) -> Moment:
        """Return the moment of the sum of all indices."""
        moments = [stack.moments(tilt)[1] for stack in self.stacks]
        return Moment(
            math.fsum(part.log for part in moments),
            math.fsum(part.mean for part in moments),
            math.fsum(part.variance for part in moments),
        )

    @cached_property
    def stacks(self) -> list[Stack]:
        """Return the laws on the grid, stacked by length."""
        return stack_rows(self.grids)

    def tilt(self, depth: float) -> tuple[float, Moment]:
        """Return a tilt whose Chernoff exponent is about depth^2 / 2."""
        plain = self.moment(0.0)
        if depth == 0 or plain.variance < _FLAT:
            return 0.0, plain
        low, high = 0.0, math.inf
        tilt = depth / math.sqrt(plain.variance)
        for _ in range(_SEARCH):
            moment = self.moment(tilt)
            reached = math.sqrt(2 * max(tilt * moment.mean - moment.log, 0.0))
            if (
                abs(reached - depth) < _NEAR
                or moment.variance < plain.variance * _BOUNDED
            ):
                return tilt, moment
            low, high = (tilt, high) if reached < depth else (low, tilt)
            guess = tilt * depth / max(reached, depth / 8)
            tilt = guess if low < guess < high else (low + min(high, 4 * tilt)) / 2
        return tilt, self.moment(tilt)

    def window(self, tilt: float, there: Moment) -> tuple[int, int]:
        """Return the indices beyond which the tilted sum has mass at most TINY.

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
            bound = (other - there.log - math.log(TINY)) / (rung * abs(unit))
            if bound > best:
                break
            best = bound
        return math.copysign(best, best * unit)

    @cached_property
    def reach(self) -> int:
        """Return the greatest index of the sum."""
        return sum((len(grid.masses) - 1) * times for grid, times in self.grids)

    def window_sum(self, tilt: float, low: int, high: int) -> WindowSum:
        """Return the tilted sum in a window."""
        size = transform_size(max(high - low + 1, 16))
        return convolve(self._factors(tilt), low, size)

    def _factors(self, tilt: float) -> list[Factor]:
        """Return the tilted masses."""
        logs = np.zeros(len(self.grids))
        for stack in self.stacks:
            logs[list(stack.rows)] = stack.moments(tilt)[0]
        return [
            Factor(tilt_masses(grid, tilt, log), times, 0.0)
            for (grid, times), log in zip(self.grids, logs.tolist(), strict=True)
        ]

    def bounds(self, tilt: float, there: Moment) -> tuple[int, Floats, float]:
        """Return bounds on the masses of the sum from an index on, and on the rest.

        Of the plain sum: the tilt is undone, and every error charged to every mass.
        """
        low, high = self.window(tilt, there)
        window = self.window_sum(tilt, low, high)
        index = low + np.arange(len(window.masses))
        with np.errstate(over="ignore"):
            weight = np.exp(np.minimum(there.log - tilt * index, 700.0))
        masses = (window.masses + window.error) * weight * (1 + 1e-12)
        beyond = math.exp(min(there.log - tilt * (index[-1] + 1), 0.0)) * TINY
        inside = index <= self.reach
        return low, masses[inside], beyond if index[-1] < self.reach else 0.0
