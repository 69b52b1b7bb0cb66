"""The last select of a question: totals for each group.

With keys there is a row for each key that has rows, and instead of the key its place
among the keys; the engine puts the zeros in between.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlglot import exp

from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.writer import (
    Subquery,
    Writer,
    alias_as,
    select_from,
    select_groups,
    table_named,
)
from sordino.query.by_kind import by_kind
from sordino.query.question import AbstractTotal, Distinct, Question, Total
from sordino.schema import Schema

KEYS: Final = "keys"
PLACE: Final = "place"
PARTS: Final = "parts"


Form: TypeAlias = Callable[[Writer, Question, Subquery], Sequence[exp.Expression]]
"""What is told of each group: `wide_totals`, `narrow_totals`, or measures."""


def wide_totals(
    work: Writer, question: Question, rows: Subquery
) -> Sequence[exp.Expression]:
    """Return totals that are not held within their limits: they can be added."""
    schema = question.rows.schema
    return [total_of(work, total, rows, schema) for total in question.totals]


def narrow_totals(
    work: Writer, question: Question, rows: Subquery
) -> Sequence[exp.Expression]:
    """Return totals held within their limits."""
    return list(map(work.dialect.narrow_total, wide_totals(work, question, rows)))


def grouped_rows(
    work: Writer, question: Question, rows: Subquery, form: Form
) -> exp.Select:
    """Return the select of groups over the rows of a question, and what is told."""
    by = [rows.columns[name] for name in question.by]
    totals = form(work, question, rows)
    groups_by = [
        (f"by {name}", value) for name, value in zip(question.by, by, strict=True)
    ]
    groups = work.part(select_groups(rows, by), groups_by, further=totals)
    columns = list(groups.columns.values())
    if question.keys is None:
        return _select(groups, [*columns, *groups.further])
    box = work.dialect.place_in_box(columns, question.keys)
    if box is not None:
        place, within = box
        return _select(groups, [place, *groups.further]).where(within, copy=False)
    agree = [
        work.dialect.same(exp.column(f"c{place}", table=KEYS), column)
        for place, column in enumerate(columns)
    ]
    place = exp.column(PLACE, table=KEYS)
    joined = _select(groups, [place, *groups.further])
    return joined.join(
        table_named(KEYS), on=exp.and_(*agree), join_type="inner", copy=False
    )


def added_totals(dialect: AbstractDialect, question: Question) -> exp.Select:
    """Return the select that adds the wide totals of parts, group by group."""
    width = len(question.by) if question.keys is None else 1
    by = [exp.column(f"a{place}", table=PARTS) for place in range(width)]
    places = range(width, width + len(question.totals))
    totals = [
        dialect.narrow_total(
            dialect.sum_of_totals(exp.column(f"a{place}", table=PARTS))
        )
        for place in places
    ]
    rows = Subquery(PARTS, {})
    return _select(rows, [*by, *totals]).group_by(*by, copy=False)


def total_of(
    work: Writer, total: AbstractTotal, rows: Subquery, schema: Schema
) -> exp.Expression:
    """Return a total of the rows of a group, in a type that holds it."""
    return _TOTALS[type(total)](work, total, rows, schema)


def _select(rows: Subquery, columns: list[exp.Expression]) -> exp.Select:
    listed = [alias_as(column, f"a{place}") for place, column in enumerate(columns)]
    return select_from(rows).select(*listed, copy=False)


def _total(
    work: Writer, asked_for: Total, rows: Subquery, schema: Schema
) -> exp.Expression:
    """Return a sum; that of a constant is a number of rows."""
    expression = asked_for.expression
    if expression.names():
        value = work.render(expression, rows.columns)
        complete = not expression.column(schema).nullable
        return work.dialect.exact_sum(
            value, asked_for.factor, asked_for.shift, complete=complete
        )
    constant = expression.value({})
    added = 0 if constant is None else asked_for.factor * constant + asked_for.shift
    return work.dialect.row_count(added)


def _distinct(
    work: Writer, asked_for: Distinct, rows: Subquery, schema: Schema
) -> exp.Expression:
    del schema
    return work.dialect.distinct([rows.columns[name] for name in asked_for.columns])


_Rule: TypeAlias = Callable[[Writer, Any, Subquery, Schema], exp.Expression]
_TOTALS: Final[Mapping[type[AbstractTotal], _Rule]] = by_kind(
    AbstractTotal, {Total: _total, Distinct: _distinct}
)
