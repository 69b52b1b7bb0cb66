"""How many ids a group has: the people, where ids are the protected unit."""

from dataclasses import dataclass
from typing import ClassVar, final

from sordino.aggregations.base import AbstractAggregation, AbstractEstimator, Setting
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.row_counts import count_estimators, row_estimators
from sordino.aggregations.rows import ROWS, rows_measurement
from sordino.aggregations.totals import Distinct
from sordino.errors import InvalidQuery
from sordino.words import Words, call

IDS = "ids"
"""The key of the number of ids."""


@final
@dataclass(frozen=True)
class CountIds(AbstractAggregation):
    """The number of different ids of a group."""

    is_of_all: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Show the call."""
        return "count_ids()"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return call("count_ids")

    @property
    def clamp(self) -> None:
        """Return None: no values are clamped."""

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the counts of ids with noise."""
        return ids_estimators(setting)


def ids_estimators(setting: Setting) -> tuple[AbstractEstimator, ...]:
    """Return the counts of ids, or of rows where they are the same."""
    measurement = ids_measurement(setting)
    if measurement.key == ROWS:
        return row_estimators(setting)
    return count_estimators(setting, measurement)


def ids_measurement(setting: Setting) -> IntegerMeasurement:
    """Return the counts of ids: an id moves each group that it lies in by 1.

    Where an id has at most one row in each group, they are the row counts.
    """
    if setting.ids is None:
        raise InvalidQuery(
            "count_ids counts protected ids, and this table protects rows",
            'Use sd.count(), or protect ids: protects=sd.AddRowsWithID("person").',
        )
    change = setting.people()
    each = setting.unit_rows
    if each is not None and each.linf == 1:
        return rows_measurement(setting)
    return IntegerMeasurement(IDS, change, (Distinct((setting.ids,)),))


def count_ids() -> CountIds:
    """Return a question for the number of ids.

    >>> count_ids()
    count_ids()
    """
    return CountIds()
