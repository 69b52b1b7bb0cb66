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


def grouping_of(select: Clause, items: list[Item], rows: RowScope) -> Grouping:
    """Return what groups are marked by, in one way or in several."""
    sets = _sets_of_clauses(select, items, rows)
    keys = _keys([clause for each in sets for clause in each], items, rows)
    several = select.has("group") and len(sets) > 1
    return Grouping(keys, _names_of_sets(sets, keys, rows) if several else None)


def _names_of_sets(
    sets: Sequence[Sequence[Clause]], keys: tuple[Key, ...], rows: RowScope
) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each set by their names, each once."""
    named = []
    for each in sets:
        marks = [rows.value(clause).expression for clause in each]
        names = [
            key.name
            for key in keys
            if any(key.value.expression.same(mark) for mark in marks)
        ]
        named.append(tuple(names))
    return tuple(named)


def _keys(clauses: list[Clause], items: list[Item], rows: RowScope) -> tuple[Key, ...]:
    """Return what groups are marked by, each once."""
    keys: dict[str, Key] = {}
    for clause in clauses:
        value = rows.value(clause)
        if any(value.expression.same(key.value.expression) for key in keys.values()):
            continue
        if value.type == "f64":
            raise clause.refusal(
                f"{clause.short_text} is a float, and floats are seldom exactly equal",
                f"Group by CAST(FLOOR({clause.short_text}) AS BIGINT), say.",
            )
        name = _key_name(value, items, rows, keys)
        keys[name] = Key(name, value)
    return tuple(keys.values())


def _key_name(
    value: Value, items: list[Item], rows: RowScope, keys: Mapping[str, Key]
) -> str:
    """Return the column that holds a key: its own, that of an alias, or a new one."""
    own = value.expression.tree
    if str(own) in {str(col(name)) for name in rows.schema}:
        (name,) = value.expression.names()
        return name
    taken = {*rows.schema, *keys}
    for item in items:
        if item.alias is None or item.alias in taken or any(aggregates_of(item.clause)):
            continue
        if rows.value(item.clause).expression.same(value.expression):
            return item.alias
    return next(f"_{n}" for n in range(1, len(taken) + 2) if f"_{n}" not in taken)


def _sets_of_clauses(
    select: Clause, items: list[Item], rows: RowScope
) -> Sequence[Sequence[Clause]]:
    """Return the sets of expressions that groups are marked by."""
    group, distinct = select.some("group"), select.some("distinct")
    if distinct is not None:
        distinct.look()
        if group is not None or any(any(aggregates_of(item.clause)) for item in items):
            raise distinct.refusal(
                "SELECT DISTINCT of grouped rows says nothing more",
                "Leave it out: groups are distinct already.",
            )
        return [[item.clause for item in items]]
    if group is None:
        return [[]]
    group.look()
    if group.scalar("all"):
        return [[item.clause for item in items if not any(aggregates_of(item.clause))]]
    sets = grouping_sets(group) or [tuple(group.each("expressions"))]
    return [[_meaning(clause, items, rows) for clause in each] for each in sets]


def _meaning(clause: Clause, items: list[Item], rows: RowScope) -> Clause:
    """Return what is grouped by: a place in SELECT, an alias, or an expression."""
    if clause.kind is exp.Literal and not clause.node.is_string:
        return item_at(clause, items).clause
    node = clause.node
    if isinstance(node, exp.Column) and not node.table and not rows.knows(node.name):
        for item in items:
            if item.alias is not None and item.alias.lower() == node.name.lower():
                clause.take("this").scalar("this")
                clause.take("this").scalar("quoted")
                return item.clause
    return clause


def item_at(clause: Clause, items: list[Item]) -> Item:
    """Return a column by its place after SELECT, from 1."""
    place = whole_number(clause, "a place")
    if not 1 <= place <= len(items):
        raise clause.refusal(
            f"SELECT has no column {place}, only {len(items)}",
            "Count the columns after SELECT from 1.",
        )
    return items[place - 1]
