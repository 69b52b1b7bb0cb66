"""The sum of a column, clamped to public bounds."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractAggregation, AbstractEstimator, Setting
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Clamped,
    ColumnValues,
    Nulls,
    call_text,
    column_values,
    exact_bounds,
    range_words,
    sum_lattice,
)
from sordino.aggregations.estimators import LinearEstimator
from sordino.aggregations.lattice import Lattice, steps_total
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    IntegerMeasurement,
    LatticeMeasurement,
    scale_change,
)
from sordino.aggregations.moments import divided_moments, separate_moments
from sordino.words import Words


@final
@dataclass(frozen=True)
class Sum(AbstractAggregation):
    """The sum of the values of a group, each clamped to [low, high]."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls

    def __repr__(self) -> str:
        """Show the call."""
        return call_text("sum", self.column, self.low, self.high, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return range_words("sum", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamped(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls, degree=1)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the sums with noise, and those that the moments of the column tell.

        Where the moments lie on a coarser lattice than the sum, it stands alone.
        """
        values = column_values(setting, self.column, self.nulls)
        grid = sum_lattice(self.low, self.high, values.type, SUM_STEPS)
        single = SingleEstimator((sum_measurement(setting, values, grid),))
        whole = values.type == "i64" and grid.exponent == 0
        if whole and grid.width > SUM_STEPS["i64"]:
            return (single,)
        ways = (
            divided_moments(setting, self.clamped),
            separate_moments(setting, self.clamped),
        )
        return (
            single,
            *(LinearEstimator(one, one.total, whole=whole) for one in ways),
        )


def sum_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of lattice steps: a row moves one by max(|low|, |high|) at most.

    A row whose value is missing counts as 0.
    """
    total = (steps_total(values.expression, grid),)
    key = ("sum", values.key, grid)
    most = max(abs(grid.low), abs(grid.high))
    if values.type == "i64" and grid.exponent == 0:
        return IntegerMeasurement(key, scale_change(setting.rows(), most), total)
    size = most * Fraction(2) ** grid.exponent
    return LatticeMeasurement(
        key, scale_change(setting.rows(), size), grid.exponent, total
    )


def sum(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Sum:  # noqa: A001 the word for it
    """Return a question for the sum of a column, each value clamped to [low, high].

    Missing values and NaN count as nothing, or as the number `nulls`. Values are added
    on a public lattice: whole numbers exactly while the bounds are within 2**31, floats
    and wider bounds to 2**-23 or 2**-30 of the larger bound. A total stops growing at
    2**53 steps.

    >>> sum("days", 0, 30)
    sum('days', 0, 30)
    """
    exact_bounds(low, high)
    return Sum(column, low, high, nulls)
