"""A whole statement as a request: rows, groups, questions, and what follows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
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
from sordino.query.request import Request
from sordino.query.sql.aggregates import QUESTIONS, Asking, Ends, checked_bounds
from sordino.query.sql.answer_scope import AnswerScope
from sordino.query.sql.choice_rules import condition
from sordino.query.sql.clamped_people import CLAMPED_QUESTIONS, clamps_people
from sordino.query.sql.from_clause import Tables, selected_rows
from sordino.query.sql.group_clause import Item, grouping_of, item_at
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.options import Options
from sordino.query.sql.reading import Clause, Reading
from sordino.query.sql.scope import Value
from sordino.query.sql.selection import Selection, shown_items
from sordino.query.sql.several_groupings import (
    Process,
    Several,
    Together,
    grouped_by,
    refuse_other_keys,
    requests_of_sets,
)
from sordino.schema import unknown


@final
@dataclass(frozen=True)
class Given:
    """What is said of a statement beside its text."""

    limits: tuple[AbstractConstraint, ...]
    bounds: Mapping[str, Ends]
    keys: KeySet | None
    as_needed: bool = False
    """Whether what the text does not need is passed over, not refused."""

    @classmethod
    def of(
        cls, limits: Any, bounds: Any, keys: Any, *, as_needed: bool = False
    ) -> "Given":
        """Return what was given, refusing what is none of it."""
        listed = (limits,) if isinstance(limits, AbstractConstraint) else limits
        if not isinstance(listed, Iterable) or isinstance(listed, str):
            raise InvalidParameter(
                "limits", limits, "must be constraints", "Try [sd.MaxRowsPerID(5)]."
            )
        known = keys if isinstance(keys, KeySet) or not keys else KeySet.from_dict(keys)
        return cls(tuple(listed), checked_bounds(bounds), known or None, as_needed)

    def needed_for(self, keys: Iterable[str]) -> "Given":
        """Return what groups by some keys need, where the rest is passed over."""
        if not self.as_needed or self.keys is None:
            return self
        fits = set(self.keys.columns) == set(keys)
        return self if fits else replace(self, keys=None)


@final
@dataclass(frozen=True, eq=False)
class SqlQuestion:
    """The request of a SELECT, or those of its groupings and what is done to all."""

    request: Request | dict[str, Request]
    together: Together | None = None


def request_of(
    reading: Reading, tables: Tables, given: Given, options: Options
) -> SqlQuestion:
    """Return what a SELECT asks for."""
    select = reading.whole
    rows = selected_rows(select, tables)
    options.refuse_other_ids(rows.query.resolve(rows.catalog).ids)
    items = [Item.of(clause) for clause in select.each("expressions")]
    grouping = grouping_of(select, items, rows)
    asking = Asking(
        rows,
        tables.bounds,
        tables.used,
        questions=CLAMPED_QUESTIONS if clamps_people(select) else QUESTIONS,
    )
    given = given.needed_for(key.name for key in grouping.keys)
    answers = AnswerScope(rows, grouping.keys, asking, sets=grouping.sets)
    answers.selected.update({
        item.alias: item.clause for item in items if item.alias is not None
    })
    shown = shown_items(items, answers)
    having = select.some("having")
    kept = having and condition(having.look().take("this"), answers)
    bounded = replace(given, limits=_limits(given, options, answers))
    orders = _orders(select, items, answers, shown)
    process = partial(
        _process, select, answers=answers, shown=shown, kept=kept, orders=orders
    )
    asked = _rows_and_questions(select, answers, bounded)
    if grouping.sets is None:
        return SqlQuestion(process(_one_grouping(*asked, answers, given)))
    options.refuse_sets()
    several = Several(select, answers, shown, kept)
    return _each_grouping(several, asked, grouping.sets, given.keys, process)


def _each_grouping(
    several: Several,
    asked: tuple[Query, dict[str, Any]],
    sets: tuple[tuple[str, ...], ...],
    keys: KeySet | None,
    process: Process,
) -> SqlQuestion:
    """Return a request for each grouping, each with what is done to its rows."""
    requests = requests_of_sets(several, *asked, sets, keys)
    together = several.find_together(sets, process)
    if together is not None:
        together.rehearse(several.answers)
        return SqlQuestion(requests, together)
    return SqlQuestion({
        name: several.process(request, names)
        for names, (name, request) in zip(sets, requests.items(), strict=True)
    })


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
    orders = [
        _order(ordered, items, answers, shown) for ordered in clause.each("expressions")
    ]
    if set(answers.asked) - before:
        raise clause.refusal(
            "ORDER BY asks for an answer that is not selected, and it has a price",
            "Select it as well.",
        )
    return orders


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
    for known, computed in shown.made.items():
        if computed.same(value.expression):
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
    limits: list[AbstractConstraint] = list(given.limits)
    names = tuple(key.name for key in answers.keys)
    if options.groups is not None:
        if not names:
            raise options.refusal(
                "max_groups_contributed",
                "max_groups_contributed needs a GROUP BY",
                "Leave it out, or group.",
            )
        limits.append(MaxGroupsPerID(names, options.groups))
    if answers.asking.per_group:
        if len(answers.asked) > 1 or not names:
            raise InvalidParameter(
                "contribution_bounds_per_group",
                sorted(answers.asking.per_group),
                "bounds the rows of one COUNT(*) here, where nothing else is asked",
                "Give limits=sd.MaxRowsPerGroupPerID(...), which bounds all answers.",
            )
        (most,) = answers.asking.per_group
        limits.append(MaxRowsPerGroupPerID(names, most))
    return tuple(limits)


def _rows_and_questions(
    select: Clause, answers: AnswerScope, given: Given
) -> tuple[Query, dict[str, Any]]:
    """Return the rows that are asked about, and what is asked of each group."""
    rows = answers.rows
    keys = answers.keys
    if not keys and not answers.asked:
        raise select.refusal(
            "SELECT without an aggregate would show rows of people",
            "Ask aggregates of them: COUNT(*), AVG(...).",
        )
    _refuse_unused(given, answers)
    computed = {
        key.name: key.value.expression
        for key in keys
        if str(key.value.expression) != str(col(key.name))
    }
    query: Query = rows.query
    if computed or answers.asking.made:
        query = query.with_columns(**computed, **answers.asking.made)
    if answers.asking.persons:
        query = _each_person_first(query, answers)
    if given.limits:
        query = query.enforce(*given.limits)
    return query, {name: aggregate.asked for name, aggregate in answers.asked.items()}


def _each_person_first(query: Query, answers: AnswerScope) -> Query:
    """Return a row for each person and group, with what is clamped of them."""
    if answers.sets is not None:
        raise InvalidParameter(
            "contribution_bounds_per_group",
            sorted(answers.asking.persons),
            "clamps people in the groups of one grouping, and here are several",
            "Write one set of columns in GROUP BY.",
        )
    keys = [key.name for key in answers.keys]
    return query.per_id(*keys, **answers.asking.persons)


def _one_grouping(
    query: Query, questions: dict[str, Any], answers: AnswerScope, given: Given
) -> Request:
    """Return the question about the groups of one set of keys."""
    if not answers.keys:
        return query.agg(**questions)
    names = tuple(key.name for key in answers.keys)
    refuse_other_keys(given.keys, names)
    grouped = grouped_by(query, names, given.keys)
    return grouped.agg(**questions) if questions else grouped.keys()


def _refuse_unused(given: Given, answers: AnswerScope) -> None:
    """Refuse what was given and nothing needs: it would be left out in silence."""
    for name in () if given.as_needed else given.bounds:
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


def _process(
    select: Clause,
    request: Any,
    *,
    answers: AnswerScope,
    shown: Selection,
    kept: Expression | None,
    orders: list[Order],
) -> Any:
    """Return a request, or a release, with what is done to its noisy rows."""
    if kept is not None:
        _refuse_ungrouped(select, "having", answers)
        request = request.filter(kept)
    if shown.made:
        request = request.with_columns(**shown.made)
    if orders:
        _refuse_ungrouped(select, "order", answers)
        request = request.sort(
            *dict.fromkeys(order.name for order in orders),
            descending=tuple(order.name for order in orders if order.descending),
            nulls_first=tuple(order.name for order in orders if order.nulls_first),
        )
    request = _cut(select, request, answers)
    there = [*answers.asked, *shown.made]
    wanted = [name for name in shown.names if name in there]
    if wanted != there:
        request = request.select(*wanted)
    renamed = {name: called for name, called in shown.names.items() if name != called}
    return request.rename(renamed) if renamed else request


def _cut(select: Clause, request: Any, answers: AnswerScope) -> Any:
    """Return so many rows."""
    limit, offset = select.some("limit"), select.some("offset")
    if limit is None and offset is None:
        return request
    _refuse_ungrouped(select, "limit" if limit is not None else "offset", answers)
    most, first = (_size(clause) for clause in (limit, offset))
    return request.limit(_ALL if most is None else most, first or 0)


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
            "without GROUP BY there is one row, and nothing to choose or to order",
            "Leave it out, or add GROUP BY.",
        )
