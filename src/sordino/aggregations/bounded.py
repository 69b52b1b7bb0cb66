"""Questions about values between bounds, given or known of the column."""

from dataclasses import replace
from typing import Any

from sordino.aggregations.base import AbstractAggregation
from sordino.aggregations.column_values import aggregated_cell, exact_bounds
from sordino.schema import Schema


class AbstractBounded(AbstractAggregation):
    """A question about the values of a column, each clamped to [low, high]."""

    column: Any
    low: Any
    """None where no bounds were given: they may be known of the column."""
    high: Any

    def with_known_bounds(self, schema: Schema) -> AbstractAggregation:
        """Return the question with the bounds that its column is known to have."""
        known = aggregated_cell(self.column).column(schema).bounds
        if not self.lacks_bounds or known is None:
            return self
        low, high = known
        question: Any = self
        bounded: AbstractAggregation = replace(question, low=low, high=high)
        return bounded

    @property
    def lacks_bounds(self) -> bool:
        """Tell whether no bounds were given."""
        return self.low is None


def check_bounds(low: Any, high: Any) -> None:
    """Refuse empty or reversed bounds; both may be left out."""
    if low is not None or high is not None:
        exact_bounds(low, high)
