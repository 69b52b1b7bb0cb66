"""Which columns of private tables are behind the columns of a plan, and in what roles.

What is made of a column is of that column, under any name: by an expression, a bin, a
function, a summary of one person's rows, or a public table that is joined on it. Which
rows a bound keeps is decided by a keyed hash of whole rows, and is of no column.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from sordino.expressions.base import AbstractExpression
from sordino.expressions.tree import Col
from sordino.query.by_kind import by_kind
from sordino.query.gathered import Gathered
from sordino.query.kept import Kept
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    FlatMap,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Source,
    Unreadable,
    Without,
)

Cells: TypeAlias = frozenset[tuple[str, str]]
"""Columns of private tables, each with the name of its table."""
NOTHING: Final[Cells] = frozenset()


@final
@dataclass(frozen=True)
class Origins:
    """The private tables of a catalog, as a plan may read them."""

    marks: Mapping[str, Cells]
    """Of each private table the columns that say whom its rows belong to."""
    parts: tuple[AbstractNode, ...]
    """Filters that make the parts of a table: charged for as groups."""
    gates: tuple[AbstractExpression | None, ...] = ()
    """Conditions that let rows of open blocks pass: each block is a table."""


@final
@dataclass(frozen=True)
class Lineage:
    """The columns behind each column of some rows, and what decided about them."""

    columns: Mapping[str, Cells]
    tables: frozenset[str] = frozenset()
    filters: Cells = NOTHING
    """What decided which rows are there."""
    bounds: Cells = NOTHING
    """What rows of one person are bounded, joined or gathered by."""
    runs_python: bool = False
    is_chosen: bool = False
    """Whether the rows are some of those there are."""
    made: frozenset[str] = frozenset()
    """Columns that no private table has: who asks decides which rows have a value."""

    def cells_of(self, names: Iterable[str]) -> Cells:
        """Return the columns behind some columns."""
        return NOTHING.union(*(self.columns[name] for name in names))

    def divide(self, names: Iterable[str]) -> "Lineage":
        """Return the same rows, after some columns divided them."""
        return replace(self, bounds=self.bounds | self.cells_of(names))

    def choose(self, cells: Cells) -> "Lineage":
        """Return some of the rows, which these columns decided about."""
        return replace(self, filters=self.filters | cells, is_chosen=True)

    def narrow(self, names: Iterable[str]) -> "Lineage":
        """Return the rows with some of their columns; a new one is made of none."""
        cells = {name: self.columns.get(name, NOTHING) for name in names}
        carried = self.columns.keys() - self.made
        return replace(self, columns=cells, made=frozenset(cells) - carried)

    def combine(self, other: "Lineage") -> "Lineage":
        """Return both together, with the columns of this one."""
        return Lineage(
            self.columns,
            self.tables | other.tables,
            self.filters | other.filters,
            self.bounds | other.bounds,
            self.runs_python or other.runs_python,
            self.is_chosen or other.is_chosen,
            self.made,
        )


_Below: TypeAlias = list[Lineage]


def lineage_of(node: AbstractNode, origins: Origins) -> Lineage:
    """Return what is behind the rows of a plan."""
    below = [lineage_of(source, origins) for source in node.inputs]
    return _RULES[type(node)](node, below, origins)


def _source(node: Source, below: _Below, origins: Origins) -> Lineage:
    """Return each column as itself; a public table has none that count."""
    del below
    private = node.table in origins.marks
    columns = {
        name: frozenset({(node.table, name)}) if private else NOTHING
        for name in node.schema
    }
    computed = frozenset[str]() if private else frozenset(columns)
    return Lineage(columns, frozenset({node.table}), made=computed)


def _unreadable(node: Unreadable, below: _Below, origins: Origins) -> Lineage:
    rows = _source(Source(node.table, node.schema), below, origins)
    return rows.choose(frozenset({(node.table, node.column)}))


def _public(node: PublicRows, below: _Below, origins: Origins) -> Lineage:
    del below, origins
    return Lineage(dict.fromkeys(node.schema, NOTHING), made=frozenset(node.schema))


def _kept(node: Kept, below: _Below, origins: Origins) -> Lineage:
    del below
    return lineage_of(node.rows, origins).narrow(node.schema)


def _project(node: Project, below: _Below, origins: Origins) -> Lineage:
    """Return columns as they were, or made; of gathered rows they only finish them."""
    del origins
    (rows,) = below
    cells = {name: rows.cells_of(cell.names()) for name, cell in node.columns}
    gathered = isinstance(node.child, Gathered)
    computed = frozenset(
        name
        for name, cell in node.columns
        if cell.names() & rows.made or not (gathered or isinstance(cell, Col))
    )
    return replace(rows, columns=cells, made=computed)


def _filter(node: Filter, below: _Below, origins: Origins) -> Lineage:
    """Return the rows as chosen, unless all that is asked is whose they are."""
    (rows,) = below
    if any(node.condition is gate for gate in origins.gates):
        return rows
    if any(node is part for part in origins.parts):
        return rows.choose(NOTHING)
    read = rows.cells_of(node.condition.names())
    opened = isinstance(node.child, Source) and node.child.table in origins.marks
    if opened and read <= origins.marks[next(iter(rows.tables))]:
        return rows
    return rows.choose(read)


def _keep_rows(node: KeepRows | KeepUnique, below: _Below, origins: Origins) -> Lineage:
    del origins
    return below[0].divide(node.per).narrow(node.schema)


def _keep_groups(
    node: KeepGroups | Crowded | Memberships, below: _Below, origins: Origins
) -> Lineage:
    del origins
    return below[0].divide((*node.per, *node.groups)).narrow(node.schema)


def _join(node: Join, below: _Below, origins: Origins) -> Lineage:
    """Return pairs: what the right side brings is found by the columns joined on.

    A row may find none, or several: the rows are chosen, and weighed, by them. Where
    one stays that finds none, it has none of the values that are brought.
    """
    del origins
    left, right = below
    met = left.cells_of(node.on) | right.cells_of(node.on)
    brought = {name: cells | met for name, cells in right.columns.items()}
    both = left.divide(node.on).combine(right.divide(node.on))
    cells = brought | dict(left.columns) | dict.fromkeys(node.on, met)
    missing = frozenset(right.columns) if node.outer else right.made
    computed = left.made | (missing - left.columns.keys())
    return replace(both, columns=cells, is_chosen=True, made=computed)


def _difference(node: Without, below: _Below, origins: Origins) -> Lineage:
    del origins
    left, right = below
    return left.combine(right).choose(left.cells_of(node.on) | right.cells_of(node.on))


def _explode(node: Explode, below: _Below, origins: Origins) -> Lineage:
    """Return as many rows as lists have entries."""
    del origins
    return below[0].choose(below[0].cells_of([node.column]))


def _map(node: MapRows, below: _Below, origins: Origins) -> Lineage:
    """Return columns that may be made of all there are."""
    del origins
    (rows,) = below
    returned = dict.fromkeys(node.returns, rows.cells_of(rows.columns))
    return replace(
        rows,
        columns=dict(rows.columns) | returned,
        runs_python=True,
        made=rows.made.union(node.returns),
    )


def _flat_map(node: FlatMap, below: _Below, origins: Origins) -> Lineage:
    """Return rows that a function makes, or leaves out, of all there is."""
    del origins
    (rows,) = below
    whole = rows.cells_of(rows.columns)
    cells = dict(rows.columns) | dict.fromkeys(node.returns, whole)
    computed = rows.made.union(node.returns)
    return replace(rows.choose(whole), columns=cells, runs_python=True, made=computed)


def _gather(node: Gathered, below: _Below, origins: Origins) -> Lineage:
    """Return what is gathered as made if what it is gathered of is."""
    del origins
    (rows,) = below
    cells = {name: rows.columns[name] for name in node.per}
    read = {name: total.names() for name, total in node.totals}
    read |= {name: extreme.names() for name, extreme in node.extremes}
    cells |= {name: rows.cells_of(names) for name, names in read.items()}
    computed = {
        name for name, names in read.items() if node.computes or names & rows.made
    }
    computed |= rows.made.intersection(node.per)
    return replace(rows.divide(node.per), columns=cells, made=frozenset(computed))


_Rule: TypeAlias = Callable[[Any, _Below, Origins], Lineage]
_RULES: Final[Mapping[type[AbstractNode], _Rule]] = by_kind(
    AbstractNode,
    {
        Source: _source,
        Unreadable: _unreadable,
        PublicRows: _public,
        Kept: _kept,
        Project: _project,
        Filter: _filter,
        KeepRows: _keep_rows,
        KeepUnique: _keep_rows,
        KeepGroups: _keep_groups,
        Crowded: _keep_groups,
        Memberships: _keep_groups,
        Join: _join,
        Without: _difference,
        Explode: _explode,
        MapRows: _map,
        FlatMap: _flat_map,
        Gathered: _gather,
    },
)
