"""Aggregates of one person's rows: they are exact, so few of them need bounds."""

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from sordino.aggregations import quantile
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
    nulls_rule,
)
from sordino.query.sql.contribution_bounds import column_or_tree
from sordino.query.sql.reading import Clause

_ORDERED: Final = ("i64", "f64", "date", "time")


def _exact(
    word: str,
    build: Callable[..., AbstractAggregation],
    types: tuple[str, ...],
    kind: str | None = None,
) -> Question:
    """Return the rule of an aggregate that needs no bounds of values of some types."""
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
