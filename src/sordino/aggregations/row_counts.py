"""The number of rows of a group: counted alone, or told by the moments of a column."""

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.estimators import LinearEstimator
from sordino.aggregations.moments import row_moments
from sordino.aggregations.rows import rows_measurement


def row_estimators(setting: Setting) -> tuple[AbstractEstimator, ...]:
    """Return the row counts with noise, and between them what a column says."""
    alone = SingleEstimator((rows_measurement(setting),), least=0)
    found = row_moments(setting)
    if found is None or found.rows is None:
        return (alone,)
    told = LinearEstimator(found, found.rows, least=0, whole=True)
    return (alone, told, alone)
