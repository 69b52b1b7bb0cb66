"""The last select of a question: totals for each group.

With keys there is a row for each key that has rows, and instead of the key its place
among the keys; the engine puts the zeros in between.
"""

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from sordino.engines.sql import Rows, Writer, over
from sordino.query.question import AbstractTotal, Distinct, Question, Total

KEYS: Final = "keys"
PLACE: Final = "place"


def asked(work: Writer, question: Question, rows: Rows) -> exp.Select:
    """Return the select of groups and totals over the rows of a question."""
    by = [rows.columns[name] for name in question.by]
    totals = [_TOTALS[type(one)](work, one, rows) for one in question.totals]
    select = over(rows).group_by(*by)
    made = [(f"by {name}", one) for name, one in zip(question.by, by, strict=True)]
    made += [(f"total {place}", one) for place, one in enumerate(totals)]
    groups = work.part(select, made)
    columns = list(groups.columns.values())
    if question.keys is None:
        return _selected(groups, columns)
    agree = [
        exp.NullSafeEQ(this=exp.column(f"c{place}", table=KEYS), expression=column)
        for place, column in enumerate(columns[: len(by)])
    ]
    place = exp.column(PLACE, table=KEYS)
    joined = _selected(groups, [place, *columns[len(by) :]])
    return joined.join(KEYS, on=exp.and_(*agree), join_type="inner")


def _selected(rows: Rows, columns: list[exp.Expression]) -> exp.Select:
    named = [exp.alias_(one, f"a{place}") for place, one in enumerate(columns)]
    return over(rows).select(*named)


def _total(work: Writer, asked_for: Total, rows: Rows) -> exp.Expression:
    """Return a sum; that of a constant is a number of rows."""
    made = asked_for.expression
    if made.names():
        value = work.rendered(made, rows.columns)
        return work.forms.summed(value, asked_for.factor, asked_for.shift)
    constant = made.value({})
    added = 0 if constant is None else asked_for.factor * constant + asked_for.shift
    return work.forms.counted(added)


def _distinct(work: Writer, asked_for: Distinct, rows: Rows) -> exp.Expression:
    return work.forms.distinct([rows.columns[name] for name in asked_for.columns])


_TOTALS: Final[
    dict[type[AbstractTotal], Callable[[Writer, Any, Rows], exp.Expression]]
] = {Total: _total, Distinct: _distinct}
