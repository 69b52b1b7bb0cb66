"""FROM, JOIN and WHERE; a GROUP BY inside FROM, which makes a row for each person."""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import starmap
from typing import Any, Final, final

from sqlglot import exp

from sordino.aggregations import quantile
from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.mean import mean
from sordino.aggregations.sum import sum as sum_of
from sordino.errors import InvalidSQL
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.schema import Schema, unknown
from sordino.query.builder import Query, table
from sordino.query.sql.aggregates import (
    QUESTIONS,
    Aggregate,
    Asking,
    Ends,
    Question,
    answer_name,
    column_or_tree,
    nulls_rule,
)
from sordino.query.sql.answers import AnswerScope, Key, aggregates_of
from sordino.query.sql.groups import (
    Item,
    Selection,
    clauses_by_alias,
    grouping_of,
    shown_items,
)
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import (
    RowScope,
    Value,
    Visible,
    alias,
    identifier,
    spellings,
)
from sordino.query.sql.text_rules import ALL_RULES as RULES
from sordino.query.sql.truth_rules import condition, meet
from sordino.query.steps import AbstractCatalog

_ORDERED: Final = ("i64", "f64", "date", "time")


def _exact(
    word: str,
    build: Callable[..., AbstractAggregation],
    types: tuple[str, ...],
    kind: str | None = None,
) -> Question:
    """Rule of an aggregate that needs no bounds of values of some types."""
    bounded = QUESTIONS[_LIKE[word]]

    def ask(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
        body = clause.take("this")
        value = asking.value(body, kept)
        ends = asking.known_ends(value)
        if value.type not in types or (ends is not None and value.type != "bool"):
            return bounded(asking, clause, kept)
        column = column_or_tree(value.expression.tree)
        question = build(column, nulls=nulls_rule(asking, value))
        return Aggregate(question, kind or value.type, answer_name(word, column))

    return ask


_LIKE: Final[Mapping[str, type[exp.Expr]]] = {
    "sum": exp.Sum,
    "mean": exp.Avg,
    "min": exp.Min,
    "max": exp.Max,
}
PERSON_QUESTIONS: Final[Mapping[type[exp.Expr], Question]] = {
    exp.Count: QUESTIONS[exp.Count],
    exp.CountIf: QUESTIONS[exp.CountIf],
    exp.Sum: _exact("sum", sum_of, ("i64",)),
    exp.Avg: _exact("mean", mean, ("i64",), "f64"),
    exp.Min: _exact("min", quantile.min, (*_ORDERED, "bool")),
    exp.Max: _exact("max", quantile.max, (*_ORDERED, "bool")),
    exp.LogicalAnd: _exact("min", quantile.min, ("bool",)),
    exp.LogicalOr: _exact("max", quantile.max, ("bool",)),
}


def person_rows(
    select: Clause, rows: RowScope, bounds: Mapping[str, Ends], used: set[str]
) -> RowScope:
    """Rows that a SELECT makes of each person's rows."""
    items = [Item.of(clause) for clause in select.each("expressions")]
    grouping = grouping_of(select, items, rows)
    if grouping.sets is not None:
        raise select.place("group").refusal(
            "inside FROM each person is grouped in one way, not in several",
            "Write plain columns after GROUP BY there.",
        )
    keys = grouping.keys
    ids = _person(select, keys, rows)
    asking = Asking(rows, bounds, used, questions=PERSON_QUESTIONS)
    answers = AnswerScope(
        rows, keys, asking, selected=clauses_by_alias(items), noisy=False
    )
    shown = shown_items(items, answers)
    _refuse_nameless(items, answers)
    having = select.some("having")
    kept = having and condition(having.look().take("this"), answers)
    with select.wrap_refusals():
        return _rows_per_person(rows, answers, shown, ids, kept)


def _refuse_nameless(items: list[Item], answers: AnswerScope) -> None:
    for item in items:
        if item.alias is None and answers.key_of(item.clause) is None:
            # dialects name it differently, so nobody could ask for it
            raise item.clause.refusal(
                "an answer about each person needs a name", "Write ... AS name."
            )


def _person(select: Clause, keys: tuple[Key, ...], rows: RowScope) -> str:
    ids = rows.ids
    part = select.part(select.node.args.get("group") or select.node)
    if ids is None:
        raise part.refusal(
            "a GROUP BY inside FROM is of each person, and this table protects rows",
            'Protect ids: protects=sd.AddRowsWithID("person").',
        )
    if not any(str(key.value.expression) == str(col(ids)) for key in keys):
        # one person would move rows that are made of many people
        raise part.refusal(
            "a GROUP BY inside FROM without the id would put many people into one row",
            f"Group by {ids} as well, or move the grouping outside.",
        )
    return ids


def _rows_per_person(
    rows: RowScope,
    answers: AnswerScope,
    shown: Selection,
    ids: str,
    kept: Expression | None,
) -> RowScope:
    query = answers.computed_rows()
    by = [key.name for key in answers.keys if key.name != ids]
    query = query.per_id(
        *by, **{name: aggregate.asked for name, aggregate in answers.asked.items()}
    )
    if kept is not None:
        query = query.filter(kept)
    if shown.made:
        query = query.with_columns(**shown.made)
    if set(shown.names) | {ids} != {ids, *by, *answers.asked, *shown.made}:
        query = query.select(*shown.names)
    renamed = {name: called for name, called in shown.names.items() if name != called}
    query = query.rename(renamed) if renamed else query
    return rows.with_query(query, {called: called for called in shown.names.values()})


_INNER: Final[Mapping[str, tuple[str, str]]] = {
    "order": ("rows have no order before they are asked", "Leave it out."),
    "limit": (
        "which rows LIMIT keeps depends on everybody's rows",
        "Leave it out; to keep a few rows of each person, give limits=.",
    ),
    "offset": ("rows have no order before they are asked", "Leave it out."),
}
_GROUPING: Final = ("group", "having", "distinct")
_SIDES: Final = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}


