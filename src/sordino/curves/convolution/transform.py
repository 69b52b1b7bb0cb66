"""Sums of independent losses by real FFT, with a proved bound on every error.

The masses are tilted by exp(theta loss) first, so that the losses of interest lie in
the bulk and keep their digits however small the tail. Three errors are bounded:

- what lies outside the window: below, it wraps to larger losses, which only adds;
  above, it is at most the Chernoff bound at the window's end, charged at infinity;
- rounding of a transform of n points: each output is a sum of inputs along paths of
  log2(n) stages, each with a relative error of a few units, so it is off by at most
  gamma times the sum of the inputs, gamma = 8 units log2(2n);
- rounding of products: with |F| + gamma in place of |F|, the telescoped product of all
  but one factor, times the sum of the errors of the factors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import final

import numpy as np
from numpy.typing import NDArray

from sordino.curves.convolution.grid import Grid
from sordino.curves.points import Floats
from sordino.curves.ticks import tick_each

_UNIT = float(np.finfo(np.float64).eps) / 2
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
    """Return one stack, short rows padded with nothing."""
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
        unsure += factor.times * (gamma + 4 * _UNIT)
    whole = np.zeros(size // 2 + 1, dtype=np.complex128)
    whole[active] = product
    masses = np.fft.irfft(whole, size)
    bound = np.exp(logs)
    error = (2 / size) * unsure * float((bound / least).sum())
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
    """Return the pairwise convolutions, in batches of transforms of one size."""
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
    """Return the convolution of each pair, by transforms of `size` points."""
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
    """Return the masses with indices reduced modulo the window."""
    if len(masses) <= size:
        return masses
    whole = np.zeros(-(-len(masses) // size) * size)
    whole[: len(masses)] = masses
    return np.asarray(whole.reshape(-1, size).sum(axis=0))


def _gamma(size: int) -> float:
    """Return the relative error bound of one transform."""
    return 8 * _UNIT * math.log2(2 * size)
