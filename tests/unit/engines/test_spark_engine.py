"""Spark means what the memory engine means, in anybody's session."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pyarrow as pa
import pytest
from sqlglot import exp

from sordino.engines.conformance.bounds import ADDING_CASES, CASES
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import (
    TABLES,
    Case,
    comparable_answer,
    project_to,
    question_of,
)
from sordino.engines.conformance.verdicts import open_each, order_of
from sordino.engines.memory import MemoryEngine
from sordino.engines.spark.cluster import session_beside
from sordino.engines.spark.dialect import SPARK
from sordino.engines.spark.session import as_spark
from sordino.engines.statements.dialect import Parameters, render, typed_columns
from sordino.errors import InvalidQuery
from sordino.expressions.language import col
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.spark_here import engine_beside, users_session
from tests.unit.engines.test_rendering_laws import alike

pytestmark = pytest.mark.slow
SALT: Final = 0x9E3779B97F4A7C15


@cache
def engines() -> dict[str, tuple[Any, dict[str, Source]]]:
    spark = engine_beside(salt=SALT)
    made = {"spark": spark, "memory": MemoryEngine(order=order_of(spark))}
    return {name: (one, dict(open_each(one, TABLES))) for name, one in made.items()}


def answered(name: str, case: Case) -> Any:
    engine, tables = engines()[name]
    question = case.asked(tables)
    return comparable_answer(question, engine.answer(question))


@for_each("case", CASES, ids=[case.name for case in CASES])
def test_spark_agrees(case: Case) -> None:
    assert answered("spark", case) == answered("memory", case)


def test_parts_of_ids_add_up() -> None:
    """Wide totals leave Spark as decimals, come back, and are added."""
    engine = engine_beside(salt=SALT, parts=(5,))
    tables = open_each(engine, TABLES)
    memory, known = engines()["memory"]
    for case in ADDING_CASES:
        question, meant = case.asked(tables), case.asked(known)
        told = comparable_answer(question, engine.answer(question))
        assert told == comparable_answer(meant, memory.answer(meant))


KINDS: Final = sorted({form.types for form in FORMS})
WRITTEN: Final = 12
"""How many operations stand in one statement: a statement costs as much as ten."""


def written(types: tuple[str, ...]) -> Iterator[list[Form]]:
    held = [form for form in FORMS if form.types == types and not absent(form)]
    for start in range(0, len(held), WRITTEN):
        yield held[start : start + WRITTEN]


def absent(form: Form) -> bool:
    return any(name in str(form) for name in SPARK.absent)


def spark_values(session: Any, forms: list[Form]) -> list[list[Any]]:
    """Return what Spark makes of each row of extreme values, for each operation."""
    rows, types = forms[0].rows(), forms[0].types
    schema = Schema.of((f"x{at}", Column(kind)) for at, kind in enumerate(types))
    arrays = {
        name: pa.array([row[name] for row in rows], arrow_type(schema[name].type))
        for name in schema
    }
    table = pa.table({**arrays, "place": pa.array(range(len(rows)))})
    session.createDataFrame(table).createOrReplaceTempView("extremes")
    bound = Parameters(SPARK)
    made = [render(one.on_columns(), typed_columns(schema), bound) for one in forms]
    columns = [exp.alias_(one, f"a{place}") for place, one in enumerate(made)]
    select = exp.select(*columns).from_("extremes").order_by(exp.column("place"))
    given = {f"p{n}": as_spark(one) for n, one in enumerate(bound.values, 1)}
    found = session.sql(select.sql("spark"), args=given).toArrow()
    for column, form in zip(found.columns, forms, strict=True):
        kind = form.on_columns().column(schema).type
        assert column.type == arrow_type(kind) or kind.startswith("list"), form
    return [column.to_pylist() for column in found.columns]


@for_each("ansi", ["true", "false"])
@for_each("types", KINDS, ids="-".join)
def test_extreme_values_agree_on_spark(types: tuple[str, ...], ansi: str) -> None:
    session = session_beside(users_session())
    session.conf.set("spark.sql.ansi.enabled", ansi)
    for forms in written(types):
        for form, found in zip(forms, spark_values(session, forms), strict=True):
            expression = form.on_columns()
            for row, value in zip(form.rows(), found, strict=True):
                meant = expression.value(row)
                assert alike(meant, value), (str(form), row, meant, value)


def test_the_zone_of_a_session_changes_no_operation() -> None:
    session = session_beside(users_session())
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    dated = [types for types in KINDS if {"date", "time"} & set(types)]
    for forms in (some for types in dated for some in written(types)):
        for form, found in zip(forms, spark_values(session, forms), strict=True):
            meant = [form.on_columns().value(row) for row in form.rows()]
            assert all(map(alike, meant, found)), str(form)


def test_what_spark_cannot_say_it_refuses() -> None:
    engine = engine_beside()
    tables = open_each(engine, TABLES)
    for made in (col("ward").matches("a*"), col("ward").normalize()):
        asked = question_of(project_to(tables["visits"], made=made), "made")
        with pytest.raises(InvalidQuery, match="spark cannot compute"):
            engine.statement(asked)
