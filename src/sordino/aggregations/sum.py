"""The sum of a column, clamped to public bounds."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.bounded import AbstractBounded, check_bounds
from sordino.aggregations.column_sums import exact_sum
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Clamped,
    ColumnValues,
    Nulls,
    call_text,
    column_values,
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
from sordino.aggregations.sized_moments import sized_moments
from sordino.aggregations.summaries import Summary, ends_of_sum
from sordino.aggregations.weighed_sums import is_weighed, weight_measurement
from sordino.contribution import Weighed
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression, when
from sordino.numbers import down, up
from sordino.schema import Schema
from sordino.words import Words


@final
@dataclass(frozen=True)
class Sum(AbstractBounded):
    """The sum of the values of a group, each clamped to [low, high]."""

    is_of_all: ClassVar[bool] = True
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
        """Return the name of the question and its arguments."""
        return range_words("sum", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamp(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls, degree=1)

    def adds_up(self, weighed: Weighed | None, schema: Schema) -> bool:
        """Tell whether it is the sum of the weighed column, all of it."""
        return self.nulls is None and is_weighed(self.column, weighed, schema)

    def summary(self, setting: Setting) -> Summary:
        """Return the exact sum; of no values it is missing, as SQL says."""
        sums = exact_sum(setting, self, self.nulls)
        ends = sums.ends and ends_of_sum(sums.ends, setting.most_together)
        if sums.complete:
            return Summary((sums.total,), value=sums.in_units, bounds=ends)

        def of_some(total: Expression, number: Expression) -> Expression:
            return when(number > 0).then(sums.in_units(total)).otherwise(None)

        totals = (sums.total, sums.number)
        return Summary(totals, value=of_some, bounds=ends, nullable=True)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the sums with noise, and those that the moments of the column tell.

        Where the moments lie on a coarser lattice than the sum, it stands alone.
        """
        if self.lacks_bounds:
            return (SingleEstimator((weighed_sum(self, setting),), least=0),)
        values = column_values(setting, self.column, self.nulls)
        grid = sum_lattice(self.low, self.high, values.type, SUM_STEPS)
        rows = setting.least_rows if values.complete else 0
        ends = _ends_of_sums(grid.bottom, grid.top, rows)
        single = SingleEstimator((sum_measurement(setting, values, grid),), *ends)
        whole = values.type == "i64" and grid.exponent == 0
        if whole and grid.width > SUM_STEPS["i64"]:
            return (single,)
        sized = sized_moments(setting, self.clamp)
        if sized is not None:
            return (LinearEstimator(sized, sized.total, whole=whole),)
        ways = (
            divided_moments(setting, self.clamp),
            separate_moments(setting, self.clamp),
        )
        return (
            single,
            *(
                LinearEstimator(
                    way,
                    way.total,
                    *_ends_of_sums(way.bottom, way.bottom + way.width, rows),
                    whole=whole,
                )
                for way in ways
            ),
        )


def weighed_sum(question: Sum, setting: Setting) -> AbstractMeasurement:
    """Return the sum of the weighed column; it cannot mark the groups as well."""
    measurement = weight_measurement(setting)
    if measurement is None:
        raise InvalidQuery(
            f"nothing bounds the values of {question!r} in groups of its own values",
            'Give bounds: sum("views", 0, 100); or group by other columns.',
        )
    return measurement


def _ends_of_sums(low: Fraction, high: Fraction, rows: int) -> tuple[float, float]:
    """Return the ends of sums of at least so many numbers, each within two bounds."""
    least = down(rows * low) if low >= 0 else -math.inf
    most = up(rows * high) if high <= 0 else math.inf
    return least, most


def sum_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of lattice steps: a row moves one by max(|low|, |high|) at most.

    A row whose value is missing counts as 0.
    """
    total = (steps_total(values.expression, grid),)
    key = ("sum", values.key, grid)
    most = max(abs(grid.low), abs(grid.high))
    # numbers of both signs pull the same way where one comes and the other leaves
    rows = setting.rows() if grid.low < 0 < grid.high else setting.counts()
    if values.type == "i64" and grid.exponent == 0:
        return IntegerMeasurement(key, scale_change(rows, most), total)
    size = most * Fraction(2) ** grid.exponent
    return LatticeMeasurement(key, scale_change(rows, size), grid.exponent, total)


def sum(  # noqa: A001 the word for it
    column: Any, low: Any = None, high: Any = None, *, nulls: Nulls = None
) -> Sum:
    """Return a question for the sum of a column, each value clamped to [low, high].

    Missing values and NaN count as nothing, or as the number `nulls`. Values are added
    on a public lattice: whole numbers exactly while the bounds are within 2**31, floats
    and wider bounds to 2**-23 or 2**-30 of the larger bound. A total stops growing at
    2**53 steps.

    Bounds may be left out where they are known of the column, as after `per_id`.

    >>> sum("days", 0, 30)
    sum('days', 0, 30)
    """
    check_bounds(low, high)
    return Sum(column, low, high, nulls)
