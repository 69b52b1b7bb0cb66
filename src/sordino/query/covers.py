"""Which blocks of its tables a plan reads: sets that a person cannot pass by.

A set S of blocks is a *cover* of rows if in every state of the tables a person without
a row in S leaves them as they are. Each node of a plan has a rule that says which it
has, proved in docs/proofs/queries.md, section 11. Where several are known, each is one
by itself.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias, final

from sordino.budgets.table_blocks import WHOLE
from sordino.expressions.base import AbstractExpression
from sordino.expressions.tree import Col
from sordino.query.admission import Ends, admissible_blocks
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

Names: TypeAlias = frozenset[str]
_NONE: Final[Names] = frozenset()


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
    marks: Names = _NONE
    ids: Names = _NONE
    ends: Ends = field(default_factory=dict, compare=False)
    """What values of a mark belong to which block."""
    is_gated: bool = True
    """Whether rows of other blocks cannot pass any more."""

    def carry(self, names: Callable[[Names], Names]) -> "Cover":
        """Return the cover with other columns that tell."""
        return replace(self, marks=names(self.marks), ids=names(self.ids))

    def unmark(self) -> "Cover":
        """Return the cover where a row that differs may be of anybody."""
        return replace(self, marks=_NONE, ids=_NONE)


Covers: TypeAlias = tuple[Cover, ...]
"""Each alone is one; none where nobody can change the rows."""


def blocks_read(nodes: Iterable[AbstractNode], layouts: Layouts) -> frozenset[str]:
    """Return a cover of everything that is told of some rows."""
    covers = [covers_of(node, layouts) for node in nodes]
    return frozenset(chain.from_iterable(_best(each).blocks for each in covers if each))


def covers_of(node: AbstractNode, layouts: Layouts) -> Covers:
    """Return the covers that are known of the rows of a node."""
    return _RULES[type(node)](node, layouts)


def _best(covers: Covers) -> Cover:
    """Return the cover that costs least: one that renews, of few blocks."""
    best = min(covers, key=lambda cover: (WHOLE in cover.blocks, len(cover.blocks)))
    assert best.is_gated  # noqa: S101 the catalog filters every table to its blocks
    return best


def _table(node: Source | Unreadable, layouts: Layouts) -> Covers:
    """Return all blocks: of a table without any there is one."""
    layout = layouts.get(node.table)
    if layout is None:
        return ()
    ids = _NONE if layout.ids is None else frozenset([layout.ids])
    if layout.column is None:
        return (Cover(frozenset([WHOLE]), ids=ids),)
    marks = frozenset([layout.column])
    return (Cover(frozenset(layout.ends), marks, ids, layout.ends, is_gated=False),)


def _nobody(node: PublicRows, layouts: Layouts) -> Covers:
    """Return none: the rows are public."""
    del node, layouts
    return ()


def _kept(node: Kept, layouts: Layouts) -> Covers:
    """Return those of the plan by which the rows were made."""
    return covers_of(node.rows, layouts)


def _filter(node: Filter, layouts: Layouts) -> Covers:
    """Return what the condition admits of each marked column."""
    is_gate = any(node.condition is layout.gate for layout in layouts.values())

    def narrow(cover: Cover) -> Cover:
        blocks, marks = cover.blocks, cover.marks & node.condition.names()
        for mark in marks:
            ends = {name: cover.ends[name] for name in blocks}
            blocks = admissible_blocks(node.condition, mark, ends)
        is_gated = cover.is_gated or (is_gate and bool(marks))
        return replace(cover, blocks=blocks, is_gated=is_gated)

    return tuple(map(narrow, covers_of(node.child, layouts)))


def _project(node: Project, layouts: Layouts) -> Covers:
    """Keep what tells where a column is carried as it is, under any name."""
    carried = {
        name: expression.name
        for name, expression in node.columns
        if isinstance(expression, Col)
    }

    def names(old: Names) -> Names:
        return frozenset(name for name, source in carried.items() if source in old)

    return tuple(cover.carry(names) for cover in covers_of(node.child, layouts))


def _rewrite(node: MapRows | FlatMap, layouts: Layouts) -> Covers:
    """Keep what tells but in columns that are written anew."""
    written = frozenset(node.returns)
    covers = covers_of(node.child, layouts)
    return tuple(cover.carry(lambda old: old - written) for cover in covers)


def _explode(node: Explode, layouts: Layouts) -> Covers:
    """Keep what tells: a list is no mark."""
    covers = covers_of(node.child, layouts)
    return tuple(cover.carry(lambda old: old - {node.column}) for cover in covers)


def _pick(node: KeepRows | KeepGroups | KeepUnique, layouts: Layouts) -> Covers:
    """Keep what tells if rows are picked for each person.

    Else rows of one block may push out those of another, of anybody.
    """
    per = frozenset(node.per)
    covers = covers_of(node.child, layouts)
    return tuple(cover if per & cover.ids else cover.unmark() for cover in covers)


def _gather(node: Crowded | Gathered, layouts: Layouts) -> Covers:
    """Keep what tells among the columns that people's rows are gathered by."""
    return _group_covers(covers_of(node.child, layouts), node.per, node.per)


def _pair(node: Memberships, layouts: Layouts) -> Covers:
    """Keep what tells among the columns that are paired."""
    covers = covers_of(node.child, layouts)
    return _group_covers(covers, node.per, (*node.per, *node.groups))


def _group_covers(covers: Covers, per: Iterable[str], columns: Iterable[str]) -> Covers:
    """Return the covers of rows with some columns, made for each value of others."""
    own, names = frozenset(per), frozenset(columns)
    return tuple(
        cover.carry(lambda old: old & names) if own & cover.ids else cover.unmark()
        for cover in covers
    )


def _join(node: Join, layouts: Layouts) -> Covers:
    """Return the covers of both sides, if pairs are of one person; else their union."""
    left, right = (covers_of(side, layouts) for side in node.inputs)
    if not right:
        return left
    on = frozenset(node.on)
    alike = all(on & cover.ids for cover in (*left, *right))
    if left and alike:
        return left if node.outer else (*left, *right)
    return _either(left, right)


def _difference(node: Without, layouts: Layouts) -> Covers:
    """Return the covers of the rows that stay; what takes away may be private too."""
    left, right = (covers_of(side, layouts) for side in node.inputs)
    return _either(left, right) if right else left


def _either(*sides: Covers) -> Covers:
    """Return a cover of rows that depend on all sides."""
    best = [_best(covers) for covers in sides if covers]
    return (Cover(frozenset(chain.from_iterable(cover.blocks for cover in best))),)


_Rule: TypeAlias = Callable[[Any, Layouts], Covers]
_RULES: Final[Mapping[type[AbstractNode], _Rule]] = by_kind(
    AbstractNode,
    {
        Source: _table,
        Unreadable: _table,
        PublicRows: _nobody,
        Kept: _kept,
        Project: _project,
        Filter: _filter,
        KeepRows: _pick,
        KeepGroups: _pick,
        KeepUnique: _pick,
        Crowded: _gather,
        Memberships: _pair,
        Gathered: _gather,
        Explode: _explode,
        MapRows: _rewrite,
        FlatMap: _rewrite,
        Join: _join,
        Without: _difference,
    },
)
