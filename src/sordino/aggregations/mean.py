"""The mean of a column, clamped to public bounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.bounded import AbstractBounded, check_bounds
from sordino.aggregations.column_sums import exact_sum
from sordino.aggregations.column_values import (
    Clamped,
    Nulls,
    call_text,
    range_words,
)
from sordino.aggregations.estimators import MeanEstimator
from sordino.aggregations.moments import divided_moments, separate_moments
from sordino.aggregations.sized_moments import sized_moments
from sordino.aggregations.summaries import Summary
from sordino.expressions.language import Expression
from sordino.words import Words


@final
@dataclass(frozen=True)
class Mean(AbstractBounded):
    """The mean of the values of a group, each clamped to [low, high]."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls

    def __repr__(self) -> str:
        """Show the call."""
        return call_text("mean", self.column, self.low, self.high, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return range_words("mean", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamp(self) -> Clamped:
        """Return the bounds."""
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

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the mean from the moments of the column, measured in each way."""
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
