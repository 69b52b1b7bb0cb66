"""Rows of a DuckDB connection of the user.

| handed over | how it is read, for each question |
|---|---|
| (connection, name of a table) | by a cursor of the connection, batch after batch |
| a relation | as a whole: its connection can only do one thing at a time |

Only the columns that are needed are read. No setting of the connection is changed and
nothing is made in it. Temporary tables are seen by their own connection alone: hand
those over as a relation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.errors import EngineFailure
from sordino.schema import Column
from sordino.sources.arrow import fields_of, handed_columns
from sordino.sources.arrow_values import ROWS
from sordino.sources.base import NOTHING, AbstractSource, internal
from sordino.sources.paths import Fields


@final
class RelationSource(AbstractSource):
    """A relation, read as a whole."""

    ours = True

    def __init__(self, relation: Any) -> None:
        """Ask for the types of the columns, and for no row."""
        self._relation = relation
        self.fields = _fields(relation)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns."""
        batches = self.read(places).to_batches(max_chunksize=ROWS)
        return handed_columns(batches, self.fields, places)

    def check(self) -> None:
        """Refuse a relation of other columns, or of a connection that is closed."""
        _refuse_other(self._relation, self.fields)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        self.check()
        return _columns(self._relation, places).to_arrow_table()


@final
class TableOfConnection(AbstractSource):
    """A table that a connection knows, read batch after batch."""

    ours = True

    def __init__(self, connection: Any, name: str) -> None:
        """Ask for the types of the columns, and for no row."""
        self._connection = connection
        self._name = name
        self.fields = _fields(self._relation())

    def _relation(self) -> Any:
        return self._connection.cursor().table(self._name)

    def check(self) -> None:
        """Refuse a table that is gone, or has other columns."""
        _refuse_other(self._relation(), self.fields)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns, to be read once."""
        self.check()
        return handed_columns(self._reader(places), self.fields, places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return self._reader(places).read_all()

    def _reader(self, places: Sequence[int]) -> Any:
        return _columns(self._relation(), places).to_arrow_reader(ROWS)


def _fields(relation: Any) -> Fields:
    return fields_of(relation.limit(0).to_arrow_table().schema)


def _refuse_other(relation: Any, fields: Fields) -> None:
    """Refuse a relation of other columns: they are found by their places."""
    if _fields(relation) != fields:
        raise EngineFailure


def _columns(relation: Any, places: Sequence[int]) -> Any:
    """Return some columns of a relation, found by their places: #1 is the first."""
    columns = [
        exp.alias_(exp.PositionalColumn(this=exp.Literal.number(place + 1)), name)
        for place, name in zip(places, internal(places), strict=True)
    ] or [exp.alias_(exp.null(), NOTHING)]
    return relation.project(", ".join(column.sql("duckdb") for column in columns))


def of_relation(relation: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a relation."""
    del declared
    return RelationSource(relation)


def of_table(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (connection, name of a table)."""
    del declared
    connection, name = pair
    return TableOfConnection(connection, name)


READERS: Final = {
    "(duckdb.DuckDBPyConnection, name)": of_table,
    "duckdb.DuckDBPyRelation": of_relation,
}
"""How what lives in DuckDB becomes a source, by its kind."""
