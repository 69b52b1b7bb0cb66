"""GROUP BY and DISTINCT: what the groups of a statement are marked by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from sordino.expressions.language import col
from sordino.query.sql.answer_scope import Key, aggregates_of
from sordino.query.sql.grouping_sets import grouping_sets
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.reading import Clause
from sordino.query.sql.row_scope import RowScope, alias
from sordino.query.sql.scope import Value


@final
@dataclass(frozen=True, eq=False)
class Item:
    """One column that is selected."""

    clause: Clause
    alias: str | None

    @classmethod
    def of(cls, clause: Clause) -> "Item":
        """Return a column and its alias."""
        name = alias(clause) if clause.kind is exp.Alias else None
        return cls(clause.take("this") if clause.kind is exp.Alias else clause, name)


@final
@dataclass(frozen=True, eq=False)
class Grouping:
    """What groups are marked by, in one set of keys or in several."""

    keys: tuple[Key, ...]
    sets: tuple[tuple[str, ...], ...] | None
    """None where there is one set, of all keys."""


def grouping_of(select: Clause, items: list[Item], found: RowScope) -> Grouping:
    """Return what groups are marked by, in one way or in several."""
    sets = _grouped(select, items, found)
    keys = _keys([one for each in sets for one in each], items, found)
    several = select.has("group") and len(sets) > 1
    return Grouping(keys, _named(sets, keys, found) if several else None)


def _named(
    sets: Sequence[Sequence[Clause]], keys: tuple[Key, ...], found: RowScope
) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each set by their names, each once."""
    named = []
    for each in sets:
        made = [found.value(one).expression for one in each]
        names = [
            key.name
            for key in keys
            if any(key.value.expression.same(one) for one in made)
        ]
        named.append(tuple(names))
    return tuple(named)


def _keys(clauses: list[Clause], items: list[Item], found: RowScope) -> tuple[Key, ...]:
    """Return what groups are marked by, each once."""
    keys: dict[str, Key] = {}
    for clause in clauses:
        value = found.value(clause)
        if any(value.expression.same(one.value.expression) for one in keys.values()):
            continue
        if value.type == "f64":
            raise clause.refusal(
                f"{clause.short_text} is a float, and floats are seldom exactly equal",
                "Group by CAST(FLOOR(...) AS BIGINT), say.",
            )
        name = _key_name(value, items, found, keys)
        keys[name] = Key(name, value)
    return tuple(keys.values())


def _key_name(
    value: Value, items: list[Item], found: RowScope, keys: Mapping[str, Key]
) -> str:
    """Return the column that holds a key: its own, that of an alias, or a new one."""
    own = value.expression.tree
    if str(own) in {str(col(one)) for one in found.schema}:
        (name,) = value.expression.names()
        return name
    taken = {*found.schema, *keys}
    for one in items:
        if one.alias is None or one.alias in taken or any(aggregates_of(one.clause)):
            continue
        if found.value(one.clause).expression.same(value.expression):
            return one.alias
    return next(f"_{n}" for n in range(1, len(taken) + 2) if f"_{n}" not in taken)


def _grouped(
    select: Clause, items: list[Item], found: RowScope
) -> Sequence[Sequence[Clause]]:
    """Return the sets of expressions that groups are marked by."""
    group, distinct = select.some("group"), select.some("distinct")
    if distinct is not None:
        distinct.look()
        if group is not None or any(any(aggregates_of(one.clause)) for one in items):
            raise distinct.refusal(
                "DISTINCT over noisy rows",
                "Leave it out: groups are distinct already.",
            )
        return [[one.clause for one in items]]
    if group is None:
        return [[]]
    group.look()
    if group.scalar("all"):
        return [[one.clause for one in items if not any(aggregates_of(one.clause))]]
    sets = grouping_sets(group) or [tuple(group.each("expressions"))]
    return [[_meant(one, items, found) for one in each] for each in sets]


def _meant(clause: Clause, items: list[Item], found: RowScope) -> Clause:
    """Return what is grouped by: a place in SELECT, an alias, or an expression."""
    if clause.kind is exp.Literal and not clause.node.is_string:
        return item_at(clause, items).clause
    node = clause.node
    if isinstance(node, exp.Column) and not node.table and not found.knows(node.name):
        for one in items:
            if one.alias is not None and one.alias.lower() == node.name.lower():
                clause.take("this").scalar("this")
                clause.take("this").scalar("quoted")
                return one.clause
    return clause


def item_at(clause: Clause, items: list[Item]) -> Item:
    """Return a column by its place after SELECT, from 1."""
    place = whole_number(clause, "a place")
    if not 1 <= place <= len(items):
        raise clause.refusal(
            f"there is no column {place}", "Count the columns after SELECT from 1."
        )
    return items[place - 1]
