"""What fails for public reasons fails before the charge, and reads no row."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino import errors
from sordino.data.arrow import TableSource
from sordino.data.tables import ParquetSource
from sordino.engines.doors import EngineName
from sordino.engines.duckdb import session as instance
from sordino.engines.duckdb.session import DuckDB, duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements.statements import Statement
from sordino.query.nodes import MOST_NODES
from tests.batches import for_each, sampled
from tests.effort import often

ROWS = pa.table({"id": [1, 1, 2], "ward": ["A", "B", "A"], "days": [3, 1, 8]})
VISITS = sd.table("visits")
COUNT = VISITS.agg(n=sd.count())
BUDGET = sd.ApproxDP(1, "1e-6")
NAMES: list[EngineName] = ["duckdb", "memory"]


def session(source: Any = ROWS, **more: Any) -> sd.Session:
    table = sd.PrivateTable(source, protects=sd.AddOneRow())
    return sd.Session({"visits": table}, sd.ApproxDP(9, "1e-5"), **more)


def refused(opened: sd.Session, query: Any = COUNT) -> str:
    """Return what a release is refused with, by every door, without a charge."""
    acts: list[Callable[[], object]] = [
        lambda: opened.release(query, BUDGET),
        lambda: opened.release(query, BUDGET, key="k"),
        lambda: opened.release_all({"n": query}, BUDGET),
        lambda: opened.what_if(query, BUDGET),
    ]
    texts = set()
    for act in acts:
        with pytest.raises((errors.EngineUnavailable, errors.InvalidQuery)) as caught:
            act()
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        texts.add(str(caught.value))
    assert opened.history() == ()
    (text,) = texts
    return text


def _other(path: Path) -> None:
    pq.write_table(ROWS.select(["days", "id", "ward"]), path)


def _garbled(path: Path) -> None:
    path.write_bytes(b"no file of this kind")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@for_each("engine", NAMES)
@for_each("change", [Path.unlink, _other, _garbled, _folder])
def test_a_file_that_is_another(
    change: Callable[[Path], object], engine: EngineName, tmp_path: Path
) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(ROWS, path)
    opened = session(path, engine=engine)
    change(path)
    assert "the table 'visits' is not what it was" in refused(opened)
    opened = session(ROWS, engine=engine)
    opened.release(COUNT, BUDGET)


@for_each("engine", NAMES)
@for_each("change", ["DROP TABLE t", "ALTER TABLE t DROP ward"])
def test_a_table_of_a_connection_that_is_another(
    change: str, engine: EngineName
) -> None:
    """Columns are found by their places, so a table with others is refused."""
    connection = duckdb.connect()
    connection.register("given", ROWS)
    connection.execute("CREATE TABLE t AS FROM given")
    opened = session((connection, "t"), engine=engine)
    opened.release(COUNT, BUDGET)
    connection.execute(change)
    with pytest.raises(errors.EngineUnavailable, match="has other columns"):
        opened.release(COUNT, BUDGET)
    assert len(opened.history()) == 1


def test_a_setting_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a database says to its settings is public: it has seen no row."""
    opened = session(memory_limit="321MB")  # so that no database waits for it

    def refusing(*_: object, **__: object) -> None:
        raise duckdb.InvalidInputException("needs 'ipywidgets'\nLINE 1: SET ...")

    monkeypatch.setattr(instance, "locked_connection", refusing)
    assert refused(opened) == (
        "the engine refuses: needs 'ipywidgets'. Nothing was charged."
    )


def test_too_little_memory_for_the_plan_alone() -> None:
    """A limit within which not even empty tables are answered costs nothing.

    Rows alone are counted without memory; groups need some, were there none of them.
    """
    by_ward = VISITS.group_by("ward").agg(n=sd.count())
    assert "the engine refuses" in refused(session(memory_limit="1KB"), by_ward)


class Reading(AssertionError):
    """Rows were read."""


