"""What an engine is asked: exact integers for each group of some rows.

The answer is an Arrow table with the columns of `by` (their canonical Arrow types)
followed by one int64 column for each total, named "total 0", "total 1", ... Totals
saturate at +-MOST.

- With no `by` there is exactly one row.
- With `keys` the rows are exactly the keys, in their order; a key without rows has 0.
- Without `keys` there is a row for each group that has rows, in any order.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sordino.aggregations.totals import MOST, AbstractTotal, Distinct, Total
from sordino.query.nodes import AbstractNode

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MOST", "AbstractTotal", "Distinct", "Question", "Total"]


@final
@dataclass(frozen=True)
class Question:
    """Exact totals of rows, for each group."""

    rows: AbstractNode
    by: tuple[str, ...]
    totals: tuple[AbstractTotal, ...]
    keys: "pa.Table | None" = None
    """Public keys, sorted, each once; its columns are exactly `by`."""
