"""Sum; sums of weighed columns; the exact sum of one id.

Ids weigh 1 over the root of the number of their groups, so one id moves the weights of
all groups by at most 1 together (docs/proofs/keys.md); their sums are integers of
2**-20.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, final

from sordino.aggregations.aggregation import AbstractEstimator, LostAdds, Setting
from sordino.aggregations.estimators import LinearEstimator, SingleEstimator
from sordino.aggregations.lattice import (
    SUM_STEPS,
    AbstractAdded,
    AbstractBounded,
    Clamped,
    ColumnValues,
    Lattice,
    Nulls,
    aggregated_cell,
    call_text,
    check_bounds,
    column_values,
    exact_bounds,
    range_words,
    steps_total,
    sum_lattice,
)
from sordino.aggregations.measurement import (
    MOST,
    AbstractMeasurement,
    Ends,
    IntegerMeasurement,
    LatticeMeasurement,
    Summary,
    Total,
    ends_of_sum,
    plain_ends,
    scale_change,
    whole_ends,
)
from sordino.aggregations.moments import (
    divided_moments,
    separate_moments,
    sized_moments,
)
from sordino.data.contribution import Weighed
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression, col, when
from sordino.expressions.schema import Schema
from sordino.expressions.tree import Col
from sordino.noise.key_rounds import weight_steps
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import down, up
from sordino.numbers.canonical import Words


@final
@dataclass(frozen=True)
class ExactSum:
    """Totals of a column: the sum of its values, in units, and their number."""

    total: Total
    number: Total
    unit: float | None
    """Of the steps of floats; integers are added up as they are."""
    ends: Ends | None
    """Each value lies between these."""
    complete: bool
    """Whether every row has a value."""

    def in_units(self, total: Expression) -> Expression:
        """Return the sum of the values, of their steps: a double for floats."""
        return total if self.unit is None else total.cast("f64") * self.unit


def exact_sum(setting: Setting, question: AbstractBounded, nulls: Nulls) -> ExactSum:
    """Return the totals of integers, or of floats on the lattice of their bounds.

    A sum of doubles would depend on their order, so floats need bounds.
    """
    values = column_values(setting, question.column, nulls)
    if values.type == "f64" and question.lacks_bounds:
        raise InvalidQuery(
            f"{question!r} adds up floats, and only within bounds is that exact",
            "Give bounds: sum(column, 0, 100).",
        )
    unit: float | None = None
    ends: Ends | None = None
    if values.type == "f64":
        grid = sum_lattice(question.low, question.high, "f64", SUM_STEPS)
        total = steps_total(values.expression, grid)
        unit, ends = float(grid.unit), plain_ends(grid.bottom, grid.top)
    elif question.lacks_bounds:
        total = Total(values.expression)
    else:
        ends = whole_ends(*exact_bounds(question.low, question.high))
        total = Total(values.dsl.clip(*ends).tree)
    return ExactSum(total, Total(total.expression, 0, 1), unit, ends, values.complete)


WEIGHTS: Final = "weights"
"""The key of the sums of weights."""


def weights_measurement(setting: Setting, size: str) -> IntegerMeasurement:
    """Return the sums of weights of rows that have their number in a column `size`.

    Stated in weights, not in steps: at most `keys` numbers move, by 1 in all.
    """
    people = setting.people()
    steps = weight_steps(int(people.l0))
    *several, (_, last) = steps
    if not several:
        total = Total(col(size).tree, factor=0, shift=last)
        return IntegerMeasurement(WEIGHTS, Sensitivity(l0=1, linf=1), (total,))
    ladder = when(col(size) <= several[0][0]).then(several[0][1])
    for end, weight in several[1:]:
        ladder = ladder.when(col(size) <= end).then(weight)
    total = Total(ladder.otherwise(last).tree)
    # 1 over the root of k in each of k groups: the squares add up to 1
    change = Sensitivity(l0=people.l0, linf=1, l2=1)
    return IntegerMeasurement(WEIGHTS, change, (total,))


def is_weighed(column: Any, weighed: Weighed | None, schema: Schema) -> bool:
    """Tell whether a column is the weighed one, as it stands."""
    cell = aggregated_cell(column).tree
    if weighed is None or not isinstance(cell, Col):
        return False
    return cell.name in weighed.names_in(schema)


def weight_measurement(
    setting: Setting, ends: tuple[int, int] | None = None
) -> IntegerMeasurement | None:
    """Return the sums of the weighed column in the groups, None without one.

    For any two neighbours a group moves by what a unit adds in it: a number grows or
    shrinks by that, or a row comes or leaves with all of it (docs/proofs/units.md).
    """
    change = setting.weight()
    if change is None or setting.weighed is None:
        return None
    name = min(setting.weighed.names_in(setting.schema), default=None)
    if name is None:
        return None
    key, cell = ("weight", setting.weighed.version), col(name)
    if ends is None:
        return IntegerMeasurement(key, change, (Total(cell.tree),))
    clamped = Total(cell.clip(*ends).tree)
    return IntegerMeasurement((*key, ends), change, (clamped,))


def clamped_weight(question: Any, setting: Setting) -> IntegerMeasurement | None:
    """Return the sums of the weighed column within bounds, None unless they keep 0.

    A clamp brings no two numbers further apart, and where nothing stays nothing, it
    moves as the column itself does (docs/proofs/units.md, lemma 4).
    """
    if not is_weighed(question.column, setting.weighed, setting.schema):
        return None
    least, most = whole_ends(*exact_bounds(question.low, question.high))
    # of numbers from 1 on: a clamp to [2, 9] would make a row that comes 2 at once
    if least > 1 or most < 1:
        return None
    return weight_measurement(setting, (max(least, 0), min(most, MOST)))


@final
@dataclass(frozen=True)
class Sum(AbstractAdded):
    """The sum of the values of a group, each clamped to [low, high]."""

    is_of_all: ClassVar[bool] = True
    column: Any
    low: Any
    high: Any
    nulls: Nulls

    def __repr__(self) -> str:
        return call_text("sum", self.column, self.low, self.high, nulls=self.nulls)

    @property
    def words(self) -> Words:
        return range_words("sum", self.column, (self.low, self.high), self.nulls)

    @cached_property
    def clamp(self) -> Clamped:
        return Clamped(self.column, self.low, self.high, self.nulls, degree=1)

    def adds_up(self, weighed: Weighed | None, schema: Schema) -> bool:
        return self.nulls is None and is_weighed(self.column, weighed, schema)

    def summary(self, setting: Setting) -> Summary:
        sums = exact_sum(setting, self, self.nulls)
        ends = sums.ends and ends_of_sum(sums.ends, setting.most_together)
        if sums.complete:
            return Summary((sums.total,), value=sums.in_units, bounds=ends)

        def of_some(total: Expression, number: Expression) -> Expression:
            # the sum of no values is missing, as in SQL
            return when(number > 0).then(sums.in_units(total)).otherwise(None)

        totals = (sums.total, sums.number)
        return Summary(totals, value=of_some, bounds=ends, nullable=True)

    @property
    def lost_adds(self) -> LostAdds | None:
        if self.lacks_bounds:
            return None
        # outward: values are rounded to a lattice that is no wider than this
        grid = sum_lattice(self.low, self.high, "f64", SUM_STEPS)
        # a row may have no value, which adds 0
        return LostAdds(min(down(grid.bottom), 0.0), max(up(grid.top), 0.0))

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
        measured = clamped_weight(self, setting) or sum_measurement(
            setting, values, grid
        )
        single = SingleEstimator((measured,), *ends)
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
    # more rows only add where no value is below 0
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
