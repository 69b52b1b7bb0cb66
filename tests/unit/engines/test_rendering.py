"""How expressions become SQL: bound literals, quoted names, no explosion."""

import contextlib
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from sordino.engines.conformance.operations import EXTREMES, FORMS, Form
from sordino.engines.duckdb.dialect import DUCKDB
from sordino.engines.statements.dialect import (
    Parameters,
    render,
    typed_columns,
    with_type,
)
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from sordino.expressions.bins import steps
from sordino.expressions.language import col, lit
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import DEEPEST, AbstractExpression, Call, Value
from sordino.numbers.canonical import Words
from tests.batches import for_each, sampled
from tests.effort import often

CONNECTION = duckdb.connect()


def schema_result(form: Form) -> str:
    facts = ((f"x{at}", Column(kind)) for at, kind in enumerate(form.types))
    return form.on_columns().column(Schema.of(facts)).type


def written(expression: AbstractExpression, **types: str) -> tuple[str, list[Any]]:
    schema = Schema.of((name, Column(kind)) for name, kind in types.items())
    parameters = Parameters(DUCKDB)
    made = render(expression, typed_columns(schema), parameters)
    return made.sql("duckdb"), parameters.values


@for_each("kind", EXTREMES)
def test_literals_are_bound(kind: str) -> None:
    """A literal reaches the engine as a value of its type, never within the text."""
    name = DUCKDB.types[kind].replace("VARCHAR", "TEXT")
    for value in EXTREMES[kind]:
        text, bound = written(lit(value))
        small = isinstance(value, int) and abs(value) < 2**31
        assert bound == ([] if small else [value]) or value != value  # noqa: PLR0124 NaN
        assert text == f"CAST({str(value).upper() if small else '$1'} AS {name})"
        [answer] = CONNECTION.execute(f"SELECT {text}", bound).fetchone() or ()
        assert repr(answer) == repr(value)


def test_hostile_texts_and_names_stay_what_they_are() -> None:
    """Neither a name nor a literal can end a quotation."""
    for name in ('a"b;--', "a'b", "x) OR (1=1", "$1", "\\", "é\n"):
        text, bound = written(col(name) == name, **{name: "text"})
        quoted = name.replace('"', '""')
        assert text == f'"{quoted}" = CAST($1 AS TEXT)'
        assert bound == [name]


@sampled(288)
@for_each("form", FORMS, ids=str)
def test_an_argument_is_written_so_often_at_most(form: Form) -> None:
    """The weight of an expression bounds what an engine has to read."""
    tree = form.on_columns().tree
    if not isinstance(tree, Call):
        return
    columns = typed_columns(
        Schema.of((f"x{n}", Column(k)) for n, k in enumerate(form.types))
    )
    made = render(tree, columns, Parameters(DUCKDB))
    assert len(list(made.find_all(exp.Column))) <= tree.weight


@pytest.mark.slow
@for_each("form", FORMS[often(5, 0) :: often(60, 1)], ids=str)
def test_the_largest_expressions_can_be_written(form: Form) -> None:
    """Whatever is not refused as too large becomes SQL that DuckDB can read."""
    if schema_result(form) != form.types[0]:
        return  # it cannot stand within itself
    facts = [(f"x{at}", Column(kind)) for at, kind in enumerate(form.types)]
    columns = [col(name) for name, _ in facts]
    made = columns[0]
    with contextlib.suppress(InvalidQuery):
        for _ in range(DEEPEST):
            made = form.build(made, *columns[1:])
    parameters = Parameters(DUCKDB)
    sql = render(made, typed_columns(Schema.of(facts)), parameters).sql("duckdb")
    types = ", ".join(
        f"NULL::{DUCKDB.types[one.type]} AS {name}" for name, one in facts
    )
    text = f"SELECT {sql} FROM (SELECT {types})"  # noqa: S608 made of our own parts
    CONNECTION.execute(text, parameters.values)


def test_a_column_must_say_its_type() -> None:
    with pytest.raises(InvalidParameter, match=r"must say a type.*Use with_type"):
        render(col("x"), {"x": exp.column("x")}, Parameters(DUCKDB))
    with pytest.raises(UnknownName, match="no column 'y'"):
        render(col("y"), {"x": with_type(exp.column("x"), "i64")}, Parameters(DUCKDB))


def test_the_given_columns_are_left_alone() -> None:
    columns = {"x": with_type(exp.column("x", table="t"), "i64")}
    for _ in range(2):
        assert render(col("x") % 2 == 0, columns, Parameters(DUCKDB)).find(exp.Column)
    assert columns["x"].parent is None


def test_a_foreign_expression_is_refused() -> None:
    class AbstractForeign(AbstractExpression):
        """An expression of somebody else."""

    class Foreign(AbstractForeign):
        """One that could be anything."""

        def names(self) -> frozenset[str]:
            return frozenset()

        def column(self, schema: Schema) -> Column:
            del schema
            return Column("i64")

        @property
        def words(self) -> Words:
            return None

        def value(self, row: Any) -> Value:
            del row
            return 1

    with pytest.raises(InvalidParameter, match="must be built from col and lit"):
        render(Foreign(), {}, Parameters(DUCKDB))


def test_the_hot_path_reads() -> None:
    """Steps of a lattice are one comparison, and sizes where it holds."""
    text, bound = written(steps(col("x"), 0, 400, -2), x="f64")
    assert text == (
        'CAST(CASE WHEN ABS("x") <= CAST($4 AS DOUBLE) THEN '
        '((ABS(FLOOR(("x" * CAST($1 AS DOUBLE)) + CAST(0.5 AS DOUBLE))) - '
        'ABS(FLOOR(("x" * CAST($1 AS DOUBLE)) + CAST(0.5 AS DOUBLE)) - '
        "CAST($2 AS DOUBLE))) * CAST(0.5 AS DOUBLE)) + CAST($3 AS DOUBLE) "
        'ELSE CASE SIGN("x") WHEN -1 THEN CAST($5 AS DOUBLE) '
        "WHEN 1 THEN CAST($2 AS DOUBLE) END END AS BIGINT)"
    )
    assert bound == [4.0, 400.0, 200.0, 2.0**49, 0.0]
