"""Frames whose rows are others when they are read again are refused, for nothing."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.spark import tables
from sordino.errors import EngineUnavailable, InvalidParameter
from tests.spark_here import users_session
from tests.unit.engines.test_spark_sessions import spark_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget"),
]


def rewrite(folder: Path, rows: int) -> None:
    for path in sorted(folder.glob("*.parquet")):
        pq.write_table(pa.table({"x": range(rows)}), path, row_group_size=rows // 4)


def rewrite_and_add(folder: Path) -> None:
    add_file(folder)
    rewrite(folder, 4000)


def rewrite_longer(folder: Path) -> None:
    rewrite(folder, 4000)


def remove_file(folder: Path) -> None:
    (folder / "0.parquet").unlink()


def add_file(folder: Path) -> None:
    pq.write_table(pa.table({"x": range(1000)}), folder / "more.parquet")


def written(folder: Path, rows: int = 400) -> Path:
    """Return a folder of two files."""
    folder.mkdir()
    for name in ("0", "1"):
        (folder / f"{name}.parquet").touch()
    rewrite(folder, rows)
    return folder


def test_files_that_are_others_are_refused(tmp_path: Path) -> None:
    """A frame keeps the list of its files: one that is longer now is read in part.

    Told before the charge; files that are added are no harm.
    """
    query = sd.table("t").agg(n=sd.count())
    exact = sd.PureDP(10**6)
    for change in (rewrite_longer, remove_file, rewrite_and_add):
        folder = written(tmp_path / change.__name__)
        frame = users_session().read.parquet(str(folder))
        session = spark_session(frame, budget=exact.times(Fraction(9)))
        session.price(query, exact)
        add_file(folder)
        assert session.release(query, exact)["n"].to_pylist() == [800]
        (folder / "more.parquet").unlink()
        change(folder)
        with pytest.raises(EngineUnavailable, match="has other columns or files"):
            session.release(query, exact)
        assert session.spent == exact


def test_spark_alone_reads_a_longer_file_in_part(tmp_path: Path) -> None:
    """The control: without a look at its files, row groups of them are left out."""
    folder = written(tmp_path / "files")
    frame = users_session().read.parquet(str(folder))
    rewrite(folder, 40_000)
    assert frame.count() < 80_000


def test_a_table_is_read_as_it_is_now(tmp_path: Path) -> None:
    """Whoever has written it anew, and whatever the user's session has in mind."""
    users = users_session()
    folder = written(tmp_path / "files")
    users.sql("DROP TABLE IF EXISTS nightly")
    users.catalog.createTable("nightly", str(folder), "parquet")
    exact = sd.PureDP(10**6)
    session = spark_session((users, "nightly"), budget=exact.times(Fraction(9)))
    query = sd.table("t").agg(n=sd.count())
    counts = []
    for rows in (400, 4000, 40_000):
        rewrite(folder, rows)
        counts += session.release(query, exact)["n"].to_pylist()
    assert counts == [800, 8000, 80_000]
    users.sql("DROP TABLE nightly")


def _with_window(text: str) -> Callable[[Any], Any]:
    return lambda frame: frame.selectExpr("*", f"{text} AS x")


def _with_total(text: str) -> Callable[[Any], Any]:
    return lambda frame: frame.groupBy("k").agg(_column(text))


