"""A third dialect behind the door: SQLite's, in a folder of the tests.

What it computes is what the memory engine and DuckDB compute; what it cannot compute
it refuses by name, before anything is charged.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.engines import doors
from sordino.engines.conformance.bounds import ADDING_CASES, CASES
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import (
    PLAIN_CASES,
    TABLES,
    Case,
    comparable_answer,
)
from sordino.engines.conformance.verdicts import (
    answer_of_form,
    open_each,
    order_of,
    verdict,
)
from sordino.engines.doors import Door, Settings, engine_named
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter, InvalidQuery, MissingDependency
from sordino.expressions.language import OPERATIONS
from sordino.query.nodes import Source
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT
from tests.sqlite_engine.dialect import SQLITE, SQLiteDialect
from tests.sqlite_engine.engine import sqlite_engine

Sources = Mapping[str, Source]
SQLITE_ENGINE: Final = sqlite_engine(salt=SALT)
BUDGET: Final = sd.PureDP(1)


def whole(table: pa.Table) -> pa.Table:
    """Return a table whose doubles are integers, and which has no lists."""
    columns = {}
    for field in table.schema:
        held = table[field.name]
        if pa.types.is_floating(field.type):
            known: dict[str, int] = {"None": 0}
            places = [
                known.setdefault(repr(one), len(known)) for one in held.to_pylist()
            ]
            held = pa.array([one or None for one in places], pa.int64())
        if not pa.types.is_list(field.type):
            columns[field.name] = held
    return pa.table(columns)


def answered(engine: AbstractEngine, case: Case, tables: Sources) -> Any:
    question = case.asked(tables)
    return comparable_answer(question, engine.answer(question))


MEMORY: Final = MemoryEngine(order=order_of(SQLITE_ENGINE))
ENGINES: Final[dict[str, AbstractEngine]] = {
    "sqlite": SQLITE_ENGINE,
    "memory": MEMORY,
    "duckdb": duckdb_engine(salt=SALT),
}
WHOLE: Final = {name: whole(table) for name, table in TABLES.items()}
OPENED: Final = {name: open_each(one, WHOLE) for name, one in ENGINES.items()}
BEYOND: Final = {
    "keys of doubles",
    "explode",
    "explode two",
    "explode unseen",
    "bounds over lists",
    "broken map",
    "flat map half-way",
    "map",
    "filter",
    "public facts of few rows",
}
"""Cases that ask for doubles or for lists."""
WITHIN: Final = [case for case in CASES if case.name not in BEYOND]


@sampled(18, 40)
@for_each("case", WITHIN, ids=[case.name for case in WITHIN])
def test_sqlite_agrees(case: Case) -> None:
    told = answered(SQLITE_ENGINE, case, OPENED["sqlite"])
    assert told == answered(MEMORY, case, OPENED["memory"])
    if case in PLAIN_CASES:
        assert told == answered(ENGINES["duckdb"], case, OPENED["duckdb"])


def test_parts_add_up() -> None:
    engine = sqlite_engine(salt=SALT, parts=(5,))
    tables = open_each(engine, WHOLE)
    for case in ADDING_CASES:
        if case.name not in BEYOND:
            told = answered(engine, case, tables)
            assert told == answered(MEMORY, case, OPENED["memory"])


HELD: Final = [form for form in FORMS if set(form.types) <= set(SQLITE.types)]


@sampled(21, 60)
@for_each("form", HELD, ids=str)
def test_operations_agree_or_are_refused(form: Form) -> None:
    ask = partial(answer_of_form, form)
    told = verdict(str(form), ask, sqlite_engine(), MemoryEngine())
    assert told.conforms, told
    assert (told.outcome == "refuses") == ("sqlite cannot compute" in told.text)


def test_most_of_the_door_is_tried() -> None:
    assert len(WITHIN) > 50
    assert len(SQLITE.entries) > 25


LEAVING: Final = [
    (
        {"entries": dict([*SQLITE.entries.items()][:9])},
        "leaves open: abs",
    ),
    ({"types": {"i64": "INTEGER"}}, "leaves open: bool, date, text, time"),
    ({"absent": {}}, "leaves open: "),
]


@for_each(("facts", "told"), LEAVING)
def test_a_dialect_is_complete_or_not_there(facts: dict[str, Any], told: str) -> None:
    """One that leaves a type or an operation open cannot even be imported."""
    base = SQLiteDialect.__bases__[0]
    whole_class = {**vars(SQLiteDialect), **facts}
    with pytest.raises(TypeError, match=told):
        type("HalfDialect", (base,), whole_class)


@pytest.fixture
def sqlite_door(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "tests.sqlite_engine.engine:sqlite_of_settings"
    monkeypatch.setitem(doors.DOORS, "sqlite", Door(place))


@pytest.mark.usefixtures("sqlite_door")
def test_a_session_asks_sqlite() -> None:
    rows = {"id": [1, 1, 1, 2, 3], "ward": ["a", "a", "b", "b", None], "n": range(5)}
    table = sd.PrivateTable(pa.table(rows), protects=sd.AddRowsWithID("id"))
    engine: Any = "sqlite"
    session = sd.Session({"t": table}, budget=sd.PureDP(2), engine=engine)
    keys = sd.KeySet.from_dict({"ward": ["a", "b"]})
    bounded = sd.table("t").enforce(sd.MaxRowsPerID(2)).group_by(keys)
    release = session.release(bounded.agg(n=sd.count(), s=sd.sum("n", 0, 9)), BUDGET)
    assert release.table.num_rows == 2
    long = sd.table("t").filter(sd.col("ward").length() > 1)
    lengths = long.enforce(sd.MaxRowsPerID(2)).agg(n=sd.count())
    with pytest.raises(InvalidQuery, match="sqlite cannot compute length"):
        session.release(lengths, BUDGET)
    assert session.remaining == sd.PureDP(1)


def test_engines_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidParameter, match='one of "duckdb", "memory"'):
        engine_named("postgress", Settings())
    for name in (None, 7, ["duckdb"], "x" * 10_000):
        unknown: Any = name
        with pytest.raises(InvalidParameter) as caught:
            engine_named(unknown, Settings())
        assert len(str(caught.value)) < 300
    monkeypatch.setitem(doors.DOORS, "far", Door("nowhere:made", "no_such_package"))
    with pytest.raises(MissingDependency, match="the extra far"):
        engine_named("far", Settings())


class Deaf(tuple[Any, ...]):
    """A pair that fails when it is asked anything."""

    __slots__ = ()

    def __len__(self) -> int:
        raise OSError("a private cell")

    __getitem__ = __iter__ = __eq__ = __len__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


@for_each("pair", [Deaf((1, "t")), Deaf(("x://y", "t")), Deaf()])
def test_odd_pairs_are_refused(pair: Any) -> None:
    for engine in (duckdb_engine(), MemoryEngine()):
        with pytest.raises(InvalidParameter, match="must be \\(connection, name"):
            engine.open("t", pair, {})


def test_every_operation_is_written_or_absent() -> None:
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    assert not {one.name for one in OPERATIONS} & set(SQLITE.types)
