"""Plans that carry only the columns that are needed above.

A bound keeps rows by a hash of all columns below it, so it needs them, whatever is
needed above: pruning decides nothing of what is kept, and changes no answer.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

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
from sordino.query.question import Question
from sordino.query.walks import nodes_below, with_inputs
from sordino.schema import Schema

Names = frozenset[str]


def prune_question(question: Question) -> AbstractNode:
    """Return the rows of a question with the columns that it reads, no others."""
    needed = frozenset(question.by).union(*(total.names() for total in question.totals))
    return prune(question.rows, needed)


def prune(node: AbstractNode, needed: Collection[str]) -> AbstractNode:
    """Return a node with the same rows, whose columns are the needed ones, in order."""
    return _RULES[type(node)](node, frozenset(needed))


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


def _project(node: Project, needed: Names) -> AbstractNode:
    columns = tuple(pair for pair in node.columns if pair[0] in needed)
    read = frozenset[str]().union(*(expression.names() for _, expression in columns))
    return replace(
        node,
        child=prune(node.child, read),
        columns=columns,
        schema=narrow_schema(node.schema, needed),
    )


def _read_beside(node: Any, needed: Names, read: Names) -> AbstractNode:
    """Return a node of one child that reads some columns besides the needed ones."""
    below = (needed & frozenset(node.child.schema.names)) | read
    child = prune(node.child, below)
    narrow = narrow_schema(node.schema, needed)
    pruned: AbstractNode = replace(node, child=child, schema=narrow)
    return pruned


def _filter(node: Filter, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, node.condition.names())


def _keep_rows(node: KeepRows, needed: Names) -> AbstractNode:
    """Keep all columns of the digest: what is kept is the same for any question."""
    return _read_beside(node, needed, frozenset(node.per + node.order))


def _keep_unique(node: KeepUnique, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset(node.per))


def _keep_groups(
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


def _join(node: Join, needed: Names) -> AbstractNode:
    sides = (
        prune(side, (needed & frozenset(side.schema.names)) | frozenset(node.on))
        for side in node.inputs
    )
    left, right = sides
    return replace(
        node, left=left, right=right, schema=narrow_schema(node.schema, needed)
    )


def _explode(node: Explode, needed: Names) -> AbstractNode:
    return _read_beside(node, needed, frozenset({node.column}))


def _map_rows(node: MapRows, needed: Names) -> AbstractNode:
    """Keep all columns below, for the function may read them; or drop the function."""
    if needed.isdisjoint(node.returns):
        return prune(node.child, needed)
    return _read_beside(node, needed, frozenset(node.child.schema.names))


def _flat_map(node: FlatMap, needed: Names) -> AbstractNode:
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


_Rule: TypeAlias = Callable[[Any, Names], AbstractNode]
_RULES: Final[Mapping[type[AbstractNode], _Rule]] = by_kind(
    AbstractNode,
    {
        Source: _leaf,
        Unreadable: _leaf,
        Project: _project,
        Filter: _filter,
        KeepRows: _keep_rows,
        KeepGroups: _keep_groups,
        KeepUnique: _keep_unique,
        Crowded: _keep_groups,
        PublicRows: _leaf,
        Kept: _leaf,
        Without: _prune_difference,
        Memberships: _keep_groups,
        Join: _join,
        Explode: _explode,
        MapRows: _map_rows,
        FlatMap: _flat_map,
        Gathered: _prune_gathered,
    },
)