_ALIKE: Final = "concat(if(id > 4, 'a', 'A'), k) COLLATE UTF8_LCASE"
UNSTEADY: Final[dict[str, Callable[[Any], Any]]] = {
    "rand": lambda frame: frame.selectExpr("id", "rand() AS x"),
    "uuid": lambda frame: frame.selectExpr("uuid() AS x"),
    "place": lambda frame: frame.selectExpr("monotonically_increasing_id() AS x"),
    "limit": lambda frame: frame.limit(2),
    "sample": lambda frame: frame.sample(0.5, seed=1),
    "some of each": lambda frame: frame.dropDuplicates(["k"]),
    "below": lambda frame: frame.limit(2).union(frame),
    "in a subquery": lambda frame: _subquery(frame),
    "first of a group": lambda frame: frame.groupBy("k").agg({"id": "first"}),
    "any of a group": lambda frame: _any_value(frame),
    **{
        name: _with_window(text)
        for name, text in {
            "first of a window": "first(id) OVER (PARTITION BY k ORDER BY k)",
            "nth of a window": "nth_value(id, 2) OVER (PARTITION BY k ORDER BY k)",
            "before in a window": "lag(id) OVER (PARTITION BY k ORDER BY k)",
            "number in a window": "row_number() OVER (PARTITION BY k ORDER BY k)",
            "rows of a window": "sum(id) OVER (ORDER BY k ROWS 2 PRECEDING)",
        }.items()
    },
    **{
        name: _with_total(text)
        for name, text in {
            "greatest by another": "max_by(id, k)",
            "least by another": "min_by(id, k)",
            "most frequent": "mode(id)",
            "texts in a row": "listagg(string(id), ',')",
            "list": "collect_list(id)",
            "set": "collect_set(id)",
            "about a percentile": "approx_percentile(id, 0.5, 10)",
            "histogram": "histogram_numeric(id, 3)",
        }.items()
    },
    "alike by collation": lambda frame: frame.selectExpr(f"{_ALIKE} AS x").distinct(),
    "groups of what is alike": lambda frame: frame.groupBy(_column(_ALIKE)).count(),
    "greatest of what is alike": _with_total(f"max({_ALIKE})"),
    "greatest with what is alike": _with_total(f"max(struct({_ALIKE}))"),
    "list of what is alike": _with_total(f"sort_array(collect_list({_ALIKE}))"),
}
STEADY: Final[dict[str, Callable[[Any], Any]]] = {
    "sorted list": lambda frame: frame.groupBy("k").agg(
        _column("sort_array(collect_list(id))")
    ),
    "ranks": lambda frame: frame.selectExpr("rank() OVER (PARTITION BY k ORDER BY k)"),
    "sums of a range": lambda frame: frame.selectExpr("sum(id) OVER (ORDER BY k) AS x"),
    "number without ties": lambda frame: frame.selectExpr(
        "row_number() OVER (PARTITION BY k ORDER BY id) AS x"
    ),
    "rows by a collation": lambda frame: frame.where(f"{_ALIKE} = 'a1'"),
    "totals": lambda frame: frame.groupBy("k").agg(
        *map(_column, ("count(*)", "min(id)", "avg(id)", "count_if(id > 1)"))
    ),
    "pivoted": lambda frame: frame.groupBy("k").pivot("id", [1, 2]).count(),
    "zone and days": lambda frame: frame.selectExpr(
        "id", "current_timezone() AS z", "current_date() AS d"
    ),
}


def _column(text: str) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    return functions.expr(text)


def _subquery(frame: Any) -> Any:
    frame.createOrReplaceTempView("whole")
    text = "SELECT id FROM whole WHERE id IN (SELECT id FROM whole LIMIT 2)"
    return frame.sparkSession.sql(text)


def _any_value(frame: Any) -> Any:
    frame.createOrReplaceTempView("whole")
    text = "SELECT k, 1 + any_value(id) AS x FROM whole GROUP BY k"
    return frame.sparkSession.sql(text)


def test_rows_that_change_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed anew must be the same rows, or a bound keeps too many."""
    users = users_session().range(9).selectExpr("id", "id % 2 AS k")
    frames = {name: made(users) for name, made in UNSTEADY.items()}
    for frame in frames.values():
        with pytest.raises(InvalidParameter, match="not always the same") as caught:
            spark_session(frame)
        assert caught.value.__context__ is None
    spark_session(frames["limit"].localCheckpoint())
    monkeypatch.setattr(tables, "_TOTALS", {*tables._TOTALS, "MaxBy"})
    spark_session(frames["greatest by another"])  # the control: the list decides
    monkeypatch.setattr(tables, "_refuse_collated", lambda _: None)
    for name in UNSTEADY:
        if "alike" in name:  # the control: nothing else would refuse them
            spark_session(frames[name])


def test_rows_that_stay_are_let_through() -> None:
    """What is known not to depend on an order, whatever stands beside it."""
    frame = users_session().range(9).selectExpr("id", "id % 2 AS k")
    for made in STEADY.values():
        spark_session(made(frame))


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_what_is_not_known_needs_somebody_who_answers(tmp_path: Path) -> None:
    """Functions of many rows, what a session says, rows of an RDD over another plan."""
    users = users_session()
    frame = users.range(9)
    asking = "sort_array(collect_list(id) FILTER (WHERE current_database() = 'd')) AS x"
    for of_many, said in (
        (frame.groupBy("id").agg(_column(asking)), "asks its session for"),
        (frame.mapInArrow(lambda batches: batches, "id bigint"), "MapInArrow"),
        (frame.rdd.toDF(), "an RDD of rows that were computed"),
        (users.read.format("binaryFile").load(str(tmp_path)), "BinaryFileFormat"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            spark_session(of_many)
        table = sd.PrivateTable(of_many, sd.AddOneRow(), vouched_by="the registrar")
        sd.Session({"t": table}, sd.PureDP(1)).close()
