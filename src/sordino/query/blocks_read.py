"""Which blocks a plan reads: covers and admissions.

Which blocks a condition admits: those of which some row can pass it.

>>> from datetime import date
>>> from sordino.expressions.language import col
>>> months = {"1": (date(2026, 1, 1), date(2026, 1, 31)),
...           "2": (date(2026, 2, 1), date(2026, 2, 28))}
>>> sorted(admissible_blocks((col("day") < date(2026, 2, 1)).tree, "day", months))
['1']

Which blocks of its tables a plan reads: sets that a person cannot pass by.

A set S of blocks is a *cover* of rows if in every state of the tables a person without
a row in S leaves them as they are. Each node of a plan has a rule that says which it
has, proved in docs/proofs/queries.md, section 11. Where several are known, each is one
by itself.

Kernel: sensitivity.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias, final

from sordino.expressions.choices import IS_IN
from sordino.expressions.dates import TRUNCATE
from sordino.expressions.logic import (
    AND,
    AT_LEAST,
    AT_MOST,
    EQUAL,
    GREATER,
    LESS,
    OR,
    order,
)
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Call,
    Col,
    Literal,
    Operation,
)
from sordino.losses.budgets.blocks import WHOLE
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
    Source,
    Unreadable,
    Without,
    by_kind,
)

Ends: TypeAlias = Mapping[str, tuple[Any, Any]]
"""The least and the greatest value of a column in each block."""


def admissible_blocks(
    condition: AbstractExpression, mark: str, blocks: Ends
) -> frozenset[str]:
    """Return the blocks of which a row may pass, by what its marked column is.

    For any row whose marked column has a value of a block, the condition is true only
    if the block is among these. What is not understood admits all.
    """
    every = frozenset(blocks)
    match condition:
        case Call(operation=operation, arguments=(left, right)) if operation is AND:
            return admissible_blocks(left, mark, blocks) & admissible_blocks(
                right, mark, blocks
            )
        case Call(operation=operation, arguments=(left, right)) if operation is OR:
            return admissible_blocks(left, mark, blocks) | admissible_blocks(
                right, mark, blocks
            )
        case Call(operation=operation, arguments=(tree, *others)):
            passes = _PASSES.get(operation)
            if passes is None or not _grows(tree, mark):
                return every
            constants = [_constant(other) for other in others]
            if None in constants:
                return every
            return frozenset(
                name
                for name, (least, greatest) in blocks.items()
                if passes(
                    tree.value({mark: least}), tree.value({mark: greatest}), constants
                )
            )
        case _:
            return every


def _grows(tree: AbstractTree, mark: str) -> bool:
    """Say whether this is the marked column, or the start of its period.

    Neither falls where the value of the column grows.
    """
    match tree:
        case Col(name=name):
            return name == mark
        case Call(operation=operation, arguments=(inner,)) if operation is TRUNCATE:
            return _grows(inner, mark)
        case _:
            return False


def _constant(tree: AbstractTree) -> Any:
    """Return the value of a literal, None of anything else."""
    match tree:
        case Literal(constant=constant):
            return constant
        case _:
            return None


_Passes: TypeAlias = Callable[[Any, Any, list[Any]], bool]
_PASSES: Final[Mapping[Operation, _Passes]] = {
    EQUAL: lambda low, high, values: _lies_in(low, values[0], high),
    IS_IN: lambda low, high, values: (
        any(isinstance(each, float) for each in values)  # then all are rounded
        or any(_lies_in(low, each, high) for each in values)
    ),
    LESS: lambda low, _, values: order(low, values[0]) < 0,
    AT_MOST: lambda low, _, values: order(low, values[0]) <= 0,
    GREATER: lambda _, high, values: order(high, values[0]) > 0,
    AT_LEAST: lambda _, high, values: order(high, values[0]) >= 0,
}
"""Whether a value between a least and a greatest one may pass a comparison."""


def _lies_in(low: Any, value: Any, high: Any) -> bool:
    return order(low, value) <= 0 <= order(high, value)


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
    return covers_of(node.rows, layouts)


def _filter(node: Filter, layouts: Layouts) -> Covers:
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
    return _group_covers(covers_of(node.child, layouts), node.per, node.per)


def _pair(node: Memberships, layouts: Layouts) -> Covers:
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
