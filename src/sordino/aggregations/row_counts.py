"""The number of rows of a group, in each way to measure it."""

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.centred_counts import centred_estimator
from sordino.aggregations.estimators import LinearEstimator
from sordino.aggregations.known_count import KnownCount
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.moments import row_moments
from sordino.aggregations.rows import rows_measurement


def row_estimators(setting: Setting) -> tuple[AbstractEstimator, ...]:
    """Return row counts with noise: alone, from a column's numbers, and centred."""
    if setting.size is not None and not setting.by and setting.spread is None:
        return (KnownCount(setting.size),)
    counted = rows_measurement(setting)
    column = row_moments(setting)
    divided: LinearEstimator | None = None
    if column is not None and column.rows is not None:
        divided = LinearEstimator(
            column, column.rows, least=setting.least_rows, whole=True
        )
    return count_estimators(setting, counted, divided)


def count_estimators(
    setting: Setting,
    counted: IntegerMeasurement,
    divided: LinearEstimator | None = None,
) -> tuple[AbstractEstimator, ...]:
    """Return counts with noise, in the order of the ways to measure them."""
    alone = SingleEstimator((counted,), least=setting.least_rows)
    centred = centred_estimator(setting, counted)
    return (alone, divided or alone, alone, centred or alone)
