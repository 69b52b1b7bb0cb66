"""Integers plus exact integer noise, clamped only after the exact sum."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.numbers import floor_log2
from sordino.sampling.bits import BitSource
from sordino.sampling.blocks import BLOCKS_LOG2, SLICE, BlockTable, Point, block_table
from sordino.sampling.sampler import AbstractSampler, Compared, Threshold
from sordino.sampling.shape import AbstractFamily, AbstractShape

_DEEPEST: Final = 50
"""Blocks of at most 2**50 keep every draw of the table below 2**62."""

_CHUNK = 1 << 16
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_WHOLE = 64


def integer_sampler(family: AbstractFamily) -> "IntegerSampler":
    """Return the sampler of a family on the integers."""
    depth = max(0, floor_log2(family.spread) - BLOCKS_LOG2)
    return IntegerSampler(family.shape(depth), depth)


@final
@dataclass(frozen=True)
class IntegerSampler(AbstractSampler):
    """Integer noise in blocks that are 2**depth wide."""

    shape: AbstractShape
    depth: int

    @cached_property
    def table(self) -> BlockTable:
        """Return the table of the draws, built at the first one."""
        return block_table(self.shape, self.depth)

    def add(self, values: NDArray[np.int64], bits: BitSource) -> NDArray[np.int64]:
        """Return values + noise, the exact sum clamped to int64."""
        if self.depth > _DEEPEST:
            exact_sums = (self.add_to_one(value, bits) for value in values.tolist())
            return np.array([_nearest(total) for total in exact_sums], np.int64)
        sums = np.empty_like(values)
        for begin in range(0, values.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            self._add_chunk(values[part], bits, sums[part])
        return sums

    def compare(
        self, values: NDArray[np.int64], threshold: Threshold, bits: BitSource
    ) -> Compared:
        """Return sums clamped to int64, which keeps their side of a level in int64."""
        return _compare(self.add(values, bits), threshold)

    def add_to_one(self, value: int, bits: BitSource) -> int:
        """Return value + noise, the exact sum."""
        return value + _whole(self.table.draw_one(bits))

    def _add_chunk(
        self, values: NDArray[np.int64], bits: BitSource, sums: NDArray[np.int64]
    ) -> None:
        """Fill sums with the clamped values + noise of one chunk."""
        draws = self.table.draw(values.size, bits)
        furthest = (self.table.reach + 1) << self.depth
        fits = values.max() <= _MOST - furthest and values.min() >= _LEAST + furthest
        for begin in range(0, values.size, SLICE):
            part = slice(begin, begin + SLICE)
            noise = self._noise(draws.block[part], draws.place[part])
            np.add(values[part], noise, out=sums[part])
            if not fits:
                _clamp(values[part], noise, sums[part])
        for position, point in draws.exact.items():
            sums[position] = _nearest(int(values[position]) + _whole(point))

    def _noise(
        self, block: NDArray[np.int16], place: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return blocks and places as integers."""
        noise = block.astype(np.int64)
        if self.depth:
            noise <<= self.depth
            noise += (place >> np.uint64(_WHOLE - self.depth)).view(np.int64)
        return noise


def _clamp(
    values: NDArray[np.int64], noise: NDArray[np.int64], sums: NDArray[np.int64]
) -> None:
    """Replace the sums that wrapped around by the end they passed."""
    sums[(noise > 0) & (sums < values)] = _MOST
    sums[(noise < 0) & (sums > values)] = _LEAST


def _compare(sums: NDArray[np.int64], threshold: Threshold) -> Compared:
    """Return the sums and which of them reach a whole level."""
    level = int(threshold.level)
    return Compared(sums, sums >= level if threshold.upward else sums <= level)


def _nearest(exact_sum: int) -> int:
    """Return the nearest integer that int64 holds."""
    return max(_LEAST, min(_MOST, exact_sum))


def _whole(point: Point) -> int:
    """Return a draw as an integer, all digits of its place drawn."""
    while not point.place.complete:
        point.place.extend()
    return point.block << point.place.known | point.place.prefix


@final
@dataclass(frozen=True)
class Unchanged(AbstractSampler):
    """No noise: values stay as they are."""

    def add(self, values: NDArray[np.int64], bits: BitSource) -> NDArray[np.int64]:
        """Return a copy of the values."""
        del bits
        return values.copy()

    def compare(
        self, values: NDArray[np.int64], threshold: Threshold, bits: BitSource
    ) -> Compared:
        """Return a copy of the values, and which reach the threshold."""
        return _compare(self.add(values, bits), threshold)

    def add_to_one(self, value: int, bits: BitSource) -> int:
        """Return the value."""
        del bits
        return value
