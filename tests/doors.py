"""The doors of a session: one table in every form that it can be handed over in.

    for door in DOORS.values():
        session_of(door.opened(table, folder), door.declared(table))

A new source is one more line of DOORS, and every law over sources holds it.
"""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import sordino as sd
from sordino.data.source import is_list, kind_of
from sordino.data.units import AbstractUnit
from sordino.expressions.schema import Column
from tests.postgres_server import stored_table
from tests.spark_here import frame_of_rows

T = TypeVar("T")


@dataclass(frozen=True)
class Door:
    """How a table of our types is handed over."""

    opened: Callable[[pa.Table, Path], Any]
    """(table, an empty folder) -> what a user hands over"""
    typed: bool = True
    """Whether it says the types of its columns; otherwise they are declared."""
    nan: bool = True
    """Whether it keeps NaN and missing apart."""
    lists: bool = True
    """Whether it holds lists."""
    nul: bool = True
    """Whether its texts can hold U+0000."""

    def declared(self, table: pa.Table) -> dict[str, Column]:
        kinds = {one.name: kind_of(one.type) for one in table.schema}
        return (
            {}
            if self.typed
            else {name: Column(kind or "") for name, kind in kinds.items()}
        )

    def held(self, table: pa.Table) -> pa.Table:
        """Return the columns that the door holds, and the rows."""
        names = [
            one.name for one in table.schema if self.lists or not is_list(one.type)
        ]
        table = table.select(names)
        for one in table.schema:
            if not self.nul and pa.types.is_string(one.type):
                odd = pc.fill_null(pc.match_substring(table[one.name], "\0"), False)
                table = table.filter(pc.invert(odd))
        return table

    def private(
        self,
        table: pa.Table,
        protects: AbstractUnit,
        facts: Mapping[str, Column] | None = None,
    ) -> sd.PrivateTable:
        """Return a private table; its files last as long as the process."""
        folder = Path(tempfile.mkdtemp(dir=_ROOM.name))
        held = self.held(table)
        columns = {**self.declared(held), **(facts or {})}
        source = self.opened(held, folder)
        return sd.PrivateTable(source, protects=protects, columns=columns)


_ROOM: Final = tempfile.TemporaryDirectory(prefix="doors-")


def _pyarrow(table: pa.Table, folder: Path) -> Path:
    """Write row groups of two rows, with every statistic that there is."""
    path = folder / "t.parquet"
    pq.write_table(table, path, row_group_size=2, write_page_index=True)
    return path


def _several(table: pa.Table, folder: Path) -> str:
    """Write files of three rows."""
    for start in range(0, max(1, table.num_rows), 3):
        pq.write_table(table.slice(start, 3), folder / f"{start}.parquet")
    return str(folder / "*.parquet")


def _polars(table: pa.Table, folder: Path) -> Path:
    path = folder / "t.parquet"
    frame = pl.DataFrame(pl.from_arrow(table))
    frame.write_parquet(path, row_group_size=2, statistics="full")
    return path


def _duckdb(table: pa.Table, folder: Path) -> Path:
    path = folder / "t.parquet"
    _table(table).write_parquet(str(path))
    return path


def _text(table: pa.Table, folder: Path) -> sd.Csv:
    """Write a text file as Polars does."""
    path = folder / "t.csv"
    pl.DataFrame(pl.from_arrow(table)).write_csv(path)
    return sd.Csv(path)


def _german(table: pa.Table, folder: Path) -> sd.Csv:
    """Write a text file with semicolons, comma decimals, days first, and two bytes."""
    plain, path = folder / "plain.csv", folder / "t.csv"
    pl.DataFrame(pl.from_arrow(table)).write_csv(
        plain,
        separator=";",
        decimal_comma=True,
        date_format="%d.%m.%Y",
        datetime_format="%d.%m.%Y %H:%M:%S%.6f",
    )
    path.write_bytes(plain.read_bytes().decode().encode("utf-16"))
    return sd.Csv(
        path,
        delimiter=";",
        decimal=",",
        encoding="utf-16",
        date="%d.%m.%Y",
        time="%d.%m.%Y %H:%M:%S.%f",
    )


