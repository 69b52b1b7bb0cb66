"""The exact sum of a column among the rows of one id, and how many values it has."""

from dataclasses import dataclass
from typing import final

from sordino.aggregations.base import Setting
from sordino.aggregations.bounded import AbstractBounded
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Nulls,
    column_values,
    exact_bounds,
    sum_lattice,
)
from sordino.aggregations.lattice import steps_total
from sordino.aggregations.summaries import Ends, plain_ends, whole_ends
from sordino.aggregations.totals import Total
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression


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
