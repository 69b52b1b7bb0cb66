"""Integers plus exact integer noise, saturated only after the exact sum."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sordino.numbers import Exact, floor_log2
from sordino.sampling.bits import Source
from sordino.sampling.blocks import BlockTable, Point

LARGEST_SCALE_BITS: Final = 57
"""Noise of scale below 2**57 stays below 2**62 on the table: sums of it are checked."""

_CHUNK = 1 << 16
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_WHOLE = np.uint64(64)


def add_noise(
    values: NDArray[np.int64], table: BlockTable, bits: Source
) -> NDArray[np.int64]:
    """Return values + noise, the sum clamped to int64; blocks are 2**depth wide."""
    sums = np.empty_like(values)
    for begin in range(0, values.size, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        _add_chunk(values[part], table, bits, sums[part])
    return sums


def add_noise_to_one(value: int, table: BlockTable, bits: Source) -> int:
    """Return value + noise, the exact sum."""
    return value + _whole(table.draw_one(bits))


def block_bits(scale: Exact) -> int:
    """Return the log of a block's width that puts 64 to 128 blocks in a scale."""
    return floor_log2(scale) - 6


def _add_chunk(
    values: NDArray[np.int64],
    table: BlockTable,
    bits: Source,
    sums: NDArray[np.int64],
) -> None:
    """Fill sums with the clamped values + noise of one chunk."""
    depth = table.depth or 0
    draws = table.draw(values.size, bits)
    noise = draws.block.astype(np.int64)
    if depth:
        noise <<= depth
        noise += (draws.place >> (_WHOLE - np.uint64(depth))).view(np.int64)
    np.add(values, noise, out=sums)
    furthest = (table.reach + 1) << depth
    if values.max() > _MOST - furthest or values.min() < _LEAST + furthest:
        sums[(noise > 0) & (sums < values)] = _MOST
        sums[(noise < 0) & (sums > values)] = _LEAST
    for position, point in draws.exact.items():
        sums[position] = max(_LEAST, min(_MOST, int(values[position]) + _whole(point)))


def _whole(point: Point) -> int:
    """Return a draw whose place has as many digits as its depth, as an integer."""
    return point.block << (point.place.depth or 0) | point.place.prefix
