"""Exact draws from a symmetric log-concave shape by dominated blocks.

A shape is f(t) = exp(-phi(|t|)) with phi convex, increasing and phi(0) = 0, in units in
which one block has width one. Block j gets `floor(a min f)` of the 2**16 entries of a
table, and a draw that hits one of those is uniform in the block: it lies under the
curve, so nothing needs to be tested. The entries left over stand for the residual
between that floor and the curve, chosen block by block with 62-bit weights that
dominate it, and accepted or redrawn by comparing with the curve; beyond the last block
the proposal is a geometric number of further blocks. Whatever the weights, the accepted
draws have exactly the density f: only domination matters (docs/proofs/samplers.md).
Doubles decide where their error bound allows, balls elsewhere.

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self, final

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.noise.sampling.bits import BitSource, Uniform, settle, surely_less
from sordino.numbers import Exact, down, fraction, up
from sordino.numbers.rounding import precision


class AbstractShape(ABC):
    """An unnormalised symmetric log-concave density.

    Proof obligations: `profile` is within a relative 2**-31 (or an absolute 2**-1000)
    of f and `rise` within a relative 2**-40 of phi(k + rho) - phi(k), using IEEE
    addition and multiplication only; `exponent` and `slope` are enclosures, and
    phi(J + x) >= phi(J) + slope(J) * x for every x >= 0.
    """

    @property
    @abstractmethod
    def spread(self) -> Exact:
        """Return the scale of the noise in blocks."""

    @abstractmethod
    def widen(self, exponent: int) -> Self:
        """Return the density in blocks that are 2**exponent times as wide."""

    @abstractmethod
    def reach(self) -> int:
        """Return a whole distance, at least 1, beyond which f is about 2**-24."""

    @abstractmethod
    def profile(self, count: int) -> NDArray[np.float64]:
        """Return f(0), f(1), ..., f(count - 1)."""

    @abstractmethod
    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return phi(start + rho) - phi(start) for 0 <= rho <= 1."""

    @abstractmethod
    def exponent(self, distance: arb) -> arb:
        """Return phi(distance)."""

    @abstractmethod
    def slope(self, distance: int) -> arb:
        """Return a slope that phi never falls below beyond this distance."""


BLOCKS_LOG2: Final = 6
"""A scale is 64 to 128 blocks wide: measured fastest, and the proofs rely on it."""

SLICE: Final = 1 << 14
"""Temporaries of this many words stay in the cache and in the allocator's pool."""

_PRECISION = 128
_ENTRIES = 1 << 16
_UNITS = 1 << 62
_MARGIN = 2.0**-30
_TINY = 2.0**-900
_DOUBT = 2.0**-20
_WHOLE = 64
_LOW = (1 << _WHOLE) - 1
_UNIT = 2.0**-_WHOLE


@final
class Point(NamedTuple):
    """One draw: a block and the place within it, known as far as it was needed."""

    block: int
    place: Uniform


@final
class Draws(NamedTuple):
    """Many draws: blocks, the first 64 digits of the places, and the rare exact ones.

    `exact` holds, by position, the draws that needed more than their first digits or
    fell beyond the table; they replace what the arrays hold there.
    """

    block: NDArray[np.int16]
    place: NDArray[np.uint64]
    exact: dict[int, Point]


