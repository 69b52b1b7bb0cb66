"""How many different values some columns have in a group."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from sordino import _validate
from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractAggregation, AbstractEstimator, Setting
from sordino.aggregations.count_ids import ids_estimators
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.summaries import Summary
from sordino.aggregations.totals import Distinct
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.words import Words, call


@final
@dataclass(frozen=True)
class CountDistinct(AbstractAggregation):
    """The number of different values of some columns, none of them missing."""

    is_of_all: ClassVar[bool] = True
    names: tuple[str, ...]

    def __repr__(self) -> str:
        """Show the call."""
        return f"count_distinct({', '.join(map(repr, self.names))})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return call("count_distinct", columns=list(self.names))

    @property
    def clamp(self) -> None:
        """Return None: no values are clamped."""

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the counts with noise: a row moves one of them by at most 1."""
        if self.names == (setting.ids,):
            return ids_estimators(setting)
        self._refuse_lists(setting)
        key = tuple(setting.schema[name].version for name in self.names)
        part = IntegerMeasurement(key, setting.rows(), (Distinct(self.names),))
        complete = not any(setting.schema[name].nullable for name in self.names)
        least = setting.least_rows if complete else 0
        return (SingleEstimator((part,), least=least),)

    def summary(self, setting: Setting) -> Summary:
        """Return the number of different values: of no more than there are rows."""
        self._refuse_lists(setting)
        most = setting.most_together
        bounds = None if most is None else (0, most)
        return Summary((Distinct(self.names),), bounds=bounds)

    def _refuse_lists(self, setting: Setting) -> None:
        """Refuse to compare lists."""
        for name in self.names:
            if setting.schema[name].type.startswith("list"):
                raise InvalidQuery(
                    f"{name!r} is a list column, and lists cannot be compared",
                    "Explode it first.",
                )


def count_distinct(*columns: Any) -> CountDistinct:
    """Return a question for the number of different values of one or more columns.

    Rows in which one of them is missing do not count.

    >>> count_distinct("doctor")
    count_distinct('doctor')
    """
    if not columns:
        raise InvalidParameter(
            "columns",
            columns,
            "must name at least one column",
            'Try count_distinct("doctor").',
        )
    return CountDistinct(tuple(_validate.text(columns=name) for name in columns))
