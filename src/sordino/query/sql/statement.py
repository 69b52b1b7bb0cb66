"""A whole statement as a request: rows, groups, questions, and what follows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

from sqlglot import exp

from sordino.constraints import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
)
from sordino.errors import InvalidParameter
from sordino.expressions.language import Expression, col
from sordino.keysets import KeySet
from sordino.query.builder import Query
from sordino.query.grouped import Grouped
from sordino.query.request import Request
from sordino.query.sql.aggregates import Asking, Ends, checked_bounds
from sordino.query.sql.answer_scope import AnswerScope
from sordino.query.sql.choice_rules import condition
from sordino.query.sql.from_clause import Tables, selected_rows
from sordino.query.sql.group_clause import Item, grouping_of, item_at
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.options import Options
from sordino.query.sql.reading import Clause, Reading
from sordino.query.sql.scope import Value
from sordino.query.sql.selection import Selection, shown_items
from sordino.query.sql.several_groupings import Several, requests_of_sets
from sordino.schema import unknown


@final
@dataclass(frozen=True)
class Given:
    """What is said of a statement beside its text."""

    limits: tuple[AbstractConstraint, ...]
    bounds: Mapping[str, Ends]
    keys: KeySet | None

    @classmethod
    def of(cls, limits: Any, bounds: Any, keys: Any) -> "Given":
        """Return what was given, refusing what is none of it."""
        listed = (limits,) if isinstance(limits, AbstractConstraint) else limits
        if not isinstance(listed, Iterable) or isinstance(listed, str):
            raise InvalidParameter(
                "limits", limits, "must be constraints", "Try [sd.MaxRowsPerID(5)]."
            )
        known = keys if isinstance(keys, KeySet) or not keys else KeySet.from_dict(keys)
        return cls(tuple(listed), checked_bounds(bounds), known or None)


def request_of(
    reading: Reading, tables: Tables, given: Given, options: Options
) -> Request | dict[str, Request]:
    """Return the request of a SELECT, or one for each of several groupings."""
    select = reading.whole
    found = selected_rows(select, tables)
    options.refuse_other_ids(found.query.resolve(found.catalog).ids)
    items = [Item.of(one) for one in select.each("expressions")]
    grouping = grouping_of(select, items, found)
    asking = Asking(found, tables.bounds, tables.used)
    answers = AnswerScope(found, grouping.keys, asking)
    answers.selected.update({
        one.alias: one.clause for one in items if one.alias is not None
    })
    shown = shown_items(items, answers)
    having = select.some("having")
    kept = having and condition(having.look().take("this"), answers)
    bounded = replace(given, limits=_limits(given, options, answers))
    if grouping.sets is not None:
        options.refuse_sets()
        said = Several(select, answers, shown, kept)
        said.refuse_order()
        rows = _asked(select, answers, bounded)
        return requests_of_sets(said, *rows, grouping.sets, given.keys)
    orders = _orders(select, items, answers, shown)
    asked = _one_grouping(*_asked(select, answers, bounded), answers, given)
    return _processed(select, asked, answers, shown, kept, orders)


@final
@dataclass(frozen=True)
class Order:
    """A column by which rows are put into an order."""

    name: str
    descending: bool
    nulls_first: bool


def _orders(
    select: Clause, items: list[Item], answers: AnswerScope, shown: Selection
) -> list[Order]:
    """Return by what the noisy rows are ordered."""
    clause = select.some("order")
    if clause is None:
        return []
    clause.look()
    before = set(answers.asked)
    answers = replace(answers, aliases_first=True)
    found = [_order(one, items, answers, shown) for one in clause.each("expressions")]
    if set(answers.asked) - before:
        raise clause.refusal(
            "the order asks for an answer that is not selected, and it has a price",
            "Select it as well.",
        )
    return found


def _order(
    clause: Clause, items: list[Item], answers: AnswerScope, shown: Selection
) -> Order:
    """Return one column of an order."""
    clause.look()
    this = clause.take("this")
    if this.kind is exp.Literal:
        this = item_at(this, items).clause
    value = answers.value(this)
    name = next(
        (
            known
            for known in shown.names
            if known not in shown.made and str(col(known)) == str(_plain(value))
        ),
        None,
    )
    for known, made in shown.made.items():
        if made.same(value.expression):
            name = known
    if name is None:
        name = answers.fresh("sorted_by")
        shown.made[name] = value.expression
    last = bool(clause.scalar("nulls_first"))
    return Order(name, bool(clause.scalar("desc")), last)


def _plain(value: Value) -> Any:
    """Return a column without the cast that gives it its type in SQL."""
    names = value.expression.names()
    if len(names) == 1:
        (name,) = names
        if str(value.expression).startswith(f"{col(name)}.cast("):
            return col(name)
    return value.expression


def _limits(
    given: Given, options: Options, answers: AnswerScope
) -> tuple[AbstractConstraint, ...]:
    """Return what bounds each id: what is given, and what the text says."""
    found: list[AbstractConstraint] = list(given.limits)
    names = tuple(one.name for one in answers.keys)
    if options.groups is not None:
        if not names:
            raise options.refusal(
                "max_groups_contributed", "nothing is grouped", "Leave it out."
            )
        found.append(MaxGroupsPerID(names, options.groups))
    if answers.asking.per_group:
        if len(answers.asked) > 1 or not names:
            raise InvalidParameter(
                "contribution_bounds_per_group",
                sorted(answers.asking.per_group),
                "bounds the rows of one COUNT(*) here, where nothing else is asked",
                "Give limits=sd.MaxRowsPerGroupPerID(...), which bounds all answers.",
            )
        (most,) = answers.asking.per_group
        found.append(MaxRowsPerGroupPerID(names, most))
    return tuple(found)


def _asked(
    select: Clause, answers: AnswerScope, given: Given
) -> tuple[Query, dict[str, Any]]:
    """Return the rows that are asked about, and what is asked of each group."""
    found = answers.rows
    keys = answers.keys
    if not keys and not answers.asked:
        raise select.refusal(
            "this would show rows of people",
            "Ask aggregates of them: COUNT(*), AVG(...).",
        )
    _refuse_unused(given, answers)
    made = {
        one.name: one.value.expression
        for one in keys
        if str(one.value.expression) != str(col(one.name))
    }
    query: Query = found.query
    if made or answers.asking.made:
        query = query.with_columns(**made, **answers.asking.made)
    if given.limits:
        query = query.enforce(*given.limits)
    return query, {name: one.asked for name, one in answers.asked.items()}


def _one_grouping(
    query: Query, questions: dict[str, Any], answers: AnswerScope, given: Given
) -> Request:
    """Return the question about the groups of one set of keys."""
    if not answers.keys:
        return query.agg(**questions)
    grouped = _with_keys(query, given, tuple(one.name for one in answers.keys))
    return grouped.agg(**questions) if questions else grouped.keys()


def _with_keys(query: Query, given: Given, names: tuple[str, ...]) -> Grouped:
    """Return the groups, of the keys that were given."""
    if given.keys is None:
        return query.group_by(*names)
    if set(given.keys.columns) != set(names):
        raise InvalidParameter(
            "keys",
            list(given.keys.columns),
            f"must have the columns of GROUP BY, {', '.join(names)}",
            "Give values for each column of GROUP BY, or leave keys out.",
        )
    return query.group_by(given.keys)


def _refuse_unused(given: Given, answers: AnswerScope) -> None:
    """Refuse what was given and nothing needs: it would be left out in silence."""
    for name in given.bounds:
        if name not in answers.asking.used:
            refused = unknown(
                "aggregate that needs bounds of", name, answers.rows.schema
            )
            raise InvalidParameter(
                "bounds",
                name,
                "is not a column that an aggregate needs bounds for",
                "Leave it out: CLAMP in the text goes before bounds=.",
            ) from refused
    if given.keys is not None and not answers.keys:
        raise InvalidParameter(
            "keys",
            list(given.keys.columns),
            "were given, but the text has no GROUP BY",
            "Leave them out, or add GROUP BY.",
        )


def _processed(
    select: Clause,
    asked: Request,
    answers: AnswerScope,
    shown: Selection,
    kept: Expression | None,
    orders: list[Order],
) -> Request:
    """Return the request with what is done to its noisy rows."""
    if kept is not None:
        _refuse_ungrouped(select, "having", answers)
        asked = asked.filter(kept)
    if shown.made:
        asked = asked.with_columns(**shown.made)
    if orders:
        _refuse_ungrouped(select, "order", answers)
        asked = asked.sort(
            *dict.fromkeys(one.name for one in orders),
            descending=tuple(one.name for one in orders if one.descending),
            nulls_first=tuple(one.name for one in orders if one.nulls_first),
        )
    asked = _cut(select, asked, answers)
    there = [*answers.asked, *shown.made]
    wanted = [name for name in shown.names if name in there]
    if wanted != there:
        asked = asked.select(*wanted)
    renamed = {name: called for name, called in shown.names.items() if name != called}
    return asked.rename(renamed) if renamed else asked


def _cut(select: Clause, asked: Request, answers: AnswerScope) -> Request:
    """Return the request for so many rows."""
    limit, offset = select.some("limit"), select.some("offset")
    if limit is None and offset is None:
        return asked
    _refuse_ungrouped(select, "limit" if limit is not None else "offset", answers)
    most, first = (_size(clause) for clause in (limit, offset))
    return asked.limit(_ALL if most is None else most, first or 0)


def _size(clause: Clause | None) -> int | None:
    """Return a number of rows."""
    if clause is None:
        return None
    return whole_number(clause.look().take("expression"), "a number of rows")


_ALL: Final = 2**31


def _refuse_ungrouped(select: Clause, name: str, answers: AnswerScope) -> None:
    """Refuse to choose among rows where there is one."""
    if not answers.keys:
        clause = select.part(select.node.args[name])
        raise clause.refusal(
            "without groups there is one row, and nothing to choose or to order",
            "Leave it out, or add GROUP BY.",
        )
