"""Answers in their one form: canonical types, and zeros for keys without rows."""

import numpy as np
import pyarrow as pa

from sordino.arrays import as_arrow, as_numpy
from sordino.engines.sql.group_totals import PLACE
from sordino.query.question import Question
from sordino.schema import Schema, arrow_type


def answer_table(question: Question, rows: pa.Table) -> pa.Table:
    """Return the answer, from groups and totals or from places of keys and totals."""
    keys = question.keys
    width = len(question.by) if keys is None else 1
    columns = rows.columns[width : width + len(question.totals)]
    totals = [total.combine_chunks() for total in columns]
    if keys is None:
        groups = rows.columns[:width]
    else:
        groups = keys.columns
        totals = [
            _spread_totals(rows.column(0), total, keys.num_rows) for total in totals
        ]
    return pa.Table.from_arrays([*groups, *totals], schema=answer_schema(question))


def with_places(keys: pa.Table) -> pa.Table:
    """Return keys as c0, c1, ... with their places."""
    names = [f"c{place}" for place in range(keys.num_columns)]
    places = as_arrow(np.arange(keys.num_rows))
    return keys.rename_columns(names).append_column(PLACE, places)


def _spread_totals(places: pa.ChunkedArray, totals: pa.Array, count: int) -> pa.Array:
    """Return totals at their places, zeros elsewhere."""
    spread = np.zeros(count, np.int64)
    spread[as_numpy(places)] = as_numpy(totals)
    return as_arrow(spread)


def answer_schema(question: Question) -> pa.Schema:
    """Return the columns that every answer to a question has."""
    rows: Schema = question.rows.schema
    by = [pa.field(name, arrow_type(rows[name].type)) for name in question.by]
    places = range(len(question.totals))
    return pa.schema([*by, *(pa.field(f"total {n}", pa.int64()) for n in places)])