def spy(patch: pytest.MonkeyPatch) -> None:
    """Let whoever reads rows from now on fail."""

    def spying(source: type[Any], door: str) -> None:
        read = getattr(source, door)

        def watched(self: Any, places: Any) -> Any:
            held = getattr(self, "_table", None)
            if held is None or held.num_rows:
                raise Reading
            return read(self, places)

        patch.setattr(source, door, watched)

    for source in (TableSource, ParquetSource):
        for door in ("read", "hand_over"):
            spying(source, door)
    run = DuckDB._run

    def running(self: DuckDB, statement: Statement, salt: int) -> Any:
        if statement.in_place:
            raise Reading
        return run(self, statement, salt)

    patch.setattr(DuckDB, "_run", running)


def _loud(row: Any) -> Any:
    raise Reading(row)


ASKED: dict[str, Any] = {
    "count": VISITS.group_by("ward").agg(n=sd.count()),
    "keys": VISITS.group_by(sd.KeySet.from_dict({"ward": ["A"]})).agg(n=sd.count()),
    "choice": VISITS.agg(m=sd.median("days", 0, 30)),
    "function": VISITS.with_columns(sd.udf(_loud, {"z": "i64"})).agg(
        z=sd.sum("z", 0, 1, nulls=0)
    ),
    "rows made": VISITS.flat_map(_loud, {"z": "i64"}, max_rows=2).agg(n=sd.count()),
}


