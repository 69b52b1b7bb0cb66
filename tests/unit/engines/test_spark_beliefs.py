"""What files, tables and caches say of their rows: of frames nothing is believed.

Each lie is one that Spark alone believes. Each belt is taken off in turn: then an
answer is wrong, or the plan is refused before it runs.
"""

import math
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.spark import plans
from sordino.engines.spark import session as database
from sordino.engines.spark import tables as listings
from sordino.engines.spark import tables as spark_frames
from sordino.engines.spark.cluster import session_beside
from sordino.engines.spark.plans import LeafKind
from sordino.errors import EngineUnavailable, InvalidParameter
from tests.spark_here import users_session
from tests.unit.engines.test_spark_sessions import spark_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget"),
]
EXACT: Final = sd.PureDP(10**6)
FIRST: Final = "parquet"
SECOND: Final = ""
"""Which formats are read by the first kind of source."""


def counted(source: Any) -> int:
    """Return how many rows are counted, of which one of each id is kept."""
    budget = EXACT.times(Fraction(9))
    session = spark_session(source, sd.AddRowsWithID("id"), budget)
    query = sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    (count,) = session.release(query, EXACT)["n"].to_pylist()
    session.close()
    return int(count)


@pytest.fixture
def read() -> Iterator[Callable[..., Any]]:
    """Return what reads files by a kind of source."""
    users = users_session()
    name = "spark.sql.sources.useV1SourceList"
    usual = users.conf.get(name)

    def frame(
        path: Path, kind: str = FIRST, form: str = "parquet", **options: Any
    ) -> Any:
        users.conf.set(name, kind)
        return users.read.options(**options).format(form).load(str(path))

    yield frame
    users.conf.set(name, usual)


def nan_file(folder: Path) -> Path:
    """Write 500 ids with NaN, which Spark takes for more than any number, and 501.

    The greatest value in the footer is 1: others than Spark leave NaN out of it.
    """
    path = folder / "nan.parquet"
    values = [math.nan] * 500 + [1.0] * 501
    pq.write_table(pa.table({"id": range(1001), "x": values}), path)
    return path


def lying_table(folder: Path) -> str:
    """Make a table in buckets of which each file also lies in another bucket."""
    users = users_session()
    users.sql("DROP TABLE IF EXISTS lying_buckets")
    rows = users.range(4000).selectExpr("id % 50 AS id", "id % 7 AS x").repartition(1)
    place = str(folder / "buckets")
    rows.write.bucketBy(4, "id").saveAsTable(
        "lying_buckets", format="parquet", path=place
    )
    files = sorted((folder / "buckets").glob("*.parquet"))
    for file, other in zip(files, files[1:] + files[:1], strict=True):
        name = other.name.replace("part-00000", "part-00009")
        shutil.copy(file, other.with_name(name))
    users.catalog.refreshTable("lying_buckets")
    return "lying_buckets"


def test_frames_are_read_by_their_values(
    tmp_path: Path, read: Callable[..., Any]
) -> None:
    """By both kinds of source, in subqueries, unions, views, caches; and out of Spark.

    500 of 1001 ids have NaN.
    """
    users, path = users_session(), nan_file(tmp_path)
    found: dict[str, int] = {}
    for kind in (FIRST, SECOND):
        whole = read(path, kind)
        above = whole.where("x > 5")
        found[f"{kind}: where"] = counted(above)
        users.conf.set("spark.sql.sources.useV1SourceList", kind)
        whole.createOrReplaceTempView("whole")
        inside = "SELECT * FROM whole WHERE id IN (SELECT id FROM whole WHERE x > 5)"
        found[f"{kind}: in a subquery"] = counted(users.sql(inside))
        found[f"{kind}: beside itself"] = counted(above.union(above))
        above.createOrReplaceTempView("above")
        found[f"{kind}: a view"] = counted((users, "above"))
        above.cache().count()
        found[f"{kind}: cached"] = counted(above)
        above.unpersist()
    of_duckdb = sd.Session(
        {"t": sd.PrivateTable(read(path).where("x > 5"), protects=sd.AddOneRow())},
        EXACT,
        engine="duckdb",
    )
    answer = of_duckdb.release(sd.table("t").agg(n=sd.count()), EXACT)
    found["fetched by DuckDB"] = answer["n"].to_pylist()[0]
    assert {name: n for name, n in found.items() if n != 500} == {}


