"""What an engine makes of each case: it conforms if none differs and none fails.

    engine = duckdb_engine()
    wrong = [verdict for verdict in verdicts(engine) if not verdict.conforms]

An engine is compared with the memory engine, which keeps rows in the order of the
engine's own digests: so bounds are compared row by row. What an engine says it cannot
compute (`AbstractDialect.absent`) is refused by name and is no fault of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias, final

import pyarrow as pa

from sordino.data.source import kind_of
from sordino.engines.conformance.bounds import CASES
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import (
    TABLES,
    Case,
    Sources,
    comparable_answer,
    project_to,
    question_of,
    sortable_rows,
)
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine, Order
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import InvalidQuery, SordinoError, UnknownName
from sordino.expressions.language import col
from sordino.expressions.schema import arrow_type
from sordino.query.nodes import Source

Outcome: TypeAlias = Literal["agrees", "refuses", "differs", "fails"]
Tables: TypeAlias = Mapping[str, pa.Table]

MULTIPLICITIES: Final = (
    ("visits", ("id",)),
    ("visits", ("days",)),
    ("visits", ("ward", "days")),
    ("visits", ("id", "ward", "seen")),
    ("wards", ("ward",)),
    ("strange", ("", "a.b")),
    ("empty", ("id",)),
)
"""Tables, and columns of which it is asked how many rows agree in them."""


@final
@dataclass(frozen=True)
class Verdict:
    """What became of a case."""

    name: str
    outcome: Outcome
    text: str = ""
    """What a refusal or a failure says, or both answers where they differ."""

    @property
    def conforms(self) -> bool:
        """Tell whether the engine did what every engine has to do."""
        return self.outcome in {"agrees", "refuses"}


def verdicts(engine: SQLEngine, tables: Tables = TABLES) -> Iterator[Verdict]:
    """Yield the verdict on each case; the engine opens the tables, and further ones.

    An engine without a type is given tables without it.
    """
    memory = MemoryEngine(order=order_of(engine))
    engines: tuple[AbstractEngine, ...] = (engine, memory)
    usable = {name: _held_columns(table, engine) for name, table in tables.items()}
    opened = {answering: open_each(answering, usable) for answering in engines}
    for name, ask in _questions(opened, tables, engine.dialect.unheld):
        yield verdict(name, ask, engine, memory)


def _questions(
    opened: Mapping[AbstractEngine, Sources], tables: Tables, unheld: frozenset[str]
) -> Iterator[tuple[str, Callable[[AbstractEngine], Any]]]:
    for case in CASES:
        yield f"plan: {case.name}", partial(_answer_of_case, case, opened)
    for form in FORMS:
        yield f"operation: {form}", partial(answer_of_form, form, unheld=unheld)
    for table, on in MULTIPLICITIES:
        name = f"multiplicity: {table} by {', '.join(on)}"
        yield name, partial(_multiplicity, table, on)
    for table in tables:
        yield f"frozen: {table}", partial(_frozen_table_rows, table)


def verdict(
    name: str,
    ask: Callable[[AbstractEngine], Any],
    engine: AbstractEngine,
    meaning: AbstractEngine,
) -> Verdict:
    """Return the verdict on one case, which is asked of an engine and of what is meant.

    A column that the engine cannot hold is unknown to it: that is a refusal, too.
    """
    try:
        answer = ask(engine)
    except (InvalidQuery, UnknownName) as refusal:
        return Verdict(name, "refuses", str(refusal))
    except SordinoError as failure:
        return Verdict(name, "fails", str(failure))
    expected = ask(meaning)
    if answer == expected:
        return Verdict(name, "agrees")
    return Verdict(name, "differs", f"{answer}\nwhere {expected} is meant")


def order_of(engine: SQLEngine) -> Order:
    """Return the order in which an engine keeps rows, for the memory engine."""

    def order(rows: list[tuple[Any, ...]], kinds: tuple[str, ...]) -> list[Any]:
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        arrays = [
            pa.array(column, arrow_type(kind))
            for column, kind in zip(columns, kinds, strict=True)
        ]
        names = [f"x{place}" for place in range(len(kinds))]
        return engine.digests(pa.Table.from_arrays(arrays, names=names))

    return order


def open_each(engine: AbstractEngine, tables: Tables) -> Sources:
    """Open tables under their names."""
    return {
        name: Source(name, engine.open(name, table, {}))
        for name, table in tables.items()
    }


def answer_of_form(
    form: Form, engine: AbstractEngine, *, unheld: frozenset[str] = frozenset()
) -> Any:
    """Results of an operation on rows of extreme values.

    Rows with a text that has an unheld character are left out.
    """
    rows = [row for row in form.rows() if _is_held(row, unheld)]
    arrays = {
        f"x{place}": pa.array([row[f"x{place}"] for row in rows], arrow_type(kind))
        for place, kind in enumerate(form.types)
    }
    table = pa.table({**arrays, "row": pa.array(range(len(rows)))})
    source = Source("form", engine.open("form", table, {}))
    results = project_to(source, row=col("row"), made=form.on_columns())
    question = question_of(results, "row", "made")
    return comparable_answer(question, engine.answer(question))


def _held_columns(table: pa.Table, engine: SQLEngine) -> pa.Table:
    kinds = engine.dialect.types
    names = [column.name for column in table.schema if kind_of(column.type) in kinds]
    return table.select(names)


def _is_held(row: Mapping[str, Any], unheld: frozenset[str]) -> bool:
    return all(
        unheld.isdisjoint(value) for value in row.values() if isinstance(value, str)
    )


def _answer_of_case(
    case: Case, opened: Mapping[AbstractEngine, Sources], engine: AbstractEngine
) -> Any:
    question = case.asked(opened[engine])
    return comparable_answer(question, engine.answer(question))


def _multiplicity(table: str, on: tuple[str, ...], engine: AbstractEngine) -> int:
    return engine.multiplicity(table, on)


def _frozen_table_rows(table: str, engine: AbstractEngine) -> list[tuple[Any, ...]]:
    engine.freeze(table)
    return sortable_rows(engine.frozen_rows(table))
