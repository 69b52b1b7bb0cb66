"""DuckDB runs the plan that was written, and no other (docs/adr/0225)."""

import json
import logging
from math import nan
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.duckdb import plans
from sordino.engines.duckdb import session as connection
from sordino.engines.duckdb import session as database
from sordino.engines.duckdb.plans import runs_as_written
from sordino.engines.duckdb.session import duckdb_engine
from tests.lying_file import believes, write_lying_file

ON: Final = {"enable_optimizer": "true"}
SURE: Final = sd.PureDP(10**6)
NAN: Final = [nan if place % 3 else float(place % 10) for place in range(3000)]

pytestmark = pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")


@pytest.fixture
def optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection._SETTINGS, "enable_optimizer", "true")


@pytest.fixture
def run_plans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the statements that are looked at, with the plans that are told."""
    seen: list[tuple[Any, ...]] = []

    def looked_at(there: Any, written: Any, text: str, values: Any) -> bool:
        ((_, told),) = there.execute(f"EXPLAIN (FORMAT json) {text}", values).fetchall()
        (root,) = json.loads(told)
        seen.append((text, values, tuple(plans._nodes(root))))
        return runs_as_written(there, written, text, values)

    monkeypatch.setattr(database, "runs_as_written", looked_at)
    return seen


def people(path: Path) -> sd.Session:
    """Return a session over a file with lists, and a public table."""
    place = range(60)
    rows = pa.table({
        "id": [n // 3 for n in place],
        "x": [float(n % 7) for n in place],
        "g": ["abc"[n % 3] for n in place],
        "tags": [["a", "b"][: n % 3] for n in place],
    })
    pq.write_table(rows, path)
    return sd.Session(
        {
            "t": sd.PrivateTable(path, protects=sd.AddRowsWithID("id")),
            "p": sd.PublicTable({"g": ["a", "b"], "w": [1, 2]}),
        },
        sd.PureDP(10**9),
    )


def requests() -> list[Any]:
    """Return a request for each kind of node that reads or leaves out rows."""
    t, keys = sd.table("t"), sd.KeySet.from_dict({"g": ["a", "b", "c"]})
    some, n = t.filter(sd.col("x") > 1.0), sd.count()
    bounded = some.enforce(sd.MaxRowsPerID(2))
    joined = t.join_public("p", on="g", how="left").enforce(sd.MaxRowsPerID(2))
    exploded = t.flat_map("tags", max_rows=2).enforce(sd.MaxRowsPerID(2))
    private = t.join_private(bounded.select("id"), on=["id"])
    return [
        bounded.group_by(keys).agg(n=n, m=sd.mean("x", 0, 10)),
        t.enforce(sd.MaxGroupsPerID("g", 1)).group_by(keys).agg(n=sd.count_ids()),
        joined.agg(w=sd.sum("w", 0, 5, nulls=0)),
        exploded.group_by(sd.KeySet.from_dict({"tags": ["a", "b"]})).agg(n=n),
        private.enforce(sd.MaxRowsPerID(2)).agg(n=n),
        t.per_id(s=sd.sum("x", 0, 10)).agg(s=sd.sum("s", 0, 30)),
        bounded.agg(d=sd.count_distinct("g")),
    ]


def test_every_plan_is_the_one_that_was_written(
    run_plans: list[Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    session = people(tmp_path / "t.parquet")
    with caplog.at_level(logging.WARNING, "sordino"):
        for request in requests():
            session.release(request, SURE)
    assert capfd.readouterr() == ("", "")
    assert len(run_plans) > 5
    assert not caplog.records
    kinds = {kind for *_, plan in run_plans for kind in plan}
    assert {"file", "filter", "groups", "window", "entries"} <= kinds
    assert {"join left", "join inner", "join semi", "part stored"} <= kinds


@pytest.mark.usefixtures("optimised")
@pytest.mark.parametrize("unseen", ["runs_as_written", "ran_as_written"])
def test_another_plan_is_not_believed(
    unseen: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the optimiser runs after all, each look alone finds it out."""
    monkeypatch.setattr(database, unseen, lambda *_: True)
    path = write_lying_file(tmp_path / "lying.parquet")
    with caplog.at_level(logging.WARNING, "sordino"):
        assert not believes(duckdb_engine(), path)
    assert "plans another statement than the one that was written" in caplog.text


