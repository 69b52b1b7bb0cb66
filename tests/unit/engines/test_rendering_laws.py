"""DuckDB means what Python means, for every operation and any values."""

import math
from copy import copy
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sqlglot import exp

from sordino.engines.conformance.operations import EXTREMES, FORMS, TOPICS, Form
from sordino.engines.duckdb.dialect import DUCKDB
from sordino.engines.statements.dialect import (
    AbstractDialect,
    Parameters,
    render,
    typed_columns,
)
from sordino.engines.statements.templates import (
    Entry,
    Sql,
    as_type,
    as_type_or_null,
    function,
    infix,
)
from sordino.errors import InvalidQuery
from sordino.expressions import arithmetic, casts, dates, logic, text
from sordino.expressions.language import OPERATIONS, Expression, col, lit
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.expressions.tree import AbstractExpression, AbstractTree, Call, Operation
from tests.batches import for_each, sampled
from tests.effort import often

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i64": st.integers(-(2**63), 2**63 - 1),
    "f64": st.floats().map(lambda number: number + 0.0),
    "text": st.text(),
    "bool": st.booleans(),
    "date": st.dates(),
    "time": st.datetimes().map(lambda moment: moment.replace(fold=0)),
}
TENTH = settings.get_profile(settings.get_current_profile_name()).max_examples // 10
CONNECTION = duckdb.connect()


def values(kind: str) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.sampled_from(EXTREMES[kind]), VALUES[kind])


def answers(
    expression: AbstractExpression,
    schema: Schema,
    rows: list[dict[str, Any]],
    dialect: AbstractDialect,
) -> list[Any]:
    parameters = Parameters(dialect)
    made = render(expression, typed_columns(schema), parameters)
    select = exp.select(exp.alias_(made, "answer", quoted=True)).from_("rows_of_test")
    arrays = {
        name: pa.array([row[name] for row in rows], arrow_type(schema[name].type))
        for name in schema
    }
    table = pa.table(arrays | {"place": pa.array(range(len(rows)))})
    with CONNECTION.cursor() as cursor:
        cursor.register("rows_of_test", table)
        asked = select.order_by(exp.column("place")).sql("duckdb")
        found = cursor.sql(asked, params=parameters.values).to_arrow_table()["answer"]
    assert found.type == arrow_type(expression.column(schema).type)
    return list(found.to_pylist())


def alike(one: Any, other: Any) -> bool:
    """Tell whether two values are the same: type, NaN, and no -0.0 for 0.0."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and repr(one) == repr(other)


def schema_of(form: Form) -> Schema:
    """Return the columns x0, x1, ... of the types of a form."""
    return Schema.of((f"x{at}", Column(kind)) for at, kind in enumerate(form.types))


def check(
    form: Form,
    expression: Expression,
    rows: list[dict[str, Any]],
    dialect: AbstractDialect = DUCKDB,
) -> None:
    found = answers(expression, schema_of(form), rows, dialect)
    for row, answer in zip(rows, found, strict=True):
        meant = expression.value(row)
        assert alike(meant, answer), (str(expression), row, meant, answer)


def operations(tree: AbstractTree) -> set[str]:
    if not isinstance(tree, Call):
        return set()
    below = (operations(one) for one in tree.arguments)
    return {tree.operation.name}.union(*below)


def test_every_operation_has_an_entry_and_a_form() -> None:
    assert set(DUCKDB.entries) == set(OPERATIONS)
    covered = set[str]().union(*(operations(form.on_columns().tree) for form in FORMS))
    assert covered == {one.name for one in OPERATIONS}


@sampled(35)
@for_each("form", FORMS, ids=str)
def test_extreme_values_agree(form: Form) -> None:
    """By day a seventh of the rows of three arguments, of each value many."""
    rows = form.rows()
    check(form, form.on_columns(), rows[:: often(7, 1) if len(rows) > 10_000 else 1])


def named(name: str, *further: Sql) -> Entry:
    return lambda to: function(name, *to.each(), *further)


NAIVE: list[tuple[str, Operation, Entry]] = [
    ("lower-text", text.LOWER, named("lower")),
    ("upper-text", text.UPPER, named("upper")),
    ("normalize-text", text.NORMALIZE, named("nfc_normalize")),
    ("strip-text", text.STRIP, named("trim")),
    ("length-text", text.LENGTH, named("strlen")),
    ("times -1.0-f64", arithmetic.MULTIPLY, lambda to: infix(exp.Mul, to[0], to[1])),
    ("modulo-f64-f64", arithmetic.MODULO, lambda to: infix(exp.Mod, to[0], to[1])),
    ("divide-f64-f64", arithmetic.DIVIDE, lambda to: infix(exp.Div, to[0], to[1])),
    (
        "clip-f64",
        arithmetic.CLIP,
        lambda to: function("least", function("greatest", to[0], to[1]), to[2]),
    ),
    (
        "equal-i64-f64",
        logic.EQUAL,
        lambda to: infix(
            exp.EQ,
            as_type(to[0], "HUGEINT"),
            as_type(as_type_or_null(to[1], "HUGEINT"), "HUGEINT"),
        ),
    ),
    ("cast i64-text", casts.CAST, lambda to: as_type_or_null(to[0], "BIGINT")),
    ("cast f64-text", casts.CAST, lambda to: as_type_or_null(to[0], "DOUBLE")),
    ("cast date-text", casts.CAST, lambda to: as_type_or_null(to[0], "DATE")),
    ("cast time-text", casts.CAST, lambda to: as_type_or_null(to[0], "TIMESTAMP")),
    ("cast i64-f64", casts.CAST, lambda to: as_type_or_null(to[0], "BIGINT")),
    ("weekday-date", dates.WEEKDAY, named("dayofweek")),
]


@for_each(("form", "operation", "entry"), NAIVE, ids=[name for name, _, _ in NAIVE])
def test_naive_entries_are_noticed(
    form: str, operation: Operation, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an engine would do by itself differs, and the extreme values tell."""
    wrong = copy(DUCKDB)
    monkeypatch.setattr(wrong, "entries", {**DUCKDB.entries, operation: entry})
    asked = next(one for one in FORMS if str(one) == form)
    # Dates that Python does not have cannot even be read.
    with pytest.raises((AssertionError, OverflowError)):
        check(asked, asked.on_columns(), asked.rows(), wrong)


