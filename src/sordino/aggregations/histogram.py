"""How many rows of a group lie in each bin of a column, one column for each bin."""

from dataclasses import dataclass
from typing import Any, Final, final

from sordino import _validate
from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractAggregation, AbstractEstimator, Setting
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.totals import Total
from sordino.errors import InvalidParameter
from sordino.expressions.bins import Bins
from sordino.expressions.language import Expression, col, lit, when
from sordino.schema import Version
from sordino.words import Words, call

MOST_COLUMNS: Final = 300
"""So many totals every engine adds up within a second; bins as rows may be more."""


@final
@dataclass(frozen=True)
class Histogram(AbstractAggregation):
    """The numbers of rows in bins; a row lies in one bin or in none."""

    column: str
    bins: Bins

    def __repr__(self) -> str:
        """Show the call."""
        return f"histogram({self.column!r}, {list(self.bins.edges)!r})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return a column for each bin."""
        return tuple(f"{name} {label}" for label in self.bins.labels)

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return call("histogram", column=self.column, bins=self.bins.words)

    @property
    def clamp(self) -> None:
        """Return None: no values are clamped."""

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the counts with noise: bins split the rows of a group further."""
        col(self.column).bin(self.bins).column(setting.schema)  # refuses other edges
        totals = tuple(
            Total(when(self._lies(place)).then(1).otherwise(lit(0)).tree)
            for place in range(len(self.bins.labels))
        )
        change = setting.rows(frozenset([Version()]))
        key = ("histogram", setting.schema[self.column].version, self.bins)
        return (SingleEstimator((IntegerMeasurement(key, change, totals),), least=0),)

    def _lies(self, place: int) -> Expression:
        """Return whether a value lies in one of the ranges, by the rule of `Bins`."""
        cell, edges = col(self.column), self.bins.edges
        low, high = edges[place : place + 2]
        above = cell >= low if self.bins.opens(place) else cell > low
        below = cell < high if self.bins.opens(place + 1) else cell <= high
        both: Expression = above & below
        return both


def histogram(column: str, bins: Any) -> Histogram:
    """Return a question for the number of rows in each bin of a column.

    Rows in no bin, and rows whose value is missing, are not counted. To have the bins
    as rows of the answer, ask `query.histogram(column, bins)`.

    >>> histogram("age", [0, 18, 65, 120]).columns("age")
    ('age [0, 18)', 'age [18, 65)', 'age [65, 120]')
    """
    ranges = bins if isinstance(bins, Bins) else Bins(bins)
    if len(ranges.labels) > MOST_COLUMNS:
        raise InvalidParameter(
            "bins",
            f"{len(ranges.labels)} of them",
            f"would become columns, and at most {MOST_COLUMNS} are allowed",
            "Ask query.histogram(column, bins): there they are rows.",
        )
    return Histogram(_validate.text(column=column), ranges)
