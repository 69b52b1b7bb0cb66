"""The last select of a question: totals for each group, and answers in one form.

With keys there is a row for each key that has rows, and instead of the key its place
among the keys; the engine puts the zeros in between. Where public keys are all the
integers of a box, a place is a number:

    keys (2, 0), (2, 1), (3, 0), (3, 1)    ->    place of (g, h) = 2 (g - 2) + (h - 0)

Totals may be put together outside of the database, of sums and counts:

    sum of factor * x + shift  =  factor * (sum of x) + shift * (number of x)

Each sum and each count is asked for once, as an i64 that is null where a faster form
does not hold it; then the question is asked in its wide form.

Kernel: totals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import (
    MOST,
    AbstractTotal,
    Distinct,
    Missing,
    Total,
)
from sordino.engines.statements.dialect import AbstractDialect
from sordino.engines.statements.plans import (
    Subquery,
    Writer,
    alias_as,
    select_from,
    select_groups,
    table_named,
)
from sordino.engines.statements.templates import Sql
from sordino.expressions.schema import Schema, arrow_type
from sordino.expressions.tree import AbstractExpression
from sordino.numbers.arrays import as_arrow, as_numpy
from sordino.query.nodes import Question, by_kind

_FIT: Final = 2**62  # integers up to here are added and multiplied in 64 bits
Values: TypeAlias = Mapping[int, tuple[Sql, Sql]]
"""Of expressions, by identity: what has a name, null where there is no value, and the
value."""
Write: TypeAlias = Callable[[Writer, Subquery, Values], Sql]
Told: TypeAlias = tuple[Subquery, Sequence[Sql]]


@final
@dataclass(frozen=True)
class Term:
    """A sum or a count, with its factor."""

    times: int
    mark: tuple[str, Any]  # what terms share that are the same number
    write: Write
    of: AbstractExpression | None = None


@final
@dataclass(frozen=True)
class Measures:
    """The sums and counts of a question, and how its totals are put together."""

    terms: tuple[list[Term], ...]  # of each total
    writes: Mapping[tuple[str, Any], Write]  # each sum and each count once
    values: tuple[AbstractExpression, ...]  # each of which something is told, once

    @classmethod
    def of(cls, question: Question) -> "Measures":
        """Sums and counts of which the totals of a question are made."""
        schema = question.rows.schema
        terms = tuple(
            [term for term in _TERMS[type(total)](total, schema) if term.times]
            for total in question.totals
        )
        writes = {term.mark: term.write for each in terms for term in each}
        read = {
            id(term.of): term.of
            for each in terms
            for term in each
            if term.of is not None
        }
        # a SELECT of no aggregate has a row for each row, and would tell their number
        return cls(terms, writes or dict([_ROWS]), (*read.values(),))

    def write(self, work: Writer, question: Question, rows: Subquery) -> Told:
        """Return the rows with a name for each value, and the sums and counts of them.

        A value is one of every row, under no condition, so it may be computed below the
        sums and counts: once, also by a database that runs what is written.
        """
        values: dict[int, tuple[Sql, Sql]] = {}
        if self.values:
            rendered = (work.render(value, rows.columns) for value in self.values)
            named, reads = zip(*map(work.dialect.name_value, rendered), strict=True)
            listed, schema = rows.columns.items(), question.rows.schema
            rows = work.part(select_from(rows), listed, schema, named)
            for value, read, column in zip(
                self.values, reads, rows.further, strict=True
            ):
                values[id(value)] = column, read(column.copy())
        return rows, [write(work, rows, values) for write in self.writes.values()]

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
                if reach > _FIT:  # by the greatest sizes: no int64 below can wrap
                    return None
                added += term.times * numbers[term.mark]
            totals.append(as_arrow(np.clip(added, -MOST, MOST)))
        columns = [*rows.columns[:width], *totals]
        return pa.table(columns, names=[f"a{place}" for place in range(len(columns))])


def _greatest_size(values: Any) -> int:
    if not values.size:
        return 1
    return max(1, abs(int(values.min())), abs(int(values.max())))


def _terms_of_sum(total: Total, schema: Schema) -> list[Term]:
    expression = total.expression
    if not total.names():
        constant = expression.value({})
        added = 0 if constant is None else total.factor * constant + total.shift
        return [Term(added, *_ROWS)]

    def write(work: Writer, rows: Subquery, values: Values) -> Sql:
        del rows
        _, value = values[id(expression)]
        return work.dialect.brief_sum(value)

    summed = Term(total.factor, ("sum", id(expression)), write, expression)
    if expression.column(schema).nullable:
        return [summed, _values_of(expression, total.shift)]
    return [summed, Term(total.shift, *_ROWS)]


def _terms_of_missing(total: Missing, schema: Schema) -> list[Term]:
    del schema
    # less the very count that a sum of the same value is put together with
    return [Term(total.times, *_ROWS), _values_of(total.expression, -total.times)]


def _values_of(expression: AbstractExpression, times: int) -> Term:
    def write(work: Writer, rows: Subquery, values: Values) -> Sql:
        del work, rows
        column, _ = values[id(expression)]
        return exp.Count(this=column)

    return Term(times, ("values", id(expression)), write, expression)


def _terms_of_distinct(total: Distinct, schema: Schema) -> list[Term]:
    del schema

    def write(work: Writer, rows: Subquery, values: Values) -> Sql:
        del values
        columns = [rows.columns[name] for name in total.columns]
        return work.dialect.narrow_total(work.dialect.distinct(columns))

    return [Term(1, ("distinct", total.columns), write)]


def _rows(work: Writer, rows: Subquery, values: Values) -> Sql:
    del work, rows, values
    return exp.Count(this=exp.Star())


_ROWS: Final[tuple[tuple[str, Any], Write]] = ("rows", None), _rows
_TERMS: Final[Mapping[type[AbstractTotal], Callable[[Any, Schema], list[Term]]]] = (
    by_kind(
        AbstractTotal,
        {
            Total: _terms_of_sum,
            Missing: _terms_of_missing,
            Distinct: _terms_of_distinct,
        },
    )
)


KEYS: Final = "keys"
PLACE: Final = "place"
PARTS: Final = "parts"


Form: TypeAlias = Callable[[Writer, Question, Subquery], Told]
"""Totals of a group as SQL, with the rows below them: `wide_totals`, `narrow_totals`,
or measures."""


def wide_totals(work: Writer, question: Question, rows: Subquery) -> Told:
    """Return totals that are not held within their limits: they can be added."""
    schema = question.rows.schema
    return rows, [total_of(work, total, rows, schema) for total in question.totals]


def narrow_totals(work: Writer, question: Question, rows: Subquery) -> Told:
    """Return totals held within their limits."""
    _, totals = wide_totals(work, question, rows)
    return rows, list(map(work.dialect.narrow_total, totals))


def grouped_rows(
    work: Writer, question: Question, rows: Subquery, form: Form
) -> exp.Select:
    """Return the select of groups over the rows of a question, and what is told."""
    rows, totals = form(work, question, rows)
    by = [rows.columns[name] for name in question.by]
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


def total_of(work: Writer, total: AbstractTotal, rows: Subquery, schema: Schema) -> Sql:
    """Return a total of the rows of a group, in a type that holds it."""
    return _TOTALS[type(total)](work, total, rows, schema)


def _select(rows: Subquery, columns: list[Sql]) -> exp.Select:
    listed = [alias_as(column, f"a{place}") for place, column in enumerate(columns)]
    return select_from(rows).select(*listed, copy=False)


def _total(work: Writer, asked_for: Total, rows: Subquery, schema: Schema) -> Sql:
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


def _missing_rows(
    work: Writer, asked_for: Missing, rows: Subquery, schema: Schema
) -> Sql:
    del schema
    value = work.render(asked_for.expression, rows.columns)
    return work.dialect.missing_rows(value, asked_for.times)


def _distinct(work: Writer, asked_for: Distinct, rows: Subquery, schema: Schema) -> Sql:
    del schema
    return work.dialect.distinct([rows.columns[name] for name in asked_for.columns])


_Rule: TypeAlias = Callable[[Writer, Any, Subquery, Schema], Sql]
_TOTALS: Final[Mapping[type[AbstractTotal], _Rule]] = by_kind(
    AbstractTotal, {Total: _total, Missing: _missing_rows, Distinct: _distinct}
)


@final
@dataclass(frozen=True)
class Side:
    """The integers of one column from the least to the greatest."""

    least: int
    greatest: int
    step: int  # by how many places a key is further whose integer is greater by one


def box_of(keys: pa.Table) -> tuple[Side, ...] | None:
    """Return the sides of the box that keys fill one after the other, or None.

    >>> box_of(pa.table({"g": [2, 3], "h": [0, 0]}))
    (Side(least=2, greatest=3, step=1), Side(least=0, greatest=0, step=1))
    >>> box_of(pa.table({"g": [2, 3, 5]}))
    """
    if not keys.num_rows or not all(map(_is_whole, keys.columns)):
        return None
    columns = list(map(as_numpy, keys.columns))
    ends = [(int(column.min()), int(column.max())) for column in columns]
    sizes = [greatest - least + 1 for least, greatest in ends]
    if math.prod(sizes) != keys.num_rows:  # in Python: it may be beyond 64 bits
        return None
    sides = tuple(
        Side(*both, math.prod(sizes[place + 1 :])) for place, both in enumerate(ends)
    )
    places = sum(
        side.step * (column - side.least)
        for side, column in zip(sides, columns, strict=True)
    )
    return sides if np.array_equal(places, np.arange(keys.num_rows)) else None


def _is_whole(column: pa.ChunkedArray) -> bool:
    return pa.types.is_int64(column.type) and not column.null_count


def answer_table(question: Question, rows: pa.Table) -> pa.Table:
    """Return the answer, from groups and totals or from places of keys and totals."""
    keys = question.keys
    width = len(question.by) if keys is None else 1
    columns = rows.columns[width : width + len(question.totals)]
    totals = [total.combine_chunks() for total in columns]
    if keys is None:
        groups = rows.columns[:width]
    else:
        groups, places = keys.columns, as_numpy(rows.column(0))
        # zeros elsewhere: a key without rows is in the answer, too
        spread = np.zeros((len(totals), keys.num_rows), np.int64)
        for row, total in zip(spread, totals, strict=True):
            row[places] = as_numpy(total)
        totals = [as_arrow(row) for row in spread]
    return pa.Table.from_arrays([*groups, *totals], schema=answer_schema(question))


def with_places(keys: pa.Table) -> pa.Table:
    """Return keys as c0, c1, ... with their places."""
    names = [f"c{place}" for place in range(keys.num_columns)]
    places = as_arrow(np.arange(keys.num_rows))
    return keys.rename_columns(names).append_column(PLACE, places)


def answer_schema(question: Question) -> pa.Schema:
    """Return the columns that every answer to a question has."""
    rows: Schema = question.rows.schema
    by = [pa.field(name, arrow_type(rows[name].type)) for name in question.by]
    places = range(len(question.totals))
    return pa.schema([*by, *(pa.field(f"total {n}", pa.int64()) for n in places)])
