"""The least and the greatest value of a column among the rows of one id."""

from typing import Any, Final

from sordino.aggregations.base import Setting
from sordino.aggregations.candidates import check_ends
from sordino.aggregations.column_values import ColumnValues, exact_bounds
from sordino.aggregations.summaries import Ends, Summary, plain_ends, whole_ends
from sordino.aggregations.totals import Extreme
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression, when
from sordino.schema import NUMBERS

_TRUTHS: Final = (
    "a bool has no bounds",
    'Leave them out: max("smoker") tells whether any row is true, min whether all are.',
)


def extreme_summary(
    setting: Setting, values: ColumnValues, given: Ends, *, is_greatest: bool
) -> Summary:
    """Return an extreme of the present values, each clamped to the given bounds.

    Of truths the greatest tells whether any is true, the least whether all are.
    """
    nullable = not values.complete
    if values.type == "bool":
        if given[0] is not None:
            raise InvalidQuery(*_TRUTHS)
        extreme = Extreme(values.dsl.cast("i64").tree, is_greatest)
        return Summary(
            extremes=(extreme,), value=lambda extreme: extreme == 1, nullable=nullable
        )
    ends = _ends_of_type(given, values.type)
    value = _clamp(_comparable(setting, values), ends)
    extreme = Extreme(value.tree, is_greatest)
    return Summary(extremes=(extreme,), bounds=ends, nullable=nullable)


def _ends_of_type(given: Ends, kind: str) -> Ends | None:
    """Return bounds as values of a type, outwards; None where none were given."""
    if given[0] is None:
        return None
    check_ends(given[0], kind)
    if kind not in NUMBERS:
        return given
    ends = exact_bounds(*given)
    if kind == "i64":
        return whole_ends(*ends)
    low, high = plain_ends(*ends)
    return float(low), float(high)


def _comparable(setting: Setting, values: ColumnValues) -> Expression:
    """Return the values without NaN: engines sort it in different places."""
    if not values.expression.column(setting.schema).nan:
        return values.dsl
    return when(values.dsl.is_nan()).then(None).otherwise(values.dsl)


def _clamp(value: Expression, ends: Any) -> Expression:
    """Return a value within bounds, missing where it is missing."""
    if ends is None:
        return value
    low, high = ends
    return when(value < low).then(low).when(value > high).then(high).otherwise(value)
