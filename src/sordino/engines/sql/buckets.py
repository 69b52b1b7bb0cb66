"""Answers in several runs, each for some of the ids: for when memory is short.

A bound keeps rows by those of its own id. So the rows of a plan can be answered for one
part of the ids after the other and the totals added, exactly. That holds when

- all bounds of the plan stand above each other, and all are for some same columns,
- what counts different values counts those columns among them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

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
from sordino.query.question import AbstractTotal, Distinct, Total
from sordino.query.walks import with_inputs
from sordino.schema import Schema, Version

Bound: TypeAlias = (
    KeepRows | KeepGroups | KeepUnique | Kept | Crowded | Memberships | Gathered
)

_IS_BOUND: Final[Mapping[type[Any], bool]] = by_kind(
    AbstractNode,
    {
        **dict.fromkeys((KeepRows, KeepGroups, KeepUnique, Kept), True),
        **dict.fromkeys((Crowded, Memberships, Gathered), True),
        **dict.fromkeys((Source, Unreadable, PublicRows, Project, Filter), False),
        **dict.fromkeys((Join, Without, Explode, MapRows, FlatMap), False),
    },
)
"""Whether a row of a node depends on more than one row below it."""


@final
@dataclass(frozen=True)
class Bucket(AbstractNode):
    """The rows of every `count`-th id in the order of a hash, from the `number`-th."""

    child: AbstractNode
    per: tuple[str, ...]
    number: int
    count: int
    schema: Schema

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return the child."""
        return (self.child,)

    def describe(self) -> str:
        """Show which part it is."""
        return f"part {self.number} of {self.count} of {', '.join(self.per)}"


def rows_in_buckets(
    rows: AbstractNode, totals: Iterable[AbstractTotal], count: int
) -> tuple[AbstractNode, ...]:
    """Return rows in parts whose totals add up, or none where that is not sound."""
    chain = list(_chain(rows))
    if not chain or len(chain) < _bounds(rows):
        return ()
    lowest = chain[-1]
    ids = _shared_ids(chain)
    if not ids or not all(_adds(total, rows.schema, ids) for total in totals):
        return ()
    schema, names = _columns_counted(lowest)
    per = tuple(name for name in names if schema[name].version in ids)
    return tuple(
        _replace(rows, lowest, _in_part(lowest, per, number, count))
        for number in range(count)
    )


def _shared_ids(chain: Iterable[Bound]) -> frozenset[Version]:
    """Return what all bounds of a chain count by."""
    return frozenset.intersection(
        *(_versions(*_columns_counted(bound)) for bound in chain)
    )


def _columns_counted(bound: Bound) -> tuple[Schema, tuple[str, ...]]:
    """Return the columns of what a bound is of, and those by which it counts.

    Rows that are kept may be parted by any columns: by those of all their bounds.
    """
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
    """Yield the bounds from the top down to the first source on the left."""
    if _is_bound(node):
        yield node
    for child in node.inputs[:1]:
        yield from _chain(child)


def _bounds(node: AbstractNode) -> int:
    """Return how many bounds a plan has."""
    return _is_bound(node) + sum(_bounds(child) for child in node.inputs)


def _is_bound(node: AbstractNode) -> bool:
    """Tell whether a node is a bound; rows that a step has made are none."""
    return _IS_BOUND.get(type(node), False)


def _versions(schema: Schema, names: Iterable[str]) -> frozenset[Version]:
    """Return what columns hold, whatever they are called."""
    return frozenset(schema[name].version for name in names)


def _adds(total: AbstractTotal, schema: Schema, ids: frozenset[Version]) -> bool:
    """Tell whether a total is the sum of those of the parts."""
    return _ADDS[type(total)](total, schema, ids)


_Rule: TypeAlias = Callable[[Any, Schema, frozenset[Version]], bool]
_ADDS: Final[Mapping[type[AbstractTotal], _Rule]] = by_kind(
    AbstractTotal,
    {
        Total: lambda *_: True,
        Distinct: lambda total, schema, ids: ids <= _versions(schema, total.columns),
    },
)


def _replace(node: AbstractNode, old: AbstractNode, new: AbstractNode) -> AbstractNode:
    """Return a plan with one of its nodes replaced."""
    if node is old:
        return new
    return with_inputs(node, tuple(_replace(child, old, new) for child in node.inputs))
