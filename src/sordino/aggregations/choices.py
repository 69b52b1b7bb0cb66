"""Choices among public candidates: quantiles, extremes, bounds to clamp a column to.

A choice may spend a rate for each row: for any change of r_g rows in group g the
release costs the sum of rate * r_g in epsilon, and the sum of `curvature` * (rate *
r_g)**2 in rho (docs/proofs/queries.md, lemma 9). Bounds lie on a grid of four steps to
a doubling: a walk towards the least values and one towards the greatest stop where few
rows are left beyond (docs/proofs/selection.md, section 5).
"""

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, final

import numpy as np

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.count import match_rows
from sordino.aggregations.intervals import Bars, unknown_bars
from sordino.aggregations.intervals.ranks import CUTS, rank_bars, rank_reaches
from sordino.aggregations.lattice import (
    ColumnValues,
    Nulls,
    column_values,
    column_words,
    nulls_words,
)
from sordino.aggregations.measurement import AbstractShare, Integers
from sordino.errors import InvalidParameter
from sordino.expressions.bins import double_bin
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.literals import lift
from sordino.expressions.tree import AbstractExpression
from sordino.losses.loss import Loss
from sordino.noise.above_threshold import AboveThreshold
from sordino.noise.additive import AbstractMechanism
from sordino.noise.bin_counts import AbstractWeights, BinCounts
from sordino.noise.quantile_intervals import QuantileIntervals
from sordino.noise.quantiles import Quantiles
from sordino.noise.sampling.bits import Bits
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments, up
from sordino.numbers.canonical import Words, call
from sordino.numbers.double_grid import DoubleGrid

if TYPE_CHECKING:
    import pyarrow as pa


EXTREME_SCALES: Final = 4
"""Rows beyond an extreme, in scales of the noise: 1 answer in 40 passes all rows."""


_CHOSEN: Final = Fraction(17, 20)
_ENDS: Final = Fraction(3, 40)
_COUNTED: Final = Fraction(3, 40)
"""What quantiles take of their share, their ends, and the rows between all of them."""
MOST_TOLD: Final = 7
"""Of more quantiles than these no rows are counted: the noise of them all adds up."""
_EVERY_DAY: Final = Fraction(95, 100)
_FAR_OFF: Final = 2.0**38
"""No group has more rows."""
_SCALES: Final = 3
"""An end is sought so many scales beyond what noise hides: 1 in 40 is too near."""


@final
class RankInterval(NamedTuple):
    """Where an answer stands: in how many rows, and between which bins, if known."""

    ranks: Bars
    bins: tuple[Integers, Integers] | None = None
    """The first and the last, None where no rows between answers were counted."""