@final
@dataclass(frozen=True, eq=False)
class Tables:
    """The tables that a statement can name: those of the session, and its own."""

    catalog: AbstractCatalog
    private: tuple[str, ...]
    public: tuple[str, ...]
    bounds: Mapping[str, Ends]
    """The bounds of columns that are said beside the text."""
    used: set[str] = field(default_factory=set)
    """The columns whose bounds were needed."""
    own: Mapping[str, Clause] = field(default_factory=dict)
    """Queries named by WITH, in small letters, each seeing those before it."""

    def with_own(self, clause: Clause | None) -> "Tables":
        """Tables with those of a WITH."""
        if clause is None:
            return self
        clause.look()
        own = dict(self.own)
        for query in clause.each("expressions"):
            named = query.take("alias")
            named.look()
            own[identifier(named.take("this"))[0].lower()] = query
        return replace(self, own=own)

    def tables_before(self, name: str) -> "Tables":
        """Tables that a query of WITH sees: those named before it."""
        names = list(self.own)
        seen = names[: names.index(name)]
        return replace(self, own={before: self.own[before] for before in seen})

    def find(self, clause: Clause, names: tuple[str, ...]) -> str | None:
        """Name of a table of the session as it is spelled there."""
        close = spellings(*identifier(clause), names)
        return close[0] if len(close) == 1 else None


def selected_rows(clause: Clause, tables: Tables) -> RowScope:
    """Rows of a SELECT before they are grouped."""
    tables = tables.with_own(clause.some("with_"))
    start = clause.some("from_")
    if start is None:
        raise clause.refusal(
            "SELECT needs a FROM",
            f"Write FROM and a private table: {', '.join(tables.private)}.",
        )
    start.look()
    rows = _source(start.take("this"), tables)
    for join in clause.each("joins"):
        with join.wrap_refusals():
            rows = _join(join, rows, tables)
    where = clause.some("where")
    if where is not None:
        where.look()
        rows = rows.with_query(rows.query.filter(condition(where.take("this"), rows)))
    _read_unasked(clause, tables)
    return rows


def _read_unasked(clause: Clause, tables: Tables) -> None:
    """Read the queries of a WITH that nothing asks: they must make sense as well."""
    for name, query in tables.own.items():
        taken = (id(query.node), "this") in clause.reading.taken
        if query.node.parent is clause.node.args.get("with_") and not taken:
            query.look()
            _rows_of_query(query.take("this"), tables.tables_before(name))


def _source(clause: Clause, tables: Tables) -> RowScope:
    if clause.kind is exp.Subquery:
        return _name_table(_rows_of_query(clause.take("this"), tables), alias(clause))
    if clause.kind is not exp.Table or not isinstance(clause.node.this, exp.Identifier):
        raise clause.refusal(
            "FROM takes the name of a table of this session, so that it is known whom "
            "it protects",
            "Give it to sd.Session(tables={...}) as PrivateTable or PublicTable.",
        )
    named = clause.take("this")
    name = identifier(named)[0]
    known = alias(clause) or name
    if name.lower() in tables.own:
        inner = tables.own[name.lower()]
        inner.look()
        seen = tables.tables_before(name.lower())  # so no query of WITH reads itself
        return _name_table(_rows_of_query(inner.take("this"), seen), known)
    private = tables.find(named, tables.private)
    if private is None:
        raise _unknown_table(named, name, tables)
    query = table(private)
    return _name_table(_visible(query, tables.catalog), known)


