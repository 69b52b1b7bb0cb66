"""Stored rows as the leaves of a statement: read in place, or handed over.

In place a database reads a source by itself, and its dialect makes each value one of
ours. What it does not read is handed over under a name (`s0`, `s1`, ...), as Arrow
batches of our types; only of text files the cells are still text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.rendering import Parameters, render, with_type
from sordino.engines.sql.stages import Made
from sordino.engines.sql.writer import Leaf, LeafNode
from sordino.query.kept import Kept
from sordino.query.nodes import PublicRows, Source, Unreadable
from sordino.sources.arrow import TableSource, without_rows
from sordino.sources.arrow_kinds import kind_of
from sordino.sources.base import AbstractSource, Opened, Stored, lookup

Reading: TypeAlias = Callable[[AbstractSource, Sequence[int]], exp.Expression | None]
"""(source, places of columns) -> what stands after FROM, or None to hand them over"""
SOURCE: Final = "sordino source"
KEPT: Final = "kept rows"
"""What a statement reads that reads rows which are kept."""


@final
@dataclass(frozen=True)
class Handed:
    """Columns of a source that a statement reads under a name."""

    table: str
    name: str
    source: AbstractSource
    places: tuple[int, ...]
    in_place: bool
    """Whether the database reads the source by itself."""
    given: bool = False
    """Whether the rows are those of a plan, which are public."""

    def empty_copy(self) -> "Handed":
        """Return the same columns without rows, handed over."""
        return replace(self, source=without_rows(self.source), in_place=False)


def never_in_place(source: AbstractSource, places: Sequence[int]) -> None:
    """Have any source handed over, whatever a database could read by itself."""
    del source, places


@final
class Leaves:
    """Collects what a statement reads of the tables of a session."""

    def __init__(
        self, dialect: AbstractDialect, tables: Mapping[str, Opened], reading: Reading
    ) -> None:
        """Start with nothing read."""
        self._dialect = dialect
        self._tables = tables
        self._reading = reading
        self.handed: list[Handed] = []

    def leaf(self, node: LeafNode, parameters: Parameters) -> Leaf:
        """Return where the rows of a node are, and its columns as our types."""
        match node:
            case Made():
                return _step_rows(node)
            case Source():
                return self._stored_rows(node.table, node.schema.names, parameters)
            case Unreadable():
                return self._unreadable(node, parameters)
            case PublicRows():
                return self._given_rows(node)
            case Kept():
                return self._kept_rows(node)

    def _given_rows(self, node: PublicRows) -> Leaf:
        """Return rows that are given: their values are of our types already."""
        names = node.rows.column_names
        places = tuple(names.index(name) for name in node.schema)
        name = f"s{len(self.handed)}"
        source = TableSource(node.rows)
        self.handed.append(
            Handed("public rows", name, source, places, False, given=True)
        )
        item = handed_table(name)
        item.meta[SOURCE] = name
        columns = {
            known_as: exp.column(f"c{place}", table="t")
            for known_as, place in zip(node.schema, places, strict=True)
        }
        return Leaf(item, columns)

    def _kept_rows(self, node: Kept) -> Leaf:
        """Return rows that are kept: their values are of our types already."""
        schema = node.rows.schema
        form = pa.schema([
            (known_as, column.arrow) for known_as, column in schema.columns
        ])
        places = tuple(schema.names.index(name) for name in node.schema)
        name = f"s{len(self.handed)}"
        there = TableSource(form.empty_table())
        self.handed.append(Handed(KEPT, name, there, places, True))
        item = handed_table(node.name)
        item.meta[SOURCE] = name
        columns = {
            known_as: exp.column(f"c{place}", table="t")
            for known_as, place in zip(node.schema, places, strict=True)
        }
        return Leaf(item, columns)

    def _unreadable(self, node: Unreadable, parameters: Parameters) -> Leaf:
        """Return the rows with a cell that is there, and has no value."""
        names = (node.column, *node.schema.names)
        rows = self._stored_rows(node.table, names, parameters)
        stored = lookup(self._tables, node.table).stored[node.column]
        natural = self._natural(self.handed[-1], stored)
        nothing = rows.columns[node.column].copy().is_(exp.null())
        there = exp.not_(natural.is_(exp.null()))
        return replace(rows, condition=exp.And(this=there, expression=nothing))

    def _stored_rows(
        self, table: str, names: tuple[str, ...], parameters: Parameters
    ) -> Leaf:
        """Return stored rows, each column as the type that it has in the session."""
        opened = lookup(self._tables, table)
        places = tuple(opened.stored[name].place for name in names)
        item = self._reading(opened.source, places)
        name = f"s{len(self.handed)}"
        handed = Handed(table, name, opened.source, places, item is not None)
        self.handed.append(handed)
        item = item or handed_table(name)
        item.meta[SOURCE] = name
        columns = {
            known_as: self._column(handed, opened.stored[known_as], parameters)
            for known_as in names
        }
        return Leaf(item, columns)

    def _column(
        self, handed: Handed, stored: Stored, parameters: Parameters
    ) -> exp.Expression:
        value = self._natural(handed, stored)
        if stored.reading is None:
            return value
        cell = with_type(value, kind_of(stored.arrow) or "")
        return render(stored.reading, {"x": cell}, parameters)

    def _natural(self, handed: Handed, stored: Stored) -> exp.Expression:
        """Return a column as the type of ours in which it lies."""
        column: exp.Expression = exp.column(f"c{stored.place}", table="t")
        if handed.source.ours and not handed.in_place:
            return column
        return self._dialect.value_of(column, stored.arrow)


def handed_table(name: str) -> exp.Expression:
    """Return a table that a database knows by a name of ours."""
    return exp.Table(this=exp.to_identifier(name), alias="t")


def _step_rows(node: Made) -> Leaf:
    """Return rows that a step has made: their values are of our types already."""
    name = f"m{node.number}"
    columns = {
        known_as: exp.column(f"c{place}", table=name)
        for place, known_as in enumerate(node.schema)
    }
    return Leaf(exp.Table(this=exp.to_identifier(name)), columns)
