"""What an engine is asked: exact integers for each group of some rows.

The answer is an Arrow table with the columns of `by` (their canonical Arrow types)
followed by one int64 column for each total, named "total 0", "total 1", ... Totals
saturate at +-MOST.

- With no `by` there is exactly one row.
- With `keys` the rows are exactly the keys, in their order; a key without rows has 0.
- Without `keys` there is a row for each group that has rows, in any order.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from sordino.expressions.base import AbstractExpression
from sordino.query.nodes import AbstractNode

if TYPE_CHECKING:
    import pyarrow as pa

MOST: Final = 2**53
"""Where exact totals saturate: all of them are doubles without rounding."""


class AbstractTotal(ABC):
    """An exact integer for each group."""

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the columns that are read."""


@final
@dataclass(frozen=True)
class Total(AbstractTotal):
    """The sum of an i64 expression over the rows of a group; missing counts as 0."""

    expression: AbstractExpression

    def names(self) -> frozenset[str]:
        """Return the columns of the expression."""
        return self.expression.names()


@final
@dataclass(frozen=True)
class Distinct(AbstractTotal):
    """How many different values of some columns a group has, none of them missing."""

    columns: tuple[str, ...]

    def names(self) -> frozenset[str]:
        """Return the columns."""
        return frozenset(self.columns)


@final
@dataclass(frozen=True)
class Question:
    """Exact totals of rows, for each group."""

    rows: AbstractNode
    by: tuple[str, ...]
    totals: tuple[AbstractTotal, ...]
    keys: "pa.Table | None" = None
    """Public keys, sorted, each once; its columns are exactly `by`."""
