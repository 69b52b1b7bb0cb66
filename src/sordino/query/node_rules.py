"""One table: what each kind of node needs, where its columns come from, when its rows can be kept.

Which columns of private tables are behind the columns of a plan, and in what roles.

What is made of a column is of that column, under any name: by an expression, a bin, a
function, a summary of one person's rows, or a public table that is joined on it. Which
rows a bound keeps is decided by a keyed hash of whole rows, and is of no column.

Plans that carry only the columns that are needed above.

A bound keeps rows by a hash of all columns below it, so it needs them, whatever is
needed above: pruning decides nothing of what is kept, and changes no answer.

Plans over rows that are kept: the highest bounds become leaves.

What a bound keeps is a function of the plan below it, whatever is asked above. So two
questions whose plans are the same up to there are about the same rows, which an engine
can make once (docs/proofs/kept-rows.md).

Kernel: sensitivity.
"""  # noqa: E501

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeAlias, final

from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression, Col
from sordino.query.functions import function_words
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    FlatMap,
    Gathered,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Question,
    Source,
    Unreadable,
    Without,
    by_kind,
    nodes_below,
    with_inputs,
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
    """Lineage of the rows of a plan."""
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


Names = frozenset[str]


def prune_question(question: Question) -> AbstractNode:
    """Return the rows of a question with the columns that it reads, no others."""
    needed = frozenset(question.by).union(*(total.names() for total in question.totals))
    return prune(question.rows, needed)


def prune(node: AbstractNode, needed: Collection[str]) -> AbstractNode:
    """Return a node with the same rows, whose columns are the needed ones, in order."""
    return _PRUNE_RULES[type(node)](node, frozenset(needed))


