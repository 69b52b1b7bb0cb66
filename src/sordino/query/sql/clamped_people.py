"""Bounds per group in the style of BigQuery: each person's total or mean is clamped.

`SUM(x, contribution_bounds_per_group => (0, 9))` is the sum of each person's rows in a
group, held within the bounds, and then the sum of these. That is `per_id` first.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp

from sordino.aggregations.base import AbstractAggregation
from sordino.aggregations.mean import mean
from sordino.aggregations.sum import sum as sum_of
from sordino.expressions.language import Expression
from sordino.query.sql.aggregates import (
    QUESTIONS,
    Aggregate,
    Asking,
    Question,
    answer_name,
    asks,
    count_of,
)
from sordino.query.sql.contribution_bounds import PER_GROUP, is_per_group, named_bounds
from sordino.query.sql.function_rules import check_order
from sordino.query.sql.person_aggregates import PERSON_QUESTIONS
from sordino.query.sql.reading import BOUNDS, Clause


def clamps_people(select: Clause) -> bool:
    """Tell whether a SELECT clamps the results of people: all but one COUNT(*)."""
    aggregates = [node for node in select.node.walk() if asks(node)]
    bounded = [node for node in aggregates if is_per_group(node)]
    counted = len(aggregates) == 1 and isinstance(aggregates[0], exp.Count)
    return bool(bounded) and not (counted and select.has("group"))


def _clamped(
    word: str, build: Callable[..., AbstractAggregation], kind: str | None = None
) -> Question:
    """Return the rule of an aggregate of the clamped results of people."""

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
    """Return an aggregate that has bounds, refusing one that has none."""
    if not clause.has(BOUNDS):
        raise clause.refusal(
            f"{clause.node.key.upper()} has no {PER_GROUP}, and others have",
            f"Write {PER_GROUP} => (low, high) in it, too.",
        )
    return clause


def _column_of(asking: Asking, inner: Aggregate) -> str:
    """Return the column that holds the result of each person, a new one if need be."""
    taken = {*asking.rows.schema, *asking.made, *asking.persons}
    for name, known in asking.persons.items():
        if known.words == inner.asked.words:
            return name
    names = (
        inner.name if n == 1 else f"{inner.name}_{n}" for n in range(1, len(taken) + 2)
    )
    column = next(name for name in names if name not in taken)
    asking.persons[column] = inner.asked
    return column


_COUNTED: Final = _clamped("sum", sum_of)


def _count(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    """Return the number of people, or the clamped numbers of their rows."""
    this: Any = clause.node.this
    if isinstance(this, exp.Distinct) and not clause.has(BOUNDS):
        people = count_of(asking, clause, kept)
        if people.name == "people":
            return people
    return _COUNTED(asking, clause, kept)


def _refuse(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    """Refuse an aggregate that is not of the results of people."""
    del asking, kept
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
