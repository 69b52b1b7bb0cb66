"""A whole statement as one request, or as one for each of several groupings.

What is done to the rows of all groupings together, or depends on which grouping a row
is of, is done to one release of all of them.

Bounds per group in the style of BigQuery clamp people:
`SUM(x, contribution_bounds_per_group => (0, 9))` is the sum of each person's rows in a
group, held within the bounds, and then the sum of these. Each person is summed first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.intervals import error_names
from sordino.aggregations.mean import mean
from sordino.aggregations.sum import sum as sum_of
from sordino.data import KeySet
from sordino.data.limits import AbstractConstraint, MaxGroupsPerID, MaxRowsPerGroupPerID
from sordino.errors import InvalidParameter, InvalidSQL
from sordino.expressions.language import Expression, col
from sordino.expressions.schema import arrow_type, unknown
from sordino.losses.loss import Budget
from sordino.query.builder import Query
from sordino.query.groups import Grouped, GroupingSets
from sordino.query.processing import AbstractNoisyAnswers, AbstractProcess, NoisyRows
from sordino.query.request import Request
from sordino.query.sql.aggregates import (
    PER_GROUP,
    QUESTIONS,
    Aggregate,
    Asking,
    Ends,
    Question,
    answer_name,
    asks,
    checked_bounds,
    count_of,
    fresh_name,
    is_per_group,
    named_bounds,
)
from sordino.query.sql.answers import ALL, MARK, AnswerScope
from sordino.query.sql.from_clause import PERSON_QUESTIONS, Tables, selected_rows
from sordino.query.sql.groups import (
    Item,
    Selection,
    clauses_by_alias,
    grouping_of,
    item_at,
    shown_items,
)
from sordino.query.sql.options import Options, input_dialect, split_options
from sordino.query.sql.reading import (
    BOUNDS,
    Clause,
    Reading,
    check_statement,
    read_statement,
    split_words,
)
from sordino.query.sql.scope import Value, whole_number
from sordino.query.sql.truth_rules import check_order, condition
from sordino.query.steps import AbstractCatalog

Process: TypeAlias = Callable[[Any], Any]
"""(noisy answers) -> what a statement makes of them"""
Sets: TypeAlias = tuple[tuple[str, ...], ...]
"""The keys of each of several groupings."""
_EVERY_ROW: Final = 2**31
_TOGETHER: Final[Mapping[str, str]] = {
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}


@final
@dataclass(frozen=True)
class _Steps(AbstractNoisyAnswers):
    """What is done to noisy answers, written down."""

    steps: tuple[AbstractProcess, ...] = ()

    def _process(self, step: AbstractProcess) -> "_Steps":
        return _Steps((*self.steps, step))


@final
@dataclass(frozen=True, eq=False)
class Together:
    """What is done to one release of all groupings, and the clause that asks for it."""

    what: str
    clause: Clause
    process: Process

    def apply(self, release: Any) -> Any:
        """Release after the steps of the statement."""
        return self.process(release)

    def rehearse(self, answers: AnswerScope) -> None:
        """Refuse what cannot be done, by an answer without rows, before a charge."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        keys = (MARK, *(key.name for key in answers.keys))
        facts = dict(answers.facts().columns)
        fields = [(n, arrow_type(facts[n].type)) for n in (*keys, *answers.asked)]
        table = pa.schema(fields).empty_table()
        bars = [(bar, pa.float64()) for n in answers.asked for bar in error_names(n)]
        errors = pa.schema([*fields[: len(keys)], *bars]).empty_table()
        rows = NoisyRows(table, errors, keys)
        for step in self.process(_Steps()).steps:
            rows = step.apply(rows)

    @property
    def refusal(self) -> InvalidSQL:
        """Refusal where the groupings are asked for one by one."""
        return self.clause.refusal(
            f"{self.what} is of the rows of all groupings together, which only a "
            "release has",
            "Give a budget: session.sql(text, budget).",
        )


@final
@dataclass(frozen=True)
class Order:
    """A column by which rows are put into an order."""

    name: str
    descending: bool
    nulls_first: bool


