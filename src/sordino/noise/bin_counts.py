"""Rows in bins of a public grid, weights of the bins, and how well candidates cut rows.

People write round numbers. Where a fine grid has a million bins between two of them, a
choice among bins of equal weight falls between the numbers that there are; so numbers
of few decimals weigh more (docs/proofs/selection.md, section 4).

bins of rows ── runs of candidates ── pieces on which scores rise or fall evenly
── stretches on which they hardly change ── a choice

Each bin is divided into equal parts, and holds the same share of each of its rows in
each of them. Rows are counted in such shares, so that everything is a whole number. A
part counts as often as its bin weighs; positions count all that comes before.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.noise.sampling.choice import Chosen, Runs
from sordino.numbers import Exact, arguments, up
from sordino.numbers.double_grid import DoubleGrid

Whole: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

MOST_ROWS = 1 << 38
"""A group of this many rows or more is refused: sums of scores must fit."""

MOST_BINS = 1 << 61


@final
@dataclass(frozen=True, eq=False)
class BinCounts:
    """How many rows of each group lie in each bin, 0 where nothing is said.

    Group g holds `positions` and `counts` from starts[g] up to starts[g + 1], its
    positions ascending within 0 .. size - 1.
    """

    starts: Whole
    positions: Whole
    counts: Whole
    size: int

    @staticmethod
    def of(
        group: Any, position: Any, count: Any, *, groups: Any, size: Any
    ) -> "BinCounts":
        """Return the bins of rows (group, position, count) in any order.

        >>> bins = BinCounts.of([1, 0, 1], [7, 2, 3], [1, 1, 5], groups=3, size=8)
        >>> bins.starts.tolist(), bins.positions.tolist()
        ([0, 1, 3, 3], [2, 3, 7])
        """
        number = arguments.integer(groups=groups, least=0)
        most = arguments.integer(size=size, least=1, most=MOST_BINS)
        columns = [_column(values) for values in (group, position, count)]
        if len({column.size for column in columns}) > 1:
            raise InvalidData("groups, positions and counts must have the same length.")
        order = np.lexsort((columns[1], columns[0]))
        owner, where, rows = (column[order] for column in columns)
        _check(owner, where, rows, (number, most))
        starts = np.searchsorted(owner, np.arange(number + 1))
        bins = BinCounts(starts.astype(np.int64), where, rows, most)
        if rows.size and int(bins.totals.max()) >= MOST_ROWS:
            raise InvalidData(
                "a group has 2**38 rows or more: too many to be counted exactly."
            )
        return bins

    @property
    def groups(self) -> int:
        """Return how many groups there are."""
        return self.starts.size - 1

    @property
    def totals(self) -> Whole:
        """Return how many rows each group has."""
        rows = np.append(0, np.cumsum(self.counts))
        totals: Whole = rows[self.starts[1:]] - rows[self.starts[:-1]]
        return totals

    def part(self, first: int, last: int) -> "BinCounts":
        """Return some of the groups."""
        begin, end = self.starts[first], self.starts[last]
        starts = self.starts[first : last + 1] - begin
        return BinCounts(
            starts, self.positions[begin:end], self.counts[begin:end], self.size
        )

    def join(self, last: Whole) -> "BinCounts":
        """Return coarser bins: of neighbouring ones, each up to a last one, ascending.

        >>> fine = BinCounts.of([0, 0, 0], [1, 2, 7], [5, 1, 3], groups=1, size=8)
        >>> fine.join(np.array([2, 6, 7])).counts.tolist()
        [6, 3]
        """
        owner = np.repeat(np.arange(self.groups), np.diff(self.starts))
        cells = owner * last.size + np.searchsorted(last, self.positions)
        filled, first = np.unique(cells, return_index=True)
        rows = np.append(0, np.cumsum(self.counts))
        starts = np.searchsorted(filled, np.arange(self.groups + 1) * last.size)
        return BinCounts(
            starts.astype(np.int64),
            filled % last.size,
            np.diff(rows[np.append(first, cells.size)]),
            last.size,
        )

    def mirror(self) -> "BinCounts":
        """Return the bins counted from the other end.

        >>> bins = BinCounts.of([0, 1, 1], [1, 2, 7], [5, 1, 3], groups=2, size=8)
        >>> bins.mirror().positions.tolist(), bins.mirror().counts.tolist()
        ([6, 0, 5], [5, 3, 1])
        """
        owner = np.repeat(np.arange(self.groups), np.diff(self.starts))
        turned = self.starts[owner] + self.starts[owner + 1] - 1
        order = turned - np.arange(owner.size)
        positions = self.size - 1 - self.positions[order]
        return BinCounts(self.starts, positions, self.counts[order], self.size)


def _column(values: Any) -> Whole:
    column = np.asarray(values)
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
        raise InvalidData(
            "groups, positions and counts must be flat arrays of integers."
        )
    if column.size and int(column.max()) >= MOST_BINS:
        raise InvalidData("a group, a position or a count is 2**61 or more.")
    return column.astype(np.int64, copy=False)


def _check(owner: Whole, where: Whole, rows: Whole, most: tuple[int, int]) -> None:
    """Refuse what is outside the grid, negative, or said twice; `owner` ascends."""
    if not owner.size:
        return
    if owner[0] < 0 or owner[-1] >= most[0]:
        raise InvalidData("a group lies outside 0 to groups - 1.")
    if where.min() < 0 or where.max() >= most[1]:
        raise InvalidData("a position lies outside 0 to size - 1.")
    # so that no sum wraps around int64
    if rows.min() < 0 or int(rows.max()) * rows.size >= MOST_BINS:
        raise InvalidData("a count is negative, or there are too many rows.")
    if ((np.diff(owner) == 0) & (np.diff(where) == 0)).any():
        raise InvalidData("a bin of a group is counted twice. Add its rows up first.")


_SMOOTH: Final = 16
"""Weight of a bin that holds no round number; all numbers of a kind weigh 1 a bin."""
_WHOLE: Final = 128
"""Weight of all integers, in the same: 8 times that of all bins."""
_FEWEST: Final = 1 << 16
"""Up to so many bins all weigh the same."""


class AbstractWeights(ABC):
    """Whole weights of bins 0 .. size - 1, none of them 0."""

    size: int
    least: int
    """The least weight of a bin."""

    @abstractmethod
    def weight_before(self, bins: Whole) -> Whole:
        """Total weight of the bins before each of some bins."""

    @property
    def total(self) -> int:
        """Total weight of all bins."""
        return int(self.weight_before(np.array([self.size]))[0])

    def bins_of(self, places: Whole) -> Whole:
        """Return the bin that each place falls in, places counted in weights."""
        low, high = np.zeros_like(places), np.full_like(places, self.size)
        while (high - low > 1).any():
            middle = low + (high - low) // 2
            beyond = self.weight_before(middle) > places
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return low


@final
@dataclass(frozen=True)
class EvenWeights(AbstractWeights):
    """All bins weigh the same."""

    size: int
    least: int = 1

    def weight_before(self, bins: Whole) -> Whole:
        return bins

    def bins_of(self, places: Whole) -> Whole:
        return places


@final
class _Decimals(NamedTuple):
    """Numbers of so many decimals: how many there are to a unit, and their weight."""

    per_unit: float
    weight: int


@final
@dataclass(frozen=True)
class RoundWeights(AbstractWeights):
    """Bins around multiples of 2**exponent, from low * 2**exponent on.

    All integers together weigh 8 times as much as all bins. The numbers of 1, 2, ...
    decimals, and the multiples of 10, 100, ..., weigh a 16th of all bins, those of each
    kind together. A bin that holds several kinds has the weight of all.

    >>> weights = RoundWeights(0, -10, 1 << 20)
    >>> around = np.array([511, 512, 1023, 1024])
    >>> (weights.weight_before(around + 1) - weights.weight_before(around)) // 16
    array([   1,    8,    1, 8200])
    """

    low: int
    exponent: int
    size: int
    least: int = _SMOOTH

    def weight_before(self, bins: Whole) -> Whole:
        edge = np.ldexp(2.0 * (bins + self.low) - 1, self.exponent - 1)
        start = np.ldexp(2.0 * self.low - 1, self.exponent - 1)
        weight = _SMOOTH * bins
        for kind in self._kinds:
            numbers = np.ceil(edge * kind.per_unit) - np.ceil(start * kind.per_unit)
            weight += numbers.astype(np.int64) * kind.weight
        return weight

    @cached_property
    def _kinds(self) -> tuple[_Decimals, ...]:
        width = float(np.ldexp(float(self.size), self.exponent))
        most = int(np.floor(np.log10(self.size / width / 2)))
        least = -int(np.floor(np.log10(width)))
        kinds = []
        for places in range(least, most + 1):
            per_unit = 10.0**places
            share = _WHOLE if places == 0 else 1
            each = max(int(share * self.size / width / per_unit), 1)
            kinds.append(_Decimals(per_unit, each))
        return tuple(kinds)


def weights(low: int, exponent: int, size: int) -> AbstractWeights:
    """Return the weights of bins around multiples of 2**exponent."""
    if size <= _FEWEST:
        return EvenWeights(size)
    return RoundWeights(low, exponent, size)


_EIGHT: Final = 8
_FEW_INTEGERS: Final = 8
_LONGEST_INTEGER: Final = 10**12
_MOST_DIGITS: Final = 10
_QUARTER: Final = 3 * 4
"""Of a decade, which is 10/3 doublings."""
_LARGEST_SCALE: Final = 900
_LARGEST_PLACE: Final = 60
_POWERS: Final = 10.0 ** np.arange(309)


@final
@dataclass(frozen=True)
class DoubleWeights(AbstractWeights):
    """Bins of doubles: each weighs 1, and more by its length, and more if it is round.

    All lengths together weigh about what all bins do. All integers together weigh 8
    times that; where there are fewer than 8 of them, lengths do it in their
    place, so that of few rows an answer is not tiny. Of each decade its integers weigh
    16 times as much as its bins, and the numbers of 1, 2, ... 10 digits a quarter of
    them, those of each kind together: however wide the bounds are.

    >>> grid = DoubleGrid.of_bounds(-100.0, 100.0)
    >>> weights = DoubleWeights(grid)
    >>> bins = np.array([grid.bin(x) - grid.first for x in (42.0, 0.3, 0.1234567)])
    >>> each = weights.weight_before(bins + 1) - weights.weight_before(bins)
    >>> bool((np.diff(each) < 0).all()), weights.total < 2**61
    (True, True)
    """

    grid: DoubleGrid
    least: int = 1

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.grid.size

    def weight_before(self, bins: Whole) -> Whole:
        starts = self.grid.starts(bins + self.grid.first)
        return bins + self._weigh_more(starts) - self._weight_of_low

    @cached_property
    def _weight_of_low(self) -> int:
        first = self.grid.starts(np.array([self.grid.first]))
        return int(self._weigh_more(first)[0])

    @cached_property
    def _integers(self) -> int:
        ends = np.array([self.grid.low, np.nextafter(self.grid.high, math.inf)])
        before, after = _integers_below(ends).tolist()
        return int(after - before)

    @property
    def _doublings(self) -> int:
        return self.size.bit_length()

    @cached_property
    def _each_integer(self) -> int:
        if self._integers < _FEW_INTEGERS:
            return 0
        return (_EIGHT << self._doublings) // self._integers

    @cached_property
    def _per_unit(self) -> float:
        """Return into how many steps a unit is divided, for lengths."""
        width, end = (
            math.frexp(number)[1]
            for number in (
                self.grid.high - self.grid.low,
                max(abs(self.grid.low), abs(self.grid.high)),
            )
        )
        times = _EIGHT if self._integers < _FEW_INTEGERS else 1
        steps = self._doublings + times.bit_length() - 2
        # far from zero there are no finer steps: none is a double
        return 2.0 ** min(steps - width, _LARGEST_PLACE - end, _LARGEST_SCALE)

    def _weigh_more(self, numbers: Floats) -> Whole:
        """Return how much all bins up to some doubles weigh beyond 1 each.

        It is counted from some constant on, and rises with the doubles.
        """
        lengths = np.floor(numbers * self._per_unit).astype(np.int64)
        weight: Whole = lengths + _integers_below(numbers) * self._each_integer
        below = numbers < 0
        # as many lie before -x as beyond x, and x itself is not before it
        size = np.where(below, np.nextafter(-numbers, math.inf), numbers)
        written = self._written_below(size)
        return weight + np.where(below, -written, written)

    def _written_below(self, numbers: Floats) -> Whole:
        """Return how much the round numbers below some doubles weigh, by decades."""
        least = math.ceil(self.grid.least * math.log10(2))
        most = math.floor(math.log10(max(abs(self.grid.low), abs(self.grid.high))))
        # beyond, powers of ten are no doubles: no number is round there
        if not -290 < least <= most < 290:
            return np.zeros(numbers.size, np.int64)
        edges = np.array([float(f"1e{power}") for power in range(least, most + 1)])
        decade = np.searchsorted(edges, numbers, side="right") - 1
        weight = self._integers_by_decade(numbers, decade + least)
        for digits in range(1, _MOST_DIGITS + 1):
            first = 10 ** (digits - 1)
            counted = _multiples_below(numbers, decade + least - digits + 1)
            inside = np.clip(counted - first, 0, 9 * first)
            each = (10 << self.grid.digits) // (9 * first * _QUARTER)
            many = np.where(decade < 0, 0, decade * (9 * first) + inside)
            weight += many * each
        return weight

    def _integers_by_decade(self, numbers: Floats, decade: Whole) -> Whole:
        """Return how much the integers below some doubles weigh, by their decades."""
        firsts = 10 ** np.arange(_MOST_DIGITS + 1)
        each = (160 << self.grid.digits) // (27 * firsts)
        before = np.append(0, np.cumsum(9 * firsts * each))
        place = np.clip(decade, 0, firsts.size - 1)
        inside = np.ceil(np.minimum(numbers, 10.0 ** (firsts.size))).astype(np.int64)
        inside = np.clip(inside - firsts[place], 0, 9 * firsts[place])
        weight: Whole = before[place] + inside * each[place]
        return weight


def _integers_below(numbers: Floats) -> Whole:
    """Count the integers below some doubles, of those that people write."""
    most = float(_LONGEST_INTEGER)
    return np.clip(np.ceil(numbers), -most, most + 1).astype(np.int64)


def _multiples_below(numbers: Floats, powers: Whole) -> Whole:
    """Count the multiples of powers of ten below some doubles, from 0 on.

    Each multiple is the double that it is read as: a bin weighs what lies in it.
    """
    fine = powers < 0
    scale = _POWERS[np.abs(powers)]
    each = np.floor(np.where(fine, numbers * scale, numbers / scale))
    # the quotient was rounded: upwards it may have reached a multiple that is beyond
    each += np.where(fine, each / scale, each * scale) < numbers
    return np.clip(each, 0, 10.0**_MOST_DIGITS).astype(np.int64)


_FAR: Final = 64.0
"""Exponents from here on have weights that need not be told apart."""
_DOUBLINGS: Final = 7
_LONGEST: Final = 2.0**50


@final
class QuantileCut(NamedTuple):
    """A quantile that is known: for each group its candidate, and what lies up to it.

    The candidate is a part of a bin. `rows` are the shares of rows up to the cut, `run`
    is the run of the group that holds the bin.
    """

    probability: Fraction
    bin: Whole
    part: Whole
    rows: Whole
    run: Whole


@final
@dataclass(frozen=True, eq=False)
class CandidateRuns:
    """Runs of bins: one with rows, or those between two of them.

    The runs of group g are those from base[g] on; none is empty. A run begins and ends
    at some places, counted in weights of bins, and there are `before` rows before it
    and `counts` in it.
    """

    parts: int
    weights: AbstractWeights
    base: Whole
    begins: Whole
    ends: Whole
    before: Whole
    counts: Whole

    @classmethod
    def of(cls, bins: BinCounts, parts: int, weights: AbstractWeights) -> Self:
        """Lay out the runs of groups, each bin divided into `parts` parts."""
        group = np.repeat(np.arange(bins.groups), np.diff(bins.starts))
        full = 2 * np.arange(group.size) + group + 1  # where each non-empty bin stands
        first = 2 * bins.starts[:-1] + np.arange(bins.groups)
        begins = np.zeros(2 * group.size + bins.groups, np.int64)
        begins[full] = weights.weight_before(bins.positions)
        begins[full + 1] = weights.weight_before(bins.positions + 1)
        ends = np.append(begins[1:], 0)
        ends[np.append(first[1:], begins.size) - 1] = weights.total
        added = np.zeros_like(begins)
        added[full] = bins.counts
        before = np.cumsum(added) - added
        before -= np.repeat(before[first], np.diff(np.append(first, begins.size)))
        filled = ends > begins
        base = np.append(0, np.cumsum(filled))[first]
        runs = (column[filled] for column in (begins, ends, before, added))
        return cls(parts, weights, base, *runs)

    def outer(self) -> tuple[QuantileCut, QuantileCut]:
        """Return the cuts before all candidates and after them."""
        nothing = np.zeros_like(self.base)
        last = np.append(self.base[1:], self.counts.size) - 1
        rows = (self.before[last] + self.counts[last]) * self.parts
        low = QuantileCut(Fraction(0), nothing, nothing, nothing, nothing)
        ends = (nothing + self.weights.size - 1, nothing + self.parts - 1)
        return low, QuantileCut(Fraction(1), *ends, rows, last - self.base)


@final
@dataclass(frozen=True, eq=False)
class SliceRuns:
    """The bins of a slice: of runs between its cuts, and the two that hold the cuts.

    A bin with rows, or with a cut, is `divided`: its candidates are its parts, and each
    counts what the bin weighs. Of bins without rows all parts are equally good: a
    candidate stands for a unit of weight, and counts all parts of it. What a cut leaves
    of a bin must not depend on whether rows lie in it: a cut is a part of a bin in
    either case, and the rest of its bin stands apart.
    """

    owner: Whole
    run: Whole
    starts: Whole
    """The place of the first candidate, in weights."""
    firsts: Whole
    lasts: Whole
    repeats: Whole
    counts: Whole
    divided: NDArray[np.bool_]

    @classmethod
    def of(cls, layout: CandidateRuns, low: QuantileCut, high: QuantileCut) -> Self:
        """Return the bins from one cut to the other, of all slices."""
        # the bins of both cuts beside all runs
        owner, inner, where = _places(high.run - low.run + 3)
        run = inner + (layout.base + low.run)[owner]
        starts, stops = _ends_between(layout, low, high, owner, run)
        start, stop = np.choose(where, starts), np.choose(where, stops)
        divided = (where != 1) | (layout.counts[run] > 0)
        shared = (low.bin == high.bin)[owner]
        until = (where == 2) | ((where == 0) & shared)
        parts = np.where(until, high.part[owner] + 1, layout.parts)
        columns = (
            owner,
            run,
            start,
            np.where(where == 0, low.part[owner], 0),
            np.where(divided, parts, stop - start),
            np.where(divided, stop - start, layout.parts),
            layout.counts[run],
            divided,
        )
        # a bin that holds both cuts stands once
        stands = (stop > start) & ~((where == 2) & shared)
        return cls(*(column[stands] for column in columns))


def _places(spans: Whole) -> tuple[Whole, Whole, NDArray[np.intp]]:
    """Return the slice of each place, the run between its cuts, and where it stands.

    That is 0 at the bin of the lower cut, 2 at that of the upper one, 1 between them.
    """
    owner = np.repeat(np.arange(spans.size), spans)
    place = np.arange(owner.size) - (np.cumsum(spans) - spans)[owner]
    last = spans[owner] - 1
    where = (place > 0).astype(np.intp) + (place == last)
    return owner, np.clip(place - 1, 0, last - 2), where


def _ends_between(
    layout: CandidateRuns, low: QuantileCut, high: QuantileCut, owner: Whole, run: Whole
) -> tuple[tuple[Whole, Whole, Whole], tuple[Whole, Whole, Whole]]:
    """Return where bins begin and end: those of lower cuts, of runs, of upper cuts.

    Of runs what lies between the bins of the cuts.
    """
    bins = np.stack([low.bin, low.bin + 1, high.bin, high.bin + 1])
    before = layout.weights.weight_before(bins.ravel()).reshape(bins.shape)
    begin, after, until, end = before[:, owner]
    inner = np.maximum(layout.begins[run], after), np.minimum(layout.ends[run], until)
    return (begin, inner[0], until), (after, inner[1], end)


@final
@dataclass(frozen=True, eq=False)
class Pieces:
    """Candidates on which the score rises or falls evenly: their bins and places.

    Places count from the beginning of `bins`, up to but without `lasts`. The best
    candidate of a piece is `gaps` off, in rows times the parts and the denominator of
    the share; it is the first one where `slopes` is positive, and else the last one.
    """

    layout: CandidateRuns
    runs: SliceRuns
    bins: Whole
    """Of each piece, the place of its bins among the runs of the slice."""
    firsts: Whole
    lasts: Whole
    gaps: Whole
    slopes: Whole

    @classmethod
    def of(
        cls, layout: CandidateRuns, low: QuantileCut, high: QuantileCut, share: Fraction
    ) -> Self:
        """Return the candidates between two cuts, by how far they are from a share.

        A candidate is right where that share of the slice's rows ends within it.
        """
        whole, part = share.denominator, share.numerator
        sought = whole * low.rows + part * (high.rows - low.rows)
        return cls.seek(layout, (low, high), sought, whole)

    @classmethod
    def seek(
        cls,
        layout: CandidateRuns,
        cuts: tuple[QuantileCut, QuantileCut],
        sought: Whole,
        whole: int = 1,
    ) -> Self:
        """Return the candidates between two cuts, by how far they are from some rows.

        What is sought of each slice is counted in shares of rows, times `whole`.
        """
        runs = SliceRuns.of(layout, *cuts)
        # negative at the lower cut: rows of its bin lie in the slice to the left
        missing = sought[runs.owner] - whole * layout.parts * layout.before[runs.run]
        pieces = cls._make_pieces(layout, runs, missing, whole * runs.counts)
        # where a slice ends before what is sought all are off: the best is counted as 0
        owner = runs.owner[pieces.bins]
        firsts = np.searchsorted(owner, np.arange(sought.size))
        least = np.minimum.reduceat(pieces.gaps, firsts)
        return replace(pieces, gaps=pieces.gaps - least[owner])

    @classmethod
    def _make_pieces(
        cls, layout: CandidateRuns, runs: SliceRuns, missing: Whole, slope: Whole
    ) -> Self:
        first, last = runs.firsts, runs.lasts
        flat = slope == 0
        per = np.where(flat, 1, slope)
        reached = -(-missing // per) - 1  # from here on a candidate reaches the share
        passed = missing // per + 1  # from here on the candidate before it did
        at = np.where(flat, first, np.clip(reached, first, last))
        after = np.where(flat, last, np.clip(passed, at, last))
        firsts = np.stack([first, at, after], 1).ravel()
        lasts = np.stack([at, after, last], 1).ravel()
        off = [missing - slope * at, np.where(flat, abs(missing), 0)]
        gaps = np.stack([*off, slope * after - missing], 1).ravel()
        slopes = np.stack([-slope, np.zeros_like(slope), slope], 1).ravel()
        columns = (np.repeat(np.arange(first.size), 3), firsts, lasts, gaps, slopes)
        filled = lasts > firsts
        return cls(layout, runs, *(column[filled] for column in columns))

    def stretch(self, rate: Exact) -> Self:
        """Return shorter pieces, each with candidates of nearly the same chance.

        Those of a far piece have hardly a chance, and stay together. Whatever the
        pieces, the law is the same: they make drawing fast.
        """
        steep = min(up(rate), _LONGEST)
        with np.errstate(divide="ignore"):
            even = np.clip(1 / (steep * np.abs(self.slopes)), 1, _LONGEST)
        unit = even.astype(np.int64)
        length = self.lasts - self.firsts
        near = (self.slopes != 0) & (self.gaps * steep < _FAR)
        doublings = unit[:, None] << np.arange(_DOUBLINGS)
        times = 1 + (near[:, None] & (doublings < length[:, None])).sum(axis=1)
        piece = np.repeat(np.arange(times.size), times)
        step = np.arange(piece.size) - np.repeat(np.cumsum(times) - times, times)
        inner = np.where(step > 0, unit[piece] << np.maximum(step - 1, 0), 0)
        outer = np.where(step < times[piece] - 1, unit[piece] << step, length[piece])
        rises = self.slopes[piece] >= 0
        first, last = self.firsts[piece], self.lasts[piece]
        return type(self)(
            self.layout,
            self.runs,
            self.bins[piece],
            np.where(rises, first + inner, last - outer),
            np.where(rises, first + outer, last - inner),
            self.gaps[piece] + np.abs(self.slopes[piece]) * inner,
            self.slopes[piece],
        )

    def choices(self) -> Runs:
        """Return the pieces to choose from, those of one slice after another."""
        ends = np.cumsum(np.bincount(self.runs.owner[self.bins]))
        sizes, repeats = self.lasts - self.firsts, self.runs.repeats[self.bins]
        return Runs(self.gaps, sizes, ends, self.slopes, repeats)

    def cut_at(
        self, probability: Fraction, chosen: Chosen, parts: Whole
    ) -> QuantileCut:
        """Return the cut at the chosen candidates.

        `parts` are drawn evenly, for bins without rows.
        """
        bins, layout = self.bins[chosen.run], self.layout
        place = self.firsts[chosen.run] + chosen.place
        divided, run = self.runs.divided[bins], self.runs.run[bins]
        at = self.runs.starts[bins] + np.where(divided, 0, place)
        rows = layout.before[run] * layout.parts
        return QuantileCut(
            probability,
            layout.weights.bins_of(at),
            np.where(divided, place, parts),
            # of bins without rows the counts are 0
            rows + self.runs.counts[bins] * (place + 1),
            run - layout.base,
        )
