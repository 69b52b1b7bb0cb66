"""Public tables are read once: whatever becomes of a source, prices stay true."""

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.doors import EngineName
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import EngineUnavailable, UnknownName
from tests.batches import for_each, sampled

ENGINES: list[Callable[[], AbstractEngine]] = [duckdb_engine, MemoryEngine]
KINDS: dict[EngineName, type[Any]] = {"duckdb": SQLEngine, "memory": MemoryEngine}
VISITS = {"k": [1, 1, 1], "days": [2, 3, 4]}
JOINED = sd.table("visits").join_public("wards", on="k").agg(n=sd.count())
MANY = 1000
Door = Callable[[Path], tuple[Any, Callable[[], object]]]


def _wards(key: int | None = None) -> pa.Table:
    keys = np.arange(1, MANY + 1) if key is None else np.full(MANY, key)
    return pa.table({"k": keys, "beds": np.arange(MANY)})


def _arrow(folder: Path) -> tuple[Any, Callable[[], object]]:
    del folder
    keys = np.arange(1, MANY + 1)
    return pa.table({"k": pa.array(keys)}), lambda: keys.fill(1)


def _pandas(folder: Path) -> tuple[Any, Callable[[], object]]:
    del folder
    keys = np.arange(1, MANY + 1)
    return pd.DataFrame({"k": keys}, copy=False), lambda: keys.fill(1)


def _lists(folder: Path) -> tuple[Any, Callable[[], object]]:
    del folder
    keys = list(range(1, MANY + 1))
    return {"k": keys}, lambda: keys.__setitem__(slice(None), [1] * MANY)


def _parquet(folder: Path) -> tuple[Any, Callable[[], object]]:
    path = folder / "wards.parquet"
    pq.write_table(_wards(), path)
    return path, lambda: pq.write_table(_wards(1), path)


def _csv(folder: Path) -> tuple[Any, Callable[[], object]]:
    path = folder / "wards.csv"
    pa_csv.write_csv(_wards(), path)
    return path, lambda: pa_csv.write_csv(_wards(1), path)


def _table(folder: Path) -> tuple[Any, Callable[[], object]]:
    del folder
    connection = duckdb.connect()
    connection.register("given", _wards())
    connection.execute("CREATE TABLE wards AS FROM given")
    change = lambda: connection.execute("UPDATE wards SET k = 1")  # noqa: E731 a pair
    return (connection, "wards"), change


def _dice(folder: Path) -> tuple[Any, Callable[[], object]]:
    """Return a relation that answers otherwise each time, and no change."""
    del folder
    told = "SELECT (random() * 3)::BIGINT AS k FROM range(1000)"
    return duckdb.connect().sql(told), lambda: None


DOORS: list[Door] = [_arrow, _pandas, _lists, _parquet, _csv, _table, _dice]


def _session(wards: Any, engine: EngineName) -> sd.Session:
    tables = {
        "visits": sd.PrivateTable(VISITS, protects=sd.AddOneRow()),
        "wards": sd.PublicTable(wards, columns={"k": "i64"}),
    }
    return sd.Session(tables, sd.PureDP(100), engine=engine)


def _exceeds(session: sd.Session, change: Callable[[], object]) -> bool:
    """Change a public table after its price; say whether a row then makes too many."""
    session.view("joined", sd.table("visits").join_public("wards", on="k"))
    first = session.price(JOINED, sd.PureDP(1))
    change()
    asked = (first, session.price(sd.table("joined").agg(n=sd.count()), sd.PureDP(1)))
    return any(
        session._desk.engine.answer(one._purchase.plan.question)["total 0"][0].as_py()
        > len(VISITS["k"]) * one.sensitivity["n"].l1
        for one in asked
    )


@sampled(6)
@for_each("engine", ["duckdb", "memory"])
@for_each("door", DOORS)
def test_what_is_priced_is_what_is_joined(
    door: Door, engine: EngineName, tmp_path: Path
) -> None:
    """For any change of the source, no row makes more than the price says."""
    wards, change = door(tmp_path)
    assert not _exceeds(_session(wards, engine), change)


@for_each("engine", KINDS)
@for_each("door", [_arrow, _parquet, _table])
def test_tables_read_again_are_caught(
    door: Door, engine: EngineName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted belief: a factor that is counted once, and rows read again.

    The other doors copy what they are given, refuse what has changed, or answer by
    chance.
    """
    monkeypatch.setattr(KINDS[engine], "freeze", lambda _self, _table: None)
    monkeypatch.setattr(
        KINDS[engine], "frozen_rows", lambda _self, _table: pa.table({})
    )
    wards, change = door(tmp_path)
    assert _exceeds(_session(wards, engine), change)


ODD = pa.table({
    "k": [2, 1, None, 1],
    "x": [math.nan, -0.0, 1.5, None],
    "s": ["ü", None, "a" * 70_000, "b"],
    "b": [True, None, False, True],
    "d": [dt.date(2020, 2, 29), None, dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "t": pa.array([1, None, -1, 10**15], pa.timestamp("ns", "UTC")),
    "l": [["a"], [], None, ["a", "b"]],
    "blob": [b"x"] * 4,
})


def _frozen(engine: AbstractEngine, rows: Any) -> pa.Table:
    engine.open("odd", rows, {})
    engine.freeze("odd")
    return engine.frozen_rows("odd")


@for_each("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
@for_each("engine", ENGINES)
def test_the_copy_is_the_same_for_any_order(engine: Any, order: list[int]) -> None:
    copy = _frozen(engine(), ODD.take(order))
    assert copy.schema == pa.schema({
        "k": pa.int64(),
        "x": pa.float64(),
        "s": pa.string(),
        "b": pa.bool_(),
        "d": pa.date32(),
        "t": pa.timestamp("us"),
        "l": pa.list_(pa.string()),
    })
    assert repr(copy.to_pylist()) == repr(_frozen(MemoryEngine(), ODD).to_pylist())
    assert copy["k"].to_pylist() == [None, 1, 1, 2]


@for_each("engine", ENGINES)
def test_small_tables(engine: Any) -> None:
    assert _frozen(engine(), ODD.slice(0, 0)).num_rows == 0
    assert _frozen(engine(), ODD.select(["blob"])).num_columns == 0


@for_each("engine", ENGINES)
def test_private_rows_are_not_handed_out(engine: Any) -> None:
    made = engine()
    made.open("visits", VISITS, {})
    with pytest.raises(UnknownName):
        made.frozen_rows("visits")


@for_each("engine", ["duckdb", "memory"])
def test_what_cannot_be_read_is_told_at_once(
    engine: EngineName, tmp_path: Path
) -> None:
    """Public rows that fail fail before any charge, and what is wrong is said."""
    path = tmp_path / "wards.parquet"
    pq.write_table(_wards(), path)
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\x07" * (len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(EngineUnavailable, match=r"the engine refuses: .*charged"):
        _session(path, engine)
