"""Totals that are put together outside of the database, of sums and counts.

    sum of factor * x + shift  =  factor * (sum of x) + shift * (number of x)

The database is asked for each sum and each count once, as an i64 that is null where a
faster form does not hold it; then the question is asked in its wide form.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sordino.arrays import as_arrow, as_numpy
from sordino.engines.sql.writer import Subquery, Writer
from sordino.expressions.base import AbstractExpression
from sordino.query.by_kind import by_kind
from sordino.query.question import MOST, AbstractTotal, Distinct, Question, Total
from sordino.schema import Schema

_FIT: Final = 2**62
"""Integers up to here are added and multiplied in 64 bits."""
Write: TypeAlias = Callable[[Writer, Subquery], exp.Expression]


@final
@dataclass(frozen=True)
class Term:
    """A sum or a count, so many times."""

    times: int
    mark: tuple[str, Any]
    """What terms share that are the same number."""
    write: Write


def terms_of(total: AbstractTotal, schema: Schema) -> list[Term]:
    """Return what a total is the sum of."""
    terms: list[Term] = _TERMS[type(total)](total, schema)
    return [term for term in terms if term.times]


@final
@dataclass(frozen=True)
class Measures:
    """The sums and counts of a question, and how its totals are put together."""

    terms: tuple[list[Term], ...]
    """Of each total."""
    writes: Mapping[tuple[str, Any], Write]
    """Each sum and each count once."""

    @classmethod
    def of(cls, question: Question) -> "Measures":
        """Return what the totals of a question are made of."""
        schema = question.rows.schema
        terms = tuple(terms_of(total, schema) for total in question.totals)
        return cls(terms, {term.mark: term.write for each in terms for term in each})

    def write(
        self, work: Writer, question: Question, rows: Subquery
    ) -> list[exp.Expression]:
        """Return the sums and counts, of the rows of a group."""
        del question
        return [write(work, rows) for write in self.writes.values()]

    def add(self, rows: pa.Table) -> pa.Table | None:
        """Return groups, or places of keys, and totals; None where one is not held."""
        width = rows.num_columns - len(self.writes)
        measures = rows.columns[width:]
        if any(measure.null_count for measure in measures):
            return None
        numbers = dict(zip(self.writes, map(as_numpy, measures), strict=True))
        sizes = {mark: _greatest_size(values) for mark, values in numbers.items()}
        totals = []
        for terms in self.terms:
            added, reach = np.zeros(rows.num_rows, np.int64), 0
            for term in terms:
                reach += abs(term.times) * sizes[term.mark]
                if reach > _FIT:
                    return None
                added += term.times * numbers[term.mark]
            totals.append(as_arrow(np.clip(added, -MOST, MOST)))
        columns = [*rows.columns[:width], *totals]
        return pa.table(columns, names=[f"a{place}" for place in range(len(columns))])


def _greatest_size(values: Any) -> int:
    """Return how far a number is from 0, at most; 1 where all are."""
    if not values.size:
        return 1
    return max(1, abs(int(values.min())), abs(int(values.max())))


def _terms_of_sum(total: Total, schema: Schema) -> list[Term]:
    expression = total.expression
    if not total.names():
        constant = expression.value({})
        added = 0 if constant is None else total.factor * constant + total.shift
        return [Term(added, *_ROWS)]
    mark = id(expression)
    counted = _ROWS
    if expression.column(schema).nullable:
        counted = ("values", mark), _write_over(expression, _values)
    summed = (
        ("sum", mark),
        _write_over(expression, lambda work, x: work.dialect.brief_sum(x)),
    )
    return [Term(total.factor, *summed), Term(total.shift, *counted)]


def _terms_of_distinct(total: Distinct, schema: Schema) -> list[Term]:
    del schema

    def write(work: Writer, rows: Subquery) -> exp.Expression:
        columns = [rows.columns[name] for name in total.columns]
        return work.dialect.narrow_total(work.dialect.distinct(columns))

    return [Term(1, ("distinct", total.columns), write)]


def _write_over(
    expression: AbstractExpression,
    form: Callable[[Writer, exp.Expression], exp.Expression],
) -> Write:
    """Return what writes a form over the values of an expression."""
    return lambda work, rows: form(work, work.render(expression, rows.columns))


def _values(work: Writer, value: exp.Expression) -> exp.Expression:
    """Return how many values are not missing."""
    del work
    return exp.Count(this=value)


def _rows(work: Writer, rows: Subquery) -> exp.Expression:
    """Return how many rows there are."""
    del work, rows
    return exp.Count(this=exp.Star())


_ROWS: Final[tuple[tuple[str, Any], Write]] = ("rows", None), _rows
_TERMS: Final[Mapping[type[AbstractTotal], Callable[[Any, Schema], list[Term]]]] = (
    by_kind(AbstractTotal, {Total: _terms_of_sum, Distinct: _terms_of_distinct})
)
