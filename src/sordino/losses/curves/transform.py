"""Sums of laws on a grid by real FFT, with a proved bound on every error.

In each cell of the grid the pair (P, Q) is replaced by two points at its ends with the
same masses of P and of Q. The profile of the replacement is the chord of the true one,
so it lies above it, touches it at the grid, and the error falls with the step squared
(Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).

The masses are tilted by exp(theta loss) first, so that the losses of interest lie in
the bulk and keep their digits; a tilt is named by the depth z it serves, deltas near
exp(-z^2 / 2). Three errors are bounded (docs/proofs/losses.md, section 3):

- what lies outside the window: below, it wraps to larger losses, which only adds;
  above, it is at most the Chernoff bound at the window's end, charged at infinity;
- rounding of a transform of n points: each output is a sum of inputs along paths of
  log2(n) stages, each with a relative error of a few units, so it is off by at most
  gamma times the sum of the inputs, gamma = 8 units log2(2n);
- rounding of products: with |F| + gamma in place of |F|, the telescoped product of all
  but one factor, times the sum of the errors of the factors.

Kernel: mathematics.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.curves.laws import AbstractLossLaw
from sordino.losses.curves.points import ELEMENTARY, Floats
from sordino.numbers.progress import tick_each

_UNIT = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Masses of P at the losses (start + j) step, and at infinity."""

    start: int
    masses: Floats
    infinity: float

    @property
    def index(self) -> Floats:
        """Return 0, 1, 2, ..."""
        return np.arange(len(self.masses), dtype=np.float64)

    @property
    def logs(self) -> Floats:
        """Logarithms of the masses, minus infinity for zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.masses)


def on_grid(law: AbstractLossLaw, step: float) -> Grid:
    """Return a law on the grid; for any threshold test it dominates the law.

    P is grown and Q shrunk by the margin of the law and by the rounding of exp(loss).
    """
    low, high = law.span
    # an atom at the end of the span must not round out of the grid
    start = math.floor(low / step - 1e-9)
    count = max(math.ceil(high / step + 1e-9) - start, 1)
    edges: Floats = (start + np.arange(count + 1, dtype=np.float64)) * step
    p, q = law.masses(edges)
    p *= 1 + law.margin
    inner, shadow = p[1:-1], q[1:-1] * (1 - law.margin - 4 * _UNIT * np.abs(edges[:-1]))
    right = _right_share(inner, shadow, edges[:-1], step)
    # rounding, or an edge that missed an atom, can put a loss beyond its cell
    beyond = np.flatnonzero(right > inner)
    further = _right_share(inner[beyond], shadow[beyond], edges[beyond + 1], step)
    lost = further > inner[beyond]
    further = np.clip(further, 0.0, inner[beyond])
    right = np.clip(right, 0.0, inner)
    masses = np.zeros(count + 2)
    masses[0] = p[0]  # what lies below the grid is raised to its first loss
    masses[:-2] += inner - right
    masses[1:-1] += right
    masses[beyond + 1] -= further
    masses[beyond + 2] += np.where(lost, 0.0, further)
    # what lies beyond the grid is a breach
    infinity = float(p[-1] + further[lost].sum())
    masses = np.maximum(masses if masses[-1] > 0 else masses[:-1], 0.0)
    return Grid(start, masses * (1 + ELEMENTARY), infinity)


def _right_share(p: Floats, q: Floats, left: Floats, step: float) -> Floats:
    """Return the mass at the right end of cells that keeps P and Q, or all of it.

    From p = a + b and q = exp(-left) (a + exp(-step) b).
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        share = (p - q * np.exp(left)) / -math.expm1(-step)
    return np.where(np.isfinite(share), share, p)


_TRANSFORM_UNIT = float(np.finfo(np.float64).eps) / 2
_WIDEST_PAIR = 1 << 14
_BATCH = 1 << 19
"""Points of the pairs that are convolved at once."""