def columns_of_tables(
    node: AbstractNode, needed: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the columns of each table that the needed ones are made or bounded by.

    Those by which rows are put in order, and nothing more, are not among them.
    """
    read: dict[str, frozenset[str]] = {}
    for below in nodes_below(prune(_without_order(node), needed)):
        match below:
            case Source():
                before = read.get(below.table, frozenset())
                read[below.table] = before | frozenset(below.schema.names)
            case _:
                pass
    return read


def _without_order(node: AbstractNode) -> AbstractNode:
    """Return a plan whose bounds need the columns alone that they count by."""
    below = with_inputs(node, tuple(_without_order(source) for source in node.inputs))
    match below:
        case KeepRows():
            return replace(below, order=())
        case _:
            return below


def narrow_schema(schema: Schema, needed: Collection[str]) -> Schema:
    """Return the needed columns of a schema."""
    return Schema(tuple(pair for pair in schema.columns if pair[0] in needed))


def _leaf(node: Source | Unreadable | PublicRows | Kept, needed: Names) -> AbstractNode:
    return replace(node, schema=narrow_schema(node.schema, needed))


def _prune_project(node: Project, needed: Names) -> AbstractNode:
    columns = tuple(pair for pair in node.columns if pair[0] in needed)
    read = frozenset[str]().union(*(expression.names() for _, expression in columns))
    return replace(
        node,
        child=prune(node.child, read),
        columns=columns,
        schema=narrow_schema(node.schema, needed),
    )


def _read_beside(node: Any, needed: Names, read: Names) -> AbstractNode:
    below = (needed & frozenset(node.child.schema.names)) | read
    child = prune(node.child, below)
    narrow = narrow_schema(node.schema, needed)
    pruned: AbstractNode = replace(node, child=child, schema=narrow)
    return pruned


def _prune_filter(node: Filter, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, node.condition.names())


def _prune_keep_rows(node: KeepRows, needed: Names) -> AbstractNode:
    """Keep all columns of the digest: what is kept is the same for any question."""
    return _read_beside(node, needed, frozenset(node.per + node.order))


def _keep_unique(node: KeepUnique, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.per))


def _prune_keep_groups(
    node: KeepGroups | Crowded | Memberships, needed: Names
) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.per + node.groups))


def _prune_difference(node: Without, needed: Names) -> AbstractNode:
    """Keep the columns that rows are taken away by, on both sides."""
    on = frozenset(node.on)
    left, right = prune(node.left, needed | on), prune(node.right, on)
    return replace(
        node, left=left, right=right, schema=narrow_schema(node.schema, needed)
    )


def _prune_join(node: Join, needed: Names) -> AbstractNode:
    sides = (
        prune(side, (needed & frozenset(side.schema.names)) | frozenset(node.on))
        for side in node.inputs
    )
    left, right = sides
    return replace(
        node, left=left, right=right, schema=narrow_schema(node.schema, needed)
    )


def _prune_explode(node: Explode, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset({node.column}))


def _map_rows(node: MapRows, needed: Names) -> AbstractNode:
    """Keep all columns below, for the function may read them; or drop the function."""
    if needed.isdisjoint(node.returns):
        return prune(node.child, needed)
    return _read_beside(node, needed, frozenset(node.child.schema.names))


def _prune_flat_map(node: FlatMap, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.child.schema.names))


def _prune_gathered(node: Gathered, needed: Names) -> AbstractNode:
    """Keep what is gathered by, and the needed totals."""
    totals = tuple(pair for pair in node.totals if pair[0] in needed)
    extremes = tuple(pair for pair in node.extremes if pair[0] in needed)
    read = [total.names() for _, total in totals] + [
        extreme.names() for _, extreme in extremes
    ]
    return replace(
        node,
        child=prune(node.child, frozenset(node.per).union(*read)),
        totals=totals,
        extremes=extremes,
        schema=narrow_schema(node.schema, needed),
    )


_PruneRule: TypeAlias = Callable[[Any, Names], AbstractNode]
_PRUNE_RULES: Final[Mapping[type[AbstractNode], _PruneRule]] = by_kind(
    AbstractNode,
    {
        Source: _leaf,
        Unreadable: _leaf,
        Project: _prune_project,
        Filter: _prune_filter,
        KeepRows: _prune_keep_rows,
        KeepGroups: _prune_keep_groups,
        KeepUnique: _keep_unique,
        Crowded: _prune_keep_groups,
        PublicRows: _leaf,
        Kept: _leaf,
        Without: _prune_difference,
        Memberships: _prune_keep_groups,
        Join: _prune_join,
        Explode: _prune_explode,
        MapRows: _map_rows,
        FlatMap: _prune_flat_map,
        Gathered: _prune_gathered,
    },
)


MOST: Final = 8
"""Of how many plans an engine keeps the rows; the ones asked longest ago make room."""


def with_kept_rows(
    node: AbstractNode, name_of: Callable[[AbstractNode], str | None]
) -> AbstractNode:
    """Return a plan with leaves for the rows of its highest bounds, in all columns.

    Who is above a limit is counted of rows that are not bounded, and not kept. Bounds
    for which there is no name stay in the plan.
    """
    match node:
        case KeepRows() | KeepGroups() | KeepUnique():
            rows = prune(node, node.schema.names)
            name = name_of(rows)
            return node if name is None else Kept(rows, name, node.schema)
        case Crowded():
            return node
        case _ if node.inputs:
            below = tuple(with_kept_rows(source, name_of) for source in node.inputs)
            changed = any(
                new is not old for new, old in zip(below, node.inputs, strict=True)
            )
            return with_inputs(node, below) if changed else node
        case _:
            return node


@final
class PlanNames:
    """Names for plans: those with the same rows have the same one."""

    def __init__(self) -> None:
        """Start with none."""
        self._plans: dict[Hashable, tuple[str, AbstractNode]] = {}

    def name(self, rows: AbstractNode) -> str:
        """Return the name of a plan, always the same one."""
        mark = mark_of(rows)
        if mark not in self._plans:
            self._plans[mark] = (f"k{len(self._plans)}", rows)
        return self._plans[mark][0]


def mark_of(part: Any) -> Hashable:
    """Mark that plans with the same rows share; a plan has to outlive its mark.

    Expressions go by their words, versions of columns do not count, and what has no
    form of its own (a function, a table) is the same if it is that very object.

    >>> from sordino.expressions.language import col
    >>> mark_of(col("x") > 1) == mark_of(col("x") > 1)
    True
    """
    match part:
        case Schema():
            return part  # equal by names, types and facts
        case AbstractExpression():
            return repr(part.words)
        case tuple():
            return tuple(map(mark_of, part))
        case None | bool() | int() | str():
            return type(part), part
        case _ if is_dataclass(part) and not callable(part):
            values = [
                getattr(part, field.name) for field in fields(part) if field.compare
            ]
            return type(part), *map(mark_of, values)
        case _:
            return id(part), does_now(part) if callable(part) else None


def does_now(function: Callable[..., Any]) -> Hashable:
    """Mark that functions with the same effect share; unreadable ones are unique.

    The globals and the closure of one function may change between two questions.
    """
    words = function_words(function)
    return object() if isinstance(words, Exception) else repr(words)
