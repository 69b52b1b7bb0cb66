"""What names mean to a cursor of the user's connection: tables, views, functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import duckdb
from sqlglot import exp

_NAMED: Final = """
SELECT database_name, schema_name, table_name, NULL FROM duckdb_tables()
WHERE lower(table_name) = lower($1) AND NOT internal
UNION ALL
SELECT database_name, schema_name, view_name, sql FROM duckdb_views()
WHERE lower(view_name) = lower($1) AND NOT internal
"""
_COLUMNS: Final = """
SELECT column_name, is_generated FROM duckdb_columns()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 ORDER BY column_index
"""
_TEMPORARY: Final = """
SELECT table_name FROM duckdb_tables() WHERE temporary
UNION ALL
SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal
"""
_FORMS: Final = """
SELECT count(DISTINCT form) FROM (
    SELECT list((name, type, type_length, converted_type, scale, precision,
        logical_type, num_children)) AS form
    FROM parquet_schema({}) GROUP BY file_name
)
"""
_OURS: Final = "SELECT database_name FROM duckdb_databases() WHERE type = 'duckdb'"
_REDEFINED: Final = """
SELECT function_name FROM duckdb_functions() WHERE NOT internal
"""
_HOME: Final = "SELECT current_database(), current_schema()"
_VIEW: Final = re.compile(r'CREATE VIEW (?:[^"]|"(?:[^"]|"")*")*? AS (.*);', re.DOTALL)
"""The first AS that does not stand in a quoted name."""

Home = tuple[str, str]
"""A database and a schema."""


@final
@dataclass(frozen=True)
class NamedTable:
    """A table that DuckDB itself stores."""

    path: str
    columns: tuple[str, ...]


@final
@dataclass(frozen=True)
class NamedView:
    """A view: its text, where the names in it are looked for, and its columns."""

    text: str
    home: Home
    columns: tuple[str, ...]


@final
@dataclass(frozen=True)
class UserNames:
    """What names mean to a cursor."""

    cursor: duckdb.DuckDBPyConnection
    hidden: frozenset[str] = frozenset()
    """Names that mean something else to the connection that made the relation."""
    redefined: frozenset[str] = frozenset()
    """Functions that it has redefined for itself alone."""

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions that the user made, which may stand before DuckDB's own."""
        return self.redefined | _names(self.cursor.execute(_REDEFINED).fetchall())

    def find(
        self, qualifiers: Sequence[str], name: str, home: Home | None
    ) -> NamedTable | NamedView | None:
        """Return what stands under a name, or None if nothing does for certain."""
        rows = self.cursor.execute(_NAMED, [name]).fetchall()
        wanted = {part.casefold() for part in qualifiers}
        if wanted:
            near = [
                row for row in rows if wanted <= {part.casefold() for part in row[:2]}
            ]
        else:
            here = home or self.cursor.execute(_HOME).fetchall()[0]
            near = [row for row in rows if row[:2] == here] or rows
        if len(near) != 1 or name.casefold() in self.hidden:
            return None
        database, schema, exact, text = near[0]
        columns = self.cursor.execute(_COLUMNS, [database, schema, exact]).fetchall()
        names = tuple(column for column, _ in columns)
        if text is not None:
            view = _VIEW.fullmatch(text.strip())
            return view and NamedView(view[1], (database, schema), names)
        stored = (database,) in self.cursor.execute(_OURS).fetchall()
        # What another database hands over, and what a generated column computes, is
        # not seen here.
        if not stored or any(generated for _, generated in columns):
            return None
        parts = (exp.to_identifier(part, quoted=True) for part in near[0][:3])
        return NamedTable(".".join(part.sql("duckdb") for part in parts), names)

    def columns_of(self, table: str) -> tuple[tuple[str, str], ...]:
        """Return the columns of what stands in FROM, and their types."""
        described = self.cursor.execute(f"DESCRIBE FROM {table}").fetchall()
        return tuple((name, kind) for name, kind, *_ in described)

    def are_alike(self, files: str) -> bool:
        """Tell whether Parquet files have the same columns: else a cast could fail."""
        ((forms,),) = self.cursor.execute(_FORMS.format(files)).fetchall()
        return bool(forms == 1)


def have_one_type(parts: list[tuple[tuple[str, str], ...]], *, by_name: bool) -> bool:
    """Tell whether the columns that are put together have the same types."""
    if not by_name:
        return len({tuple(kind for _, kind in columns) for columns in parts}) == 1
    pairs = {(name.casefold(), kind) for columns in parts for name, kind in columns}
    return len(pairs) == len({name for name, _ in pairs})


def own_names(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tables and the functions that mean something to a connection alone."""
    hidden = connection.execute(_TEMPORARY).fetchall()
    return _names(hidden), _names(connection.execute(_REDEFINED).fetchall())


def _names(rows: list[tuple[str]]) -> frozenset[str]:
    return frozenset(name.casefold() for (name,) in rows)
