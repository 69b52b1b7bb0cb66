"""How many rows of a group have no value in a column."""

from dataclasses import dataclass
from typing import Any, final

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractEstimator,
    Setting,
)
from sordino.aggregations.estimators import SingleEstimator
from sordino.aggregations.lattice import Lattice, column_words, steps_total
from sordino.aggregations.measurement import IntegerMeasurement
from sordino.expressions.language import Expression, col, when
from sordino.numbers.canonical import Words, call

_TRUTHS = Lattice(0, 1, 0)


@final
@dataclass(frozen=True)
class CountMissing(AbstractAggregation):
    """The number of rows of a group whose value is missing."""

    column: Any

    def __repr__(self) -> str:
        """Show the call."""
        return f"count_missing({self.column!r})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return call("count_missing", column=column_words(self.column))

    @property
    def clamp(self) -> None:
        """Return None: nothing is clamped."""

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the counts with noise: a row moves the one of its group by 1."""
        cell = self.column if isinstance(self.column, Expression) else col(self.column)
        is_missing = when(cell.is_null()).then(1).otherwise(0)
        is_missing.column(setting.schema)
        total = steps_total(is_missing.tree, _TRUTHS)
        measurement = IntegerMeasurement(("missing", self), setting.rows(), (total,))
        return (SingleEstimator((measurement,), least=0),)


def count_missing(column: Any) -> CountMissing:
    """Return a question for the number of rows without a value.

    >>> count_missing("days")
    count_missing('days')
    """
    return CountMissing(column)
