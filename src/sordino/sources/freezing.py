"""Frozen tables: public rows that were read once, as our types."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sordino.schema import Schema
from sordino.sources.arrow import TableSource
from sordino.sources.base import Opened, Stored


def mapped_table(
    batches: Iterable[pa.RecordBatch], schema: Schema, path: Path
) -> pa.Table:
    """Write the rows of a table to a file, and return it as it lies there.

    Of a mapped file, memory holds what is being read, and gives it up when it is short.
    """
    form = _form(schema)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, form) as writer:
        for batch in batches:
            columns = [
                column.cast(field.type)
                for column, field in zip(batch.columns, form, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=form))
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def table_in_memory(rows: Iterable[Iterable[object]], schema: Schema) -> pa.Table:
    """Return the rows of a table in memory."""
    listed = list(rows)
    columns = list(zip(*listed, strict=True)) or [()] * len(schema.names)
    return pa.Table.from_arrays(
        [
            pa.array(column, field.type)
            for column, field in zip(columns, _form(schema), strict=True)
        ],
        schema=_form(schema),
    )


def freeze_source(opened: Opened, rows: pa.Table) -> Opened:
    """Return a table whose rows are these, whatever becomes of its source."""
    stored = {
        name: Stored(place, column.arrow, column.type)
        for place, (name, column) in enumerate(opened.schema.columns)
    }
    return replace(opened, source=TableSource(rows), stored=stored)


def _form(schema: Schema) -> pa.Schema:
    return pa.schema([(name, column.arrow) for name, column in schema.columns])
