"""Releases that Spark's workers write to files: what is in them, what is refused."""

import datetime as dt
import itertools
import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.errors import EngineFailure, EngineUnavailable, InvalidParameter
from sordino.office.cli.main import main
from sordino.office.label.files import label_of_file
from sordino.release.released_files import PartNoise
from tests.batches import for_each
from tests.spark_here import frame_of_rows, users_session

pytestmark = pytest.mark.slow
LIMIT: Final = sd.ApproxDP(10**13, "0.9")
EXACT: Final = sd.ApproxDP(10**12, "0.4")
"""Noise that this buys is 0, as far as rows are compared."""
KINDS: Final = pa.schema([
    *(("id", pa.int64()), ("v", pa.int64()), ("x", pa.float64()), ("i64", pa.int64())),
    *(("text", pa.string()), ("bool", pa.bool_()), ("date", pa.date32())),
    ("time", pa.timestamp("us")),
])
BY: Final = ("i64", "text", "bool", "date", "time")


def table() -> pa.Table:
    """Return rows of 60 ids, whose keys are of every type and sometimes missing."""
    columns: dict[str, list[Any]] = {
        "id": [n % 60 for n in range(600)],
        "v": [n * 31 % 50 - 5 for n in range(600)],
        "x": [n * 0.37 for n in range(600)],
        "i64": [None if n % 7 == 0 else n % 3 - 2**62 for n in range(600)],
        "text": [None if n % 5 == 0 else "äb\n"[n % 3] * (n % 2) for n in range(600)],
        "bool": [[None, True, False][n % 3] for n in range(600)],
        "date": [dt.date(1900 + n % 2 * 400, 2, 28) for n in range(600)],
        "time": [dt.datetime(1, 1, 1 + n % 2, 3, 4, 5, 6) for n in range(600)],  # noqa: DTZ001 without a zone
    }
    return pa.table(columns, KINDS)


def session() -> sd.Session:
    private = sd.PrivateTable(frame_of_rows(table()), protects=sd.AddRowsWithID("id"))
    with pytest.warns(sd.errors.WeakBudget):
        return sd.Session({"t": private}, LIMIT)


def in_order(rows: pa.Table) -> tuple[list[Any], list[float]]:
    """Return the rows sorted by what is whole, and their numbers that are not."""
    whole = [field.name for field in rows.schema if field.type != pa.float64()]
    listed = rows.select(whole).to_pylist()
    order = sorted(
        range(rows.num_rows),
        key=lambda place: json.dumps(listed[place], default=str),
    )
    ordered = rows.take(pa.array(order, pa.int64()))
    broken = ordered.drop_columns(whole).to_pydict().values()
    return ordered.select(whole).to_pylist(), [*itertools.chain(*broken)]


T: Final = sd.table("t").enforce(sd.MaxRowsPerID(200))
AGGREGATED: Final[dict[str, Any]] = {
    "n": sd.count(),
    "v": sd.sum("v", -5, 40),
    "m": sd.mean("x", 0, 100),
}
WITH_NOBODY: Final = sd.KeySet.from_dict({"text": ["ä", "b", "nobody", None]})