class AbstractChoice(ABC):
    """Candidates of a public grid, chosen by the rows of each group in its bins."""

    key: Hashable
    change: Sensitivity
    """Of the row counts of the groups."""
    position: AbstractExpression
    """The bin of a row, missing where the row has no value."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many bins there are."""

    @abstractmethod
    def mechanism(self, share: AbstractShare) -> AbstractMechanism:
        """Return the sharpest choice that a share buys."""

    @abstractmethod
    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        """Return bins for each group, one array for each answer."""

    def range(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the first and the last position that a chosen bin stands for."""
        return chosen, chosen

    def loss(self, share: AbstractShare) -> Loss:
        """Return the loss of what a share buys."""
        return share.loss

    def answers(self, noisy: Noisy) -> tuple[Integers, ...]:
        """Return the chosen bins, one array for each answer."""
        return noisy.values

    def stand(
        self, noisy: Noisy, confidence: Fraction
    ) -> "tuple[RankInterval | None, ...]":
        """Return where each answer stands, None where nothing tells it."""
        del confidence
        return (None,) * len(self.answers(noisy))

    @abstractmethod
    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return by how many ranks or rows an answer may be off, for any data."""

    def draw(
        self, mechanism: AbstractMechanism, keys: "pa.Table", counts: "pa.Table"
    ) -> tuple[Integers, ...]:
        """Return the chosen bins of released groups, from the counts of all groups.

        `counts` has the columns of the keys, the bin, and how many rows are in it.
        """
        *by, place, count = counts.columns
        owner = match_rows(keys, counts.select(range(len(by))))
        # rows without a value, and of groups that are not released, choose nothing
        counted = place.is_valid().to_numpy() & (owner >= 0)
        bins = BinCounts.of(
            owner[counted],
            place.fill_null(0).to_numpy()[counted],
            count.to_numpy()[counted],
            groups=keys.num_rows if by else 1,  # a table without keys is one group
            size=self.size,
        )
        return self.bins_of(mechanism, bins)


@final
@dataclass(frozen=True)
class QuantileChoice(AbstractChoice):
    """Some quantiles of the same values, none of them an extreme."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    weights: AbstractWeights
    probabilities: tuple[Fraction, ...]
    has_ends: bool = field(compare=False)
    """Whether numbers can stand for the ends of what it chooses."""

    @property
    def size(self) -> int:
        return self.weights.size

    @property
    def is_told(self) -> bool:
        """Whether rows are counted, to tell where the answers stand."""
        # of dates and times a release tells no ends, and ranks hardly better
        return self.has_ends and len(self.probabilities) <= MOST_TOLD

    def mechanism(self, share: AbstractShare) -> Quantiles | QuantileIntervals:
        levels = len(self.probabilities).bit_length()
        # each level costs an 8th of the square of its part of the rate in rho
        curvature = Fraction(1, 8 * levels)
        if not self.is_told:
            return Quantiles(self.probabilities, share.rate(self.change, curvature))
        rate = share.times(_CHOSEN).rate(self.change, curvature)
        quantiles = Quantiles(self.probabilities, rate)
        # shares of rows are doubles where the parts of a bin are a power of two
        parts = 1 << quantiles.parts.bit_length() - 1
        levels = min(2, len(self.probabilities))
        intervals = QuantileIntervals(
            replace(quantiles, parts=parts),
            share.times(_ENDS).rate(self.change, Fraction(1, 8 * levels)),
            share.times(_COUNTED).reals(self.change),
            0,
        )
        hidden = self._reach(intervals, _EVERY_DAY)
        return replace(
            intervals, away=math.ceil(min(hidden + _SCALES * intervals.scale, _FAR_OFF))
        )

    def loss(self, share: AbstractShare) -> Loss:
        if not self.is_told:
            return share.loss
        return share.loss_in_parts((_CHOSEN, _ENDS), _COUNTED)

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Any, ...]:
        released = mechanism.release_groups(bins, Bits(), self.weights)
        return tuple(released) if self.is_told else tuple(released.T)

    def answers(self, noisy: Noisy) -> tuple[Integers, ...]:
        chosen = CUTS * len(self.probabilities)
        return noisy.values[1:chosen:CUTS] if self.is_told else noisy.values

    def stand(
        self, noisy: Noisy, confidence: Fraction
    ) -> tuple[RankInterval | None, ...]:
        """Return where each answer stands, in rows and between which bins.

        A bin bounds the exact quantile where the rows up to it are surely too few, or
        surely too many; else the quantile may lie anywhere (docs/proofs/intervals.md,
        lemma 13).
        """
        surely = self._sure_reach(noisy.mechanism, confidence)
        reach = np.full(len(noisy.values[0]), surely)
        known = Bars(reach, -reach, reach)
        if not self.is_told:
            return (RankInterval(known),) * len(self.probabilities)
        cuts = CUTS * len(self.probabilities)
        bins, cells = noisy.values[:cuts], noisy.values[cuts:]
        bars = rank_bars(cells, noisy.mechanism.noise, self.probabilities, confidence)
        # of few candidates what holds for any data may be nearer than what is counted
        is_nearer = surely <= self._reach(noisy.mechanism, confidence)
        return tuple(
            RankInterval(
                known if is_nearer else bars[place + 1],
                (
                    np.where(bars[place].high < 0, bins[place], 0),
                    np.where(bars[place + 2].low > 0, bins[place + 2], self.size - 1),
                ),
            )
            for place in range(0, cuts, CUTS)
        )

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return the ranks between an answer and the exact one, equal values aside.

        The sd is that of one choice where values lie evenly; the half width is never
        exceeded with that chance, whatever the values and the levels above
        (docs/proofs/selection.md, lemma 6). A release tells more.
        """
        scale = (mechanism.quantiles if self.is_told else mechanism).scale
        reach = self._sure_reach(mechanism, confidence)
        nearer = self._reach(mechanism, confidence) if self.is_told else reach
        remark = f"told to ±{nearer:.3g} ranks" if nearer < reach else ""
        if not self.is_told:
            many = f"more than {MOST_TOLD} were asked"
            why = many if self.has_ends else "they are no numbers"
            remark = f"values have no interval: {why}"
        return Expected(scale * math.sqrt(2), reach, "ranks", remark)

    def _sure_reach(self, mechanism: Any, confidence: Fraction) -> float:
        quantiles = mechanism.quantiles if self.is_told else mechanism
        wrong = float(1 - confidence) / quantiles.levels
        candidates = self.weights.total * quantiles.parts / self.weights.least
        reach: float = quantiles.scale * quantiles.levels * math.log(candidates / wrong)
        return reach

    def _reach(self, mechanism: QuantileIntervals, confidence: Fraction) -> float:
        """Return how far the noise of the rows up to an answer goes at most."""
        chance = 1 - confidence
        reaches = rank_reaches(mechanism.noise, self.probabilities, chance)
        return float(reaches[1::CUTS].max())


@final
@dataclass(frozen=True)
class ExtremeChoice(AbstractChoice):
    """The least or the greatest value, but for a few rows beyond it.

    Positions are joined to stretches, each up to one of `lasts`.
    """

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    lasts: Integers = field(compare=False)
    greatest: bool

    @property
    def size(self) -> int:
        return int(self.lasts[-1]) + 1

    def mechanism(self, share: AbstractShare) -> AboveThreshold:
        # epsilon-DP costs at most epsilon**2 / 2 in rho
        rate = share.rate(self.change, Fraction(1, 2))
        return AboveThreshold(rate, scales=EXTREME_SCALES)

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        return (_walk(mechanism, bins.join(self.lasts), greatest=self.greatest),)

    def range(self, chosen: Integers) -> tuple[Integers, Integers]:
        firsts = np.append(0, self.lasts[:-1] + 1)
        return firsts[chosen], self.lasts[chosen]

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        return _rows_beyond(mechanism, self.lasts.size, confidence)


@final
@dataclass(frozen=True)
class BoundChoice(AbstractChoice):
    """The first bin that few rows lie beyond, upwards or downwards."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    bins: int
    greatest: bool = True

    @property
    def size(self) -> int:
        return self.bins

    def mechanism(self, share: AbstractShare) -> AboveThreshold:
        # epsilon-DP costs at most epsilon**2 / 2 in rho
        return AboveThreshold(share.rate(self.change, Fraction(1, 2)))

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        return (_walk(mechanism, bins, greatest=self.greatest),)

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        return _rows_beyond(mechanism, self.size, confidence)


def _walk(mechanism: AboveThreshold, bins: BinCounts, *, greatest: bool) -> Integers:
    """Return where walks towards the greatest or the least values stop."""
    if greatest:
        return mechanism.find_groups(bins, Bits())
    return bins.size - 1 - mechanism.find_groups(bins.mirror(), Bits())


def _rows_beyond(
    mechanism: AboveThreshold, bins: int, confidence: Fraction
) -> Expected:
    """Return how many rows lie beyond the end of a walk, for any data.

    More than `rows_left` and the half width take noise so large in one of the two
    draws of one of the bins.
    """
    scale = up(mechanism.scale)
    wrong = float(1 - confidence) / (2 * bins)
    remark = f"about {mechanism.rows_left} rows lie beyond"
    return Expected(2 * scale, -2 * scale * math.log(wrong), "rows", remark)


_STEPS: Final = 4
"""How many bins there are from one power of two to the next."""
_FAR: Final = 10
"""A bound that is 2**10 times too wide is wider by far."""
_RARE: Final = 1e-9
"""Chances below are told as this one."""
_SMALLEST: Final = -10
_LARGEST: Final = 60


@final
@dataclass(frozen=True)
class Bounds(AbstractAggregation):
    """A low and a high bound; few values of a group lie beyond either."""

    column: Any
    up_to: int
    nulls: Nulls
    signed: bool

    def __repr__(self) -> str:
        rule = "" if self.nulls is None else f", nulls={self.nulls!r}"
        rule += "" if self.signed else ", signed=False"
        return f"bounds({self.column!r}, up_to={self.up_to!r}{rule})"

    def columns(self, name: str) -> tuple[str, ...]:
        return (f"{name}_low", f"{name}_high")

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Return the sizes that may be found on both sides of 0, ascending."""
        last = self.up_to * _STEPS
        return tuple(2.0 ** (k / _STEPS) for k in range(_SMALLEST * _STEPS, last + 1))

    @property
    def words(self) -> Words:
        # an answer of one size that was paid for is found by these words without more
        more: dict[str, Words] = {"signed": True} if self.signed else {}
        return call(
            "bounds",
            column=column_words(self.column),
            up_to=self.up_to,
            nulls=nulls_words(self.nulls),
            **more,
        )

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        values = column_values(setting, self.column, self.nulls)
        whole = values.type == "i64"
        if self.signed:
            return (self._make_signed(setting, values),)
        position = size_bins(values.dsl, self.sizes)
        key = ("bounds", values.key, self.up_to)
        part = BoundChoice(key, setting.rows(), position.tree, len(self.sizes))
        return (BoundEstimator((part,), self.sizes, whole),)

    def _make_signed(self, setting: Setting, values: ColumnValues) -> "SignedEstimator":
        end = 2.0**self.up_to
        grid = DoubleGrid(-end, end, _STEPS.bit_length() - 1, _SMALLEST)
        position, ends = signed_bins(values.dsl, grid), _signed_ends(grid)
        parts = [
            BoundChoice(
                ("signed bounds", values.key, self.up_to, greatest),
                setting.rows(),
                position.tree,
                len(ends) - 1,
                greatest,
            )
            for greatest in (False, True)
        ]
        return SignedEstimator((parts[0], parts[1]), ends, values.type == "i64")


def signed_bins(value: Expression, grid: DoubleGrid) -> Expression:
    """Return the bin of a number between the ends of a grid, negative ones apart.

    Zero lies with what is above it. Missing, NaN and infinities have no bin.
    """
    number = value.cast("f64")
    place = Expression(lift(double_bin(number.tree, grid)))
    none = number.is_null() | number.is_nan() | number.is_infinite()
    apart = when(number < 0).then(place).otherwise(place + 1)
    return when(none).then(lit(None, "i64")).otherwise(apart)


def _signed_ends(grid: DoubleGrid) -> tuple[float, ...]:
    """Return the ends of the bins of `signed_bins`, ascending.

    The outermost bins are those of all numbers beyond.
    """
    starts = grid.starts(np.arange(1, grid.bin(grid.high) + 1)).tolist()
    above = [*starts, grid.high]
    return (*(-end for end in reversed(above)), 0.0, *above)


def size_bins(value: Expression, sizes: Sequence[float]) -> Expression:
    """Return the place of the first size that a number does not exceed, else the last.

    Missing, NaN and infinities have none.
    """
    size = value.cast("f64").abs()
    place = _place_between(size, sizes, 0, len(sizes) - 1)
    none = size.is_null() | size.is_nan() | size.is_infinite()
    return when(none).then(lit(None, "i64")).otherwise(place)


def _place_between(
    size: Expression, sizes: Sequence[float], first: int, last: int
) -> Expression:
    """Return the place of a size between two places, by halving; there must be one."""
    if first == last:
        return lit(first)
    middle = (first + last) // 2
    low = _place_between(size, sizes, first, middle)
    high = _place_between(size, sizes, middle + 1, last)
    return when(size <= sizes[middle]).then(low).otherwise(high)


@final
@dataclass(frozen=True)
class BoundEstimator(AbstractEstimator):
    """The size where the walk stopped, as a bound on either side."""

    chooses: ClassVar[bool] = True
    measurements: tuple[BoundChoice]
    sizes: tuple[float, ...]
    whole: bool
    """Whether bounds are integers."""
    shares: tuple[Fraction, ...] = (Fraction(1),)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return how many rows may lie beyond the bound, and how much too wide it is.

        Too wide means: against the first size that no value exceeds. Beside what holds
        with the confidence stands how often a bound is wider by far (lemma 7).
        """
        (mechanism,) = mechanisms
        beyond = self.measurements[0].expected_error(mechanism, confidence)
        wide = _width_remark(mechanism, confidence, len(self.sizes))
        remark = f"{beyond.remark}, and it {wide}"
        return replace(beyond, remark=remark)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        del confidence
        high = np.array(self.sizes)[noisy[0].values[0]]
        if self.whole:
            high = np.ceil(high).astype(np.int64)  # outward: nothing falls out
        bars = unknown_bars(high.size)
        return Finished(pa.array(-high), bars), Finished(pa.array(high), bars)


def _width_remark(mechanism: AboveThreshold, confidence: Fraction, steps: int) -> str:
    """Say how much too wide a bound is at most, and how often it is by far."""
    wrong = float(1 - confidence)
    passed = bisect_left(
        range(1, steps), -wrong, key=lambda bins: -mechanism.chance_to_pass(bins)
    )
    wide = 2.0 ** (passed / _STEPS)
    far = max(mechanism.chance_to_pass(_FAR * _STEPS), _RARE)
    return (
        f"is at most {wide:.3g} times too wide, but"
        f" {2**_FAR} times or more in 1 of {math.floor(1 / far)} answers"
    )


@final
@dataclass(frozen=True)
class SignedEstimator(AbstractEstimator):
    """The ends of the bins where two walks stopped, one downwards and one upwards."""

    chooses: ClassVar[bool] = True
    measurements: tuple[BoundChoice, BoundChoice]
    """Of the lower and of the upper bound."""
    ends: tuple[float, ...]
    whole: bool
    """Whether bounds are integers."""
    shares: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1, 2))

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return how many rows may lie beyond either bound, and how far out it may be.

        Both walks are alike, so both bounds hold with half of what may go wrong.
        """
        each = 1 - (1 - confidence) / 2
        beyond = self.measurements[0].expected_error(mechanisms[0], each)
        remark = _width_remark(mechanisms[0], each, len(self.ends))
        return replace(
            beyond, remark=f"{beyond.remark} either bound, and each {remark}"
        )

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        del confidence
        ends, (least, greatest) = np.array(self.ends), noisy
        pair = np.stack([ends[least.values[0]], ends[greatest.values[0] + 1]])
        # of few rows both walks stop at once, and nothing is known: all may lie within
        low, high = np.sort(pair, axis=0)
        if self.whole:  # outward: nothing falls out
            low, high = np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
        bars = unknown_bars(high.size)
        return Finished(pa.array(low), bars), Finished(pa.array(high), bars)


def bounds(
    column: Any, *, up_to: int = 30, nulls: Nulls = None, signed: bool = True
) -> Bounds:
    """Return a question for bounds to clamp a column to.

    Each is found by a walk towards the data that costs half of the budget: about 8 /
    epsilon values lie beyond either. Sizes go up to 2**up_to. Of fewer values than that
    nothing is known, and the bounds are those of all numbers. Clamping to them biases
    sums by what lies beyond, which no error bar shows. With signed=False one walk finds
    one size for both: (-size, size), with 4 / epsilon values beyond.

    >>> bounds("cost").columns("cost")
    ('cost_low', 'cost_high')
    """
    power = arguments.integer(up_to=up_to, least=_SMALLEST + 1, most=_LARGEST)
    if not isinstance(signed, bool):
        raise InvalidParameter(
            "signed", signed, "must be True or False", "Try signed=False."
        )
    return Bounds(column, power, nulls, signed)
