"""Rows that an engine keeps, and answers in several runs where memory is short.

A bound keeps rows by those of its own id. So the rows of a plan can be answered for one
part of the ids after the other and the totals added, exactly. That holds when

- all bounds of the plan stand above each other, and all are for some same columns,
- what counts different values counts those columns among them.

Kernel: totals.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from sordino.aggregations.measurement import AbstractTotal, Distinct, Missing, Total
from sordino.engines.statements.dialect import AbstractDialect
from sordino.expressions.schema import Schema, Version
from sordino.query.node_rules import MOST, NODE_RULES, PlanNames, with_kept_rows
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Gathered,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    Memberships,
    Question,
    by_kind,
    with_inputs,
)

Bound: TypeAlias = (
    KeepRows | KeepGroups | KeepUnique | Kept | Crowded | Memberships | Gathered
)


@final
@dataclass(frozen=True)
class Bucket(AbstractNode):
    """The rows of every `count`-th id in the order of a hash, from the `number`-th."""

    child: AbstractNode
    per: tuple[str, ...]
    number: int
    count: int
    schema: Schema

    def describe(self) -> str:
        return f"part {self.number} of {self.count} of {', '.join(self.per)}"


def rows_in_buckets(
    rows: AbstractNode, totals: Iterable[AbstractTotal], count: int
) -> tuple[AbstractNode, ...]:
    """Return rows in parts whose totals add up, or none where that is not sound."""
    chain = list(_chain(rows))
    if not chain or len(chain) < _bounds(rows):  # a bound beside another, as by a join
        return ()
    lowest = chain[-1]
    ids = _shared_ids(chain)
    add_up = (_ADDS[type(total)](total, rows.schema, ids) for total in totals)
    if not ids or not all(add_up):
        return ()
    schema, names = _columns_counted(lowest)
    per = tuple(name for name in names if schema[name].version in ids)
    return tuple(
        _replace(rows, lowest, _in_part(lowest, per, number, count))
        for number in range(count)
    )


def _shared_ids(chain: Iterable[Bound]) -> frozenset[Version]:
    return frozenset.intersection(
        *(_versions(*_columns_counted(bound)) for bound in chain)
    )


def _columns_counted(bound: Bound) -> tuple[Schema, tuple[str, ...]]:
    # rows that are kept may be parted by any columns: by those of all their bounds
    match bound:
        case Kept():
            rows: Any = bound.rows
            ids = _shared_ids(_chain(rows))
            names = (name for name in rows.per if rows.schema[name].version in ids)
            return rows.schema, tuple(names) or rows.per
        case _:
            return bound.child.schema, bound.per


def _in_part(
    bound: Bound, per: tuple[str, ...], number: int, count: int
) -> AbstractNode:
    """Return the rows of a bound for a part of the ids; of kept rows it is a part."""
    match bound:
        case Kept():
            whole = replace(bound, schema=bound.rows.schema)
            return Bucket(whole, per, number, count, bound.schema)
        case _:
            part = Bucket(bound.child, per, number, count, bound.child.schema)
            return with_inputs(bound, (part,))


def _chain(node: Any) -> Iterator[Bound]:
    if _is_bound(node):
        yield node
    for child in node.inputs[:1]:
        yield from _chain(child)


def _bounds(node: AbstractNode) -> int:
    return _is_bound(node) + sum(_bounds(child) for child in node.inputs)


def _is_bound(node: AbstractNode) -> bool:
    return type(node) in NODE_RULES and NODE_RULES[type(node)].is_bound


def _versions(schema: Schema, names: Iterable[str]) -> frozenset[Version]:
    return frozenset(schema[name].version for name in names)


_Rule: TypeAlias = Callable[[Any, Schema, frozenset[Version]], bool]
_ADDS: Final[Mapping[type[AbstractTotal], _Rule]] = by_kind(
    AbstractTotal,
    {
        Total: lambda *_: True,
        Missing: lambda *_: True,
        Distinct: lambda total, schema, ids: ids <= _versions(schema, total.columns),
    },
)


def _replace(node: AbstractNode, old: AbstractNode, new: AbstractNode) -> AbstractNode:
    if node is old:
        return new
    return with_inputs(node, tuple(_replace(child, old, new) for child in node.inputs))


@final
class NoPlace(Exception):
    """Rows cannot be kept: there is no place for them, or too little memory."""


@final
class KeptTables:
    """The tables of one engine: names by plans, and which of them hold their rows."""

    def __init__(self) -> None:
        self._plans = PlanNames()
        self._large: set[str] = set()
        self._there: dict[str, bool] = {}  # whether all rows are there, of each place
        self.rehearsed: set[str] = set()  # plans that ran on tables without rows
        self.narrows = True
        """Whether rows are kept once more in few bits: until memory was short."""
        self._numbers = itertools.count(1)

    def use_kept_rows(self, question: Question) -> Question:
        """Return a question over rows that are kept, unless they are too many."""
        return replace(question, rows=with_kept_rows(question.rows, self._name))

    def _name(self, rows: AbstractNode) -> str | None:
        name = self._plans.name(rows)
        return None if name in self._large else name

    def narrow_name(self) -> str:
        """Return a name for rows in few bits, which no other rows had."""
        return f"n{next(self._numbers)}"

    def holds(self, name: str) -> bool:
        """Tell whether a table has its rows; it is then the last to make room."""
        if not self._there.get(name, False):
            return False
        self._there[name] = self._there.pop(name)  # to the end: the last to make room
        return True

    def begin(self, name: str) -> None:
        """Note that there is a place for rows."""
        self._there[name] = False

    def end(self, name: str) -> None:
        """Note that a place has all its rows."""
        self._there[name] = True

    def give_up(self, name: str) -> None:
        """Note that rows are too many to be kept."""
        self._large.add(name)

    def excess(self, needed: Iterable[str]) -> Sequence[str]:
        """Return the tables that have to make room, never those that are needed."""
        free = [name for name in self._there if name not in frozenset(needed)]
        return free[: max(0, len(self._there) - MOST)]

    def drop(self, names: Sequence[str]) -> None:
        """Note that tables are no more."""
        for name in names:
            self._there.pop(name, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all places."""
        return tuple(self._there)


def columns_text(
    dialect: AbstractDialect, schema: Schema, widths: tuple[int, ...]
) -> str:
    """Return the columns of a table for rows of a schema, by their places.

    With widths they are integers of so many bits.
    """
    kinds = [dialect.narrow_types[width] for width in widths] or [
        dialect.type_of(column.type).sql(dialect.name) for _, column in schema.columns
    ]
    return ", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds))
