"""What a sampler is; a float plus real noise, rounded once to the nearest float.

Noise is 2**exponent * (block + place), the place known by as many digits as it takes.
Doubles enclose the sum; where both ends round to the same float, so does the sum,
because rounding is monotone (docs/proofs/samplers.md, lemma 4). Elsewhere the sum is
bracketed by integers, and further digits are drawn until the bracket rounds to one
float. Sums beyond the largest float give the largest float.

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sordino.noise.sampling.bits import BitSource, Uniform
from sordino.noise.sampling.blocks import (
    BLOCKS_LOG2,
    SLICE,
    AbstractShape,
    BlockTable,
    Draws,
    Point,
    block_table,
)
from sordino.numbers import down, floor_log2, up


@final
@dataclass(frozen=True)
class Threshold:
    """A level that exact sums are held against, from below or from above.

    A sum reaches it when sum >= level, or for the mirror image when sum <= level.
    """

    level: Fraction
    upward: bool


@final
class Compared(NamedTuple):
    """Values with noise, and which of the exact sums reach a threshold."""

    sums: NDArray[Any]
    reached: NDArray[np.bool_]


class AbstractSampler(ABC):
    """Exact noise added to values.

    Proof obligation: each answer is the stated rounding of value + Z, with Z exactly
    of the stated law and independent of every other draw.
    """

    @abstractmethod
    def add(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return a flat array of values with noise."""

    @abstractmethod
    def compare(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Compared:
        """Return a flat array of values with noise, and which reach a threshold.

        For any value the decision is that of the exact sum, whatever the rounding or
        saturation of the answer.
        """

    @abstractmethod
    def add_to_one(self, value: Any, bits: BitSource) -> Any:
        """Return one value with noise."""


Doubles = TypeVar("Doubles", float, NDArray[np.float64])

_CHUNK = 1 << 16
_HEAD = 40
"""Digits of a place that fit beside a 12-bit block in one double."""
_WORD = 64
_TAIL = _WORD - _HEAD
_LOW = (1 << _TAIL) - 1
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
            head, lost = size >> excess, size & ((1 << excess) - 1)
            half = 1 << (excess - 1)
            size = head + (lost > half or (lost == half and head & 1 == 1))
        try:
            magnitude = min(math.ldexp(size, unit + excess), self.largest)
        except OverflowError:
            magnitude = self.largest
        return magnitude if count >= 0 else -magnitude

    def round(self, value: Fraction) -> float:
        """Return the nearest float to a rational, ties to even, saturating at the ends.

        >>> F32.round(Fraction(1, 10)), F64.round(Fraction(1, 10))
        (0.10000000149011612, 0.1)
        """
        # Beyond two guard digits only whether anything is left matters: a sticky digit.
        size = value.numerator.bit_length() - value.denominator.bit_length()
        unit = max(size - self.precision - 3, self.least - 3)
        count, rest = divmod(value / Fraction(2) ** unit, 1)
        return self.nearest(2 * int(count) + bool(rest), unit - 1)

    def narrow(
        self, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Round the ends of doubles' enclosures of sums to this format.

        Doubles are rounded sums already. A shorter format must see the sums
        themselves, and one step beyond each end encloses those.
        """
        if self.dtype is np.float64:
            return low, high
        bound = self.largest
        low = np.clip(np.nextafter(low, -np.inf), -bound, bound)
        high = np.clip(np.nextafter(high, np.inf), -bound, bound)
        return low.astype(self.dtype), high.astype(self.dtype)


F64: Final = FloatFormat(np.float64, 53, -1074, float(np.finfo(np.float64).max))
F32: Final = FloatFormat(np.float32, 24, -149, float(np.finfo(np.float32).max))


def float_sampler(
    shape: AbstractShape, grid: int | None, target: FloatFormat
) -> "FloatSampler":
    """Return the sampler of a shape on the reals, or on the multiples of 2**grid."""
    exponent = floor_log2(shape.spread) - BLOCKS_LOG2
    if grid is None:
        return FloatSampler(shape.widen(exponent), None, exponent, target)
    exponent = max(exponent, grid)
    return FloatSampler(shape.widen(exponent), exponent - grid, exponent, target)


@final
@dataclass(frozen=True)
class FloatSampler(AbstractSampler):
    """Real noise in blocks 2**exponent wide, the sum rounded to a format.

    Places in a block have `depth` digits, None for a continuum. Values lie on the grid
    of the noise where it has one.
    """

    shape: AbstractShape
    depth: int | None
    exponent: int
    target: FloatFormat

    @cached_property
    def table(self) -> BlockTable:
        """Return the table of the draws, built at the first one."""
        return block_table(self.shape, self.depth)

    def add(self, values: NDArray[np.float64], bits: BitSource) -> NDArray[np.floating]:
        sums = np.empty(values.shape, self.target.dtype)
        for begin in range(0, values.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            self._add_chunk(values[part], bits, sums[part])
        return sums

    def compare(
        self, values: NDArray[np.float64], threshold: Threshold, bits: BitSource
    ) -> Compared:
        """Return the nearest floats, and which exact sums reach the threshold.

        Rounding is monotone, so a rounded sum on one side of the rounded level has its
        exact sum on that side of the level. Where the two meet, the lazily known draw
        decides: as many of its digits are read as it takes.
        """
        sums = np.empty(values.shape, self.target.dtype)
        reached = np.empty(values.shape, np.bool_)
        level = self.target.round(threshold.level)
        for begin in range(0, values.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            exact, near = values[part], sums[part]
            draws = self._add_chunk(exact, bits, near)
            reached[part] = near > level if threshold.upward else near < level
            for i in np.flatnonzero(near == level).tolist():
                point = draws.exact.get(i) or self._point(draws, i, bits)
                reached[begin + i] = self._reaches(float(exact[i]), point, threshold)
        return Compared(sums, reached)

    def add_to_one(self, value: float, bits: BitSource) -> float:
        point = self.table.draw_one(bits)
        place = point.place
        if self.target is F64 and self._is_safe and place.known == _WORD:
            head = point.block << _HEAD | place.prefix >> _TAIL
            low, high = self._enclose(value, float(head), float(place.prefix & _LOW))
            if low == high:
                return low
        return self._round(value, point)

    def _add_chunk(
        self, values: NDArray[np.float64], bits: BitSource, sums: NDArray[np.floating]
    ) -> Draws:
        draws = self.table.draw(values.size, bits)
        undecided = list(range(values.size)) if not self._is_safe else []
        for begin in range(0, values.size if self._is_safe else 0, SLICE):
            part = slice(begin, begin + SLICE)
            sums[part], open_ = self._add_slice(
                values[part], draws.block[part], draws.place[part]
            )
            undecided += (open_ + begin).tolist()
        for i in {*undecided, *draws.exact}:
            point = draws.exact.get(i) or self._point(draws, i, bits)
            sums[i] = self._round(float(values[i]), point)
            draws.exact[i] = point  # kept: a comparison must read the same draw
        return draws

    def _point(self, draws: Draws, i: int, bits: BitSource) -> Point:
        place = Uniform(bits, int(draws.place[i]), _WORD, self.table.depth)
        return Point(int(draws.block[i]), place)

    def _add_slice(
        self,
        values: NDArray[np.float64],
        block: NDArray[np.int16],
        place: NDArray[np.uint64],
    ) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
        """Return rounded sums, and the positions at which doubles do not decide."""
        head = block.astype(np.int64)
        head <<= _HEAD
        head += (place >> np.uint64(_TAIL)).view(np.int64)
        tail = (place & np.uint64(_LOW)).view(np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = self._enclose(
                values, head.astype(np.float64), tail.astype(np.float64)
            )
            first, last = self.target.narrow(low, high)
        return first, np.flatnonzero(first != last)

    def _enclose(
        self, value: Doubles, head: Doubles, tail: Doubles
    ) -> tuple[Doubles, Doubles]:
        """Return doubles that enclose the rounded sum value + noise.

        noise lies between head * 2**-40 + tail * 2**-64 blocks and 2**-64 blocks more.
        value + head = total + lost exactly; lost + tail errs below 2**-53 of itself.
        """
        noise = head * 2.0 ** (self.exponent - _HEAD)
        total = value + noise
        shift = total - value
        lost = tail * 2.0 ** (self.exponent - _WORD)
        rest = lost + ((value - (total - shift)) + (noise - shift))
        slack = abs(rest) * 2.0**-51 + 2.0 ** (self.exponent - _WORD + 1)
        return total + (rest - slack), total + (rest + slack)

    @property
    def _is_safe(self) -> bool:
        """Tell whether every term of the enclosure is a normal double."""
        return -_SAFE_EXPONENT <= self.exponent <= _SAFE_EXPONENT

    def _round(self, value: float, point: Point) -> float:
        while True:
            low, width, unit = self._bracket(value, point)
            nearest = self.target.nearest(low, unit)
            # rounding is monotone
            if not width or nearest == self.target.nearest(low + width, unit):
                return nearest
            point.place.extend()

    def _reaches(self, value: float, point: Point, threshold: Threshold) -> bool:
        while True:
            low, width, unit = self._bracket(value, point)
            scaled = threshold.level / Fraction(2) ** unit
            least, most = low - scaled, low + width - scaled
            if least > 0 or (least == 0 and threshold.upward):
                return threshold.upward
            if most <= 0:
                return not threshold.upward
            point.place.extend()

    def _bracket(self, value: float, point: Point) -> tuple[int, int, int]:
        """Return low, width, unit: the sum lies in [low, low + width) * 2**unit.

        A width of zero means that the sum is known.
        """
        above, below = value.as_integer_ratio()
        place = point.place
        step = self.exponent - place.known
        unit = min(step, 1 - below.bit_length())
        low = (point.block << place.known | place.prefix) << (step - unit)
        low += above << (1 - below.bit_length() - unit)
        return low, 0 if place.complete else 1 << (step - unit), unit


@final
@dataclass(frozen=True)
class Nearest(AbstractSampler):
    """No noise: values are only rounded to the format."""

    target: FloatFormat

    def add(self, values: NDArray[np.float64], bits: BitSource) -> NDArray[np.floating]:
        del bits
        bound = self.target.largest
        return np.clip(values, -bound, bound).astype(self.target.dtype)

    def compare(
        self, values: NDArray[np.float64], threshold: Threshold, bits: BitSource
    ) -> Compared:
        level = threshold.level
        if threshold.upward:
            # the value itself decides, before it is rounded
            return Compared(self.add(values, bits), values >= up(level))
        return Compared(self.add(values, bits), values <= down(level))

    def add_to_one(self, value: float, bits: BitSource) -> float:
        return float(self.add(np.array([value]), bits)[0])
