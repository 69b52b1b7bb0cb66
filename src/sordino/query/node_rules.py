"""What is true of each kind of node: the rules of pruning, lineage and covers.

*Lineage*: which columns of private tables are behind the columns of a plan, and in what
roles. What is made of a column is of that column, under any name: by an expression, a
bin, a function, a summary of one person's rows, or a public table that is joined on it.

*Pruning*: plans carry only the columns that are needed above. A bound needs all columns
of its hash, so pruning changes no answer.

*Covers*: a set S of blocks is a cover of rows if in every state of the tables a person
without a row in S leaves them as they are. Each rule is proved in
docs/proofs/queries.md, section 11.

At the end: plans whose highest bounds become leaves, of rows that an engine cached.

Kernel: sensitivity.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias, final

from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression, Col
from sordino.losses.budgets.blocks import WHOLE
from sordino.query.blocks_read import Ends, admissible_blocks
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

Names: TypeAlias = frozenset[str]
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
        """Columns of tables behind some columns."""
        return NOTHING.union(*(self.columns[name] for name in names))

    def divide(self, names: Iterable[str]) -> "Lineage":
        """Lineage after the rows were bounded, joined or gathered by some columns."""
        return replace(self, bounds=self.bounds | self.cells_of(names))

    def choose(self, cells: Cells) -> "Lineage":
        """Lineage of some of the rows, which these columns decided about."""
        return replace(self, filters=self.filters | cells, is_chosen=True)

    def narrow(self, names: Iterable[str]) -> "Lineage":
        """Lineage of the rows with some of their columns; a new one is made of none."""
        cells = {name: self.columns.get(name, NOTHING) for name in names}
        carried = self.columns.keys() - self.made
        return replace(self, columns=cells, made=frozenset(cells) - carried)

    def combine(self, other: "Lineage") -> "Lineage":
        """Lineage of both together, with the columns of this one."""
        return Lineage(
            self.columns,
            self.tables | other.tables,
            self.filters | other.filters,
            self.bounds | other.bounds,
            self.runs_python or other.runs_python,  # either: then it ran below the pair
            True,  # by the partners that rows have
            self.made,
        )


_Below: TypeAlias = list[Lineage]


def lineage_of(node: AbstractNode, origins: Origins) -> Lineage:
    """Lineage of the rows of a plan."""
    below = [lineage_of(source, origins) for source in node.inputs]
    return NODE_RULES[type(node)].lineage(node, below, origins)


def _source(node: Source, _below: _Below, origins: Origins) -> Lineage:
    private = node.table in origins.marks
    columns = {
        name: frozenset({(node.table, name)}) if private else NOTHING
        for name in node.schema
    }
    # public columns are made: a public table says which rows have a value in them
    computed = frozenset[str]() if private else frozenset(columns)
    return Lineage(columns, frozenset({node.table}), made=computed)


def _unreadable(node: Unreadable, below: _Below, origins: Origins) -> Lineage:
    rows = _source(Source(node.table, node.schema), below, origins)
    # whether a cell can be read decides, so its column chose these rows
    return rows.choose(frozenset({(node.table, node.column)}))


def _public(node: PublicRows, _below: _Below, _origins: Origins) -> Lineage:
    return Lineage(dict.fromkeys(node.schema, NOTHING), made=frozenset(node.schema))


def _kept(node: Kept, _below: _Below, origins: Origins) -> Lineage:
    return lineage_of(node.rows, origins).narrow(node.schema)


def _project(node: Project, below: _Below, _origins: Origins) -> Lineage:
    (rows,) = below
    cells = {name: rows.cells_of(cell.names()) for name, cell in node.columns}
    # above gathered rows an expression only finishes a person's summary: it makes none
    gathered = isinstance(node.child, Gathered)
    computed = frozenset(
        name
        for name, cell in node.columns
        if cell.names() & rows.made or not (gathered or isinstance(cell, Col))
    )
    return replace(rows, columns=cells, made=computed)


def _filter(node: Filter, below: _Below, origins: Origins) -> Lineage:
    """Lineage of chosen rows, unless all that is asked is whose they are."""
    (rows,) = below
    # by identity: a user's filter that says the same as a gate is still a choice
    if any(node.condition is gate for gate in origins.gates):
        return rows
    if any(node is part for part in origins.parts):
        return rows.choose(NOTHING)
    read = rows.cells_of(node.condition.names())
    opened = isinstance(node.child, Source) and node.child.table in origins.marks
    if opened and read <= origins.marks[next(iter(rows.tables))]:
        return rows
    return rows.choose(read)


def _keep_rows(
    node: KeepRows | KeepUnique, below: _Below, _origins: Origins
) -> Lineage:
    # `order` is no bound: which rows stay is decided by a keyed hash of whole rows
    return below[0].divide(node.per).narrow(node.schema)


def _keep_groups(
    node: KeepGroups | Crowded | Memberships, below: _Below, _origins: Origins
) -> Lineage:
    return below[0].divide((*node.per, *node.groups)).narrow(node.schema)


def _join(node: Join, below: _Below, _origins: Origins) -> Lineage:
    """Lineage of pairs: what the right side brings is found by the columns joined on.

    A row may find none, or several: the rows are chosen, and weighed, by them. Where
    one stays that finds none, it has none of the values that are brought.
    """
    left, right = below
    met = left.cells_of(node.on) | right.cells_of(node.on)
    brought = {name: cells | met for name, cells in right.columns.items()}
    both = left.divide(node.on).combine(right.divide(node.on))
    cells = brought | dict(left.columns) | dict.fromkeys(node.on, met)
    missing = frozenset(right.columns) if node.outer else right.made
    computed = left.made | (missing - left.columns.keys())
    return replace(both, columns=cells, made=computed)


def _difference(node: Without, below: _Below, _origins: Origins) -> Lineage:
    left, right = below
    return left.combine(right).choose(left.cells_of(node.on) | right.cells_of(node.on))


def _explode(node: Explode, below: _Below, _origins: Origins) -> Lineage:
    return below[0].choose(below[0].cells_of([node.column]))


def _map(node: MapRows, below: _Below, _origins: Origins) -> Lineage:
    (rows,) = below
    # a function may read every column, whatever it is meant to read
    returned = dict.fromkeys(node.returns, rows.cells_of(rows.columns))
    return replace(
        rows,
        columns=dict(rows.columns) | returned,
        runs_python=True,
        made=rows.made.union(node.returns),
    )


def _flat_map(node: FlatMap, below: _Below, _origins: Origins) -> Lineage:
    (rows,) = below
    whole = rows.cells_of(rows.columns)  # it also decides how many rows there are
    cells = dict(rows.columns) | dict.fromkeys(node.returns, whole)
    computed = rows.made.union(node.returns)
    return replace(rows.choose(whole), columns=cells, runs_python=True, made=computed)


def _gather(node: Gathered, below: _Below, _origins: Origins) -> Lineage:
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


def prune_question(question: Question) -> AbstractNode:
    """Rows of a question with the columns that it reads, no others."""
    needed = frozenset(question.by).union(*(total.names() for total in question.totals))
    return prune(question.rows, needed)


def prune(node: AbstractNode, needed: Collection[str]) -> AbstractNode:
    """Prune a node: the same rows, whose columns are the needed ones, in order."""
    return NODE_RULES[type(node)].prune(node, frozenset(needed))


def columns_of_tables(
    node: AbstractNode, needed: Collection[str]
) -> dict[str, frozenset[str]]:
    """Columns of each table that the needed ones are made or bounded by.

    Those by which rows are put in order, and nothing more, are not among them.
    """
    read: dict[str, frozenset[str]] = {}
    for below in nodes_below(prune(_without_order(node), needed)):
        if isinstance(below, Source):
            before = read.get(below.table, frozenset())
            read[below.table] = before | frozenset(below.schema.names)
    return read


def _without_order(node: AbstractNode) -> AbstractNode:
    below = with_inputs(node, tuple(_without_order(source) for source in node.inputs))
    return replace(below, order=()) if isinstance(below, KeepRows) else below


def narrow_schema(schema: Schema, needed: Collection[str]) -> Schema:
    """Return the needed columns of a schema."""
    return Schema(tuple(pair for pair in schema.columns if pair[0] in needed))


def _prune_leaf(
    node: Source | Unreadable | PublicRows | Kept, needed: Names
) -> AbstractNode:
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
    # the whole digest, whatever is needed: questions must be about the same kept rows
    return _read_beside(node, needed, frozenset(node.per + node.order))


def _prune_keep_unique(node: KeepUnique, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.per))


def _prune_keep_groups(
    node: KeepGroups | Crowded | Memberships, needed: Names
) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.per + node.groups))


def _prune_without(node: Without, needed: Names) -> AbstractNode:
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


def _prune_map(node: MapRows, needed: Names) -> AbstractNode:
    if needed.isdisjoint(node.returns):
        return prune(node.child, needed)  # it makes one row of each: nothing is lost
    return _prune_function(node, needed)


def _prune_function(node: MapRows | FlatMap, needed: Names) -> AbstractNode:
    # a function may read any column
    return _read_beside(node, needed, frozenset(node.child.schema.names))


def _prune_gathered(node: Gathered, needed: Names) -> AbstractNode:
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


_NO_NAMES: Final[Names] = frozenset()


@final
@dataclass(frozen=True, eq=False)
class BlockLayout:
    """How the rows of a private table lie in blocks."""

    ids: str | None
    """The column of ids, None where rows are protected."""
    column: str | None = None
    """The column of blocks, None where all rows are in one."""
    ends: Ends = field(default_factory=dict)
    """The open blocks, in order, and their values of the column."""
    gate: AbstractExpression | None = None
    """The condition that lets rows of these pass, and no others."""


Layouts: TypeAlias = Mapping[str, BlockLayout]
"""Of the private tables by name; all others are public."""


@final
@dataclass(frozen=True)
class Cover:
    """One cover of some rows, and what tells of what block and person a row is.

    Proof obligation: for any state of the tables and any person, (C) without a row of
    the person in `blocks` the rows are the same with the person and without; (M) each
    row that differs has in each of `marks` the block of a row of the person in
    `blocks`, and in each of `ids` the person's id.
    """

    blocks: Names
    marks: Names = _NO_NAMES
    ids: Names = _NO_NAMES
    ends: Ends = field(default_factory=dict, compare=False)
    """What values of a mark belong to which block."""
    is_gated: bool = True
    """Whether rows of other blocks cannot pass any more."""

    def carry(self, names: Callable[[Names], Names]) -> "Cover":
        """Return the cover with other columns that tell."""
        return replace(self, marks=names(self.marks), ids=names(self.ids))

    def unmark(self) -> "Cover":
        """Return the cover where a row that differs may be of anybody."""
        return replace(self, marks=_NO_NAMES, ids=_NO_NAMES)


Covers: TypeAlias = tuple[Cover, ...]
"""Each alone is one; none where nobody can change the rows."""


def blocks_read(nodes: Iterable[AbstractNode], layouts: Layouts) -> frozenset[str]:
    """Blocks that a release about some rows is charged to: together they cover it."""
    covers = [covers_of(node, layouts) for node in nodes]
    return frozenset(chain.from_iterable(_best(each).blocks for each in covers if each))


def covers_of(node: AbstractNode, layouts: Layouts) -> Covers:
    """All covers that are known of the rows of a node (docs/proofs/queries.md, 11)."""
    return NODE_RULES[type(node)].covers(node, layouts)


def _best(covers: Covers) -> Cover:
    # any one suffices: the cheapest is one that renews, of few blocks
    best = min(covers, key=lambda cover: (WHOLE in cover.blocks, len(cover.blocks)))
    assert best.is_gated  # noqa: S101 the catalog filters every table to its blocks
    return best


def _table_covers(node: Source | Unreadable, layouts: Layouts) -> Covers:
    layout = layouts.get(node.table)
    if layout is None:
        return ()  # public: nobody changes it, so it needs no cover
    ids = _NO_NAMES if layout.ids is None else frozenset([layout.ids])
    if layout.column is None:
        return (Cover(frozenset([WHOLE]), ids=ids),)
    marks = frozenset([layout.column])
    return (Cover(frozenset(layout.ends), marks, ids, layout.ends, is_gated=False),)


def _filter_covers(node: Filter, layouts: Layouts) -> Covers:
    # by identity: a condition of the user that says the same closes no table
    is_gate = any(node.condition is layout.gate for layout in layouts.values())

    def narrow(cover: Cover) -> Cover:
        blocks, marks = cover.blocks, cover.marks & node.condition.names()
        for mark in marks:  # copies of one cell: one block passes all of them, or none
            ends = {name: cover.ends[name] for name in blocks}
            blocks = admissible_blocks(node.condition, mark, ends)
        is_gated = cover.is_gated or (is_gate and bool(marks))
        return replace(cover, blocks=blocks, is_gated=is_gated)

    return tuple(map(narrow, covers_of(node.child, layouts)))


def _project_covers(node: Project, layouts: Layouts) -> Covers:
    carried = {  # a column written anew marks nothing, whatever its name
        name: expression.name
        for name, expression in node.columns
        if isinstance(expression, Col)
    }

    def names(old: Names) -> Names:
        return frozenset(name for name, source in carried.items() if source in old)

    return tuple(cover.carry(names) for cover in covers_of(node.child, layouts))


def _written_covers(node: MapRows | FlatMap | Explode, layouts: Layouts) -> Covers:
    written = {node.column} if isinstance(node, Explode) else set(node.returns)
    covers = covers_of(node.child, layouts)
    return tuple(cover.carry(lambda old: old - written) for cover in covers)


def _pick_covers(node: KeepRows | KeepGroups | KeepUnique, layouts: Layouts) -> Covers:
    per = frozenset(node.per)
    covers = covers_of(node.child, layouts)
    # with an id in `per` a person's rows are picked by these alone (lemma 3); without
    # one, rows of one block may push out those of another, of anybody
    return tuple(cover if per & cover.ids else cover.unmark() for cover in covers)


def _gather_covers(node: Crowded | Gathered, layouts: Layouts) -> Covers:
    return _group_covers(covers_of(node.child, layouts), node.per, node.per)


def _pair_covers(node: Memberships, layouts: Layouts) -> Covers:
    covers = covers_of(node.child, layouts)
    return _group_covers(covers, node.per, (*node.per, *node.groups))


def _group_covers(covers: Covers, per: Iterable[str], columns: Iterable[str]) -> Covers:
    """Covers of rows with some columns, one for each value of `per`."""
    own, names = frozenset(per), frozenset(columns)
    return tuple(
        cover.carry(lambda old: old & names) if own & cover.ids else cover.unmark()
        for cover in covers
    )


def _join_covers(node: Join, layouts: Layouts) -> Covers:
    left, right = (covers_of(side, layouts) for side in node.inputs)
    if not right:
        return left
    on = frozenset(node.on)
    # all, not any: a cover without the id leaves pairs of two people
    alike = all(on & cover.ids for cover in (*left, *right))
    if left and alike:
        # an outer join keeps a person's left rows where the right side has none
        return left if node.outer else (*left, *right)
    return _either(left, right)


def _without_covers(node: Without, layouts: Layouts) -> Covers:
    left, right = (covers_of(side, layouts) for side in node.inputs)
    return _either(left, right) if right else left  # what takes away may be private


def _either(*sides: Covers) -> Covers:
    """Cover of rows that depend on all sides: the union, with nothing marked."""
    best = [_best(covers) for covers in sides if covers]
    return (Cover(frozenset(chain.from_iterable(cover.blocks for cover in best))),)


@final
@dataclass(frozen=True)
class NodeRules:
    """What is true of one kind of node."""

    prune: Callable[[Any, Names], AbstractNode]
    lineage: Callable[[Any, _Below, Origins], Lineage]
    covers: Callable[[Any, Layouts], Covers]
    is_bound: bool = False
    """Whether a row of it depends on more than one row below it."""


_bound: Final = partial(NodeRules, is_bound=True)
NODE_RULES: Final[Mapping[type[AbstractNode], NodeRules]] = by_kind(
    AbstractNode,
    {
        Source: NodeRules(_prune_leaf, _source, _table_covers),
        Unreadable: NodeRules(_prune_leaf, _unreadable, _table_covers),
        PublicRows: NodeRules(_prune_leaf, _public, lambda _, __: ()),
        Kept: _bound(
            _prune_leaf, _kept, lambda node, layouts: covers_of(node.rows, layouts)
        ),
        Project: NodeRules(_prune_project, _project, _project_covers),
        Filter: NodeRules(_prune_filter, _filter, _filter_covers),
        KeepRows: _bound(_prune_keep_rows, _keep_rows, _pick_covers),
        KeepUnique: _bound(_prune_keep_unique, _keep_rows, _pick_covers),
        KeepGroups: _bound(_prune_keep_groups, _keep_groups, _pick_covers),
        Crowded: _bound(_prune_keep_groups, _keep_groups, _gather_covers),
        Memberships: _bound(_prune_keep_groups, _keep_groups, _pair_covers),
        Gathered: _bound(_prune_gathered, _gather, _gather_covers),
        Join: NodeRules(_prune_join, _join, _join_covers),
        Without: NodeRules(_prune_without, _difference, _without_covers),
        Explode: NodeRules(_prune_explode, _explode, _written_covers),
        MapRows: NodeRules(_prune_map, _map, _written_covers),
        FlatMap: NodeRules(_prune_function, _flat_map, _written_covers),
    },
)
"""One row a kind of node; engines have its meaning (`memory.py`, `statements.py`)."""


MOST: Final = 8
"""Of how many plans an engine keeps the rows; the ones asked longest ago make room."""


def with_kept_rows(
    node: AbstractNode, name_of: Callable[[AbstractNode], str | None]
) -> AbstractNode:
    """Put leaves of cached rows in place of the highest bounds of a plan.

    Bounds for which there is no name stay in the plan. What a bound keeps is a function
    of the plan below it, whatever is asked above (docs/proofs/kept-rows.md), so plans
    that are the same up to there share these rows.
    """
    match node:
        case KeepRows() | KeepGroups() | KeepUnique():
            rows = prune(node, node.schema.names)  # all columns: one name for all asks
            name = name_of(rows)
            return node if name is None else Kept(rows, name, node.schema)
        case Crowded():  # counts ids in rows that are not bounded yet
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
        # each plan beside its name: what is known by `id` must outlive its mark
        self._plans: dict[Hashable, tuple[str, AbstractNode]] = {}

    def name(self, rows: AbstractNode) -> str:
        """Name of a plan, the same at every call."""
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
            return type(part), part  # True is not 1 here, which Python holds equal
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
