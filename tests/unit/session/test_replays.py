"""A key gives its answer to the same request, in later versions too, and no other."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidQuery
from sordino.query import nodes
from tests.batches import for_each

ROWS: Final[dict[str, list[Any]]] = {
    "patient": [*range(100)],
    "x": [1] * 100,
    "w": ["A", "B"] * 50,
}
HALF: Final = sd.ApproxDP("0.5", 0)
ONE_EACH: Final = sd.table("t").enforce(sd.MaxRowsPerID(1))
COUNT: Final = ONE_EACH.agg(n=sd.count())
Asked = tuple[dict[str, Any], Any]
"""Tables, and a request about them."""


def opened(ledger: Path, public: Any = None, **more: Any) -> sd.Session:
    rows = more.pop("rows", ROWS)
    tables: dict[str, Any] = {
        "t": sd.PrivateTable(rows, protects=sd.AddRowsWithID("patient"))
    }
    if public is not None:
        tables["pub"] = sd.PublicTable(public)
    more.setdefault("engine", "memory")
    if not ledger.exists():
        more["ledger"] = sd.Ledger.at(ledger, sd.ApproxDP(9, "1e-5"), create=True)
        return sd.Session(tables, **more)
    return sd.Session(tables, ledger=ledger, **more)


def mapped(function: Any) -> Any:
    rows = ONE_EACH.with_columns(sd.udf(function, returns={"y": "i64"}))
    return rows.agg(y=sd.sum("y", 0, 100, nulls="drop"))


def times(factor: int) -> Any:
    return mapped(lambda row: {"y": row["x"] * factor})


JOINED: Final = ONE_EACH.join_public("pub", on="w").agg(y=sd.sum("g", 0, 100))
PAIRS: Final[dict[str, tuple[Asked, Asked]]] = {
    "closures": (({}, times(1)), ({}, times(100))),
    "partial functions": (
        ({}, mapped(functools.partial(lambda a, row: {"y": a + 0 * len(row)}, 1))),
        ({}, mapped(functools.partial(max, 1))),
    ),
    "rows of a public table": (
        ({"public": {"w": ["A", "B"], "g": [1, 1]}}, JOINED),
        ({"public": {"w": ["A", "B"], "g": [100, 100]}}, JOINED),
    ),
    "number of rows of a public table": (
        ({"public": {"w": ["A", "B"], "g": [1, 1]}}, JOINED),
        ({"public": {"w": ["A", "A", "B", "B"], "g": [1, 1, 1, 1]}}, JOINED),
    ),
    "types of columns": (
        ({}, ONE_EACH.agg(y=sd.sum("x", 0, 10))),
        (
            {"rows": {**ROWS, "x": [1.5] * 100}},
            ONE_EACH.agg(y=sd.sum("x", 0, 10, nulls="drop")),
        ),
    ),
    "key sets": (
        ({}, ONE_EACH.group_by(sd.KeySet.from_dict({"w": ["A"]})).agg(n=sd.count())),
        ({}, ONE_EACH.group_by(sd.KeySet.from_dict({"w": ["B"]})).agg(n=sd.count())),
    ),
    "long literals": (
        ({}, ONE_EACH.filter(sd.col("w") == "A" * 500 + "x").agg(n=sd.count())),
        ({}, ONE_EACH.filter(sd.col("w") == "A" * 500 + "y").agg(n=sd.count())),
    ),
    "integers and floats": (
        ({}, ONE_EACH.filter(sd.col("x") == 1).agg(n=sd.count())),
        ({}, ONE_EACH.filter(sd.col("x") == 1.0).agg(n=sd.count())),
    ),
}


@for_each("pair", PAIRS.values(), ids=PAIRS)
def test_another_request_has_not_its_answer(
    pair: tuple[Asked, Asked], tmp_path: Path
) -> None:
    """For any two requests that differ in what they ask: the key is refused."""
    (tables, request), (others, other) = pair
    path = tmp_path / "clinic.ledger"
    first = opened(path, **tables).release(request, HALF, key="k")
    again = opened(path, **tables).release(request, HALF, key="k")
    assert again.table == first.table
    session = opened(path, **others)
    with pytest.raises(InvalidQuery, match="the key 'k' belongs to another request"):
        session.release(other, HALF, key="k")
    assert session.spent == HALF


SAME: Final[dict[str, Callable[[Path], Any]]] = {
    "other private rows": lambda path: opened(
        path, rows={"patient": [1], "x": [1], "w": ["A"]}
    ).release(COUNT, HALF, key="k"),
    "another engine": lambda path: opened(path, engine="duckdb").release(
        COUNT, HALF, key="k"
    ),
    "a float": lambda path: opened(path).release(COUNT, sd.ApproxDP(0.5, 0), key="k"),
    "by a view": lambda path: _viewed(opened(path)).release(
        sd.table("each").agg(n=sd.count()), HALF, key="k"
    ),
}


def _viewed(session: sd.Session) -> sd.Session:
    session.view("each", ONE_EACH)
    return session


@for_each("ask", SAME.values(), ids=SAME)
def test_the_same_request_has_its_answer(
    ask: Callable[[Path], Any], tmp_path: Path
) -> None:
    """However it is written, wherever it runs, and whatever became of private rows."""
    path = tmp_path / "clinic.ledger"
    first = opened(path).release(COUNT, HALF, key="k")
    assert ask(path).table == first.table
    assert opened(path).spent == HALF


def test_a_later_version_finds_what_was_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that prints plans and noise otherwise, and has other names for its nodes."""
    path = tmp_path / "clinic.ledger"
    query = ONE_EACH.filter(sd.col("x") > 0).agg(n=sd.count())
    first = opened(path).release(query, HALF, key="2026-11")
    monkeypatch.setattr(nodes.Source, "describe", lambda self: f"rows of {self.table}")
    monkeypatch.setattr(nodes, "KeepRows", type("FirstRows", (), {}))
    monkeypatch.setattr(sd.Geometric, "__repr__", lambda self: f"noise of {self.scale}")
    session = opened(path)
    assert session.release(query, HALF, key="2026-11").table == first.table
    assert session.spent == HALF


def test_a_release_is_not_a_batch_of_one(tmp_path: Path) -> None:
    """Nor is an answer of several requests that of others, or in another order."""
    session = opened(tmp_path / "clinic.ledger")
    session.release(COUNT, HALF, key="k")
    with pytest.raises(InvalidQuery, match="belongs to another request"):
        session.release_all({"n": COUNT}, HALF, key="k")
    other = ONE_EACH.agg(m=sd.count())
    first = session.release_all({"n": COUNT, "m": other}, HALF, key="both")
    again = session.release_all({"n": COUNT, "m": other}, HALF, key="both")
    assert [one.table for one in again.values()] == [
        one.table for one in first.values()
    ]
    with pytest.raises(InvalidQuery, match="belongs to another request"):
        session.release_all({"m": other, "n": COUNT}, HALF, key="both")