@sampled(8)
@for_each("engine", [duckdb_engine, MemoryEngine])
@for_each("kind", ["memory", "file"])
@for_each("asked", ASKED)
def test_rehearsals_read_nothing(
    asked: str,
    kind: str,
    engine: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(ROWS, path)
    name: EngineName = "duckdb" if engine is duckdb_engine else "memory"
    opened = session(path if kind == "file" else ROWS, engine=name)
    spy(monkeypatch)
    opened.what_if(ASKED[asked], BUDGET)
    with pytest.raises(errors.SordinoError):  # the planted reader: the answer itself
        opened.release(ASKED[asked], BUDGET)


def test_what_is_rehearsed_is_what_runs(tmp_path: Path) -> None:
    """The statements are the same but for where the rows are, and rehearsed once."""
    path = tmp_path / "visits.parquet"
    pq.write_table(ROWS, path)
    for source in (path, ROWS):
        opened = session(source)
        engine: Any = opened._desk.engine
        ran: list[str] = []
        run = engine._database.table

        def running(
            statement: Any, salt: int, run: Any = run, ran: list[str] = ran
        ) -> Any:
            ran.append(statement.text.split("FROM", 1)[-1].partition(")")[2])
            return run(statement, salt)

        engine._database.table = running
        opened.release(COUNT, BUDGET)
        assert len(ran) == 2
        if source is ROWS:
            assert ran[0] == ran[1]
        opened.release(COUNT, BUDGET)
        assert len(ran) == 3


@for_each("engine", NAMES)
def test_an_answer_that_is_there_needs_no_engine(
    engine: EngineName, tmp_path: Path
) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(ROWS, path)
    opened = session(path, engine=engine)
    first = opened.release(COUNT, BUDGET, key="k")
    path.unlink()
    assert opened.release(COUNT, BUDGET, key="k").table == first.table
    with pytest.raises(errors.EngineUnavailable):
        opened.release(COUNT, BUDGET, key="l")


def _filtered(count: int) -> Any:
    query = VISITS
    for _ in range(count):
        query = query.filter(sd.col("days") > 0)
    return query.agg(n=sd.count())


def _written(count: int) -> Any:
    query = VISITS
    for _ in range(count):
        query = query.with_columns(days=sd.col("days").clip(0, 9) + 1)
        query = query.fill_null(days=0)
    return query.agg(days=sd.sum("days", 0, 30))


def _nested(count: int) -> Any:
    made = sd.col("days")
    for _ in range(count):
        made += 1
    return VISITS.filter(made > 0).agg(n=sd.count())


@for_each("engine", NAMES)
@for_each("make", [_filtered, _written])
@pytest.mark.slow
def test_long_plans(make: Callable[[int], Any], engine: EngineName) -> None:
    """Up to a public number of steps all is answered; beyond it nothing is priced."""
    opened = session(engine=engine)
    longest = MOST_NODES - 1 if make is _filtered else MOST_NODES // 2 - 1
    opened.release(make(longest), BUDGET)
    before = opened.history()
    for count in (MOST_NODES, often(1000, 5000)):
        with pytest.raises(errors.InvalidQuery, match="more than 200 steps"):
            opened.release(make(count), BUDGET)
    assert opened.history() == before


def _doubled(opened: sd.Session, turn: int) -> None:
    """Make a view of twice the steps of the last one."""
    one, last = sd.DropExcess(1), sd.table(f"v{turn}")
    opened.view(f"left{turn}", last.select("id", "days", "ward"))
    columns = {"days": f"d{turn}", "ward": f"w{turn}"}
    opened.view(f"right{turn}", sd.table(f"left{turn}").rename(columns))
    opened.view(f"v{turn + 1}", last.join_private(f"right{turn}", "id", one, one))


def test_long_plans_by_views() -> None:
    opened = session()
    opened.view("v0", VISITS)
    refusals: list[str] = []
    while not refusals and len(opened._desk.catalog.relations) < 100:
        try:
            _doubled(opened, len(opened._desk.catalog.relations) // 3)
        except errors.InvalidQuery as refusal:
            refusals.append(str(refusal))
    assert "those of its views" in refusals[0]


@for_each("count", [400, 4000])
def test_deep_expressions(count: int) -> None:
    """An expression of any depth is refused where it is written."""
    with pytest.raises(errors.InvalidQuery, match="too large to be computed at once"):
        _nested(count)


@for_each("engine", NAMES)
def test_from_deep_within_a_program(engine: EngineName) -> None:
    opened = session(engine=engine)
    query = _filtered(MOST_NODES // 2)

    def deeper(left: int) -> object:
        return deeper(left - 1) if left else opened.release(query, BUDGET)

    found: set[str] = set()
    depth = len_of_stack()
    for room in range(20, 620, 40):
        before = len(opened.history())
        try:
            deeper(sys.getrecursionlimit() - depth - room)
        except (errors.InvalidQuery, errors.EngineUnavailable) as refusal:
            found.add(type(refusal).__name__)
            assert len(opened.history()) == before
        except RecursionError:
            continue  # not even the call of the session had room
    assert found


def len_of_stack() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


@for_each("engine", NAMES)
@for_each("keyed", [True, False])
def test_a_function_that_asks_its_session(engine: EngineName, *, keyed: bool) -> None:
    """The inner question is right, or refused before its charge; the outer is right."""
    opened = session(engine=engine)
    seen: list[str] = []

    def asking(_: Any) -> dict[str, int]:
        if not seen:
            try:
                opened.release(COUNT, sd.PureDP(1))
            except errors.EngineUnavailable as refusal:
                seen.append(str(refusal))
            else:
                seen.append("answered")
        return {"z": 1}

    query: Any = VISITS.with_columns(sd.udf(asking, {"z": "i64"}))
    if keyed:
        query = query.group_by(sd.KeySet.from_dict({"z": [1, 2]}))
    outer = query.agg(n=sd.sum("z", 0, 1, nulls=0))
    price = opened.price(outer, sd.PureDP(1))
    exact = opened._desk.engine.prepare(price._purchase.plan.question)()
    assert exact.column(exact.num_columns - 1).to_pylist() == ([3, 0] if keyed else [3])
    (what,) = seen
    assert len(opened.history()) == (what == "answered")
    assert what == "answered" or "cannot ask the session" in what


@for_each("engine", NAMES)
def test_a_spent_budget_is_the_first_reason(engine: EngineName, tmp_path: Path) -> None:
    """What costs more than is left is told so, whatever became of its table."""
    path = tmp_path / "visits.parquet"
    pq.write_table(ROWS, path)
    opened = session(path, engine=engine)
    path.unlink()
    with pytest.raises(errors.BudgetExceeded):
        opened.release(COUNT, sd.PureDP(10))
    with pytest.raises(errors.EngineUnavailable):
        opened.release(COUNT, sd.PureDP(9))
    assert opened.history() == ()
