"""A float plus real noise, rounded once: the nearest float to the exact sum.

Noise is 2**exponent * (block + place), the place known by as many digits as it takes.
Doubles enclose the sum; where both ends round to the same float, so does the sum,
because rounding is monotone (docs/proofs/samplers.md, lemma 4). Elsewhere the sum is
bracketed by integers, and further digits are drawn until the bracket rounds to one
float. Sums beyond the largest float give the largest float.
"""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.numbers import floor_log2
from sordino.sampling.bits import Source
from sordino.sampling.blocks import BLOCKS_LOG2, BlockTable, Point, block_table
from sordino.sampling.certified import Uniform
from sordino.sampling.sampler import AbstractSampler
from sordino.sampling.shape import AbstractFamily

_CHUNK = 1 << 16
_HEAD = 42
"""Digits of a place that fit beside an 11-bit block in one double."""
_TAIL = np.uint64(64 - _HEAD)
_LOW = np.uint64((1 << (64 - _HEAD)) - 1)
_SAFE_EXPONENT = 900
"""Block widths within 2**+-900 keep every term of the enclosure a normal double."""


@final
@dataclass(frozen=True)
class FloatFormat:
    """A binary interchange format: significand bits and least exponent."""

    dtype: type[np.floating]
    precision: int
    least: int
    largest: float

    def nearest(self, count: int, unit: int) -> float:
        """Round count * 2**unit, ties to even, saturating at the ends.

        >>> F32.nearest(2**24 + 1, 0), F64.nearest(3, -1075), F64.nearest(-7, 1022)
        (16777216.0, 1e-323, -1.7976931348623157e+308)
        """
        size = abs(count)
        excess = max(size.bit_length() - self.precision, self.least - unit, 0)
        if excess:
            kept, lost = size >> excess, size & ((1 << excess) - 1)
            half = 1 << (excess - 1)
            size = kept + (lost > half or (lost == half and kept & 1 == 1))
        try:
            magnitude = min(math.ldexp(size, unit + excess), self.largest)
        except OverflowError:
            magnitude = self.largest
        return magnitude if count >= 0 else -magnitude


F64: Final = FloatFormat(np.float64, 53, -1074, float(np.finfo(np.float64).max))
F32: Final = FloatFormat(np.float32, 24, -149, float(np.finfo(np.float32).max))


def float_sampler(
    family: AbstractFamily, grid: int | None, target: FloatFormat
) -> "FloatSampler":
    """Return the sampler of a family on the reals, or on the multiples of 2**grid."""
    exponent = floor_log2(family.spread) - BLOCKS_LOG2
    if grid is None:
        table = block_table(family.shape(exponent), None)
    else:
        exponent = max(exponent, grid)
        table = block_table(family.shape(exponent), exponent - grid)
    return FloatSampler(table, exponent, target)


@final
@dataclass(frozen=True)
class FloatSampler(AbstractSampler):
    """Real noise from a table whose blocks are 2**exponent wide, rounded to a format.

    Values lie on the grid of the noise where it has one.
    """

    table: BlockTable
    exponent: int
    target: FloatFormat

    def add(self, values: NDArray[np.float64], bits: Source) -> NDArray[np.floating]:
        """Return for each value the float nearest to value + noise."""
        sums = np.empty(values.shape, self.target.dtype)
        for begin in range(0, values.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            self._add_chunk(values[part], bits, sums[part])
        return sums

    def add_to_one(self, value: float, bits: Source) -> float:
        """Return the float nearest to value + noise."""
        return self._rounded(value, self.table.draw_one(bits))

    def _add_chunk(
        self,
        values: NDArray[np.float64],
        bits: Source,
        sums: NDArray[np.floating],
    ) -> None:
        """Round one chunk where doubles suffice, the rest exactly."""
        draws = self.table.draw(values.size, bits)
        low, high = self._enclosed(values, draws.block, draws.place)
        with np.errstate(over="ignore"):
            sums[:] = low
            undecided = np.flatnonzero(sums != high.astype(self.target.dtype))
        for i in {*undecided.tolist(), *draws.exact}:
            point = draws.exact.get(i) or Point(
                int(draws.block[i]),
                Uniform(bits, int(draws.place[i]), 64, self.table.depth),
            )
            sums[i] = self._rounded(float(values[i]), point)

    def _enclosed(
        self,
        values: NDArray[np.float64],
        block: NDArray[np.int16],
        place: NDArray[np.uint64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return doubles that enclose the rounded sum; NaN where nothing is known."""
        if abs(self.exponent) > _SAFE_EXPONENT:
            unknown = np.full(values.shape, np.nan)
            return unknown, unknown
        head = block.astype(np.int64)
        head <<= _HEAD
        head += (place >> _TAIL).view(np.int64)
        noise = head * 2.0 ** (self.exponent - _HEAD)
        rest = (place & _LOW).view(np.int64) * 2.0 ** (self.exponent - 64)
        # value + noise = total + lost exactly; lost + rest errs below 2**-53 of itself.
        with np.errstate(over="ignore", invalid="ignore"):
            total = values + noise
            shift = total - values
            rest += (values - (total - shift)) + (noise - shift)
            slack = np.abs(rest) * 2.0**-51
            slack += 2.0 ** (self.exponent - 63)
            low, high = total + (rest - slack), total + (rest + slack)
        if self.target is F32:
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        return low, high

    def _rounded(self, value: float, point: Point) -> float:
        """Draw digits until both ends of the sum round to one float."""
        above, below = value.as_integer_ratio()
        place = point.place
        while True:
            # value = above / below and noise = low * 2**step, all in units of 2**unit.
            step = self.exponent - place.known
            unit = min(step, 1 - below.bit_length())
            low = (point.block << place.known | place.prefix) << (step - unit)
            low += above << (1 - below.bit_length() - unit)
            nearest = self.target.nearest(low, unit)
            width = 1 << (step - unit)
            if place.complete or nearest == self.target.nearest(low + width, unit):
                return nearest
            place.extend()


@final
@dataclass(frozen=True)
class Nearest(AbstractSampler):
    """No noise: values are only rounded to the format."""

    target: FloatFormat

    def add(self, values: NDArray[np.float64], bits: Source) -> NDArray[np.floating]:
        """Return the nearest floats."""
        del bits
        bound = self.target.largest
        return np.clip(values, -bound, bound).astype(self.target.dtype)

    def add_to_one(self, value: float, bits: Source) -> float:
        """Return the nearest float."""
        return float(self.add(np.array([value]), bits)[0])
