"""Rows in memory: Arrow tables and data sets, and eager Polars frames.

A database is handed columns of our types, read value by value (`columns`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc

from sordino.schema import Column
from sordino.sources.arrow_values import ROWS, value_batches
from sordino.sources.base import (
    NOTHING,
    AbstractSource,
    internal,
    or_nothing,
)
from sordino.sources.paths import Fields


@final
class TableSource(AbstractSource):
    """An Arrow table."""

    ours = True

    def __init__(
        self, table: pa.Table, unsaid: Mapping[str, str] | None = None
    ) -> None:
        """Keep a reference to the table, no copy."""
        self._table = table
        self.fields = fields_of(table.schema)
        self.unsaid = unsaid or {}

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns."""
        batches = self.read(places).to_batches(max_chunksize=ROWS)
        return handed_columns(batches, self.fields, places)

    def size(self) -> int:
        """Return the number of rows."""
        return int(self._table.num_rows)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return or_nothing(self._table, places)


def without_rows(source: AbstractSource) -> TableSource:
    """Return a source of the same columns that holds no rows."""
    return TableSource(pa.Table.from_batches([], pa.schema(source.fields)))


@final
class DatasetSource(AbstractSource):
    """An Arrow data set: files that Arrow finds and reads."""

    ours = True

    def __init__(self, dataset: Any) -> None:
        """Keep the data set."""
        self._dataset = dataset
        self.fields = fields_of(dataset.schema)
        if _is_filtered(dataset):
            self.doubt = (
                "is filtered by Arrow, which believes what files say of their rows"
            )

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns."""
        batches = self._scanner(places).to_batches()
        return handed_columns(batches, self.fields, places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return self._scanner(places).to_table()

    def _scanner(self, places: Sequence[int]) -> Any:
        """Return what reads the columns; no filter, so no statistics are looked at."""
        names = internal(places)
        fields = [pc.field(self.fields[place][0]) for place in places]
        nothing = {NOTHING: pc.scalar(pa.scalar(None, pa.bool_()))}
        columns = dict(zip(names, fields, strict=True)) or nothing
        return self._dataset.scanner(columns=columns, batch_size=ROWS)


def _is_filtered(dataset: Any) -> bool:
    """Tell whether a data set has a filter: its fragments are then refused."""
    try:
        next(iter(dataset.get_fragments()), None)
    except ValueError:
        return True
    return False


def handed_columns(
    batches: Iterable[pa.RecordBatch], fields: Fields, places: Sequence[int]
) -> pa.RecordBatchReader:
    """Return columns for a database, called c0, c1, ... by their places."""
    named = [(f"c{place}", fields[place][1]) for place in places]
    return value_batches(batches, named or [(NOTHING, pa.bool_())])


def fields_of(schema: pa.Schema) -> Fields:
    """Return the names and types of columns."""
    return tuple((field.name, field.type) for field in schema)


def of_polars(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a Polars frame."""
    del declared
    return table_of_frame(frame)


def table_of_frame(frame: Any) -> TableSource:
    """Return the values of a Polars frame, and nothing that it says of their order."""
    columns = [
        _try_convert(column.to_arrow, len(column)) for column in frame.get_columns()
    ]
    return TableSource(pa.Table.from_arrays(columns, names=frame.columns))


def _try_convert(convert: Callable[[], Any], length: int) -> Any:
    """Return a converted column, or one of no type where Arrow has none for it."""
    try:
        return convert()
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return pa.nulls(length)


def of_batches(reader: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a stream of batches, which is read to its end."""
    del declared
    return TableSource(reader.read_all())


FROM_ARROW: Final[dict[str, Callable[..., AbstractSource]]] = {
    "pyarrow.Table": lambda table, declared: TableSource(table),  # noqa: ARG005 door
    "pyarrow.Dataset": lambda dataset, declared: DatasetSource(dataset),  # noqa: ARG005 door
    "pyarrow.RecordBatch": lambda batch, declared: TableSource(  # noqa: ARG005 door
        pa.Table.from_batches([batch])
    ),
    "pyarrow.RecordBatchReader": of_batches,
    "polars.DataFrame": of_polars,
}
"""How the objects of each class become a source, by package and class."""
