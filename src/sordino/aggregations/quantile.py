"""Quantiles, median, min, max; the extremes of one id.

Inner quantiles are chosen among the candidates by rank. The least and the greatest
value are found by a walk towards them that stops where few rows are left, so that they
do not lie where no row is, however wide the bounds are. Where candidates are many, the
walk takes stretches: some of equal length, some a fixed share of their distance from
zero.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any, ClassVar, Final, final

import numpy as np

from sordino.aggregations.aggregation import (
    AbstractClamped,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.candidates import (
    ORDERED,
    AbstractCandidates,
    candidates,
    check_ends,
    clamp_moments,
    end_points,
    moment_words,
)
from sordino.aggregations.choices import (
    AbstractChoice,
    ExtremeChoice,
    QuantileChoice,
    RankInterval,
)
from sordino.aggregations.intervals import Bars, unknown_bars
from sordino.aggregations.lattice import (
    AbstractBounded,
    ColumnValues,
    Nulls,
    call_text,
    column_values,
    column_words,
    exact_bounds,
    nulls_words,
)
from sordino.aggregations.measurement import (
    Ends,
    Extreme,
    Integers,
    Summary,
    plain_ends,
    whole_ends,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, when
from sordino.expressions.schema import NUMBERS
from sordino.numbers import probability
from sordino.numbers.canonical import Words, call, number

_TRUTHS: Final = (
    "a bool has no bounds",
    'Leave them out: max("smoker") tells whether any row is true, min whether all are.',
)


def extreme_summary(
    setting: Setting, values: ColumnValues, given: Ends, *, is_greatest: bool
) -> Summary:
    """Return an extreme of the present values, each clamped to the given bounds.

    Of truths the greatest tells whether any is true, the least whether all are.
    """
    nullable = not values.complete
    if values.type == "bool":
        if given[0] is not None:
            raise InvalidQuery(*_TRUTHS)
        extreme = Extreme(values.dsl.cast("i64").tree, is_greatest)
        return Summary(
            extremes=(extreme,), value=lambda extreme: extreme == 1, nullable=nullable
        )
    ends = _ends_of_type(given, values.type)
    value = _clamp(_comparable(setting, values), ends)
    extreme = Extreme(value.tree, is_greatest)
    return Summary(extremes=(extreme,), bounds=ends, nullable=nullable)


def _ends_of_type(given: Ends, kind: str) -> Ends | None:
    if given[0] is None:
        return None
    check_ends(given[0], kind)
    if kind not in NUMBERS:
        return given
    ends = exact_bounds(*given)
    if kind == "i64":
        return whole_ends(*ends)  # outward: no value within the bounds is moved
    low, high = plain_ends(*ends)
    return float(low), float(high)


def _comparable(setting: Setting, values: ColumnValues) -> Expression:
    if not values.expression.column(setting.schema).nan:
        return values.dsl
    # engines sort NaN in different places
    return when(values.dsl.is_nan()).then(None).otherwise(values.dsl)


def _clamp(value: Expression, ends: Any) -> Expression:
    if ends is None:
        return value
    low, high = ends
    return when(value < low).then(low).when(value > high).then(high).otherwise(value)


@final
@dataclass(frozen=True)
class Quantile(AbstractBounded):
    """Values of a group that lie near some quantiles, each clamped to [low, high]."""

    column: Any
    probabilities: tuple[Fraction, ...]
    low: Any
    high: Any
    nulls: Nulls
    word: str

    def __repr__(self) -> str:
        leading: dict[str, tuple[Any, ...]] = {
            "quantile": tuple(map(str, self.probabilities)),
            "quantiles": ([str(probability) for probability in self.probabilities],),
        }
        arguments = (*leading.get(self.word, ()), self.low, self.high)
        return call_text(self.word, self.column, *arguments, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        if self.word != "quantiles":
            return (name,)
        return tuple(f"{name}_{float(q):g}" for q in self.probabilities)

    @property
    def words(self) -> Words:
        return call(
            self.word,
            column=column_words(self.column),
            **moment_words(self.low, self.high),
            nulls=nulls_words(self.nulls),
            probabilities=[number(probability) for probability in self.probabilities],
        )

    @property
    def clamp(self) -> AbstractClamped:
        return clamp_moments(self.column, self.low, self.high, self.nulls)

    def summary(self, setting: Setting) -> Summary:
        if self.word not in {"min", "max"}:
            raise InvalidQuery(
                f"{self.word} cannot be computed from the rows of one id: engines have "
                "no exact form of it in common",
                "Ask min or max in per_id, and quantiles of what comes out.",
            )
        values = column_values(setting, self.column, self.nulls, (*ORDERED, "bool"))
        given = (self.low, self.high)
        return extreme_summary(setting, values, given, is_greatest=self.word == "max")

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        values = column_values(setting, self.column, self.nulls, ORDERED)
        grid = candidates(self.low, self.high, values.type)
        parts, levels = zip(*self._parts(setting, values, grid), strict=True)
        shares = tuple(Fraction(level, sum(levels)) for level in levels)
        return (QuantileEstimator(parts, shares, grid, self.probabilities),)

    def _parts(
        self, setting: Setting, values: ColumnValues, grid: AbstractCandidates
    ) -> Iterator[tuple[AbstractChoice, int]]:
        rows, position = setting.rows(), grid.position(values.dsl)

        def extreme(*, greatest: bool) -> ExtremeChoice:
            key = ("extreme", values.key, grid, greatest)
            return ExtremeChoice(key, rows, position, grid.stretches, greatest)

        inner = tuple(q for q in self.probabilities if 0 < q < 1)
        if 0 in self.probabilities:
            yield extreme(greatest=False), 1
        if inner:
            key = ("quantiles", values.key, grid, inner)
            none = np.empty(0, np.int64)
            has_ends = grid.ends(none, none) is not None
            part = QuantileChoice(key, rows, position, grid.weights, inner, has_ends)
            yield part, len(inner).bit_length()
        if 1 in self.probabilities:
            yield extreme(greatest=True), 1


@final
@dataclass(frozen=True)
class QuantileEstimator(AbstractEstimator):
    """The candidates that were chosen, as values, and where they stand.

    How far a value is off depends on how dense the data is there, which is private:
    noisy numbers of rows tell how many lie between, and an interval of values.
    """

    chooses: ClassVar[bool] = True
    measurements: tuple[AbstractChoice, ...]
    shares: tuple[Fraction, ...]
    grid: AbstractCandidates
    probabilities: tuple[Fraction, ...]

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        errors = (
            part.expected_error(mechanism, confidence)
            for part, mechanism in zip(self.measurements, mechanisms, strict=True)
        )
        return sorted(errors, key=attrgetter("half_width"))[-1]  # noqa: FURB192 here max is a question

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the values, ascending in each group.

        Extremes that were asked for bound the others, which may lie where no row is.
        Choices that were made apart may still cross; sorting brings none further off.
        """
        pairs = [*zip(self.measurements, noisy, strict=True)]
        ranges = self._bound_ranges(
            np.array([
                part.range(bins)
                for part, drawn in pairs
                for bins in part.answers(drawn)
            ])
        )
        order = np.argsort(ranges.sum(axis=1), axis=0)[:, None]
        first, last = np.moveaxis(np.take_along_axis(ranges, order, axis=0), 1, 0)
        standing = chain.from_iterable(
            part.stand(drawn, confidence) for part, drawn in pairs
        )
        return tuple(
            self._finish(self.grid.values(*bins), known)
            for *bins, known in zip(first, last, standing, strict=True)
        )

    def _finish(self, values: Any, known: RankInterval | None) -> Finished:
        if known is None:
            return Finished(values, unknown_bars(len(values)))
        ends = None if known.bins is None else self.grid.ends(*known.bins)
        if ends is None:
            return Finished(values, unknown_bars(len(values)), known.ranks)
        return Finished(values, Bars(np.full_like(ends[0], np.nan), *ends), known.ranks)

    def _bound_ranges(self, ranges: Integers) -> Integers:
        """Return ranges of candidates, in each group within its extremes if known.

        The least of a few rows is above their greatest, and bounds nothing.
        """
        least, greatest = ranges[0, 0], ranges[-1, 1]
        low = least if 0 in self.probabilities else np.zeros_like(least)
        high = greatest if 1 in self.probabilities else low + self.grid.last
        bounded: Integers = np.where(low <= high, np.clip(ranges, low, high), ranges)
        return bounded


