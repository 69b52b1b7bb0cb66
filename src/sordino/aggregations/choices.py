"""Choices among public candidates: quantiles, extremes, bounds to clamp a column to.

A choice may spend a rate for each row: for any change of r_g rows in group g the
release costs the sum of rate * r_g in epsilon, and the sum of `curvature` * (rate *
r_g)**2 in rho (docs/proofs/queries.md, lemma 9). Bounds lie on a grid of powers of
2**(1/4): a walk from small to large stops where few rows are left beyond
(docs/proofs/selection.md, section 5).
"""

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

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
from sordino.aggregations.intervals import unknown_bars
from sordino.aggregations.lattice import Nulls, column_values, column_words, nulls_words
from sordino.aggregations.measurement import AbstractShare, Integers
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.tree import AbstractExpression
from sordino.noise.above_threshold import AboveThreshold
from sordino.noise.additive import AbstractMechanism
from sordino.noise.bin_counts import AbstractWeights, BinCounts
from sordino.noise.quantiles import Quantiles
from sordino.noise.sampling.bits import Bits
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments, up
from sordino.numbers.canonical import Words, call

if TYPE_CHECKING:
    import pyarrow as pa


EXTREME_SCALES: Final = 4
"""Rows beyond an extreme, in scales of the noise: 1 answer in 40 passes all rows."""


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

    @property
    def size(self) -> int:
        return self.weights.size

    def mechanism(self, share: AbstractShare) -> Quantiles:
        levels = len(self.probabilities).bit_length()
        # each level costs an 8th of the square of its part of the rate in rho
        rate = share.rate(self.change, Fraction(1, 8 * levels))
        return Quantiles(self.probabilities, rate)

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        return tuple(mechanism.release_groups(bins, Bits(), self.weights).T)

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return the ranks between an answer and the exact one, equal values aside.

        The sd is that of one choice where values lie evenly; the half width is never
        exceeded with that chance, whatever the values and the levels above
        (docs/proofs/selection.md, lemma 6).
        """
        scale = mechanism.scale
        wrong = float(1 - confidence) / mechanism.levels
        candidates = self.weights.total * mechanism.parts / self.weights.least
        each = math.log(candidates / wrong)
        reach = scale * mechanism.levels * each
        return Expected(scale * math.sqrt(2), reach, "ranks")


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
        joined = bins.join(self.lasts)
        if self.greatest:
            return (mechanism.find_groups(joined, Bits()),)
        stops = mechanism.find_groups(joined.mirror(), Bits())
        return (joined.size - 1 - stops,)

    def range(self, chosen: Integers) -> tuple[Integers, Integers]:
        firsts = np.append(0, self.lasts[:-1] + 1)
        return firsts[chosen], self.lasts[chosen]

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        return _rows_beyond(mechanism, self.lasts.size, confidence)


@final
@dataclass(frozen=True)
class BoundChoice(AbstractChoice):
    """The first bin that few rows lie beyond."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    bins: int

    @property
    def size(self) -> int:
        return self.bins

    def mechanism(self, share: AbstractShare) -> AboveThreshold:
        # epsilon-DP costs at most epsilon**2 / 2 in rho
        return AboveThreshold(share.rate(self.change, Fraction(1, 2)))

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        return (mechanism.find_groups(bins, Bits()),)

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        return _rows_beyond(mechanism, self.size, confidence)


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
    """A low and a high bound of equal size; few values of a group lie beyond."""

    column: Any
    up_to: int
    nulls: Nulls

    def __repr__(self) -> str:
        rule = "" if self.nulls is None else f", nulls={self.nulls!r}"
        return f"bounds({self.column!r}, up_to={self.up_to!r}{rule})"

    def columns(self, name: str) -> tuple[str, ...]:
        return (f"{name}_low", f"{name}_high")

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Return the sizes that may be found, ascending."""
        last = self.up_to * _STEPS
        return tuple(2.0 ** (k / _STEPS) for k in range(_SMALLEST * _STEPS, last + 1))

    @property
    def words(self) -> Words:
        return call(
            "bounds",
            column=column_words(self.column),
            up_to=self.up_to,
            nulls=nulls_words(self.nulls),
        )

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        values = column_values(setting, self.column, self.nulls)
        position = size_bins(values.dsl, self.sizes)
        part = BoundChoice(
            ("bounds", values.key, self.up_to),
            setting.rows(),
            position.tree,
            len(self.sizes),
        )
        return (BoundEstimator((part,), self.sizes, values.type == "i64"),)


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
        wrong, steps = float(1 - confidence), len(self.sizes)
        passed = bisect_left(
            range(1, steps), -wrong, key=lambda bins: -mechanism.chance_to_pass(bins)
        )
        wide = 2.0 ** (passed / _STEPS)
        far = max(mechanism.chance_to_pass(_FAR * _STEPS), _RARE)
        remark = (
            f"{beyond.remark}, and it is at most {wide:.3g} times too wide, but"
            f" {2**_FAR} times or more in 1 of {math.floor(1 / far)} answers"
        )
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


def bounds(column: Any, *, up_to: int = 30, nulls: Nulls = None) -> Bounds:
    """Return a question for bounds to clamp a column to: (-size, size).

    Sizes go up to 2**up_to; about 4 / epsilon values lie beyond the answer. Clamping to
    it biases sums by what lies beyond, which no error bar shows.

    >>> bounds("cost").columns("cost")
    ('cost_low', 'cost_high')
    """
    power = arguments.integer(up_to=up_to, least=_SMALLEST + 1, most=_LARGEST)
    return Bounds(column, power, nulls)