@final
@dataclass(frozen=True, eq=False)
class Processing:
    """What a statement says of the noisy rows of its groups."""

    select: Clause
    answers: AnswerScope
    shown: Selection
    kept: Expression | None
    orders: list[Order]

    def find_together(self, sets: Sets) -> Together | None:
        """Steps on all groupings together; None if each takes them by itself."""
        for name, word in _TOGETHER.items():
            if self.select.has(name):
                return Together(word, self.select.place(name), self.process)
        grouping = self.select.node.find(exp.Grouping)
        if grouping is not None:
            clause = Clause(self.select.reading, grouping)
            return Together("GROUPING", clause, self.process)
        if self.kept is not None and (() in sets or self._lacks(self.kept, sets)):
            return Together("HAVING", self.select.place("having"), self.process)
        if any(self._lacks(answer, sets) for answer in self.shown.made.values()):
            word = "what is computed of a column that a grouping leaves out"
            return Together(word, self.select, self.process)
        return None

    def _lacks(self, expression: Expression, sets: Sets) -> bool:
        keys = {key.name for key in self.answers.keys}
        return any(expression.names() & (keys - set(names)) for names in sets)

    def process(self, request: Any) -> Any:
        """Request, or release, with all that is done to its noisy rows."""
        if self.kept is not None:
            request = request.filter(self.kept)
        if self.shown.made:
            request = request.with_columns(**self.shown.made)
        if self.orders and self.answers.keys:  # else there is one row
            request = request.sort(
                *dict.fromkeys(order.name for order in self.orders),
                descending=tuple(o.name for o in self.orders if o.descending),
                nulls_first=tuple(o.name for o in self.orders if o.nulls_first),
            )
        limit, offset = self.select.some("limit"), self.select.some("offset")
        if limit is not None or offset is not None:
            most, first = (_size(clause) for clause in (limit, offset))
            request = self._limit_rows(
                request, _EVERY_ROW if most is None else most, first or 0
            )
        return self._show(request, frozenset())

    def process_one(self, request: Request, names: tuple[str, ...]) -> Request:
        """Request of one of several groupings, with what is done to its rows."""
        if self.kept is not None:
            request = request.filter(self.kept)
        if self.shown.made:
            request = request.with_columns(**self.shown.made)
        shown: Request = self._show(
            request, frozenset(key.name for key in self.answers.keys) - set(names)
        )
        return shown

    def _show(self, request: Any, absent: frozenset[str]) -> Any:
        there = [*self.answers.asked, *self.shown.made]
        wanted = [name for name in self.shown.names if name in there]
        if wanted != there:
            request = request.select(*wanted)
        renamed = {
            name: called
            for name, called in self.shown.names.items()
            if name != called and name not in absent
        }
        return request.rename(renamed) if renamed else request

    def _limit_rows(self, request: Any, most: int, first: int) -> Any:
        if self.answers.keys:
            return request.limit(most, first)
        if not most or first:
            raise self.select.refusal(
                "without GROUP BY there is one row, and this leaves it out",
                "Leave LIMIT and OFFSET out, or add GROUP BY.",
            )
        return request


def _requests_of_sets(
    processing: Processing,
    query: Query,
    questions: Mapping[str, Any],
    sets: Sets,
    keys: KeySet | None,
) -> dict[str, Request]:
    if not questions:
        raise processing.select.refusal(
            "several groupings without an aggregate ask for nothing",
            "Add one: COUNT(*).",
        )
    _refuse_other_keys(keys, tuple(key.name for key in processing.answers.keys))
    if len(set(sets)) < len(sets):
        raise processing.select.place("group").refusal(
            "two of these groupings are the same", "Name each set of columns once."
        )
    ways = {", ".join(names) or ALL: _groups_of(query, names, keys) for names in sets}
    return GroupingSets(ways).agg(**questions)


def _groups_of(query: Query, names: tuple[str, ...], keys: KeySet | None) -> Grouped:
    given = [name for name in names if keys is not None and name in keys.columns]
    if keys is None or not given:
        return query.group_by(*names) if names else Grouped(query, (), None)
    known = keys if len(given) == len(keys.columns) else keys[given]
    return query.group_by(known, *(name for name in names if name not in given))


def _refuse_other_keys(keys: KeySet | None, names: tuple[str, ...]) -> None:
    if keys is None:
        return
    for name in keys.columns:
        if name not in names:
            raise InvalidParameter(
                "keys",
                list(keys.columns),
                f"must have columns of GROUP BY, {', '.join(names)}; {name} is none",
                "Leave it out, or group by it as well.",
            )


