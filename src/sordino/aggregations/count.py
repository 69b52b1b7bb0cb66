"""How many rows a group has."""

from dataclasses import dataclass
from typing import ClassVar, final

from sordino.aggregations.base import AbstractAggregation, AbstractEstimator, Setting
from sordino.aggregations.row_counts import row_estimators
from sordino.aggregations.summaries import Summary
from sordino.aggregations.totals import Total
from sordino.expressions.literals import literal
from sordino.words import Words, call


@final
@dataclass(frozen=True)
class Count(AbstractAggregation):
    """The number of rows of a group."""

    is_of_all: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Show the call."""
        return "count()"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return call("count")

    @property
    def clamp(self) -> None:
        """Return None: no values are clamped."""

    def summary(self, setting: Setting) -> Summary:
        """Return the number of rows: 1 or more, for an id without any is not there."""
        most = setting.most_together
        bounds = None if most is None else (min(1, most - 1), most)
        return Summary((Total(literal(1)),), bounds=bounds)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the row counts with noise."""
        return row_estimators(setting)


def count() -> Count:
    """Return a question for the number of rows.

    >>> count()
    count()
    """
    return Count()
