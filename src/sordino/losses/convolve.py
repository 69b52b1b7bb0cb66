"""Sums of independent losses by real FFT, with a proved bound on every error.

The masses are tilted by exp(theta loss) first, so that the losses of interest lie in
the bulk and keep their digits however small the tail. Three errors are bounded:

- what lies outside the window: below, it wraps to larger losses, which only adds; above,
  it is at most the Chernoff bound at the window's end, and is charged at infinity;
- rounding of a transform of n points: each output is a sum of inputs along paths of
  log2(n) stages, each with a relative error of a few units, so it is off by at most
  gamma times the sum of the inputs, gamma = 8 units log2(2n);
- rounding of products: with |F| + gamma in place of |F|, the telescoped product of all
  but one factor, times the sum of the errors of the factors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.grid import Grid
from sordino.losses.points import Floats

_UNIT = float(np.finfo(np.float64).eps) / 2
_WIDEST_PAIR = 1 << 14


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Tilted masses of total about 1, how often they occur, and their error in sum."""

    masses: Floats
    times: int
    error: float


@final
@dataclass(frozen=True, eq=False)
class Sum:
    """Masses of the tilted sum in a window, and a bound on the error of each."""

    masses: Floats
    error: float


def log_moment(grid: Grid, tilt: float) -> tuple[float, float]:
    """Return ln sum p_j exp(tilt j), and its derivative."""
    index = np.arange(len(grid.masses))
    with np.errstate(divide="ignore", under="ignore"):
        exponent = np.log(grid.masses) + tilt * index
        top = float(exponent.max())
        weight = np.exp(exponent - top)
    total = float(weight.sum())
    return top + math.log(total), float(weight @ index) / total


def tilted(grid: Grid, tilt: float, log_total: float) -> Floats:
    """Return the masses p_j exp(tilt j) / exp(log_total)."""
    with np.errstate(divide="ignore", under="ignore"):
        exponent = np.log(grid.masses) + (
            tilt * np.arange(len(grid.masses)) - log_total
        )
        return np.exp(exponent)


def summed(factors: Sequence[Factor], low: int, size: int) -> Sum:
    """Return the sum of all factors in the window of `size` indices from `low`."""
    from scipy import fft  # noqa: PLC0415 scipy is loaded when needed

    product: NDArray[np.complex128] | None = None
    modulus = least = np.zeros(0)
    unsure = 0.0
    for factor in paired(factors, size):
        wide = fft.rfft(_folded(factor.masses, size), size)
        gamma = _gamma(size) * float(factor.masses.sum()) + factor.error
        size_of = np.abs(wide) + gamma
        power = _power(wide, factor.times)
        unsure += factor.times * (gamma + 4 * _UNIT)
        with np.errstate(under="ignore"):
            bound = size_of**factor.times
        if product is None:
            product, modulus, least = power, bound, size_of
        else:
            product, modulus = product * power, modulus * bound
            least = np.minimum(least, size_of)
    masses = fft.irfft(product, size)
    mean = 2 / size
    error = mean * unsure * float((modulus / least).sum())
    error += mean * _gamma(size) * float(modulus.sum())
    shift = -(low % size)
    return Sum(np.maximum(np.roll(masses, shift), 0.0), error * (1 + 1e-6))


def paired(factors: Sequence[Factor], size: int) -> list[Factor]:
    """Return fewer factors of the same sum: short single ones are convolved in pairs.

    A balanced tree of short transforms is far cheaper than one long transform each.
    """
    longest = min(size // 4, _WIDEST_PAIR)
    short = [f for f in factors if f.times == 1 and len(f.masses) <= longest]
    rest = [f for f in factors if f.times != 1 or len(f.masses) > longest]
    while len(short) > 1 and max(len(f.masses) for f in short) <= longest:
        short.sort(key=lambda factor: len(factor.masses))
        odd = short[2 * (len(short) // 2) :]
        short = _convolved(short[0:-1:2] if odd else short[::2], short[1::2]) + odd
    return short + rest


def _convolved(left: Sequence[Factor], right: Sequence[Factor]) -> list[Factor]:
    """Return the pairwise convolutions, in one batch of transforms."""
    from scipy import fft  # noqa: PLC0415 scipy is loaded when needed

    lengths = [
        len(a.masses) + len(b.masses) - 1 for a, b in zip(left, right, strict=True)
    ]
    size = fft.next_fast_len(max(lengths), real=True)
    stacked = np.zeros((2 * len(left), size))
    for row, factor in enumerate((*left, *right)):
        stacked[row, : len(factor.masses)] = factor.masses
    wide = fft.rfft(stacked, axis=1)
    joint = np.maximum(
        fft.irfft(wide[: len(left)] * wide[len(left) :], size, axis=1), 0.0
    )
    norms = np.sqrt((stacked**2).sum(axis=1))
    rounding = 4 * _gamma(size) * size * norms[: len(left)] * norms[len(left) :]
    return [
        Factor(joint[row, :length], 1, (a.error + b.error) * (1 + 1e-6) + float(lost))
        for row, (a, b, length, lost) in enumerate(
            zip(left, right, lengths, rounding, strict=True)
        )
    ]


def _power(wide: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """Return an integer power by squaring, whose relative error is 4 units each time."""
    result = np.ones_like(wide)
    with np.errstate(under="ignore"):
        while times:
            if times & 1:
                result = result * wide
            times >>= 1
            if times:
                wide = wide * wide
    return result


def _folded(masses: Floats, size: int) -> Floats:
    """Return the masses with indices reduced modulo the window."""
    if len(masses) <= size:
        return masses
    whole = np.zeros(-(-len(masses) // size) * size)
    whole[: len(masses)] = masses
    return np.asarray(whole.reshape(-1, size).sum(axis=0))


def _gamma(size: int) -> float:
    """Return the relative error bound of one transform."""
    return 8 * _UNIT * math.log2(2 * size)