def quantile(
    column: Any,
    probability: Any,
    low: Any = None,
    high: Any = None,
    *,
    nulls: Nulls = None,
) -> Quantile:
    """Return a question for the value that a share of the values lies below.

    The shares 0 and 1 ask for the least and the greatest value, as `min` and `max` do.
    Bounds may be dates, for a column of dates. The answer is of the column's type.

    >>> quantile("days", "0.9", 0, 30)
    quantile('days', '9/10', 0, 30)
    """
    shares = (_probability(probability=probability),)
    return _question(column, shares, (low, high), nulls, "quantile")


def quantiles(
    column: Any,
    probabilities: Sequence[Any],
    low: Any = None,
    high: Any = None,
    *,
    nulls: Nulls = None,
) -> Quantile:
    """Return a question for several quantiles, which share one price.

    >>> quantiles("days", ["0.25", "0.75"], 0, 30).columns("days")
    ('days_0.25', 'days_0.75')
    """
    if isinstance(probabilities, str) or not isinstance(probabilities, Sequence):
        raise InvalidParameter(
            "probabilities", probabilities, "must be a list", 'Try ["0.25", "0.75"].'
        )
    shares = tuple(
        _probability(probabilities=probability) for probability in probabilities
    )
    if not shares or any(b <= a for a, b in pairwise(shares)):
        raise InvalidParameter(
            "probabilities",
            probabilities,
            "must be in ascending order",
            'Try ["0.25", "0.75"].',
        )
    return _question(column, shares, (low, high), nulls, "quantiles")