def _unknown_table(clause: Clause, name: str, tables: Tables) -> InvalidSQL:
    if tables.find(clause, tables.public) is not None:
        return clause.refusal(
            f"{name} is a public table, and FROM begins with a private one",
            "Ask it without Sordino, or JOIN it to a private table.",
        )
    return clause.wrap(unknown("private table", name, (*tables.private, *tables.own)))


def _visible(query: Query, catalog: AbstractCatalog) -> RowScope:
    schema = query.resolve(catalog).schema
    return RowScope(query, catalog, schema, {name: name for name in schema}, {}, RULES)


def _name_table(rows: RowScope, name: str | None) -> RowScope:
    tables = {} if name is None else {name.lower(): rows.columns}
    return replace(rows, tables=tables)


def _rows_of_query(clause: Clause, tables: Tables) -> RowScope:
    for name, (problem, remedy) in _INNER.items():
        if clause.has(name):
            raise clause.place(name).refusal(problem, remedy)
    if clause.kind is exp.Union:
        return _rows_of_union(clause, tables)
    if clause.kind is not exp.Select:
        raise clause.refusal(
            "INTERSECT and EXCEPT are not asked: a person may be on both sides",
            "Write both conditions into WHERE.",
        )
    rows = selected_rows(clause, tables)
    if any(map(clause.has, _GROUPING)) or any(aggregates_of(clause)):
        return person_rows(clause, rows, tables.bounds, tables.used)
    listed = clause.each("expressions")
    if len(listed) == 1 and listed[0].kind is exp.Star:
        return rows
    return _project(rows, listed)


def _project(rows: RowScope, listed: list[Clause]) -> RowScope:
    columns = []
    for item, name, value in _listed_values(listed, rows):
        if name is None:
            raise item.refusal(
                "a computed column inside FROM needs a name", "Write ... AS name."
            )
        columns.append((item, name, value.expression))
    return _rows_of_columns(rows, columns)


def _named_value(item: Clause, rows: RowScope) -> tuple[Value, str | None]:
    name = alias(item)
    body = item.take("this") if item.kind is exp.Alias else item
    value = rows.value(body)
    return value, name or (body.node.name if body.kind is exp.Column else None)


def _rows_of_columns(
    rows: RowScope, columns: list[tuple[Clause, str, Expression]]
) -> RowScope:
    names: Visible = {}
    computed: dict[str, Any] = {}
    ids = rows.ids
    for item, name, expression in columns:
        if name.lower() in map(str.lower, names):
            raise item.refusal(
                f"two columns inside FROM are named {name}", "Give one another alias."
            )
        names[name] = name
        if str(expression) != str(col(name)):
            computed[name] = expression
        if name == ids and name in computed:  # it says whom the rows are of
            raise item.refusal(
                f"{name} is the column of ids, and cannot become another value",
                "Give the value another alias.",
            )
    query = rows.query.with_columns(**computed) if computed else rows.query
    return rows.with_query(query.select(*names), names)


_MOST_BRANCHES: Final = 16
_ONE_TABLE: Final = (
    "UNION ALL takes SELECTs of one and the same table, by conditions",
    "Write SELECT ... FROM visits WHERE ... UNION ALL SELECT ... FROM visits WHERE ...",
)


def _rows_of_union(clause: Clause, tables: Tables) -> RowScope:
    """Rows of a table that meet one of some conditions, of which no row meets two.

    They ask a column for different values, so the rows are those of one filter.
    """
    selects = _branches(clause)
    if len(selects) > _MOST_BRANCHES:
        raise clause.refusal(
            f"this has more than {_MOST_BRANCHES} SELECTs", "Write CASE in one of them."
        )
    sources = [_branch_rows(select, tables) for select in selects]
    if len({select.node.args["from_"].this.name.lower() for select in selects}) > 1:
        raise clause.refusal(*_ONE_TABLE)
    kept = list(starmap(_branch_condition, zip(selects, sources, strict=True)))
    columns = _branch_columns(clause, selects, sources)
    if not _exclude_each_other(selects, sources):
        raise clause.refusal(
            "a row may meet several of these conditions, and would count several times",
            "Ask a column for other values in each: WHERE s = 'a', WHERE s = 'b'.",
        )
    rows = sources[0]
    query = rows.query.filter(reduce(operator.or_, kept))
    chosen = [(item, name, _by_branch(kept, each)) for item, name, each in columns]
    return _rows_of_columns(rows.with_query(query), chosen)