def test_buckets_are_not_taken_for_places(tmp_path: Path) -> None:
    """Of 50 ids, each of which lies in its bucket and in a wrong one, 50 rows stay.

    Rows of a checkpoint say where they lie as well, by the buckets that they came of.
    """
    users = users_session()
    name = lying_table(tmp_path)
    frame = users.table(name)
    buckets = {
        "frame": frame,
        "table": (users, name),
        "checkpoint": frame.localCheckpoint(),
    }
    kept = {how: counted(source) for how, source in buckets.items()}
    assert kept == dict.fromkeys(buckets, 50)
    users.sql("DROP TABLE lying_buckets")


def test_what_is_missing_is_missing_whatever_a_schema_says(tmp_path: Path) -> None:
    """A table that declares NOT NULL, over a file with nothing in half its cells."""
    users = users_session()
    pq.write_table(
        pa.table({"id": range(100), "x": [None, 1] * 50}), tmp_path / "0.parquet"
    )
    users.sql("DROP TABLE IF EXISTS never_missing")
    users.sql(
        "CREATE TABLE never_missing (id BIGINT NOT NULL, x BIGINT NOT NULL) "
        f"USING parquet LOCATION '{tmp_path}'"
    )
    assert counted(users.table("never_missing").where("x IS NULL")) == 50
    assert counted((users, "never_missing")) == 100
    users.sql("DROP TABLE never_missing")


def test_formats_and_options_are_kept(tmp_path: Path, read: Callable[..., Any]) -> None:
    """What decides what a cell means; folders are the value of their column."""
    users = users_session()
    (tmp_path / "t.csv").write_text("id;x\n1;a\n2;null\n3;'b;c'\n", "utf-8")
    options = {"sep": ";", "header": True, "quote": "'", "nullValue": "null"}
    form = {"inferSchema": True, **options}
    (tmp_path / "t.json").write_text('{"id":1,"x":NaN}\n{"id":2,"x":1.0}\n', "utf-8")
    (tmp_path / "t.txt").write_text("1\n2\n2\n", "utf-8")
    rows = users.range(40).selectExpr("id", "id % 4 AS x", "id % 2 AS k")
    rows.write.orc(str(tmp_path / "orc"))
    for k in (1, 2):  # and each file says that k is the other one
        (tmp_path / f"parts/k={k}").mkdir(parents=True)
        table = pa.table({"id": range(k * 10, k * 10 + k), "k": [3 - k] * k})
        pq.write_table(table, tmp_path / f"parts/k={k}/0.parquet")
    for kind in (FIRST, SECOND):
        asked = {
            "csv": (read(tmp_path / "t.csv", kind, "csv", **form), 3),
            "csv null": (
                read(tmp_path / "t.csv", kind, "csv", **form).where("x IS NULL"),
                1,
            ),
            "json": (read(tmp_path / "t.json", kind, "json").where("x > 5"), 1),
            "text": (
                read(tmp_path / "t.txt", kind, "text").selectExpr("value AS id"),
                2,
            ),
            "orc": (read(tmp_path / "orc", kind, "orc").where("x > 2"), 10),
            "folder": (read(tmp_path / "parts", kind).where("k = 1"), 1),
            "folders": (read(tmp_path / "parts", kind).where("k > 0"), 3),
        }
        wrong = {
            name: (found, meant)
            for name, (frame, meant) in asked.items()
            if (found := counted(frame)) != meant
        }
        assert wrong == {}, kind


def test_files_that_may_be_left_out_are_refused(
    tmp_path: Path, read: Callable[..., Any]
) -> None:
    """Whoever answers for the table; what is given as values needs nobody."""
    users, path = users_session(), nan_file(tmp_path)
    refused = {
        "ignoreCorruptFiles": read(path, ignoreCorruptFiles=True),
        "ignoreMissingFiles": read(path, SECOND, ignoremissingfiles="TRUE"),
    }
    for name, frame in refused.items():
        with pytest.raises(InvalidParameter, match=f"is read with {name}"):
            sd.Session(
                {"t": sd.PrivateTable(frame, sd.AddOneRow(), vouched_by="A")}, EXACT
            )
    given = users.createDataFrame([(1, 2.0), (2, 3.0)], "id int, x double")
    assert counted(given) == 2


def replaced(read: Callable[..., Any], folder: Path, kind: str) -> list[int]:
    """Return counts of a frame before and after its file was written anew, longer."""
    path = folder / f"replaced{kind}.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path)
    budget = EXACT.times(Fraction(9))
    session = spark_session(read(path, kind), sd.AddRowsWithID("id"), budget)
    query = sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    counts = session.release(query, EXACT)["n"].to_pylist()
    pq.write_table(pa.table({"id": range(5000)}), path, row_group_size=100)
    session.forget()
    return [*counts, *session.release(query, EXACT)["n"].to_pylist()]


