"""Sessions over a user's Spark: what is read, what is told, and what is left alone."""

import datetime as dt
import subprocess
import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.conformance.plans import (
    bound_rows,
    comparable_answer,
    whole_question,
)
from sordino.engines.memory import MemoryEngine
from sordino.engines.spark import tables
from sordino.engines.spark.cluster import PINS, session_beside
from sordino.engines.spark.tables import AbstractFrameSource
from sordino.errors import EngineUnavailable, InvalidParameter
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.lying_file import believes, write_lying_file
from tests.spark_failing_cell import CELL, MARK
from tests.spark_here import engine_beside, users_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget"),
]
BUDGET: Final = sd.PureDP(1)
LIMIT: Final = sd.PureDP(10)


def spark_session(frame: Any, protects: Any = None, budget: Any = LIMIT) -> sd.Session:
    table = sd.PrivateTable(frame, protects=protects or sd.AddOneRow())
    return sd.Session({"t": table}, budget)


def odd_frame() -> Any:
    """Return a frame of every type that has a meaning, and of some that have none."""
    return users_session().sql("""
        SELECT * FROM VALUES
          (1Y, 1.5F, 2.50BD, 'a' COLLATE UTF8_LCASE, TIMESTAMP '2026-03-08 03:30:00',
           TIMESTAMP_NTZ '2026-03-08 02:30:00', DATE '2026-01-31', ARRAY('x', NULL), MAP('k', 1)),
          (2Y, FLOAT('NaN'), 0.10BD, 'A' COLLATE UTF8_LCASE, TIMESTAMP '1969-12-31 19:00:00',
           TIMESTAMP_NTZ '0001-01-01 00:00:00', DATE '0001-01-01', NULL, NULL),
          (NULL, FLOAT('-0.0'), NULL, NULL, NULL, NULL, NULL, ARRAY(), MAP())
        AS t(tiny, real, exact, text, zoned, local, day, list, map)""")  # noqa: E501 rows


def test_every_type_of_a_frame_has_its_meaning() -> None:
    utc = dt.UTC
    meant = pa.table({
        "tiny": pa.array([1, 2, None], pa.int8()),
        "real": pa.array([1.5, float("nan"), -0.0], pa.float32()),
        "exact": pa.array([Decimal("2.50"), Decimal("0.10"), None]),
        "text": ["a", "A", None],
        "zoned": pa.array(
            [
                dt.datetime(2026, 3, 8, 7, 30, tzinfo=utc),
                dt.datetime(1970, 1, 1, tzinfo=utc),
                None,
            ],
            pa.timestamp("us", "UTC"),
        ),
        "local": pa.array(
            [dt.datetime(2026, 3, 8, 2, 30), dt.datetime(1, 1, 1), None],  # noqa: DTZ001 as it is
            pa.timestamp("us"),
        ),
        "day": [dt.date(2026, 1, 31), dt.date(1, 1, 1), None],
        "list": [["x", None], None, []],
    })
    answers = []
    for engine, source in ((engine_beside(), odd_frame()), (MemoryEngine(), meant)):
        schema = engine.open("t", source, {})
        asked = whole_question(Source("t", schema), *(n for n in schema if n != "list"))
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]
    engine = engine_beside()
    engine.open("t", odd_frame(), {})
    assert "map<string,int>" in engine.unusable("t")["map"]


def of_path(folder: Path) -> Any:
    return str(folder / "*.parquet")


def of_frame(folder: Path) -> Any:
    return users_session().read.parquet(str(folder))


def of_catalogue(folder: Path, provider: str = "parquet") -> Any:
    """Return a table of the catalogue, kept by whoever keeps it."""
    session = users_session()
    session.sql("DROP TABLE IF EXISTS clinic_visits")
    place = tempfile.mkdtemp(dir=folder)
    rows = session.read.parquet(str(folder / "*.parquet"))
    rows.write.format(provider).saveAsTable("clinic_visits", path=f"{place}/table")
    return (session, "clinic_visits")


def of_orc(folder: Path) -> Any:
    return of_catalogue(folder, "orc")


def of_json(folder: Path) -> Any:
    return of_catalogue(folder, "json")


@for_each("source", [of_path, of_frame, of_catalogue, of_orc, of_json])
def test_bounded_counts_of_each_source(
    source: Callable[[Path], Any], tmp_path: Path
) -> None:
    table = pa.table({
        "id": [n % 40 for n in range(1000)],
        "ward": [f"w{n % 7}" for n in range(1000)],
    })
    for place in range(4):
        pq.write_table(table.slice(place * 250, 250), tmp_path / f"{place}.parquet")
    totals = []
    for partitions in ("1", "3", "2"):
        users_session().conf.set("spark.sql.shuffle.partitions", partitions)
        engine = engine_beside(salt=7)
        rows = Source("t", engine.open("t", source(tmp_path), {}))
        asked = whole_question(bound_rows(rows, ("id",), 5), "ward")
        totals.append(comparable_answer(asked, engine.answer(asked)))
        again = comparable_answer(asked, engine.answer(asked))
        assert again == totals[-1]
        engine.close()
    assert totals[0] == totals[1] == totals[2]


