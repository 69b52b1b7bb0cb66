"""Files that DuckDB reads in place, and rows of a DuckDB connection of the user.

| columns of a file | are read by |
|---|---|
| of types that DuckDB reads by our rules | DuckDB, where the file is Parquet |
| of others: most moments, wide decimals, extensions | Arrow, value by value |

The types of the columns that a question needs decide; the answer is the same on both.

| handed over | how it is read, for each question |
|---|---|
| (connection, name of a table or view) | by a cursor of it, batch after batch |
| a relation | the same, with the settings of the connection that made it |

The optimiser is off for that cursor alone, so that nothing is believed that a file says
of itself; the connection of the user keeps its settings, and nothing is made in it.
Only the columns that are needed are read. The text that is run is the one that was
found to make each row of one row (`row_by_row`). Another one says so (`doubt`), and
is read as it is, where somebody answers for it.

Kernel: totals.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, final

import duckdb
import pyarrow as pa
from sqlglot import exp

from sordino.data.arrow import ROWS, fields_of, handed_columns
from sordino.data.files import Fields
from sordino.data.source import NOTHING, AbstractSource, internal, is_list
from sordino.data.tables import ParquetSource
from sordino.engines.duckdb.row_by_row import NotByRow, RowByRow, UserNames, own_names
from sordino.engines.statements.templates import Sql
from sordino.errors import EngineFailure
from sordino.expressions.schema import Column

_OPTIONS: Final = {"hive_partitioning": exp.false(), "can_have_nan": exp.true()}


def in_place(source: AbstractSource, places: Sequence[int]) -> Sql | None:
    """Return the call that reads the files of a source, or None for all others."""
    if not isinstance(source, ParquetSource):
        return None
    if not all(is_plain(source.fields[place][1]) for place in places):
        return None
    return alias_columns(
        file_call("read_parquet", source.paths, _OPTIONS), len(source.fields)
    )


def is_plain(arrow: pa.DataType) -> bool:
    """Tell whether DuckDB reads each value of a type as our rule says.

    >>> is_plain(pa.timestamp("us")), is_plain(pa.timestamp("us", "UTC"))
    (True, False)
    """
    if is_list(arrow) or pa.types.is_dictionary(arrow):
        return is_plain(arrow.value_type)
    if pa.types.is_decimal(arrow):
        return not pa.types.is_decimal256(arrow) and arrow.scale >= 0
    return arrow == pa.timestamp("us") or any(test(arrow) for test in _PLAIN)


_PLAIN: Final = (
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_date32,
)


def file_call(function: str, paths: Iterable[str], options: Mapping[str, Sql]) -> Sql:
    """Return the call of a function that reads files.

    >>> file_call("read_it", ["o'neill"], {"header": exp.true()}).sql("duckdb")
    "READ_IT(['o''neill'], header = TRUE)"
    """
    listed = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    named = [
        exp.EQ(this=exp.to_identifier(name), expression=value.copy())
        for name, value in options.items()
    ]
    return exp.Anonymous(this=function, expressions=[listed, *named])


def alias_columns(item: Sql, count: int) -> Sql:
    """Return a table whose columns are called c0, c1, ... from the first to the last.

    >>> alias_columns(exp.to_table("s0"), 2).sql("duckdb")
    's0 AS t(c0, c1)'
    """
    columns = [exp.to_identifier(name) for name in internal(range(count))]
    table = item if isinstance(item, exp.Table) else exp.Table(this=item)
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=columns)
    table.set("alias", alias)
    return table


_STEPS: Final = {
    "COLUMN_DATA_SCAN",
    "DUMMY_SCAN",
    "FILTER",
    "GENERATE_SERIES",
    "PARQUET_SCAN",
    "PROJECTION",
    "RANGE",
    "READ_PARQUET",
    "SEQ_SCAN",
    "UNION",
    "UNNEST",
}
_SETTINGS: Final = """
SELECT name, value FROM duckdb_settings()
WHERE name NOT IN ('enable_optimizer', 'schema') AND name NOT LIKE '%progress%'
AND name NOT LIKE '%profil%'
"""


@final
class RelationSource(AbstractSource):
    """A relation, or a table or a view by its name, read batch after batch."""

    ours = True

    def __init__(self, relation: Any, connection: Any, *, whose: bool) -> None:
        """Ask for the types of the columns, and for no row.

        `whose`: whether the relation was made by the connection itself, with its
        settings and its temporary tables.
        """
        self._relation = relation
        self._connection = connection
        self._asked = relation.sql_query()
        self._settings = _settings_of(connection) if whose else {}
        none: frozenset[str] = frozenset()
        self._own = own_names(connection) if whose else (none, none)
        self.fields = _fields(relation)
        try:
            self._text = self._judge()
        except NotByRow as reason:
            self._text, self.doubt = self._asked, str(reason)
        self._alone = bool(self.doubt) and whose and not self._is_seen()

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        self.check()
        return handed_columns(self._reader(places), self.fields, places)

    def check(self) -> None:
        # what was judged is judged again: a view may say something else by now
        if not self.doubt:
            same = self._judge() == self._text
        else:
            same = _fields(self._read_from()) == self.fields
        if not same:
            raise EngineFailure

    def read(self, places: Sequence[int]) -> pa.Table:
        return self._reader(places).read_all()

    def _reader(self, places: Sequence[int]) -> Any:
        columns = _columns(self._read_from(), places)
        if self._alone:  # its connection can only do one thing at a time
            return columns.to_arrow_table().to_reader(ROWS)
        return columns.to_arrow_reader(ROWS)

    def _read_from(self) -> Any:
        return self._relation if self._alone else self._cursor().sql(self._text)

    def _is_seen(self) -> bool:
        """Whether a cursor reads the same: no name that only the connection has."""
        if any(self._own):
            return False
        try:
            return _fields(self._cursor().sql(self._asked)) == self.fields
        except (NotByRow, duckdb.Error):
            return False

    def _judge(self) -> str:
        cursor = self._cursor()
        try:
            text = RowByRow(
                _parser().cursor(), UserNames(cursor, *self._own)
            ).statement(self._asked)
            steps = _steps(cursor, text)
            scans = _scans(_steps(cursor, self._asked))
            other = _fields(cursor.sql(text)) != self.fields
        except duckdb.Error:
            # no word of DuckDB's own, which may quote a constant
            raise NotByRow(
                "says what a row does not have, or what its connection alone knows"
            ) from None
        if other or _scans(steps) != scans:
            raise NotByRow(
                "reads other columns or tables by another cursor, or names of folders"
            )
        for step in steps:
            if step["name"].strip() not in _STEPS or "Filters" in step["extra_info"]:
                raise NotByRow(f"is planned with a step {step['name']}")
        return text

    def _cursor(self) -> Any:
        cursor = self._connection.cursor()
        try:
            for name, value in self._settings.items():
                make_setting(cursor, name, exp.Literal.string(value), "SESSION")
            make_setting(cursor, "enable_optimizer", exp.false(), "SESSION")
        except duckdb.Error:
            raise NotByRow("has settings that no cursor can be given") from None
        return cursor


def make_setting(
    connection: Any, name: str, value: Sql, kind: str | None = None
) -> None:
    """Set an option of a connection, or of all of its database."""
    equal = exp.EQ(this=exp.column(name), expression=value.copy())
    item = exp.SetItem(this=equal, kind=kind)
    connection.execute(exp.Set(expressions=[item]).sql("duckdb"))


def _settings_of(connection: Any) -> dict[str, str]:
    own = dict(connection.execute(_SETTINGS).fetchall())
    fresh = dict(connection.cursor().execute(_SETTINGS).fetchall())
    return {name: value for name, value in own.items() if value != fresh.get(name)}


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def _steps(cursor: Any, text: str) -> list[dict[str, Any]]:
    ((_, plan),) = cursor.execute(f"EXPLAIN (FORMAT json) {text}").fetchall()
    return [step for root in json.loads(plan) for step in _walk_plan(root)]


def _walk_plan(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield step
    for child in step["children"]:
        yield from _walk_plan(child)


def _scans(steps: list[dict[str, Any]]) -> set[str]:
    """Tables that are read, and whether something else is."""
    leaves = (step for step in steps if not step["children"])
    return {
        step["extra_info"].get("Table", "")
        for step in leaves
        if step["name"].strip() != "CTE_SCAN"
    }


def _fields(relation: Any) -> Fields:
    return fields_of(relation.limit(0).to_arrow_table().schema)


def _columns(relation: Any, places: Sequence[int]) -> Any:
    """Columns of a relation by their places: #1 is the first."""
    columns = [
        exp.alias_(exp.PositionalColumn(this=exp.Literal.number(place + 1)), name)
        for place, name in zip(places, internal(places), strict=True)
    ] or [exp.alias_(exp.null(), NOTHING)]
    return relation.project(", ".join(column.sql("duckdb") for column in columns))


def of_relation(relation: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a relation."""
    del declared
    return RelationSource(relation, relation._con, whose=True)  # noqa: SLF001 no other way


def of_table(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (connection, name of a table)."""
    del declared
    connection, name = pair
    return RelationSource(connection.cursor().table(name), connection, whose=False)