def _branches(clause: Clause) -> list[Clause]:
    if clause.kind is exp.Subquery and not clause.has("alias"):
        return _branches(clause.take("this"))
    if clause.kind is exp.Select:
        return [clause]
    if clause.kind is not exp.Union or clause.scalar("distinct"):
        raise clause.refusal(
            "of these only UNION ALL is asked: it takes each row as it is",
            "Write UNION ALL.",
        )
    return [*_branches(clause.take("this")), *_branches(clause.take("expression"))]


def _branch_rows(select: Clause, tables: Tables) -> RowScope:
    start = select.some("from_")
    listed = (*_GROUPING, "joins", "with_", *_INNER)
    if start is None or any(map(select.has, listed)) or any(aggregates_of(select)):
        raise select.refusal(*_ONE_TABLE)
    named = start.look().take("this")
    if named.kind is not exp.Table:
        raise named.refusal(*_ONE_TABLE)
    return _source(named, tables)


def _branch_condition(select: Clause, rows: RowScope) -> Expression:
    where = select.some("where")
    return lit(True) if where is None else condition(where.look().take("this"), rows)


def _branch_columns(
    clause: Clause, selects: list[Clause], sources: list[RowScope]
) -> list[tuple[Clause, str, list[Expression]]]:
    """Columns by their places: names of the first SELECT, and the values of each."""
    several = [
        list(_listed_values(select.each("expressions"), rows))
        for select, rows in zip(selects, sources, strict=True)
    ]
    if len(set(map(len, several))) > 1:
        raise clause.refusal(
            "these SELECTs have different numbers of columns", "Name the same in each."
        )
    columns = []
    for first, *others in zip(*several, strict=True):
        item, name, value = first
        if name is None:
            raise item.refusal(
                "a computed column inside FROM needs a name", "Write ... AS name."
            )
        values = meet(clause, [value, *(value for _, _, value in others)])
        columns.append((item, name, [value.expression for value in values]))
    return columns


def _listed_values(
    listed: list[Clause], rows: RowScope
) -> Iterator[tuple[Clause, str | None, Value]]:
    """Yield what is selected inside FROM; * stands for each column there."""
    for item in listed:
        stands = _columns_of_star(item, rows)
        if stands is None:
            value, named = _named_value(item, rows)
            yield item, named, value
            continue
        for name, held in stands.items():
            if held is None:
                raise item.refusal(
                    f"* stands for {name} of both tables", "Name the columns."
                )
            yield item, name, rows.value_of(col(held))


def _columns_of_star(item: Clause, rows: RowScope) -> Visible | None:
    """Columns of `*`, or of one table in `v.*`; None for anything else."""
    if item.kind is exp.Star:
        return rows.columns
    if item.kind is not exp.Column or not isinstance(item.node.this, exp.Star):
        return None
    if not item.has("table") or not rows.has_table(item):
        return None
    item.take("this").look()
    return rows.tables[identifier(item.take("table"))[0].lower()]


def _by_branch(tests: list[Any], values: list[Expression]) -> Expression:
    """Value of the first branch whose test holds."""
    if all(value.same(values[0]) for value in values):
        return values[0]
    choice: Any = None
    for test, value in zip(tests, values, strict=True):
        choice = (when(test) if choice is None else choice.when(test)).then(value)
    chosen: Expression = choice.otherwise(None)
    return chosen


def _exclude_each_other(selects: list[Clause], sources: list[RowScope]) -> bool:
    """Whether all conditions ask one column of texts or integers for other values."""
    asked = list(starmap(_required_values, zip(selects, sources, strict=True)))
    return any(
        all(name in each for each in asked)
        and len({each[name] for each in asked}) == len(asked)
        for name in asked[0]
    )


def _required_values(select: Clause, rows: RowScope) -> dict[str, Any]:
    where = select.node.args.get("where")
    if where is None:
        return {}
    values: dict[str, Any] = {}
    for part in (
        where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    ):
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column):
            value = rows.value(Clause(select.reading, part.expression))
            name = rows.column_name(Clause(select.reading, part.this))
            if value.constant is not None and value.type == rows.schema[name].type:
                values[name] = value.constant
    return values