def test_files_of_the_second_kind_are_looked_at(
    tmp_path: Path, read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is longer now is refused; without a look, it is read in part."""
    for kind in (FIRST, SECOND):
        with pytest.raises(EngineUnavailable, match="is not what it was"):
            replaced(read, tmp_path, kind)
    monkeypatch.setattr(listings, "_listed_files", lambda _: ())
    assert replaced(read, tmp_path, SECOND) == [1000, 1000]


def old_settings() -> dict[str, tuple[int, int]]:
    """Return rows as their owner counts them beside those that are counted here."""
    users = users_session()
    rows = users.range(100).selectExpr(
        "id",
        "concat(1 + id % 9, '/', 1 + id % 28, '/2020') AS day",
        "timestamp_seconds(1700000000 + id * 3600) AS at",
    )
    frames = {
        "LEGACY": rows.where("to_date(day, 'MM/dd/yyyy') IS NOT NULL"),
        "LAST_WIN": rows.where("map(1, 2, 1, 3)[1] = 3"),
        "zone": rows.where("current_timezone() = 'America/New_York'"),
        "hour": rows.where("hour(at) < 6"),
        "no ANSI": rows.where("cast(day AS int) IS NULL"),
    }
    return {name: (frame.count(), counted(frame)) for name, frame in frames.items()}


def test_a_frame_means_what_it_means_to_its_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users = users_session()
    users.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
    told = old_settings()
    assert {name for name, (one, other) in told.items() if one != other or not one} == (
        set()
    )
    with monkeypatch.context() as reset:
        reset.setattr(spark_frames, "reading_session", session_beside)
        users.conf.set("spark.sql.mapKeyDedupPolicy", "EXCEPTION")
        rows = users.range(9).selectExpr("id", "'1/2/2020' AS day")
        assert counted(rows.where("to_date(day, 'MM/dd/yyyy') IS NOT NULL")) == 0
    other = users.newSession()
    tables = {
        name: sd.PrivateTable(session.range(3), protects=sd.AddOneRow())
        for name, session in (("t", users), ("o", other))
    }
    with pytest.raises(InvalidParameter, match="is not what it is in that of another"):
        sd.Session(tables, EXACT)


def in_buckets_of(frame: Any) -> Callable[..., Any]:
    """Return what makes a relation of ours that keeps the buckets of a frame's."""
    relation: Any = plans._Rebuilding._relation
    bucketed = frame._jdf.queryExecution().analyzed().collectLeaves()
    buckets = bucketed.apply(0).relation().bucketSpec()

    def in_buckets(self: Any, *described: Any) -> Any:
        new = relation(self, *described)
        return new.copy(
            new.location(),
            new.partitionSchema(),
            new.dataSchema(),
            buckets,
            new.fileFormat(),
            new.options(),
            self._session,
        )

    return in_buckets


def test_each_belt_is_needed(
    tmp_path: Path, read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without leaves of ours, or their columns in expressions, a plan is refused.

    Without a look at plans either, Spark believes what is said of files.
    """
    path, name = nan_file(tmp_path), lying_table(tmp_path)
    users = users_session()
    first, second = (read(path, kind).where("x > 5") for kind in (FIRST, SECOND))

    told_kind = plans.leaf_kind

    def of_values(leaf: Any) -> LeafKind:
        kind = told_kind(leaf)
        return LeafKind.VALUES if kind is LeafKind.SECOND_FILES else kind

    def bare(self: Any, leaf: Any, ours: Any) -> Any:
        del self, leaf
        return ours

    belts: dict[str, tuple[Any, str, Any, Any]] = {
        "not ours": (spark_frames, "rebuilt_plan", lambda plan, _: plan, first),
        "a filter": (plans._Rebuilding, "_opaque_columns", bare, first),
        "BatchScan": (plans, "leaf_kind", of_values, second),
        "a bucket": (
            plans._Rebuilding,
            "_relation",
            in_buckets_of(users.table(name)),
            users.table(name),
        ),
    }
    for problem, (room, belt, without, frame) in belts.items():
        with monkeypatch.context() as off:
            off.setattr(room, belt, without)
            with pytest.raises(EngineUnavailable, match=problem):
                counted(frame)
    with monkeypatch.context() as off:
        off.setattr(spark_frames, "rebuilt_plan", lambda plan, _: plan)
        off.setattr(database, "refuse_belief", lambda *_, **__: None)
        assert counted(first) == counted(second) == 0
        assert counted(users.table(name)) > 50
    users.sql("DROP TABLE lying_buckets")
