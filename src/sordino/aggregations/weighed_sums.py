"""The sum of a weighed column: one unit moves it by so much, whatever the values."""

from typing import Any

from sordino.aggregations.base import Setting
from sordino.aggregations.column_values import aggregated_cell
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.totals import Total
from sordino.contribution import Weighed
from sordino.expressions.tree import Col
from sordino.schema import Schema


def is_weighed(column: Any, weighed: Weighed | None, schema: Schema) -> bool:
    """Tell whether a column is the weighed one, as it stands."""
    cell = aggregated_cell(column).tree
    if weighed is None or not isinstance(cell, Col):
        return False
    return cell.name in weighed.names_in(schema)


def weight_measurement(setting: Setting) -> IntegerMeasurement | None:
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
    total = Total(Col(name))
    return IntegerMeasurement(("weight", setting.weighed.version), change, (total,))