@for_each(
    "request_",
    [
        T.group_by(*BY).agg(**AGGREGATED),
        T.group_by(WITH_NOBODY).agg(**AGGREGATED),
        T.filter(sd.col("v") > 10**6).group_by("text").agg(n=sd.count()),
        T.filter(sd.col("v") > 10**6).group_by(WITH_NOBODY).agg(n=sd.count()),
    ],
    ids=["unknown keys", "known keys", "no group", "keys without rows"],
)
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_files_hold_what_a_release_holds(request_: Any, tmp_path: Path) -> None:
    """Keys of every type, with their numbers and error columns; noise of 0 here."""
    opened = session()
    usual = opened.release(request_, EXACT)
    files = opened.release_files(request_, EXACT, tmp_path / "out")
    beside, written = usual._columns(errors=True), pq.read_table(tmp_path / "out")
    assert written.column_names == beside.column_names
    (whole, broken), (expected, about) = map(in_order, (written, beside))
    assert whole == expected
    assert broken == pytest.approx(about, abs=1e-3)
    assert {file.name for file in files.files} == {
        path.name for path in (tmp_path / "out").glob("*.parquet")
    }
    exact, told = files.exactness, usual.exactness
    assert (exact.groups, exact.numbers, exact.rough) == (
        told.groups,
        told.numbers,
        told.rough,
    )
    for ours, theirs in zip(exact.reaches, told.reaches, strict=True):
        assert ours.name == theirs.name
        assert [ours.least, ours.most] == pytest.approx([theirs.least, theirs.most])
    stated = label_of_file(tmp_path / "out")
    assert stated.facts == files.label().facts
    assert opened.ledger.publication(stated.published) is not None


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_refusals_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, counts = session(), T.group_by("text").agg(n=sd.count())
    with pytest.raises(InvalidParameter, match="is there already"):
        opened.release_files(counts, EXACT, tmp_path)
    (tmp_path / "file").touch()
    for place in (tmp_path / "file/below", "nowhere://a/b", "://"):
        with pytest.raises(InvalidParameter, match="cannot be written to"):
            opened.release_files(counts, EXACT, place)
    context = users_session().sparkContext
    with monkeypatch.context() as there:
        there.setattr(context, "pythonExec", "/nowhere/python")
        with pytest.raises(EngineUnavailable, match="Install there what is here"):
            opened.release_files(counts, EXACT, tmp_path / "out")
    with monkeypatch.context() as here:
        here.setattr(PartNoise, "trial", lambda _: "of other doubles")
        with pytest.raises(EngineUnavailable, match="cannot draw the noise"):
            opened.release_files(counts, EXACT, tmp_path / "out")
    assert not opened.history()
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_a_worker_of_other_doubles_draws_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that came after the trial ends the release, which stays charged."""
    opened, counts = session(), T.group_by("text").agg(n=sd.count())
    monkeypatch.setattr(
        "sordino.engines.spark.workers.SparkWorkers.admit", lambda *_: None
    )
    monkeypatch.setattr(PartNoise, "trial", lambda _: "of other doubles")
    with pytest.raises(EngineFailure) as failure:
        opened.release_files(counts, EXACT, tmp_path / "out", key="k")
    assert (failure.value.__cause__, failure.value.__context__) == (None, None)
    assert not list(tmp_path.glob("out/*.parquet"))
    assert len(opened.history()) == 1


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_nothing_of_a_release_is_left_with_the_workers(tmp_path: Path) -> None:
    """Neither totals nor secret: no block is held, no file of a broadcast is there."""
    opened = session()
    context = users_session().sparkContext
    held = context._jsc.getPersistentRDDs
    before = set(held().keySet().toArray()), broadcasts(context)
    counts = T.group_by(WITH_NOBODY).agg(n=sd.count())
    opened.release_files(counts, EXACT, tmp_path / "out")
    opened.forget()
    assert (set(held().keySet().toArray()), broadcasts(context)) == before


JOB: Final = """
[tables.t]
source = "t.parquet"
protects = { id = "id" }
[ledger]
path = "l"
limit = { epsilon = 10000000, delta = "1e-3" }
[engine]
name = "spark"
[releases.texts]
sql = "SELECT text, COUNT(*) AS n FROM t GROUP BY text"
limits = { max_rows_per_id = 200 }
budget = { epsilon = 1000000, delta = "1e-4" }
files = "published"
"""


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_a_job_has_files_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    users_session()
    pq.write_table(table(), tmp_path / "t.parquet")
    path = tmp_path / "job.toml"
    path.write_text(JOB, "utf-8")
    for told in ("charged", "released before"):
        assert main(["release", str(path), "--yes"]) == 0
        assert told in capsys.readouterr().err
    folder = tmp_path / "published" / "texts-once"
    assert pq.read_table(folder).num_rows == 5
    beside = ["--ledger", str(tmp_path / "l")]
    assert main(["verify", str(folder), *beside]) == 0
    assert main(["label", str(folder), *beside]) == 0
    assert "The ledger confirms it" in capsys.readouterr().out
    assert main(["verify", str(next(folder.glob("part-*"))), *beside]) == 0
    path.write_text(JOB.replace("COUNT(*) AS n", "MEDIAN(v) AS n"), "utf-8")
    assert main(["check", str(path)]) != 0


def broadcasts(context: Any) -> set[str]:
    """Return the files in which values lie that were sent to the workers."""
    return {path.name for path in Path(context._temp_dir).glob("*")}
