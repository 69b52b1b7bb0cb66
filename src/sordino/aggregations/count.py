"""How many rows a group has."""

from dataclasses import dataclass
from typing import final

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractAggregation, Setting
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.totals import Total
from sordino.expressions.literals import literal
from sordino.words import Words, call

ROWS = "rows"
"""The key of the number of rows."""


@final
@dataclass(frozen=True)
class Count(AbstractAggregation):
    """The number of rows of a group."""

    def __repr__(self) -> str:
        """Show the call."""
        return "count()"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return call("count")

    @property
    def clamped(self) -> None:
        """Return None: nothing is clamped."""

    def estimators(self, setting: Setting) -> tuple[SingleEstimator, ...]:
        """Return the row counts with noise."""
        return (SingleEstimator((rows_measurement(setting),), least=0),)


def rows_measurement(setting: Setting) -> IntegerMeasurement:
    """Return the row counts of the groups: a row moves one of them by 1."""
    return IntegerMeasurement(ROWS, setting.rows(), (Total(literal(1)),))


def count() -> Count:
    """Return a question for the number of rows.

    >>> count()
    count()
    """
    return Count()