@st.composite
def _arguments(draw: st.DrawFn, form: Form) -> list[Expression]:
    return [
        col(f"x{at}") if draw(st.booleans()) else lit(draw(values(kind)), kind)
        for at, kind in enumerate(form.types)
    ]


@st.composite
def _rows(draw: st.DrawFn, form: Form) -> list[dict[str, Any]]:
    row = {f"x{at}": values(kind) for at, kind in enumerate(form.types)}
    return draw(st.lists(st.fixed_dictionaries(row), min_size=1, max_size=8))


@sampled(1)
@for_each("topic", TOPICS)
@settings(max_examples=often(5, 10) * TENTH)
@given(data=st.data())
def test_any_values_agree(topic: str, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(TOPICS[topic]))
    expression = form.build(*data.draw(_arguments(form)))
    check(form, expression, data.draw(_rows(form)))


@pytest.mark.slow
@sampled(4, 30)
@for_each("form", FORMS, ids=str)
@settings(max_examples=TENTH)
@given(data=st.data())
def test_any_values_of_each_form_agree(form: Form, data: st.DataObject) -> None:
    expression = form.build(*data.draw(_arguments(form)))
    check(form, expression, data.draw(_rows(form)))


COLUMNS = Form("columns", tuple(EXTREMES), lit)
RESULTS: dict[str, list[Form]] = {}
for one in FORMS:
    facts = one.on_columns().column(schema_of(one))
    RESULTS.setdefault(facts.type, []).append(one)


@st.composite
def trees(draw: st.DrawFn, kind: str, depth: int) -> Expression:
    """Return an expression of a type, of operations within operations."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        column = col(f"x{list(EXTREMES).index(kind)}")
        return column if draw(st.booleans()) else lit(draw(values(kind)), kind)
    form = draw(st.sampled_from(RESULTS[kind]))
    arguments = [draw(trees(one, depth - 1)) for one in form.types]
    try:
        return form.build(*arguments)
    except InvalidQuery:  # too large
        reject()


@given(kind=st.sampled_from(list(EXTREMES)), data=st.data())
def test_operations_within_operations_agree(kind: str, data: st.DataObject) -> None:
    check(COLUMNS, data.draw(trees(kind, 4)), data.draw(_rows(COLUMNS)))


@sampled(17, 30)
@for_each("form", FORMS, ids=str)
def test_literals_agree(form: Form) -> None:
    """What an engine computes beforehand, of literals alone, is the same."""
    for row in form.rows()[:: 1 + len(form.rows()) // 3]:
        constants = map(lit, row.values(), form.types)
        check(form, form.build(*constants), [row])
