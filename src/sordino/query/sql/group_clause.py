"""GROUP BY and DISTINCT: what the groups of a statement are marked by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from sqlglot import exp

from sordino.expressions.language import col
from sordino.query.sql.answer_scope import Key, aggregates_of
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.reading import Clause
from sordino.query.sql.row_scope import RowScope, alias
from sordino.query.sql.scope import Value

_SEVERAL: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)
_SETS: Final = ("grouping_sets", "cube", "rollup", "totals")


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


def group_keys(select: Clause, items: list[Item], found: RowScope) -> tuple[Key, ...]:
    """Return what groups are marked by."""
    clauses = _grouped(select, items, found)
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


def _grouped(select: Clause, items: list[Item], found: RowScope) -> list[Clause]:
    """Return the expressions that groups are marked by."""
    group, distinct = select.some("group"), select.some("distinct")
    if distinct is not None:
        distinct.look()
        if group is not None or any(any(aggregates_of(one.clause)) for one in items):
            raise distinct.refusal(
                "DISTINCT over noisy rows",
                "Leave it out: groups are distinct already.",
            )
        return [one.clause for one in items]
    if group is None:
        return []
    group.look()
    _refuse_several(group)
    if group.scalar("all"):
        return [one.clause for one in items if not any(aggregates_of(one.clause))]
    return [_meant(one, items, found) for one in group.each("expressions")]


def _refuse_several(group: Clause) -> None:
    """Refuse ROLLUP, CUBE and GROUPING SETS."""
    listed = group.node.args.get("expressions") or []
    if any(map(group.has, _SETS)) or any(isinstance(one, _SEVERAL) for one in listed):
        raise group.refusal(
            "these are several groupings, and a request has one",
            "Ask each grouping by itself, and pay for them together by "
            "session.release_all.",
        )


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
