"""The mean of a column, clamped to public bounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.bounded import AbstractBounded, check_bounds
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Clamped,
    Nulls,
    call_text,
    column_values,
    range_words,
    sum_lattice,
)
from sordino.aggregations.estimators import MeanEstimator
from sordino.aggregations.lattice import steps_total, values_total
from sordino.aggregations.moments import divided_moments, separate_moments
from sordino.aggregations.summaries import Summary, plain_ends
from sordino.errors import InvalidQuery
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
        """Return the question and what it is about."""
        return range_words("mean", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamped(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls, degree=1)

    def summary(self, setting: Setting) -> Summary:
        """Return the exact sum on a lattice over the number of values.

        The clamp holds for a sum that has stopped growing, too.
        """
        values = column_values(setting, self.column, self.nulls)
        if self.lacks_bounds:
            raise InvalidQuery(
                f"{self!r} needs bounds, between which values are added up exactly",
                "Give them: mean(column, 0, 100).",
            )
        grid = sum_lattice(self.low, self.high, values.type, SUM_STEPS)
        low, high = plain_ends(grid.bottom, grid.top)

        def quotient(steps: Expression, number: Expression) -> Expression:
            whole = steps.cast("f64") * float(grid.unit)
            return (whole / number.cast("f64")).clip(float(low), float(high))

        return Summary(
            (
                steps_total(values.expression, grid),
                values_total(values.expression, grid),
            ),
            value=quotient,
            bounds=(low, high),
            nullable=not values.complete,
        )

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the mean from the moments of the column, measured in each way."""
        alone = MeanEstimator(separate_moments(setting, self.clamped))
        return (alone, MeanEstimator(divided_moments(setting, self.clamped)), alone)


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
