"""Operations mean the same by every door, and are read back as they are shown."""

import datetime as dt
import math
from typing import Any, Final

import pyarrow as pa

import sordino as sd
from sordino.engines.conformance import plans
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.schema import arrow_type
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled
from tests.doors import DOORS, across

ROWS = 30


def held(form: Form) -> pa.Table:
    """Return rows of the values of a form, with their places."""
    rows = form.rows()[:: 1 + len(form.rows()) // ROWS]
    arrays = {
        f"x{place}": pa.array([row[f"x{place}"] for row in rows], arrow_type(kind))
        for place, kind in enumerate(form.types)
    }
    return pa.table({"i": list(range(len(rows))), **arrays})


def answer(engine: AbstractEngine, form: Form, door: str) -> Any:
    """Return what an operation gives in each row."""
    private = DOORS[door].private(held(form), sd.AddOneRow())
    rows = open_catalog(engine, {"t": private}).relations["t"].node
    made = plans.project_to(rows, i=col("i"), y=form.on_columns())
    asked = plans.question_of(made, "i", "y")
    return comparable_answer(asked, engine.answer(asked))


@sampled(7, 40)
@for_each(("form", "door"), across(FORMS), ids=str)
def test_operations_agree_by_every_door(form: Form, door: str) -> None:
    """A database gives what Python gives, for each operation and each door."""
    plain = "arrow" if DOORS[door].nan and DOORS[door].nul else door
    assert answer(duckdb_engine(), form, door) == answer(MemoryEngine(), form, plain)


def test_each_operation_and_each_door_has_its_part() -> None:
    pairs = across(FORMS)
    assert {str(form) for form, _ in pairs} == set(map(str, FORMS))
    assert {door for _, door in pairs} == set(DOORS)


NAMES: Final[dict[str, Any]] = {
    "col": col,
    "lit": lit,
    "when": when,
    "datetime": dt,
    "nan": math.nan,
    "inf": math.inf,
}
INTERNAL: Final = ("steps", "height", "portion", "read ", "bin", "double_bin")
"""Operations that no user writes; ranges show their edges, not their names."""
PUBLIC: Final = [form for form in FORMS if not form.name.startswith(INTERNAL)]


def printed(form: Form) -> Expression:
    made: Expression = eval(repr(form.on_columns()), dict(NAMES))  # noqa: S307 our text
    return made


@for_each("form", PUBLIC, ids=str)
def test_an_expression_is_read_back_as_it_is_shown(form: Form) -> None:
    assert printed(form).same(form.on_columns())
