"""DuckDB means what Python means, for every operation and any values."""

import math
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from sordino.engines.rendering import Parameters, rendered, typed_columns
from sordino.engines.rendering_duckdb import DUCKDB
from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import Expression, col, lit
from sordino.expressions.operations import OPERATIONS
from sordino.expressions.tree import AbstractTree, Call
from sordino.schema import Column, Schema, arrow_type
from tests.expressions_cases import EXTREMES, FORMS, Form

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i64": st.integers(-(2**63), 2**63 - 1),
    "f64": st.floats().map(lambda number: number + 0.0),
    "text": st.text(),
    "bool": st.booleans(),
    "date": st.dates(),
    "time": st.datetimes(),
}
CONNECTION = duckdb.connect()


def values(kind: str) -> st.SearchStrategy[Any]:
    """Return values of a type: missing, extreme or any."""
    return st.one_of(st.none(), st.sampled_from(EXTREMES[kind]), VALUES[kind])


def answers(
    expression: AbstractExpression, schema: Schema, rows: list[dict[str, Any]]
) -> list[Any]:
    """Return what DuckDB gives for each row."""
    parameters = Parameters()
    made = rendered(expression, typed_columns(schema), parameters)
    select = exp.select(exp.alias_(made, "answer", quoted=True)).from_("rows_of_test")
    arrays = {
        name: pa.array([row[name] for row in rows], arrow_type(schema[name].type))
        for name in schema
    }
    table = pa.table(arrays | {"place": pa.array(range(len(rows)))})
    with CONNECTION.cursor() as cursor:
        cursor.register("rows_of_test", table)
        text = select.order_by(exp.column("place")).sql("duckdb")
        found = cursor.sql(text, params=parameters.values).to_arrow_table()["answer"]
    assert found.type == arrow_type(expression.column(schema).type)
    return list(found.to_pylist())


def alike(one: Any, other: Any) -> bool:
    """Tell whether two values are the same: type, NaN, and no -0.0 for 0.0."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and repr(one) == repr(other)


def check(form: Form, expression: Expression, rows: list[dict[str, Any]]) -> None:
    """Compare the answers for some rows with their meaning."""
    schema = Schema.of(
        (f"x{at}", Column(kind, nullable=True)) for at, kind in enumerate(form.types)
    )
    found = answers(expression, schema, rows)
    for row, answer in zip(rows, found, strict=True):
        meant = expression.value(row)
        assert alike(meant, answer), (str(expression), row, meant, answer)


def operations(tree: AbstractTree) -> set[str]:
    """Return the names of the operations of a tree."""
    if not isinstance(tree, Call):
        return set()
    below = (operations(one) for one in tree.arguments)
    return {tree.operation.name}.union(*below)


def test_every_operation_has_an_entry_and_a_form() -> None:
    """No operation is without SQL, and none is left out of the laws."""
    assert set(DUCKDB.entries) == set(OPERATIONS)
    covered = set[str]().union(*(operations(form.on_columns().tree) for form in FORMS))
    assert covered == {one.name for one in OPERATIONS}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_extreme_values_agree(form: Form) -> None:
    """At the edges of each type DuckDB gives what Python gives, to the bit."""
    check(form, form.on_columns(), form.rows())


@pytest.mark.parametrize("form", FORMS, ids=str)
@given(data=st.data())
def test_any_values_agree(form: Form, data: st.DataObject) -> None:
    """For any values, some of them literals, DuckDB gives what Python gives."""
    arguments = []
    for at, kind in enumerate(form.types):
        column = col(f"x{at}")
        fixed = data.draw(st.booleans()) and len(form.types) > 1
        arguments.append(lit(data.draw(values(kind)), kind) if fixed else column)
    row = st.fixed_dictionaries({
        f"x{at}": values(kind) for at, kind in enumerate(form.types)
    })
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    check(form, form.build(*arguments), rows)
