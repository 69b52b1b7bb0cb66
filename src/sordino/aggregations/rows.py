"""The number of rows of each group; many answers need it."""

from typing import Final

from sordino.aggregations.base import Setting
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.totals import Total
from sordino.expressions.literals import literal

ROWS: Final = "rows"
"""The key of the number of rows."""


def rows_measurement(setting: Setting) -> IntegerMeasurement:
    """Return the row counts of the groups: a row moves one of them by 1."""
    return IntegerMeasurement(ROWS, setting.counts(), (Total(literal(1)),))
