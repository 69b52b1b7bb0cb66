"""Rows in memory: Arrow tables and data sets, and what turns into them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sordino.engines.sources import (
    NOTHING,
    AbstractSource,
    internal,
    or_nothing,
    registered,
)
from sordino.engines.values import coerced
from sordino.schema import Column, arrow_type


@final
class TableSource(AbstractSource):
    """An Arrow table."""

    def __init__(self, table: pa.Table) -> None:
        """Keep a reference to the table, no copy."""
        self._table = table
        self.fields = _fields(table.schema)

    def item(self, name: str) -> exp.Expression:
        """Return the name under which the table is known."""
        return registered(name)

    def handed(self, places: Sequence[int]) -> Any:
        """Return the columns."""
        return self.read(places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return or_nothing(self._table, places)


def emptied(source: AbstractSource) -> TableSource:
    """Return a source of the same columns that holds no rows."""
    return TableSource(pa.schema(source.fields).empty_table())


@final
class DatasetSource(AbstractSource):
    """An Arrow data set: files that Arrow finds and reads."""

    def __init__(self, dataset: Any) -> None:
        """Keep the data set."""
        self._dataset = dataset
        self.fields = _fields(dataset.schema)

    def item(self, name: str) -> exp.Expression:
        """Return the name under which the data set is known."""
        return registered(name)

    def handed(self, places: Sequence[int]) -> Any:
        """Return a scanner of the columns, which can be read again and again."""
        names = internal(places)
        fields = [pc.field(self.fields[place][0]) for place in places]
        columns = dict(zip(names, fields, strict=True)) or {NOTHING: pc.scalar(None)}
        return self._dataset.scanner(columns=columns)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return self.handed(places).to_table()


def _fields(schema: pa.Schema) -> tuple[tuple[str, pa.DataType], ...]:
    return tuple((field.name, field.type) for field in schema)


def of_columns(
    columns: Mapping[str, Any], declared: Mapping[str, Column]
) -> AbstractSource:
    """Return a source of a dict of lists, for trying things out.

    Without a declared type a list has the type that Arrow sees in its values.
    """
    made = [
        _declared(values, declared[name].type) if name in declared else pa.array(values)
        for name, values in columns.items()
    ]
    return TableSource(pa.table(made, names=list(columns)))


def _declared(values: Any, kind: str) -> pa.Array:
    """Return the values that have a type; others are missing."""
    return pa.array([coerced(one, kind) for one in values], arrow_type(kind))


def of_pandas(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a pandas frame.

    A column of Python objects is text, or what it is declared to be: its values are not
    looked at to find out.
    """
    names, arrays = [], []
    for place, label in enumerate(frame.columns):
        name = str(label)
        series = frame.iloc[:, place]
        kind = declared[name].type if name in declared else "text"
        names.append(name)
        arrays.append(_series(series, kind))
    return TableSource(pa.Table.from_arrays(arrays, names=names))


def _series(series: Any, kind: str) -> Any:
    if series.dtype == object:
        return _objects(series, kind)
    return _tried(lambda: pa.Array.from_pandas(series), len(series))


def _objects(series: Any, kind: str) -> Any:
    """Return objects of one type at Arrow's speed, mixed ones value by value."""
    try:
        return pa.Array.from_pandas(series, type=arrow_type(kind))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _declared(series, kind)


def of_polars(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a Polars frame; a lazy one is collected."""
    del declared
    eager = frame.lazy().collect()
    columns = [_tried(one.to_arrow, len(one)) for one in eager.get_columns()]
    return TableSource(pa.Table.from_arrays(columns, names=eager.columns))


def _tried(convert: Callable[[], Any], length: int) -> Any:
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
    "pyarrow.Dataset": lambda found, declared: DatasetSource(found),  # noqa: ARG005 door
    "pyarrow.RecordBatch": lambda batch, declared: TableSource(  # noqa: ARG005 door
        pa.Table.from_batches([batch])
    ),
    "pyarrow.RecordBatchReader": of_batches,
    "builtins.dict": of_columns,
    "pandas.DataFrame": of_pandas,
    "polars.DataFrame": of_polars,
    "polars.LazyFrame": of_polars,
}
"""How the objects of each class become a source, by package and class."""