@pytest.mark.usefixtures("optimised")
def test_the_optimiser_believes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "_is_written", lambda *_: True)
    assert believes(duckdb_engine(), write_lying_file(tmp_path / "lying.parquet"))


def test_a_setting_that_was_not_made_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = duckdb.connect
    monkeypatch.setattr(
        duckdb, "connect", lambda config: connect(config={**config, **ON})
    )
    with pytest.raises(sd.errors.SordinoError):
        duckdb_engine(threads=3).digests(pa.table({"x": [1]}))


def explained(name: str, *below: Any, **said: str) -> dict[str, Any]:
    info = {name.replace("_", " "): value for name, value in said.items()}
    return {"name": name, "children": list(below), "extra_info": info}


def test_a_leaf_is_asked_for_columns_alone() -> None:
    scan = explained("READ_PARQUET", Function="READ_PARQUET", Projections="")
    assert tuple(plans._nodes(explained("FILTER", scan))) == ("file", "filter")
    for leaf in (
        explained("READ_PARQUET", Function="READ_PARQUET", Filters="x<1"),
        explained("READ_PARQUET", Dynamic_Filters="x<1"),
        explained("READ_PARQUET", Projections="x"),
        explained("EMPTY_RESULT"),
        explained("COLUMN_DATA_SCAN"),
    ):
        assert tuple(plans._nodes(leaf)) not in {("file",), ("rows of ours",)}


def test_plans_are_compared_node_by_node(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array(NAN), "g": [1] * len(NAN)}), path)
    there = duckdb.connect(config={"enable_optimizer": "false"})
    rows = f"(FROM read_parquet(['{path}'])) AS r"
    texts = {
        ("file", "filter"): "SELECT g FROM ROWS WHERE x < 100",
        ("file",): "SELECT g FROM ROWS",
        ("file", "groups"): "SELECT g, count(*) FROM ROWS GROUP BY g",
        ("file", "groups", "filter"): (
            "SELECT g, count(*) FROM ROWS GROUP BY g HAVING count(*) > 1"
        ),
        ("file", "filter", "groups"): (
            "SELECT g, count(*) FROM ROWS WHERE x > 1 GROUP BY g"
        ),
        ("file", "window"): "SELECT row_number() OVER (PARTITION BY g) FROM ROWS",
        ("file", "file", "union"): "SELECT g FROM ROWS UNION ALL SELECT g FROM ROWS",
        ("file", "file", "join semi"): (
            "SELECT g FROM ROWS SEMI JOIN (SELECT x AS y FROM ROWS) AS q ON x = y"
        ),
        (
            "file",
            "stored part",
            "part stored",
        ): "WITH q AS MATERIALIZED (FROM ROWS) FROM q",
    }
    texts = {plan: text.replace("ROWS", rows) for plan, text in texts.items()}
    for written in texts:
        for plan, text in texts.items():
            same = runs_as_written(there, written, text, [])
            assert same == (plan == written), (plan, written)


def test_a_plan_that_cannot_be_told_is_another_one() -> None:
    there = duckdb.connect()
    assert not runs_as_written(there, (), "SELECT nothing FROM nowhere", [])


def test_a_part_stands_where_it_is_read(run_plans: list[Any], tmp_path: Path) -> None:
    """Nothing is stored but what several read, however deep a plan is."""
    path, depth = tmp_path / "t.parquet", 150
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)
    table = sd.PrivateTable(path, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.PureDP(10**9))
    deep = sd.table("t")
    for place in range(depth):
        deep = deep.filter(sd.col("x") != place + 10)
    assert session.release(deep.agg(n=sd.count()), SURE)["n"].to_pylist() == [3]
    ((*_, plan),) = run_plans
    assert plan == ("file", *["filter"] * depth, "groups")