def _connected(table: pa.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("held", table)
    connection.execute("CREATE TABLE t AS FROM held")
    return connection


def _table(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return _connected(table).table("t")


def _objects(table: pa.Table) -> pd.DataFrame:
    columns = table.to_pydict()
    return pd.DataFrame({
        name: pd.Series(values, dtype=object) for name, values in columns.items()
    })


def _categories(table: pa.Table) -> pd.DataFrame:
    """Return a frame of categories, but for lists, which are none."""
    frame = _objects(table)
    for one in table.schema:
        if not is_list(one.type):
            frame[one.name] = frame[one.name].astype("category")
    return frame


_NULLABLE: Final[Mapping[pa.DataType, Any]] = {
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype("python"),
    pa.date32(): pd.ArrowDtype(pa.date32()),
    pa.list_(pa.int64()): pd.ArrowDtype(pa.list_(pa.int64())),
}


DOORS: Final[Mapping[str, Door]] = {
    "arrow": Door(lambda table, _: table),
    "arrow stream": Door(lambda table, _: table.to_reader(2)),
    "arrow views": Door(lambda table, _: _views(table)),
    "data set": Door(lambda table, folder: ds.dataset(_pyarrow(table, folder))),
    "parquet by pyarrow": Door(_pyarrow),
    "parquet by polars": Door(_polars),
    "parquet by duckdb": Door(_duckdb),
    "several files": Door(_several),
    "parquet, odd": Door(lambda table, folder: _pyarrow(_odd(table), folder)),
    "pandas": Door(
        lambda table, _: table.to_pandas(types_mapper=_NULLABLE.get), nan=False
    ),
    "pandas of arrow": Door(
        lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype)
    ),
    "pandas objects": Door(lambda table, _: _objects(table), typed=False, nan=False),
    "pandas categories": Door(
        lambda table, _: _categories(table), typed=False, nan=False
    ),
    "polars": Door(lambda table, _: pl.from_arrow(table)),
    "lazy polars": Door(lambda table, folder: pl.scan_parquet(_polars(table, folder))),
    "duckdb table": Door(lambda table, _: (_connected(table), "t")),
    "duckdb relation": Door(lambda table, _: _table(table)),
    "text file": Door(_text, typed=False, lists=False),
    "text file, German": Door(_german, typed=False, lists=False),
    "table of a server": Door(lambda table, _: stored_table(table), nul=False),
    "frame of Spark": Door(lambda table, _: frame_of_rows(table)),
    "dict": Door(lambda table, _: table.to_pydict(), typed=False),
}
"""Every form; the first is the plainest."""


def _views(table: pa.Table) -> pa.Table:
    """Return the same values as texts of another form, in a dictionary, and nested."""
    fields = [_VIEWS.get(one.type, one.type) for one in table.schema]
    columns = [one.cast(kind) for one, kind in zip(table.columns, fields, strict=True)]
    coded = [
        one.dictionary_encode() if pa.types.is_integer(one.type) else one
        for one in columns
    ]
    return pa.table(coded, names=table.schema.names)


_VIEWS: Final = {
    pa.string(): pa.string_view(),
    pa.list_(pa.int64()): pa.large_list(pa.int64()),
    pa.date32(): pa.date64(),
}


def _odd(table: pa.Table) -> pa.Table:
    """Return moments with a zone, which no database reads by itself."""
    kinds = [
        pa.timestamp("us", "UTC") if pa.types.is_timestamp(one.type) else one.type
        for one in table.schema
    ]
    columns = [one.cast(kind) for one, kind in zip(table.columns, kinds, strict=True)]
    return pa.table(columns, names=table.schema.names)


def across(firsts: Sequence[T]) -> list[tuple[T, str]]:
    """Return pairs of all things with all doors at night, else a sample of them.

    Of a sample each thing and each door has its part.
    """
    names = list(DOORS)
    if os.environ.get("SORDINO_PROFILE") == "night":
        return [(one, name) for one in firsts for name in names]
    count = max(len(firsts), len(names))
    return [(firsts[n % len(firsts)], names[n % len(names)]) for n in range(count)]