def median(
    column: Any, low: Any = None, high: Any = None, *, nulls: Nulls = None
) -> Quantile:
    """Return a question for the median.

    >>> median("days", 0, 30)
    median('days', 0, 30)
    """
    return _question(column, (Fraction(1, 2),), (low, high), nulls, "median")


def min(  # noqa: A001 the word for it
    column: Any, low: Any = None, high: Any = None, *, nulls: Nulls = None
) -> Quantile:
    """Return a question for a value that only a few rows lie below.

    How many, the price says: 8 / epsilon for one row of a unit. Of fewer rows than that
    the answer is the upper bound.

    >>> min("days", 0, 30)
    min('days', 0, 30)
    """
    return _question(column, (Fraction(0),), (low, high), nulls, "min")


def max(  # noqa: A001 the word for it
    column: Any, low: Any = None, high: Any = None, *, nulls: Nulls = None
) -> Quantile:
    """Return a question for a value that only a few rows lie above.

    How many, the price says: 8 / epsilon for one row of a unit. Of fewer rows than that
    the answer is the lower bound.

    >>> max("days", 0, 30)
    max('days', 0, 30)
    """
    return _question(column, (Fraction(1),), (low, high), nulls, "max")


def _question(
    column: Any,
    probabilities: tuple[Fraction, ...],
    ends: tuple[Any, Any],
    nulls: Nulls,
    word: str,
) -> Quantile:
    is_open = all(end is None for end in ends)
    low, high = ends if is_open else end_points(*ends)
    return Quantile(column, probabilities, low, high, nulls, word)


def _probability(**argument: Any) -> Fraction:
    return probability(**argument)
