"""The last select of a question: totals for each group.

With keys there is a row for each key that has rows, and instead of the key its place
among the keys; the engine puts the zeros in between.
"""

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from sordino.engines.sql.dialect import AbstractForms
from sordino.engines.sql.writer import Rows, Writer, aliased, grouped, named, over
from sordino.query.question import AbstractTotal, Distinct, Question, Total
from sordino.schema import Schema

KEYS: Final = "keys"
PLACE: Final = "place"
PARTS: Final = "parts"


def asked(
    work: Writer, question: Question, rows: Rows, *, wide: bool = False
) -> exp.Select:
    """Return the select of groups and totals over the rows of a question.

    Wide totals are not held within their limits, so that they can be added.
    """
    by = [rows.columns[name] for name in question.by]
    schema = question.rows.schema
    totals = [_TOTALS[type(one)](work, one, rows, schema) for one in question.totals]
    if not wide:
        totals = [work.forms.held(one) for one in totals]
    made = [(f"by {name}", one) for name, one in zip(question.by, by, strict=True)]
    groups = work.part(grouped(rows, by), made, further=totals)
    columns = list(groups.columns.values())
    if question.keys is None:
        return _selected(groups, [*columns, *groups.further])
    agree = [
        exp.NullSafeEQ(this=exp.column(f"c{place}", table=KEYS), expression=column)
        for place, column in enumerate(columns)
    ]
    place = exp.column(PLACE, table=KEYS)
    joined = _selected(groups, [place, *groups.further])
    return joined.join(named(KEYS), on=exp.and_(*agree), join_type="inner", copy=False)


def added(forms: AbstractForms, question: Question) -> exp.Select:
    """Return the select that adds the wide totals of parts, group by group."""
    width = len(question.by) if question.keys is None else 1
    by = [exp.column(f"a{place}", table=PARTS) for place in range(width)]
    places = range(width, width + len(question.totals))
    totals = [
        forms.held(forms.added(exp.column(f"a{place}", table=PARTS)))
        for place in places
    ]
    rows = Rows(PARTS, {})
    return _selected(rows, [*by, *totals]).group_by(*by, copy=False)


def _selected(rows: Rows, columns: list[exp.Expression]) -> exp.Select:
    listed = [aliased(one, f"a{place}") for place, one in enumerate(columns)]
    return over(rows).select(*listed, copy=False)


def _total(
    work: Writer, asked_for: Total, rows: Rows, schema: Schema
) -> exp.Expression:
    """Return a sum; that of a constant is a number of rows."""
    made = asked_for.expression
    if made.names():
        value = work.rendered(made, rows.columns)
        complete = not made.column(schema).nullable
        return work.forms.summed(
            value, asked_for.factor, asked_for.shift, complete=complete
        )
    constant = made.value({})
    added = 0 if constant is None else asked_for.factor * constant + asked_for.shift
    return work.forms.counted(added)


def _distinct(
    work: Writer, asked_for: Distinct, rows: Rows, schema: Schema
) -> exp.Expression:
    del schema
    return work.forms.distinct([rows.columns[name] for name in asked_for.columns])


_TOTALS: Final[
    dict[type[AbstractTotal], Callable[[Writer, Any, Rows, Schema], exp.Expression]]
] = {Total: _total, Distinct: _distinct}