def _clamps_people(select: Clause) -> bool:
    # one COUNT(*) alone is bounded by a limit on each person's rows instead
    aggregates = [node for node in select.node.walk() if asks(node)]
    bounded = [node for node in aggregates if is_per_group(node)]
    counted = len(aggregates) == 1 and isinstance(aggregates[0], exp.Count)
    return bool(bounded) and not (counted and select.has("group"))


def _clamped(
    word: str, build: Callable[..., AbstractAggregation], kind: str | None = None
) -> Question:
    def ask(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
        name, ends = named_bounds(_bounded(clause), asking.rows)
        if name != PER_GROUP:
            raise clause.refusal(
                f"{name} beside {PER_GROUP}: one clamps rows, the other people",
                f"Write {PER_GROUP} in each aggregate.",
            )
        low, high = check_order(clause, *ends)
        inner = _OF_ONE[clause.kind](asking, clause, kept)
        column = _column_of(asking, inner)
        people = asking.rows.query.with_columns(**asking.made) if asking.made else None
        rows = (people or asking.rows.query).per_id(**{column: inner.asked})
        facts = rows.resolve(asking.rows.catalog).schema[column]
        nulls = None if facts.unsettled is None else "drop"
        asked = build(column, low, high, nulls=nulls)
        return Aggregate(asked, kind or inner.type, answer_name(word, column))

    return ask


def _bounded(clause: Clause) -> Clause:
    if not clause.has(BOUNDS):
        raise clause.refusal(
            f"{clause.node.key.upper()} has no {PER_GROUP}, and others have",
            f"Write {PER_GROUP} => (low, high) in it, too.",
        )
    return clause


def _column_of(asking: Asking, inner: Aggregate) -> str:
    taken = {*asking.rows.schema, *asking.made, *asking.persons}
    for name, known in asking.persons.items():
        if known.words == inner.asked.words:
            return name
    column = fresh_name(inner.name, taken)
    asking.persons[column] = inner.asked
    return column


_COUNTED: Final = _clamped("sum", sum_of)


def _count(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    this: Any = clause.node.this
    if isinstance(this, exp.Distinct) and not clause.has(BOUNDS):
        people = count_of(asking, clause, kept)
        if people.name == "people":
            return people
    return _COUNTED(asking, clause, kept)


def _refuse(_asking: Asking, clause: Clause, _kept: Expression | None) -> Aggregate:
    raise clause.refusal(
        f"{clause.node.key.upper()} stands beside {PER_GROUP} of another aggregate",
        "Ask it in a statement of its own.",
    )


_OF_ONE: Final[Mapping[type[exp.Expr], Question]] = {
    **PERSON_QUESTIONS,
    exp.Count: count_of,
}
CLAMPED_QUESTIONS: Final[Mapping[type[exp.Expr], Question]] = {
    **dict.fromkeys(QUESTIONS, _refuse),
    exp.Count: _count,
    exp.Sum: _clamped("sum", sum_of),
    exp.Avg: _clamped("mean", mean, "f64"),
}


@final
@dataclass(frozen=True)
class Given:
    """Arguments that complete a statement."""

    limits: tuple[AbstractConstraint, ...]
    bounds: Mapping[str, Ends]
    keys: KeySet | None
    as_needed: bool = False
    """Whether what the text does not need is passed over, not refused."""

    @classmethod
    def of(
        cls, limits: Any, bounds: Any, keys: Any, *, as_needed: bool = False
    ) -> "Given":
        """Arguments as given; unknown ones are refused."""
        listed = (limits,) if isinstance(limits, AbstractConstraint) else limits
        listed = () if listed is None else listed
        if not isinstance(listed, Iterable) or isinstance(listed, str):
            raise InvalidParameter(
                "limits", limits, "must be constraints", "Try [sd.MaxRowsPerID(5)]."
            )
        known = keys if isinstance(keys, KeySet) or not keys else KeySet.from_dict(keys)
        return cls(tuple(listed), checked_bounds(bounds), known or None, as_needed)

    def needed_for(self, keys: Iterable[str]) -> "Given":
        """Arguments that a grouping by some keys needs."""
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
    """Request of a SELECT."""
    select = reading.whole
    rows = selected_rows(select, tables)
    options.refuse_other_ids(rows.ids)
    items = [Item.of(clause) for clause in select.each("expressions")]
    grouping = grouping_of(select, items, rows)
    asking = Asking(
        rows,
        tables.bounds,
        tables.used,
        questions=CLAMPED_QUESTIONS if _clamps_people(select) else QUESTIONS,
    )
    given = given.needed_for(key.name for key in grouping.keys)
    answers = AnswerScope(
        rows,
        grouping.keys,
        asking,
        selected=clauses_by_alias(items),
        sets=grouping.sets,
    )
    shown = shown_items(items, answers)
    having = select.some("having")
    kept = having and condition(having.look().take("this"), answers)
    bounded = replace(given, limits=_limits(given, options, answers))
    orders = _orders(select, items, answers, shown)
    processing = Processing(select, answers, shown, kept, orders)
    asked = _rows_and_questions(select, answers, bounded)
    if grouping.sets is None:
        return SqlQuestion(processing.process(_one_grouping(*asked, answers, given)))
    options.refuse_sets()
    return _each_grouping(processing, asked, grouping.sets, given.keys)


def _each_grouping(
    processing: Processing,
    asked: tuple[Query, dict[str, Any]],
    sets: Sets,
    keys: KeySet | None,
) -> SqlQuestion:
    requests = _requests_of_sets(processing, *asked, sets, keys)
    together = processing.find_together(sets)
    if together is not None:
        together.rehearse(processing.answers)
        return SqlQuestion(requests, together)
    return SqlQuestion({
        name: processing.process_one(request, names)
        for names, (name, request) in zip(sets, requests.items(), strict=True)
    })


def _orders(
    select: Clause, items: list[Item], answers: AnswerScope, shown: Selection
) -> list[Order]:
    clause = select.some("order")
    if clause is None:
        return []
    clause.look()
    before = set(answers.asked)  # an order may not add a measurement, and its price
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
    # without the cast that gives an answer its type in SQL
    names = value.expression.names()
    if len(names) == 1:
        (name,) = names
        if str(value.expression).startswith(f"{col(name)}.cast("):
            return col(name)
    return value.expression


def _limits(
    given: Given, options: Options, answers: AnswerScope
) -> tuple[AbstractConstraint, ...]:
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
    if not answers.keys and not answers.asked:
        raise select.refusal(
            "SELECT without an aggregate would show rows of people",
            "Ask aggregates of them: COUNT(*), AVG(...).",
        )
    _refuse_unused(given, answers)
    query = answers.computed_rows()
    if answers.asking.persons:
        query = _each_person_first(query, answers)
    if given.limits:  # last: what is asked has to be of the rows that are bounded
        query = query.enforce(*given.limits)
    return query, {name: aggregate.asked for name, aggregate in answers.asked.items()}


def _each_person_first(query: Query, answers: AnswerScope) -> Query:
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
    if not answers.keys:
        return query.agg(**questions)
    names = tuple(key.name for key in answers.keys)
    _refuse_other_keys(given.keys, names)
    grouped = _groups_of(query, names, given.keys)
    return grouped.agg(**questions) if questions else grouped.keys()


def _refuse_unused(given: Given, answers: AnswerScope) -> None:
    # what nothing needs would be left out in silence
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


def _size(clause: Clause | None) -> int | None:
    if clause is None:
        return None
    return whole_number(clause.look().take("expression"), "a number of rows")


@final
@dataclass(frozen=True)
class AskedSql:
    """A request, or one for each grouping, and the budget that its text states."""

    request: Request | dict[str, Request]
    budget: Budget | None
    together: Together | None
    """What is done to one release of several groupings."""


def ask_sql(
    text: Any,
    known: tuple[AbstractCatalog, tuple[str, ...], tuple[str, ...]],
    dialect: Any,
    given: tuple[Any, Any, Any, bool],
) -> AskedSql:
    """Request of a text over private and public tables; no private row is read."""
    spoken, beside = input_dialect(dialect), Given.of(*given[:3], as_needed=given[3])
    statement = check_statement(text)
    options, words = split_options(statement, split_words(statement, spoken))
    reading = read_statement(statement, words, spoken)
    question = request_of(reading, Tables(*known, beside.bounds), beside, options)
    reading.refuse_rest()  # last: only now all rules have looked
    return AskedSql(question.request, options.budget, question.together)
