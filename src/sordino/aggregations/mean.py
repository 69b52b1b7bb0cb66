"""Mean, variance and standard deviation of a column, clamped to public bounds.

By default the squares are divided by the number of values n: it is the variance of
these values. With `ddof=1` they are divided by n - 1, which estimates that of where the
values come from; so do VARIANCE and STDDEV of SQL, and pandas and Polars.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, final

import numpy as np

from sordino.aggregations.aggregation import AbstractEstimator, LostRows, Setting
from sordino.aggregations.estimators import MeanEstimator, VarianceEstimator
from sordino.aggregations.intervals import Bars
from sordino.aggregations.intervals.linear_forms import ROUNDING
from sordino.aggregations.lattice import (
    SUM_STEPS,
    AbstractAdded,
    AbstractBounded,
    Clamped,
    Nulls,
    call_text,
    check_bounds,
    range_words,
    sum_lattice,
)
from sordino.aggregations.measurement import Summary
from sordino.aggregations.moments import (
    divided_moments,
    separate_moments,
    sized_moments,
)
from sordino.aggregations.sum import exact_sum
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression, col, when
from sordino.numbers import arguments, down, up
from sordino.numbers.canonical import Words


@final
@dataclass(frozen=True)
class Mean(AbstractAdded):
    """The mean of the values of a group, each clamped to [low, high]."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls

    def __repr__(self) -> str:
        return call_text("mean", self.column, self.low, self.high, nulls=self.nulls)

    @property
    def words(self) -> Words:
        return range_words("mean", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamp(self) -> Clamped:
        return Clamped(self.column, self.low, self.high, self.nulls, degree=1)

    def summary(self, setting: Setting) -> Summary:
        """Return the exact sum over the number of values, missing if there is none.

        The clamp holds for a sum that has stopped growing, too.
        """
        sums = exact_sum(setting, self, self.nulls)

        def quotient(total: Expression, number: Expression) -> Expression:
            ratio = sums.in_units(total).cast("f64") / number.cast("f64")
            return ratio if sums.ends is None else ratio.clip(*map(float, sums.ends))

        return Summary(
            (sums.total, sums.number),
            value=quotient,
            bounds=sums.ends,
            nullable=not sums.complete,
        )

    def with_lost(self, bars: Bars, lost: LostRows) -> Bars | None:
        if lost.kept is None or lost.rows == np.inf:
            return None
        with np.errstate(invalid="ignore"):
            # no row at all: then nothing was lost, or all that there was
            part = np.where(lost.rows > 0, lost.rows / (lost.rows + lost.kept), 0.0)
        grid = sum_lattice(self.low, self.high, "f64", SUM_STEPS)
        least, most = down(grid.bottom), up(grid.top)
        low, high = (
            (1 - part) * end + part * far
            for end, far in ((bars.low, least), (bars.high, most))
        )
        # what doubles round goes outward
        pad = ROUNDING * (abs(least) + abs(most))
        low, high = np.maximum(low - pad, least), np.minimum(high + pad, most)
        return Bars(bars.sd, low, high)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        sized = sized_moments(setting, self.clamp)
        if sized is not None:
            return (MeanEstimator(sized),)
        alone = MeanEstimator(separate_moments(setting, self.clamp))
        return (alone, MeanEstimator(divided_moments(setting, self.clamp)), alone)


def mean(
    column: Any, low: Any = None, high: Any = None, *, nulls: Nulls = None
) -> Mean:
    """Return a question for the mean of a column, each value clamped to [low, high].

    Missing values and NaN are left out, or count as the number `nulls`. Where a group
    is too small to tell, the answer is what the noise makes of it, within the bounds.
    Bounds may be left out where they are known of the column, as after `per_id`.

    >>> mean("days", 0, 30)
    mean('days', 0, 30)
    """
    check_bounds(low, high)
    return Mean(column, low, high, nulls)


def share(condition: str | Expression) -> Mean:
    """Return a question for the share of the rows for which a condition is true.

    A condition, or the name of a column of truths.

    Where the condition is missing, it is not fulfilled. The mean of a column of truths
    leaves those rows out instead: `sd.mean("smokes")`.

    >>> from sordino.expressions.language import col
    >>> share(col("age") >= 18)
    mean(when(col('age') >= 18).then(1).otherwise(0), 0, 1)
    """
    truth = col(condition) if isinstance(condition, str) else condition
    return Mean(when(truth).then(1).otherwise(0), 0, 1, None)


Divisor = Literal[0, 1]
"""What is taken off the number of values to divide by."""
_ROOT: Final = "stdev"


@final
@dataclass(frozen=True)
class Variance(AbstractBounded):
    """The mean squared distance of a group's values from their mean, or its root."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls
    ddof: int
    name: str

    def __repr__(self) -> str:
        text = call_text(self.name, self.column, self.low, self.high, nulls=self.nulls)
        return f"{text[:-1]}, ddof={self.ddof})" if self.ddof else text

    @property
    def words(self) -> Words:
        divisor = {"ddof": self.ddof} if self.ddof else {}
        ends = (self.low, self.high)
        return range_words(self.name, self.column, ends, self.nulls, **divisor)

    @cached_property
    def clamp(self) -> Clamped:
        return Clamped(self.column, self.low, self.high, self.nulls, degree=2)

    def summary(self, setting: Setting) -> Summary:
        del setting
        raise InvalidQuery(
            f"{self!r} cannot be computed from the rows of one id: engines round its "
            "quotients differently",
            "Sum the column and its square in per_id, and compute the variance of "
            "each id from these with with_columns (docs/guides/per-person.md).",
        )

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        sized = sized_moments(setting, self.clamp)
        if sized is not None:
            return (VarianceEstimator(sized, self.ddof, self.name == _ROOT),)
        alone, shared = (
            VarianceEstimator(moments, self.ddof, self.name == _ROOT)
            for moments in (
                separate_moments(setting, self.clamp),
                divided_moments(setting, self.clamp),
            )
        )
        return (alone, shared, alone)


def variance(
    column: Any,
    low: Any = None,
    high: Any = None,
    *,
    nulls: Nulls = None,
    ddof: Divisor = 0,
) -> Variance:
    """Return a question for the variance of a column, clamped to [low, high].

    The squared distances from the mean, added up and divided by n - ddof for n values:
    by default of all the values, with `ddof=1` as of a sample. A group too small for
    its divisor has an answer too, within what two values in the range can have.

    >>> variance("days", 0, 30), variance("days", 0, 30, ddof=1)
    (variance('days', 0, 30), variance('days', 0, 30, ddof=1))
    """
    return _question("variance", column, (low, high), nulls, ddof)


def stdev(
    column: Any,
    low: Any = None,
    high: Any = None,
    *,
    nulls: Nulls = None,
    ddof: Divisor = 0,
) -> Variance:
    """Return a question for the standard deviation of a column, clamped to [low, high].

    It is the root of `variance`, with the same divisor.

    >>> stdev("days", 0, 30)
    stdev('days', 0, 30)
    """
    return _question(_ROOT, column, (low, high), nulls, ddof)


def _question(
    name: str, column: Any, ends: tuple[Any, Any], nulls: Nulls, ddof: Any
) -> Variance:
    check_bounds(*ends)
    taken = arguments.integer(ddof=ddof, least=0, most=1)
    return Variance(column, *ends, nulls, taken, name)