def _join(clause: Clause, left: RowScope, tables: Tables) -> RowScope:
    sides = tuple(str(clause.scalar(word) or "").upper() for word in ("side", "kind"))
    if sides not in _SIDES:
        raise clause.refusal(
            f"in a {' '.join(filter(None, sides))} JOIN one person moves many rows",
            "Write JOIN or LEFT JOIN of a public table, or JOIN of a private one.",
        )
    outer = sides[0] == "LEFT"
    named = clause.take("this")
    name = _public_name(named, tables)
    if name is not None:
        source = tables.catalog.public(name).schema
        known = (alias(named) or name).lower()
        columns: Visible = {column: column for column in source}
        right = replace(left, columns=columns, schema=source, tables={known: columns})
    elif outer:
        raise clause.refusal(
            "a LEFT JOIN of two private tables is not asked here",
            "Write JOIN: it keeps the rows of people who are in both.",
        )
    else:
        right = _source(named, tables)
    pairs, merged = _pairs(clause, left, right)
    query = _with_keys(clause, left, pairs)
    on = [theirs for _, theirs in pairs]
    if name is not None:
        query = query.join_public(name, on=on, how="left" if outer else "inner")
    else:
        plain = not right.query.steps
        partner = right.query.table if plain else right.query
        query = query.join_private(partner, on=on)
    return _both(query, left, right, on, hidden=outer and not merged)


def _public_name(clause: Clause, tables: Tables) -> str | None:
    if not isinstance(clause.node, exp.Table):
        return None
    named = clause.node.this
    if not isinstance(named, exp.Identifier) or named.name.lower() in tables.own:
        return None
    name = tables.find(Clause(clause.reading, named), tables.public)
    if name is not None:
        clause.look().take("this")
    return name


def _pairs(
    clause: Clause, left: RowScope, right: RowScope
) -> tuple[list[tuple[str, str]], bool]:
    """Columns that must agree, and whether USING makes them one."""
    if clause.has("using"):
        pairs = []
        for column in clause.each("using"):
            name = column.take("this") if column.kind is exp.Column else column
            pairs.append((left.find(name, None), right.find(name, None)))
        return pairs, True
    on = clause.some("on")
    if on is None:
        raise clause.refusal(
            "a join without USING or ON would join every row with every row",
            "Say which columns agree: JOIN ... USING (column).",
        )
    pairs = []
    waiting = [on.bare()]
    while waiting:
        equation = waiting.pop(0)
        if equation.kind is exp.And:
            sides = ("this", "expression")
            waiting[:0] = [equation.take(side).bare() for side in sides]
            continue
        if equation.kind is not exp.EQ:
            raise equation.refusal(
                "ON takes equations of columns, connected by AND",
                "Write ON a.x = b.x, and the rest in WHERE.",
            )
        pairs.append(_sides(equation, left, right))
    return pairs, False


def _sides(clause: Clause, left: RowScope, right: RowScope) -> tuple[str, str]:
    first, second = clause.take("this").bare(), clause.take("expression").bare()
    for side in (first, second):
        if side.kind is not exp.Column or not side.has("table"):
            raise side.refusal(
                "ON takes columns, each with its table", "Write ON a.x = b.x."
            )
    if right.has_table(first):
        first, second = second, first
    return left.column_name(first), right.column_name(second)


def _with_keys(clause: Clause, left: RowScope, pairs: list[tuple[str, str]]) -> Query:
    renamed: dict[str, Any] = {}
    for ours, theirs in pairs:
        if ours != theirs:
            if theirs in left.schema:
                raise clause.refusal(
                    f"ON joins {ours} to {theirs}, and both tables have a {theirs}",
                    "Rename it in a query in FROM: (SELECT ..., x AS y FROM ...).",
                )
            renamed[theirs] = col(ours)
    return left.query.with_columns(**renamed) if renamed else left.query


def _both(
    query: Query, left: RowScope, right: RowScope, on: list[str], *, hidden: bool
) -> RowScope:
    schema: Schema = query.resolve(left.catalog).schema
    names: Visible = {}
    before = {*left.schema.names, *on}
    for name in right.schema:
        if name in on:
            names[name] = None if hidden else name
        else:
            names[name] = f"{name}_right" if name in before else name
    columns: Visible = {**names, **left.columns}
    for name, ours in names.items():
        if name in left.columns and ours not in (None, left.columns[name]):
            columns[name] = None  # of both sides: the text has to say of which
    theirs = dict.fromkeys(right.tables, names)
    return RowScope(
        query, left.catalog, schema, columns, {**left.tables, **theirs}, RULES
    )