def test_a_failing_cell_is_nowhere() -> None:
    """Not on stderr, though all is logged; not in what is raised; and it is charged.

    The control, a question of the user's own, does write it there.
    """
    users_session()  # or skip
    ended = subprocess.run(
        [sys.executable, "-m", "tests.spark_failing_cell"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    ours, _, users = ended.stderr.partition(MARK)
    assert ended.stdout.split() == ["EngineFailure", "None", "None", "9"], ended.stdout
    assert CELL in users
    assert CELL not in ours + ended.stdout


def test_a_table_that_is_dropped_is_told_before_the_charge(tmp_path: Path) -> None:
    """Between price and release: nothing is charged."""
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "0.parquet")
    session = spark_session(of_catalogue(tmp_path))
    query = sd.table("t").agg(n=sd.count())
    session.price(query, BUDGET)
    users_session().sql("DROP TABLE clinic_visits")
    with pytest.raises(EngineUnavailable, match="is not what it was") as caught:
        session.release(query, BUDGET)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert session.remaining == sd.PureDP(10)


def test_a_source_of_the_session_is_read_like_any_other() -> None:
    """One written in Python, by `spark.read.format`: somebody has to answer for it."""
    users_session()
    from pyspark.sql.datasource import (  # noqa: PLC0415 only where Spark runs
        DataSource,
        DataSourceReader,
        InputPartition,
    )

    class Reader(DataSourceReader):  # type: ignore[misc]
        """Four parts of ten rows."""

        def partitions(self) -> list[Any]:
            return [InputPartition(part) for part in range(4)]

        def read(self, partition: Any) -> Any:
            return ((n % 8, partition.value * 10 + n) for n in range(10))

    class Visits(DataSource):  # type: ignore[misc]
        """A source with a readable schema."""

        @classmethod
        def name(cls) -> str:
            return "visits"

        def schema(self) -> str:
            return "id bigint, v bigint"

        def reader(self, schema: Any) -> Any:
            del schema
            return Reader()

    users = users_session()
    users.dataSource.register(Visits)
    exact = sd.PureDP(10**6)
    frame = users.read.format("visits").load()
    with pytest.raises(InvalidParameter, match="reads by PythonTable"):
        spark_session(frame)
    table = sd.PrivateTable(frame, sd.AddRowsWithID("id"), vouched_by="the registrar")
    session = sd.Session({"t": table}, exact.times(Fraction(9)))
    query = sd.table("t").enforce(sd.MaxRowsPerID(3)).agg(n=sd.count())
    assert session.release(query, exact)["n"].to_pylist() == [24]
    assert session.release(query, exact)["n"].to_pylist() == [24]  # of kept rows
    assert "the registrar answers for how its" in str(session.describe())


def test_an_inspection_fetches_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({
        "id": [n % 7 if n % 11 else None for n in range(100)],
        "days": [("3", "many", "99", None, "x 1")[n % 5] for n in range(100)],
    })
    limits = [sd.MaxRowsPerID(5), sd.MaxRowsPerGroupPerID("days", 2)]

    def report(source: Any) -> str:
        found = sd.inspect(source, sd.AddRowsWithID("id"), {"days": "i64"}, limits)
        return repr(found)

    def no_rows(*_: object) -> Any:
        raise AssertionError

    meant = report(rows)
    frame = users_session().createDataFrame(rows)
    for method in ("read", "hand_over"):
        monkeypatch.setattr(AbstractFrameSource, method, no_rows)
    assert report(frame) == meant
    assert "a 9" in meant
    monkeypatch.setattr(tables, "_MOST", 1)
    some = report(frame)
    assert "(not looked at)" in some
    assert some.splitlines()[3:6] == meant.splitlines()[3:6]  # counts stay exact


def test_what_is_the_users_stays() -> None:
    users = users_session()
    frame = users.range(100).selectExpr("id % 10 AS id", "id AS v").cache()
    frame.count()
    known = dict(users.conf.getAll), {one.name for one in users.catalog.listTables()}
    session = spark_session(frame, sd.AddRowsWithID("id"))
    query = sd.table("t").enforce(sd.MaxRowsPerID(3)).agg(n=sd.count())

    def stored() -> set[int]:
        listed = users.sparkContext._jsc.sc().getRDDStorageInfo()
        return {one.id() for one in listed}

    before = stored()  # the frame of the user among them; others may go meanwhile
    for _ in range(2):
        session.release(query, BUDGET)
    assert len(stored() - before) == 1  # the rows that are kept
    session.forget()
    assert not stored() - before
    assert frame.is_cached
    after = dict(users.conf.getAll), {one.name for one in users.catalog.listTables()}
    assert known == after
    assert users.sql("SELECT count(*) FROM s0").first()[0] == 3
    frame.unpersist(blocking=True)


def test_settings_are_ours() -> None:
    ours = session_beside(users_session())
    held = ours.conf.getAll
    assert {name: held[name] for name in PINS} == dict(PINS)
    assert ours.conf.get("spark.sql.legacy.timeParserPolicy") == "CORRECTED"
    assert ours.conf.get("spark.sql.parser.escapedStringLiterals") == "false"
    assert ours.conf.get("spark.sql.shuffle.partitions") == "2"
    assert ours.sql("SELECT try_add(1, 1)").first()[0] == 2


def test_files_are_not_believed(tmp_path: Path) -> None:
    path = write_lying_file(tmp_path / "lying.parquet")
    assert not believes(engine_beside(), path)