_FAINT = -150.0
_FAINTEST = -600.0
"""Tilted masses below the exponential of this count as nothing."""


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Tilted masses of total about 1, how often they occur, and their error in sum."""

    masses: Floats
    times: int
    error: float


@final
@dataclass(frozen=True, eq=False)
class WindowSum:
    """Masses of the tilted sum in a window, and a bound on the error of each."""

    masses: Floats
    error: float


@final
@dataclass(frozen=True)
class Moment:
    """ln E exp(tilt J), and the mean and variance of J in the tilted law."""

    log: float
    mean: float
    variance: float


@final
@dataclass(frozen=True, eq=False)
class Stack:
    """Laws of similar length, one a row, so that one call serves them all."""

    logs: Floats
    times: Floats
    rows: tuple[int, ...]
    """The place of each row among all the laws."""

    def moments(self, tilt: float) -> tuple[Floats, Moment]:
        """Return ln moments of the rows, and the moment of the sum of all."""
        index, top, weight, total = self._weights(tilt)
        # not `@`: threads of a linear algebra library cost more than they save here
        mean = np.einsum("ij,j->i", weight, index) / total
        square = np.einsum("ij,j->i", weight, index * index) / total
        logs = top + np.log(total)
        spread = np.maximum(square - mean * mean, 0.0)
        sums = (float(self.times @ part) for part in (logs, mean, spread))
        return logs, Moment(*sums)

    def log_moment(self, tilt: float) -> float:
        """Return the logarithm of the moment alone, which is cheaper."""
        _, top, _, total = self._weights(tilt)
        return float(self.times @ (top + np.log(total)))

    def _weights(self, tilt: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return 0, 1, 2, ..., the greatest exponents, tilted masses, their sums."""
        index = np.arange(self.logs.shape[1], dtype=np.float64)
        exponent = tilt * index + self.logs
        top = exponent.max(axis=1)
        exponent -= top[:, None]
        weight = np.exp(np.maximum(exponent, _FAINTEST, out=exponent), out=exponent)
        return index, top, weight, weight.sum(axis=1)


def stack_rows(grids: Sequence[tuple[Grid, int]]) -> list[Stack]:
    """Return the laws in stacks of rows whose lengths are within a factor of two."""
    order = sorted(range(len(grids)), key=lambda place: len(grids[place][0].masses))
    groups: list[list[int]] = []
    for place in order:
        size = len(grids[place][0].masses)
        if not groups or size > 2 * len(grids[groups[-1][0]][0].masses):
            groups.append([])
        groups[-1].append(place)
    return [_stack(grids, group) for group in groups]


def _stack(grids: Sequence[tuple[Grid, int]], group: Sequence[int]) -> Stack:
    width = len(grids[group[-1]][0].masses)
    masses = np.zeros((len(group), width))
    for row, place in enumerate(group):
        masses[row, : len(grids[place][0].masses)] = grids[place][0].masses
    with np.errstate(divide="ignore"):
        logs = np.log(masses)
    times = np.array([grids[place][1] for place in group], dtype=np.float64)
    return Stack(logs, times, tuple(group))


def tilt_masses(grid: Grid, tilt: float, log_total: float) -> Floats:
    """Return the masses p_j exp(tilt j) / exp(log_total)."""
    exponent = grid.logs + (tilt * grid.index - log_total)
    return np.where(exponent > _FAINTEST, np.exp(np.maximum(exponent, _FAINTEST)), 0.0)


