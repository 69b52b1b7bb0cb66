"""GROUP BY, ROLLUP, CUBE, GROUPING SETS, and what is shown."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product
from typing import Final, TypeAlias, final

from sqlglot import exp

from sordino.expressions.language import Expression, col
from sordino.query.sql.aggregates import asks
from sordino.query.sql.answers import AnswerScope, Key, aggregates_of
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import RowScope, Value, alias, whole_number

Set: TypeAlias = tuple[Clause, ...]
MOST_SETS: Final = 64
_WITH: Final[Mapping[str, type[exp.Expr]]] = {"rollup": exp.Rollup, "cube": exp.Cube}
"""How Spark says it behind the columns: GROUP BY a, b WITH ROLLUP."""


def grouping_sets(group: Clause) -> list[Set] | None:
    """Sets of expressions that rows are grouped by; None for a plain GROUP BY."""
    parts = group.each("expressions")
    behind = [name for name in _WITH if group.has(name)]
    if not behind and not any(isinstance(part.node, _SEVERAL) for part in parts):
        return None
    ways: list[list[Set]] = []
    for part in parts:
        rule = _RULES.get(part.kind)
        if rule is None:
            ways.append([(part,)])
        else:
            sets = [_composite(element) for element in part.each("expressions")]
            ways.append(_some(rule(sets)))
    for name in behind:
        for words in group.each(name):
            _refuse_behind(words.look(), ways)
            ways = [_some(_RULES[_WITH[name]]([(part,) for part in parts]))]
    _refuse_many(group, ways)
    return [sum(each, ()) for each in product(*ways)]


def _some(sets: Iterator[Set]) -> list[Set]:
    # of too many no more than show that there are: CUBE of 30 columns has 2**30
    return list(islice(sets, MOST_SETS + 1))


def _composite(clause: Clause) -> Set:
    if clause.kind is exp.Tuple:
        return tuple(column.bare() for column in clause.each("expressions"))
    if isinstance(clause.node, _SEVERAL):
        raise clause.refusal(
            "ROLLUP, CUBE and GROUPING SETS do not stand within each other here",
            "Write each set of columns: GROUPING SETS ((a, b), (a), ()).",
        )
    return (clause.bare(),)


def _rollup(parts: list[Set]) -> Iterator[Set]:
    """Yield all parts, then one fewer each time, down to none."""
    for size in range(len(parts), -1, -1):
        yield sum(parts[:size], ())


def _cube(parts: list[Set]) -> Iterator[Set]:
    """Yield every selection of the parts, the largest first."""
    for size in range(len(parts), -1, -1):
        for chosen in combinations(parts, size):
            yield sum(chosen, ())


def _refuse_behind(clause: Clause, ways: list[list[Set]]) -> None:
    if clause.has("expressions") or any(len(way) > 1 for way in ways):
        raise clause.refusal(
            "WITH ROLLUP and WITH CUBE stand behind plain columns",
            "Write each set of columns: GROUPING SETS ((a, b), (a), ()).",
        )


def _refuse_many(group: Clause, ways: list[list[Set]]) -> None:
    if math.prod(map(len, ways)) > MOST_SETS:
        raise group.refusal(
            f"GROUP BY has more than {MOST_SETS} groupings here",
            "Ask for fewer: GROUPING SETS ((a, b), (a), ()).",
        )


_SEVERAL: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)
_RULES: Final[Mapping[type[exp.Expr], Callable[[list[Set]], Iterator[Set]]]] = {
    exp.Rollup: _rollup,
    exp.Cube: _cube,
    exp.GroupingSets: iter,
}


@final
@dataclass(frozen=True, eq=False)
class Item:
    """One column that is selected."""

    clause: Clause
    alias: str | None

    @classmethod
    def of(cls, clause: Clause) -> "Item":
        """Column and its alias."""
        name = alias(clause) if clause.kind is exp.Alias else None
        return cls(clause.take("this") if clause.kind is exp.Alias else clause, name)


def clauses_by_alias(items: list[Item]) -> dict[str, Clause]:
    """Selected expressions that have an alias, by it."""
    return {item.alias: item.clause for item in items if item.alias is not None}


@final
@dataclass(frozen=True, eq=False)
class Grouping:
    """What groups are marked by, in one set of keys or in several."""

    keys: tuple[Key, ...]
    sets: tuple[tuple[str, ...], ...] | None
    """None where there is one set, of all keys."""


def grouping_of(select: Clause, items: list[Item], rows: RowScope) -> Grouping:
    """Columns that mark groups, in one grouping or in several."""
    sets = _sets_of_clauses(select, items, rows)
    keys = _keys([clause for each in sets for clause in each], items, rows)
    several = select.has("group") and len(sets) > 1
    return Grouping(keys, _names_of_sets(sets, keys, rows) if several else None)


def _names_of_sets(
    sets: Sequence[Sequence[Clause]], keys: tuple[Key, ...], rows: RowScope
) -> tuple[tuple[str, ...], ...]:
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
    keys: dict[str, Key] = {}
    for clause in clauses:
        value = rows.value(clause)
        if any(value.expression.same(key.value.expression) for key in keys.values()):
            continue
        if value.type == "f64":
            raise clause.refusal(
                f"{clause.short_text} is a float, and floats are seldom exactly equal",
                _whole_groups(clause),
            )
        name = _key_name(value, items, rows, keys)
        keys[name] = Key(name, value)
    return tuple(keys.values())


def _whole_groups(clause: Clause) -> str:
    """Remedy: what to group by instead of a float."""
    text, digits = clause.short_text, clause.node.args.get("decimals")
    if isinstance(clause.node, _WHOLE) and not isinstance(digits, exp.Literal):
        return f"Group by CAST({text} AS BIGINT)."
    if isinstance(clause.node, exp.Column):
        tens = f"CAST(FLOOR({text} / 10) AS BIGINT) * 10"
        return f"Group by CAST(FLOOR({text}) AS BIGINT), or by tens: {tens}."
    return f"Group by CAST(FLOOR({text}) AS BIGINT), say."


_WHOLE: Final = (exp.Floor, exp.Ceil, exp.Round, exp.Trunc)


def _key_name(
    value: Value, items: list[Item], rows: RowScope, keys: Mapping[str, Key]
) -> str:
    """Column that holds a key: its own, that of an alias, or a new one."""
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
        # what is the same in every row is no group: without others there is one row
        keys = (item.clause for item in items if not any(aggregates_of(item.clause)))
        return [[clause for clause in keys if clause.node.find(exp.Column)]]
    sets = grouping_sets(group) or [tuple(group.each("expressions"))]
    return [[_meaning(clause, items, rows) for clause in each] for each in sets]


def _meaning(clause: Clause, items: list[Item], rows: RowScope) -> Clause:
    """Expression of GROUP BY: a place in SELECT, an alias, or itself."""
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
    """Column by its place after SELECT, from 1."""
    place = whole_number(clause, "a place")
    if not 1 <= place <= len(items):
        raise clause.refusal(
            f"SELECT has no column {place}, only {len(items)}",
            "Count the columns after SELECT from 1.",
        )
    return items[place - 1]


@final
@dataclass(frozen=True, eq=False)
class Selection:
    """The columns that are shown, under which names, in order."""

    names: dict[str, str] = field(default_factory=dict)
    """The name of a column of the answer, and what it is called in the end."""
    made: dict[str, Expression] = field(default_factory=dict)
    """Answers that are computed."""


def shown_items(items: list[Item], answers: AnswerScope) -> Selection:
    """Selected items: keys, answers, and values computed of them."""
    shown = Selection()
    for item in items:
        name = _key_shown(item, answers)
        if name is not None:
            _show(shown, item, name, answers)
        elif asks(item.clause.node):
            name = answers.ask(item.clause, item.alias)
            _show(shown, item, name, answers)
        else:
            _show_computed(shown, item, answers)
    return shown


def _key_shown(item: Item, answers: AnswerScope) -> str | None:
    key = answers.key_of(item.clause)
    if key is not None:
        (name,) = key.expression.names()
        return name
    # a key may be the same in every row: SELECT 'all' AS word ... GROUP BY word
    constant = item.clause.node.find(exp.Column) is None
    for known in (
        answers.keys if constant and not any(aggregates_of(item.clause)) else ()
    ):
        if known.value.bare:
            value = answers.rows.value(item.clause)
            if known.value.expression.same(value.expression):
                return known.name
    return None


def _show_computed(shown: Selection, item: Item, answers: AnswerScope) -> None:
    value = answers.value(item.clause)
    name = item.alias or answers.fresh("computed")
    if any(key.name == name for key in answers.keys):
        raise item.clause.refusal(
            f"{name} is a column of GROUP BY, and cannot name an answer as well",
            "Give the answer another alias.",
        )
    shown.made[name] = value.expression
    _show(shown, item, name, answers)


def _show(shown: Selection, item: Item, name: str, answers: AnswerScope) -> None:
    called = item.alias or name
    if called in shown.names.values():
        raise item.clause.refusal(
            f"SELECT has two columns named {called}",
            "Select it once, or give one of them another alias.",
        )
    if name in shown.names:  # the same once more, under another name
        again = called if called not in shown.names else answers.fresh(f"{called}_2")
        shown.made[again] = col(name)
        name = again
    shown.names[name] = called
