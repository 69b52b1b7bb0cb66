"""The first few groups in the order in which they were chosen, with their ranks."""

from typing import TYPE_CHECKING

import numpy as np

from sordino.aggregations.intervals import unknown_bars
from sordino.aggregations.matching import match_rows
from sordino.query.first_few import RANK

if TYPE_CHECKING:
    import pyarrow as pa


def rank_tables(
    table: "pa.Table", errors: "pa.Table", shown: "pa.Table"
) -> "tuple[pa.Table, pa.Table]":
    """Return values and errors of groups in the order of `shown`, with their ranks.

    A rank has no interval. The columns of `shown` are the keys.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    by = shown.num_columns
    order = match_rows(table.select(range(by)), shown.select(table.column_names[:by]))
    ranks = pa.array(np.arange(1, order.size + 1))
    table = table.take(order).add_column(by, RANK, ranks)
    errors = errors.take(order)
    bars = unknown_bars(order.size).columns(RANK)
    for place, (name, column) in enumerate(bars.items()):
        errors = errors.add_column(by + place, name, column)
    return table, errors
