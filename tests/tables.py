"""Small random tables, their neighbours and their permutations, for laws of queries.

    @given(tables({"id": "i64", "ward": "text", "days": "f64"}).flatmap(
        lambda table: st.tuples(st.just(table), neighbours_by_id(table, "id"))))
    def test_a_law(pair): ...

Values come from small pools with the hard ones in them, so that rows, groups and
identifiers repeat.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, TypeAlias, final

import pyarrow as pa
from hypothesis import strategies as st

from sordino.expressions.schema import PLAIN, Column, Schema

Row: TypeAlias = tuple[Any, ...]

POOLS: Final[dict[str, tuple[Any, ...]]] = {
    "i64": (0, 1, 2, -1, 3, 2**53 + 1, 2**63 - 1, -(2**63)),
    "f64": (0.0, 1.0, -1.0, 0.5, -0.0, 0.1, 1e308, 5e-324, math.inf, -math.inf),
    "text": ("a", "b", "", "A", "a ", "é", "e\u0301", "\U0001f600", "x\0", "null"),
    "bool": (False, True),
    "date": (date(2025, 1, 1), date(1969, 12, 31), date.min, date.max),
    "time": (
        datetime.fromisoformat("2025-01-01T12:00:00.000001"),
        datetime.fromisoformat("1969-12-31T23:59:59.999999"),
        datetime.fromisoformat("0001-01-01T00:00:00"),
        datetime.fromisoformat("9999-12-31T23:59:59.999999"),
    ),
}
"""Values of each type: plain ones first, then the hard ones. NaN is drawn apart."""


@final
@dataclass(frozen=True)
class Table:
    """Rows, whose order means nothing, and the facts that hold of them."""

    schema: Schema
    rows: tuple[Row, ...]

    @property
    def columns(self) -> dict[str, list[Any]]:
        return {
            name: [row[place] for row in self.rows]
            for place, name in enumerate(self.schema.names)
        }

    @property
    def arrow(self) -> pa.Table:
        """Return the table in canonical Arrow types; NaN is not null."""
        types = {name: column.arrow for name, column in self.schema.columns}
        return pa.table({
            name: pa.array(values, types[name], from_pandas=False)
            for name, values in self.columns.items()
        })

    @property
    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.schema.names, row, strict=True)) for row in self.rows]

    def place(self, name: str) -> int:
        """Return where a column stands in a row."""
        return self.schema.names.index(name)

    def with_rows(self, rows: Iterable[Row]) -> "Table":
        """Return other rows with the same facts."""
        return Table(self.schema, tuple(rows))

    def counted(self) -> Counter[str]:
        """Return how often each row is there; NaN equals itself, -0.0 is not 0.0."""
        return Counter(map(repr, self.rows))


def values(column: Column) -> st.SearchStrategy[Any]:
    """Draw a value that the facts of a column allow."""
    allowed: list[st.SearchStrategy[Any]] = [st.sampled_from(POOLS[column.type])]
    if column.nan:
        allowed.append(st.just(math.nan))
    if column.nullable:
        allowed.append(st.none())
    return st.one_of(allowed)


def rows_of(schema: Schema) -> st.SearchStrategy[Row]:
    return st.tuples(*(values(column) for _, column in schema.columns))


@st.composite
def columns(draw: st.DrawFn, kind: str) -> Column:
    """Draw the facts of a column of some type."""
    nullable, nan = draw(st.booleans()), draw(st.booleans())
    return Column(kind, nullable=nullable, nan=nan and kind == "f64")


@st.composite
def schemas(draw: st.DrawFn, types: Mapping[str, str] | None = None) -> Schema:
    """Draw the facts of columns with given names and types, or of a few of any type."""
    if types is None:
        kinds = draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=4))
        types = {f"c{place}": kind for place, kind in enumerate(kinds)}
    return Schema.of((name, draw(columns(kind))) for name, kind in types.items())


@st.composite
def tables(
    draw: st.DrawFn,
    types: Mapping[str, str] | None = None,
    *,
    least: int = 0,
    most: int = 8,
) -> Table:
    """Draw a table with at least and at most so many rows."""
    schema = draw(schemas(types))
    rows = draw(st.lists(rows_of(schema), min_size=least, max_size=most))
    return Table(schema, tuple(rows))


def permutations(table: Table) -> st.SearchStrategy[Table]:
    """Draw the same rows in another order."""
    return st.permutations(table.rows).map(table.with_rows)


@st.composite
def neighbours_by_row(draw: st.DrawFn, table: Table, most: int = 1) -> Table:
    """Draw a table that has, or lacks, one to `most` further rows."""
    fewer = draw(st.booleans())
    if table.rows and fewer:
        places = st.integers(0, len(table.rows) - 1)
        gone = draw(st.sets(places, min_size=1, max_size=most))
        kept = [row for place, row in enumerate(table.rows) if place not in gone]
        return table.with_rows(kept)
    added = draw(st.lists(rows_of(table.schema), min_size=1, max_size=most))
    return draw(_mixed(table, added))


@st.composite
def neighbours_by_id(draw: st.DrawFn, table: Table, name: str, most: int = 4) -> Table:
    """Draw a table that has one identifier more, with up to `most` rows, or one less.

    A missing identifier counts as one: rows without an identifier go and come together.
    Identifiers are not f64, of which some are written in two ways.
    """
    place = table.place(name)
    known = {repr(row[place]): row[place] for row in table.rows}
    free = values(table.schema[name]).filter(lambda one: repr(one) not in known)
    room = len(known) < len(POOLS[table.schema[name].type])
    fewer = draw(st.booleans())
    if known and (fewer or not room):
        gone = draw(st.sampled_from(sorted(known)))
        return table.with_rows(row for row in table.rows if repr(row[place]) != gone)
    new = draw(free)
    rows = draw(st.lists(rows_of(table.schema), min_size=1, max_size=most))
    added = [(*row[:place], new, *row[place + 1 :]) for row in rows]
    return draw(_mixed(table, added))


def _mixed(table: Table, added: list[Row]) -> st.SearchStrategy[Table]:
    """Draw the rows of a table and further ones in any order."""
    return permutations(table.with_rows((*table.rows, *added)))
