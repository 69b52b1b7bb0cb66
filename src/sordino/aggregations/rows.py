"""The number of rows of each group, which many answers need."""

from typing import Final

from sordino.aggregations.base import Setting
from sordino.aggregations.parts import IntegerPart
from sordino.aggregations.totals import Total
from sordino.expressions.literals import literal

ROWS: Final = "rows"
"""The key of the number of rows."""


def rows_part(setting: Setting) -> IntegerPart:
    """Return the row counts of the groups: a row moves one of them by 1."""
    return IntegerPart(ROWS, setting.rows(), (Total(literal(1)),))