@final
@dataclass(frozen=True, eq=False)
class BlockTable:
    """Everything a draw looks up, for one shape and one depth of the places.

    Per outcome of the residual choice (the blocks from left to right, the left and
    the right tail, and a reject that absorbs the slack): `start`, `rest` and `turn`
    give the distance from zero as start + rest + turn * place; `floor`, `height` and
    `peak` the test floor + v * height < peak * exp(-rise).
    """

    shape: AbstractShape
    depth: int | None
    reach: int
    gain: float
    core: NDArray[np.int16]
    core_count: int
    weights: NDArray[np.int64]
    edges: NDArray[np.int64]
    start: NDArray[np.float64]
    rest: NDArray[np.float64]
    turn: NDArray[np.float64]
    floor: NDArray[np.float64]
    height: NDArray[np.float64]
    peak: NDArray[np.float64]

    def draw(self, count: int, bits: BitSource) -> Draws:
        """Return `count` independent draws."""
        entry = bits.words(-(-count // 4)).view(np.uint16)[:count]
        draws = Draws(self.core.take(entry), self._places(count, bits), {})
        open_ = np.flatnonzero(entry >= self.core_count)
        while open_.size:
            redo = self._residual(open_, draws, bits)
            entry = bits.words(-(-redo.size // 4)).view(np.uint16)[: redo.size]
            draws.block[redo] = self.core.take(entry)
            draws.place[redo] = self._places(redo.size, bits)
            open_ = redo[entry >= self.core_count]
        return draws

    def draw_one(self, bits: BitSource) -> Point:
        """Return one draw; the same construction for a single value."""
        while True:
            word = bits.word(10)
            entry, place = (
                word >> _WHOLE,
                Uniform(bits, word & _LOW, _WHOLE, self.depth),
            )
            if entry < self.core_count:
                return Point(self.core.item(entry), place)
            point = self._residual_one(place, bits)
            if point is not None:
                return point

    def _places(self, count: int, bits: BitSource) -> NDArray[np.uint64]:
        """Return the first 64 digits of places, no more of them than the depth."""
        if self.depth == 0:
            return np.zeros(count, np.uint64)
        words = bits.words(count)
        if self.depth is not None and self.depth < _WHOLE:
            words &= np.uint64((1 << _WHOLE) - (1 << (_WHOLE - self.depth)))
        return words

    def _residual(
        self, positions: NDArray[np.intp], draws: Draws, bits: BitSource
    ) -> NDArray[np.intp]:
        """Choose a block above the floor for each position; return the rejected."""
        unit = (bits.words(positions.size) >> np.uint64(2)).view(np.int64)
        v = bits.words(positions.size)
        outcome = np.searchsorted(self.edges, unit, side="right")
        place = draws.place[positions].astype(np.float64) * _UNIT
        surplus, doubt = self._surplus(outcome, place, v.astype(np.float64) * _UNIT)
        draws.block[positions] = outcome - self.reach
        accepted = surplus > 0
        tail = self._is_tail(outcome)
        # where doubles do not decide, balls do
        for i in np.flatnonzero((np.abs(surplus) <= doubt) | tail):
            position = int(positions[i])
            uniform = Uniform(bits, int(draws.place[position]), _WHOLE, self.depth)
            lazy = Uniform(bits, int(v[i]), _WHOLE)
            point = self._settle(int(outcome[i]), uniform, lazy, bits)
            accepted[i] = point is not None
            if point is not None:
                draws.exact[position] = point
        return positions[~accepted]

    def _residual_one(self, place: Uniform, bits: BitSource) -> Point | None:
        """Choose and test a block above the floor for one draw; None is a rejection."""
        unit, v = bits.word(8) >> 2, Uniform(bits, bits.word(8), _WHOLE)
        outcome = int(np.searchsorted(self.edges, unit, side="right"))
        start = math.ldexp(place.prefix, -place.known)
        surplus, doubt = self._surplus(
            np.array([outcome]), np.array([start]), np.array([v.prefix * _UNIT])
        )
        if abs(surplus[0]) <= doubt[0] or self._is_tail(outcome):
            return self._settle(outcome, place, v, bits)
        return Point(outcome - self.reach, place) if surplus[0] > 0 else None

    def _surplus(
        self,
        outcome: NDArray[np.intp],
        place: NDArray[np.float64],
        v: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return curve minus proposal, and a bound on the error of that double.

        exp(-x) by its Taylor sum to x**4: for 0 <= x < 0.1 the rest is below 2**-23.
        """
        peak, height = self.peak[outcome], self.height[outcome]
        rho = self.rest[outcome] + self.turn[outcome] * place
        x = self.shape.rise(self.start[outcome], rho)
        falls = 1.0 - x * (1.0 - x * (0.5 - x * (1 / 6 - x * (1 / 24))))
        surplus = peak * falls - (self.floor[outcome] + v * height)
        return surplus, (peak + height) * _DOUBT

    def _settle(
        self, outcome: int, place: Uniform, v: Uniform, bits: BitSource
    ) -> Point | None:
        """Decide one residual draw exactly; None is a rejection."""
        if outcome > 2 * self.reach + 1:  # the slack of the weights: rejected
            return None
        residue = _ENTRIES - self.core_count
        weight = fmpq(int(self.weights[outcome]) * residue, _UNITS)
        if outcome >= 2 * self.reach:
            return self._tail(outcome, weight, place, v, bits)
        floor, turn = int(self.floor[outcome]), int(self.turn[outcome])
        start = int(self.start[outcome]) + int(self.rest[outcome])

        def below() -> bool | None:
            distance = start + turn * place.enclosure()
            proposal = floor + v.enclosure() * arb(weight)
            return surely_less(proposal, self._curve(distance))

        accepted = settle(below, place, v)
        return Point(outcome - self.reach, place) if accepted else None

    def _tail(
        self, outcome: int, weight: fmpq, place: Uniform, v: Uniform, bits: BitSource
    ) -> Point | None:
        left = outcome == 2 * self.reach
        u = Uniform(bits, bits.word(8), _WHOLE)

        def blocks() -> int | None:
            far = -u.enclosure().log() / self.shape.slope(self.reach)
            if not far.is_finite():  # u may still be 0: more digits
                return None
            least, most = fraction(far.lower()), fraction(far.upper())
            return math.floor(least) if math.floor(least) == math.floor(most) else None

        further = settle(blocks, u)
        start = self.reach + further

        def below() -> bool | None:
            within = place.enclosure()
            distance = start + (1 - within if left else within)
            ratio = (-self.shape.slope(self.reach)).exp()
            proposal = v.enclosure() * arb(weight) * (1 - ratio) * ratio**further
            return surely_less(proposal, self._curve(distance))

        if not settle(below, place, v):
            return None
        return Point(-1 - start if left else start, place)

    def _curve(self, distance: arb) -> arb:
        return arb(self.gain) * (-self.shape.exponent(distance)).exp()

    def __reduce__(self) -> tuple[object, ...]:
        return block_table, (self.shape, self.depth)

    def _is_tail(self, outcome: Any) -> Any:
        return outcome // 2 == self.reach


@lru_cache(maxsize=64)
def block_table(shape: AbstractShape, depth: int | None) -> BlockTable:
    """Build the table of a shape; places have `depth` digits, None for a continuum."""
    reach = shape.reach()
    profile = shape.profile(reach + 1)
    side = _points(reach) if depth == 0 else _intervals(reach)
    # below the curve in all of a block: what falls under it needs no test
    low = profile[side.far] * (1 - _MARGIN) - _TINY
    # above the curve: only domination makes the draws exact
    high = profile[side.near] * (1 + _MARGIN) + _TINY
    with precision(_PRECISION):
        tail = up(arb(float(high[0])) / (1 - (-shape.slope(reach)).exp()))
    # a little less than 1, so that weights rounded up still fit
    gain = _ENTRIES * (1 - 2.0**-20) / (float(high.sum()) + 2 * tail)
    floor = np.floor(np.maximum(gain * low, 0.0))
    core_count = int(floor.sum())
    needed = np.append(gain * high - floor, [gain * tail, gain * tail])
    per_entry = down(Fraction(_UNITS, _ENTRIES - core_count))
    # upwards: a weight too small would cut the density off
    weights = np.ceil(needed * per_entry * (1 + _MARGIN)).astype(np.int64) + 1
    core = np.zeros(_ENTRIES, np.int16)
    blocks = np.arange(-reach, reach, dtype=np.int16)
    core[:core_count] = np.repeat(blocks, floor.astype(np.int64))
    pad = np.zeros(3)
    return BlockTable(
        shape=shape,
        depth=depth,
        reach=reach,
        gain=gain,
        core=core,
        core_count=core_count,
        weights=weights,
        edges=np.cumsum(weights),
        start=np.append(side.start, pad),
        rest=np.append(side.rest, pad),
        turn=np.append(side.turn, pad),
        floor=np.append(floor, pad),
        height=np.append(weights / per_entry, 1.0),
        peak=np.append(gain * profile[side.start], pad),
    )


@final
class _Sides(NamedTuple):
    """For each block: its nearest and farthest whole distance, and how it is walked.

    The distance of a draw is start + rest + turn * place.
    """

    near: NDArray[np.intp]
    far: NDArray[np.intp]
    start: NDArray[np.intp]
    rest: NDArray[np.intp]
    turn: NDArray[np.intp]


def _intervals(reach: int) -> _Sides:
    """Lay out blocks [j, j + 1): the left ones are walked towards zero."""
    distance = np.arange(reach)
    near = np.concatenate([distance[::-1], distance])
    right = np.repeat([0, 1], reach)
    return _Sides(near, near + 1, near, 1 - right, 2 * right - 1)


def _points(reach: int) -> _Sides:
    """Lay out blocks of one point each: nothing to walk, floor and ceiling meet."""
    distance = np.abs(np.arange(-reach, reach))
    still = np.zeros_like(distance)
    return _Sides(distance, distance, distance, still, still)