def transform_size(least: int) -> int:
    """Return the next number without prime factors above 5: transforms of it are fast.

    >>> transform_size(1001)
    1024
    """
    best = 1 << (least - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            # the power of two that lifts this product to `least`
            best = min(best, three << (-(-least // three) - 1).bit_length())
            three *= 3
        five *= 5
    return best


def convolve(factors: Sequence[Factor], low: int, size: int) -> WindowSum:
    """Return the sum of all factors in the window of `size` indices from `low`.

    Frequencies where the product is certainly below exp(_FAINT) are left at zero.
    """
    active = np.arange(size // 2 + 1)
    product = np.ones(len(active), dtype=np.complex128)
    logs, least = np.zeros(len(active)), np.full(len(active), np.inf)
    unsure = 0.0
    rest = sorted(convolve_pairs(factors, size), key=lambda factor: -factor.times)
    for factor in tick_each(rest, "composing: transform"):
        gamma = _gamma(size) * float(factor.masses.sum()) + factor.error
        wide = np.fft.rfft(_fold(factor.masses, size), size)[active]
        modulus = np.abs(wide) + gamma
        logs += factor.times * np.log(modulus)
        least = np.minimum(least, modulus)
        keep = logs > _FAINT
        active, logs, least = active[keep], logs[keep], least[keep]
        product = product[keep] * _power(wide[keep], factor.times)
        unsure += factor.times * (gamma + 4 * _TRANSFORM_UNIT)
    whole = np.zeros(size // 2 + 1, dtype=np.complex128)
    whole[active] = product
    masses = np.fft.irfft(whole, size)
    bound = np.exp(logs)
    error = (2 / size) * unsure * float((bound / least).sum())
    # the frequencies left at zero are charged, too
    error += (2 / size) * _gamma(size) * float(bound.sum()) + 2 * math.exp(_FAINT)
    shift = -(low % size)
    return WindowSum(np.maximum(np.roll(masses, shift), 0.0), error * (1 + 1e-6))


def convolve_pairs(factors: Sequence[Factor], size: int) -> list[Factor]:
    """Return fewer factors of the same sum: short single ones are convolved in pairs.

    A balanced tree of short transforms is far cheaper than one long transform each.
    """
    longest = min(size // 4, _WIDEST_PAIR)
    short = [f for f in factors if f.times == 1 and len(f.masses) <= longest]
    rest = [f for f in factors if f.times != 1 or len(f.masses) > longest]
    while len(short) > 1 and max(len(f.masses) for f in short) <= longest:
        short.sort(key=lambda factor: len(factor.masses))
        odd = short[2 * (len(short) // 2) :]
        short = _convolve_each(short[0:-1:2] if odd else short[::2], short[1::2]) + odd
    return short + rest


def _convolve_each(left: Sequence[Factor], right: Sequence[Factor]) -> list[Factor]:
    pairs = list(zip(left, right, strict=True))
    longest = max(len(a.masses) + len(b.masses) - 1 for a, b in pairs)
    size = transform_size(longest)
    # pairs at once, in whole vectors of the processor, so that no sum depends on it
    batch = 16 * max(_BATCH // (16 * size), 1)
    return [
        joint
        for start in range(0, len(pairs), batch)
        for joint in _batch(pairs[start : start + batch], size)
    ]


def _batch(pairs: Sequence[tuple[Factor, Factor]], size: int) -> list[Factor]:
    stacked = np.zeros((2 * len(pairs), size))
    for row, factor in enumerate(chain(*zip(*pairs, strict=True))):
        stacked[row, : len(factor.masses)] = factor.masses
    wide = np.fft.rfft(stacked, axis=1)
    joint = np.maximum(
        np.fft.irfft(wide[: len(pairs)] * wide[len(pairs) :], size, axis=1), 0.0
    )
    norms = np.sqrt((stacked**2).sum(axis=1))
    rounding = 4 * _gamma(size) * size * norms[: len(pairs)] * norms[len(pairs) :]
    return [
        Factor(
            masses[: len(a.masses) + len(b.masses) - 1],
            1,
            (a.error + b.error) * (1 + 1e-6) + float(lost),
        )
        for masses, (a, b), lost in zip(joint, pairs, rounding, strict=True)
    ]


def _power(wide: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """Return a power by squaring: a relative error of 4 units for each factor."""
    result = np.ones_like(wide)
    with np.errstate(under="ignore"):
        while times:
            if times & 1:
                result *= wide
            times >>= 1
            if times:
                wide *= wide
    return result


def _fold(masses: Floats, size: int) -> Floats:
    if len(masses) <= size:
        return masses
    whole = np.zeros(-(-len(masses) // size) * size)
    whole[: len(masses)] = masses
    return np.asarray(whole.reshape(-1, size).sum(axis=0))


def _gamma(size: int) -> float:
    return 8 * _TRANSFORM_UNIT * math.log2(2 * size)


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
        best = math.inf
        for rung in _RUNGS:
            other = math.fsum(s.log_moment(tilt + rung * unit) for s in self.stacks)
            bound = (other - there.log - math.log(TINY)) / (rung * abs(unit))
            # any other tilt bounds the tail: the search may stop anywhere
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
            # exp(709) overflows; with the error charged such a bound is far above 1
            weight = np.exp(np.minimum(there.log - tilt * index, 700.0))
        masses = (window.masses + window.error) * weight * (1 + 1e-12)
        beyond = math.exp(min(there.log - tilt * (index[-1] + 1), 0.0)) * TINY
        inside = index <= self.reach
        return low, masses[inside], beyond if index[-1] < self.reach else 0.0
