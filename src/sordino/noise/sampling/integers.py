"""Integers plus exact noise; draws of only those values that pass a level.

Of many values of 0 with noise only few reach a far level. Which of them do is a
sequence of independent trials of one chance, so the gaps between passes are geometric;
and by how much a pass exceeds the level is the tail of the noise, drawn on its own.
Every decision is settled in ball arithmetic (docs/proofs/thresholds.md, section 6).

Kernel: mathematics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Final, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.noise.sampling.bits import BitSource, Uniform, settle, surely_less
from sordino.noise.sampling.blocks import (
    BLOCKS_LOG2,
    SLICE,
    AbstractShape,
    BlockTable,
    Point,
    block_table,
)
from sordino.noise.sampling.floats import (
    AbstractSampler,
    Compared,
    FloatFormat,
    Threshold,
)
from sordino.numbers import Exact, ball, floor_log2, fraction

_BYTES: Final = 8
_WORD: Final = 64

Ball = Callable[[], arb]
"""A number that can be enclosed at any working precision."""


def passes(chance: Ball, count: int, bits: BitSource) -> list[int]:
    """Return which of `count` independent trials of one chance succeed, ascending.

    P[floor(log U / log(1 - p)) >= k] = (1 - p)**k is the law of the failures before the
    next success; the work is in proportion to the successes.
    """
    places: list[int] = []
    place = -1
    while True:
        u = _uniform(bits)

        def failures(u: Uniform = u) -> int | None:
            return _floor(u.enclosure().log() / (-chance()).log1p())

        place += 1 + settle(failures, u)
        if place >= count:
            return places
        places.append(place)


@final
@dataclass(frozen=True)
class Tail:
    """How far noise exceeds a level > 0, given that it reaches it.

    The density falls as exp(-slope x - x**2 / (2 variance)) at x beyond the level; the
    second term is absent where `variance` is None. An exponential x is proposed, and
    accepted with the chance exp(-x**2 / (2 variance)): exactly that density.
    """

    slope: Exact
    variance: Exact | None

    def steps(self, unit: Fraction, bits: BitSource) -> int:
        """Return the excess in steps of a lattice that holds the level."""
        while True:
            u = _uniform(bits)

            def whole(u: Uniform = u) -> int | None:
                return _floor(-u.enclosure().log() / ball(self.slope * unit))

            count = settle(whole, u)
            far = count * unit
            if self._accepts(partial(ball, far), bits):
                return count

    def nearest(self, level: Fraction, target: FloatFormat, bits: BitSource) -> float:
        """Return the float nearest to the level plus a real excess."""
        while True:
            u = _uniform(bits)

            def excess(u: Uniform = u) -> arb:
                return -u.enclosure().log() / ball(self.slope)

            def rounded(excess: Ball = excess) -> float | None:
                far = ball(level) + excess()
                if not far.is_finite():
                    return None
                low = target.round(fraction(far.lower()))
                return low if low == target.round(fraction(far.upper())) else None

            if self._accepts(excess, bits, u):
                return settle(rounded, u)

    def _accepts(self, excess: Ball, bits: BitSource, *uniforms: Uniform) -> bool:
        variance = self.variance
        if variance is None:
            return True
        v = _uniform(bits)

        def below() -> bool | None:
            chance = (-(excess() ** 2) / (2 * ball(variance))).exp()
            return surely_less(v.enclosure(), chance)

        return settle(below, v, *uniforms)


def _uniform(bits: BitSource) -> Uniform:
    return Uniform(bits, bits.word(_BYTES), _WORD)


def _floor(number: arb) -> int | None:
    if not number.is_finite():
        return None
    low, high = (fraction(end).__floor__() for end in (number.lower(), number.upper()))
    return low if low == high else None


_DEEPEST: Final = 50
"""Blocks of at most 2**50 keep every draw of the table below 2**62."""

_CHUNK = 1 << 16
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_WHOLE = 64


def integer_sampler(shape: AbstractShape) -> "IntegerSampler":
    """Return the sampler of a shape on the integers."""
    depth = max(0, floor_log2(shape.spread) - BLOCKS_LOG2)
    return IntegerSampler(shape.widen(depth), depth)


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
        return value + _whole(self.table.draw_one(bits))

    def _add_chunk(
        self, values: NDArray[np.int64], bits: BitSource, sums: NDArray[np.int64]
    ) -> None:
        draws = self.table.draw(values.size, bits)
        furthest = (self.table.reach + 1) << self.depth
        # else a sum may wrap around, and each is looked at
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
        noise = block.astype(np.int64)
        if self.depth:
            noise <<= self.depth
            noise += (place >> np.uint64(_WHOLE - self.depth)).view(np.int64)
        return noise


def _clamp(
    values: NDArray[np.int64], noise: NDArray[np.int64], sums: NDArray[np.int64]
) -> None:
    # a sum on the wrong side wrapped around
    sums[(noise > 0) & (sums < values)] = _MOST
    sums[(noise < 0) & (sums > values)] = _LEAST


def _compare(sums: NDArray[np.int64], threshold: Threshold) -> Compared:
    level = int(threshold.level)
    return Compared(sums, sums >= level if threshold.upward else sums <= level)


def _nearest(exact_sum: int) -> int:
    return max(_LEAST, min(_MOST, exact_sum))


def _whole(point: Point) -> int:
    while not point.place.complete:
        point.place.extend()
    return point.block << point.place.known | point.place.prefix


@final
@dataclass(frozen=True)
class Unchanged(AbstractSampler):
    """No noise: values stay as they are."""

    def add(self, values: NDArray[np.int64], bits: BitSource) -> NDArray[np.int64]:
        del bits
        return values.copy()

    def compare(
        self, values: NDArray[np.int64], threshold: Threshold, bits: BitSource
    ) -> Compared:
        return _compare(self.add(values, bits), threshold)

    def add_to_one(self, value: int, bits: BitSource) -> int:
        del bits
        return value
