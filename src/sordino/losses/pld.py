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

from sordino.losses.convolve import Factor, Sum, log_moment, summed, tilted
from sordino.losses.grid import Grid, on_grid
from sordino.losses.law import Law
from sordino.losses.points import ELEMENTARY, Floats, raised
from sordino.losses.profile import Profile

DEPTHS = (0.0, 4.0, 8.0, 12.0)
"""The tilts, by depth: the last serves deltas down to 1e-50."""

_LADDER = (-14.0, -9.0, -6.0, -3.0, 1.5, 3.0, 5.0, 8.0, 12.0, 17.0, 24.0)
_TINY = 1e-16
"""Mass of a tilted sum left outside each end of the window."""

_PRECISION = 4e-7
"""Wanted error of the mean loss, in standard deviations of the sum."""

_FINEST = 1 << 15
_LARGEST = 1 << 21
_REACH = 26.0


@final
@dataclass(frozen=True, eq=False)
class Convolution:
    """Independent losses, each a law and how often it occurs, in one direction."""

    parts: tuple[tuple[Law, int], ...]

    @cached_property
    def step(self) -> float:
        """Return the step of the grid: the common lattice, or fine enough for all."""
        lattice = _common([law.step for law, _ in self.parts])
        anchors = [law.anchor for law, _ in self.parts if law.anchor > 0]
        widest = max(max(high - low for low, high in spans(self.parts)), 1e-300)
        if lattice and widest / lattice < _LARGEST:
            return lattice
        step = widest / 64
        for _ in range(4):
            wanted = _wanted(self.parts, step, widest)
            if wanted >= step / 1.5:
                break
            step = wanted
        anchor = _common(anchors) if anchors else 0.0
        return anchor / math.ceil(anchor / step) if anchor else step

    @cached_property
    def grids(self) -> tuple[tuple[Grid, int], ...]:
        """Return every law on the grid."""
        return tuple((on_grid(law, self.step), times) for law, times in self.parts)

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
    def moments(self) -> tuple[tuple[float, float, float], ...]:
        """Return (tilt, ln moment, mean index) of the sum along a ladder of tilts."""
        spread = sum(times * grid.moments[1] for grid, times in self.grids)
        unit = 1 / math.sqrt(max(spread, 1e-12))
        return tuple(self._moment(rung * unit) for rung in (*_LADDER, 0.0))

    @cached_property
    def profiles(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""
        return {}

    def profile(self, depth: float) -> Profile:
        """Return upper bounds on delta, sharpest near exp(-depth^2 / 2)."""
        if depth not in self.profiles:
            self.profiles[depth] = self._profile(depth)
        return self.profiles[depth]

    def _moment(self, tilt: float) -> tuple[float, float, float]:
        """Return (tilt, ln moment, mean index) of the sum."""
        found = [(times, *log_moment(grid, tilt)) for grid, times in self.grids]
        log_total = math.fsum(times * log for times, log, _ in found)
        return tilt, log_total, math.fsum(times * mean for times, _, mean in found)

    def _tilt(self, depth: float) -> float:
        """Return the tilt whose Chernoff exponent is depth^2 / 2, by interpolation."""
        if depth == 0:
            return 0.0
        rungs = sorted(rung for rung in self.moments if rung[0] >= 0)
        depths = [math.sqrt(2 * max(t * mean - log, 0.0)) for t, log, mean in rungs]
        tilt = float(
            np.interp(depth, np.maximum.accumulate(depths), [t for t, _, _ in rungs])
        )
        return tilt

    def _window(self, tilt: float, log_total: float) -> tuple[int, int]:
        """Return the indices beyond which the tilted sum has mass at most _TINY."""
        low, high = 0.0, float(sum((len(g.masses) - 1) * n for g, n in self.grids))
        allowed = -math.log(_TINY)
        for other, log_moment_there, _ in self.moments:
            reach = log_moment_there - log_total + allowed
            if other > tilt:
                high = min(high, reach / (other - tilt))
            elif other < tilt:
                low = max(low, reach / (other - tilt))
        return math.floor(low), max(math.ceil(high), math.floor(low))

    def _profile(self, depth: float) -> Profile:
        """Return the profile by one tilt."""
        if len(self.grids) == 1 and self.grids[0][1] == 1:
            grid = self.grids[0][0]
            return tail_profile(grid.masses, self.origin, self.step, grid.infinity)
        tilt = self._tilt(depth)
        _, log_total, _ = self._moment(tilt)
        low, high = self._window(tilt, log_total)
        from scipy import fft  # noqa: PLC0415 scipy is loaded when needed

        size = fft.next_fast_len(max(high - low + 1, 16), real=True)
        found = summed(self._factors(tilt), low, size)
        return self._charged(found, low, tilt, log_total)

    def _factors(self, tilt: float) -> list[Factor]:
        """Return the tilted masses."""
        return [
            Factor(tilted(grid, tilt, log_moment(grid, tilt)[0]), times, 0.0)
            for grid, times in self.grids
        ]

    def _charged(self, found: Sum, low: int, tilt: float, log_total: float) -> Profile:
        """Undo the tilt and charge the errors: per mass, and beyond the window."""
        index = low + np.arange(len(found.masses))
        with np.errstate(over="ignore"):
            weight = np.exp(np.minimum(log_total - tilt * index, 700.0))
        masses = (found.masses + found.error) * weight * (1 + 1e-12)
        beyond = math.exp(min(log_total - tilt * (index[-1] + 1), 0.0)) * _TINY
        reach = sum((len(g.masses) - 1) * n for g, n in self.grids)
        inside = index <= reach
        beyond = beyond if index[-1] < reach else 0.0
        return tail_profile(
            masses[inside], self.origin + low, self.step, self.breach + beyond
        )


def tail_profile(masses: Floats, start: int, step: float, infinity: float) -> Profile:
    """Return the profile of masses of P at the losses (start + j) step, and infinity.

    delta is linear in t = exp(epsilon) between losses with slope -Q[loss > epsilon], so
    it is summed from the far end in positive terms: no digits cancel.
    """
    first = max(0, -start)
    kept = masses[first:]
    losses = (start + first + np.arange(len(kept))) * step
    if not len(kept):
        return Profile(np.zeros(1), np.array([min(infinity, 1.0)]))
    if losses[0] > 0:
        losses, kept = np.append(0.0, losses), np.append(0.0, kept)
    wide = losses.astype(np.longdouble)
    q_tail = np.cumsum((kept * np.exp(-wide))[::-1])[::-1]
    falls = np.diff(np.exp(wide)) * q_tail[1:]
    above = np.append(np.cumsum(falls[::-1])[::-1], np.longdouble(0)) + infinity
    bounds = np.minimum(raised(above.astype(np.float64)), 1.0)
    return Profile(losses, np.minimum.accumulate(bounds))


def spans(parts: Sequence[tuple[Law, int]]) -> list[tuple[float, float]]:
    """Return the spans of the laws."""
    return [law.span for law, _ in parts]


def _common(steps: Sequence[float]) -> float:
    """Return the least of the steps if the others are its multiples, else 0."""
    least = min(steps)
    if least <= 0 or not all(math.isfinite(step) for step in steps):
        return 0.0
    ratios = [step / least for step in steps]
    common = all(abs(ratio - round(ratio)) < 1e-11 * ratio for ratio in ratios)
    return least if common else 0.0


def _wanted(parts: Sequence[tuple[Law, int]], step: float, widest: float) -> float:
    """Return the step wanted, from the spread of the laws on a coarser grid.

    Connecting the dots moves the mean of one loss by about step^2 / 12.
    """
    count = sum(times for _, times in parts)
    spread = sum(n * on_grid(law, step).moments[1] for law, n in parts) * step * step
    deviation = math.sqrt(spread)
    accurate = math.sqrt(12 * _PRECISION * deviation / count)
    affordable = max(_REACH * deviation, widest) / _LARGEST
    return max(min(accurate, _REACH * deviation / _FINEST), affordable)
