"""Rehearsals: invented rows of the shape of private ones, made of public facts."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.batches import for_each

VISITS: dict[str, list[Any]] = {
    "patient": ["a", "a", "b"],
    "ward": ["North", "South", "North"],
    "days": [2.5, None, 9.0],
    "seen": [dt.date(2024, 2, 29)] * 3,
}
WARDS = {"ward": ["North", "South", None], "beds": [12, 30, 1]}


def session_of(visits: Any) -> sd.Session:
    """Return a session of two tables and a view."""
    opened = sd.Session(
        tables={
            "visits": sd.PrivateTable(visits, protects=sd.AddRowsWithID("patient")),
            "wards": sd.PublicTable(WARDS),
        },
        budget=sd.ApproxDP(1, "1e-6"),
    )
    opened.view("long", sd.table("visits").filter(sd.col("days") > 3))
    return opened


def test_the_shape_is_that_of_the_session() -> None:
    opened = session_of(VISITS)
    trial = sd.rehearsal(opened, rows=200)
    assert trial.session.describe().holdings == opened.describe().holdings
    assert repr(trial.session.budget) == repr(opened.budget)
    rows = trial.tables["visits"]
    assert set(rows["ward"].to_pylist()) <= {"North", "South", None}
    query = sd.table("long").enforce(sd.MaxRowsPerID(2)).agg(n=sd.count())
    budget = sd.PureDP("0.5")
    assert repr(trial.session.price(query, budget)) == repr(opened.price(query, budget))


def test_no_private_row_decides_anything() -> None:
    """Neighbouring tables have the same rehearsal, and nothing is charged."""
    other = {name: cells[:2] for name, cells in VISITS.items()}
    opened = session_of(VISITS)
    assert sd.rehearsal(opened).tables == sd.rehearsal(session_of(other)).tables
    assert not opened.history()


def test_a_seed_is_all_the_chance_there_is() -> None:
    """The same seed makes the same rows, another one others."""
    opened = session_of(VISITS)
    assert sd.rehearsal(opened, seed=3).tables == sd.rehearsal(opened, seed=3).tables
    assert sd.rehearsal(opened, seed=3).tables != sd.rehearsal(opened, seed=4).tables


def test_exact_answers_are_those_of_the_rows() -> None:
    trial = sd.rehearsal(
        {"visits": {"patient": "i64", "ward": "text", "days": "i64"}},
        protects=sd.AddRowsWithID("patient"),
        values={"ward": ["A", "B"], "days": [4]},
    )
    query = (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(1000))
        .group_by("ward")
        .agg(
            n=sd.count(),
            ids=sd.count_ids(),
            days=sd.mean("days", 0, 30, nulls=0),
            middle=sd.median("days", 0, 30, nulls=4),
        )
    )
    rows = trial.tables["visits"].filter(pa.compute.is_valid(_column(trial, "ward")))
    expected = rows.group_by("ward").aggregate([
        ("ward", "count"),
        ("patient", "count_distinct"),
    ])
    told = {row["ward"]: row for row in trial.exact(query).to_pylist()}
    for row in expected.to_pylist():
        shown = told[row["ward"]]
        assert shown["n"] == row["ward_count"]
        assert shown["ids"] == row["patient_count_distinct"]
        assert shown["middle"] == 4


def _column(trial: sd.Rehearsal, name: str) -> pa.ChunkedArray:
    return trial.tables["visits"][name]


def test_every_type_is_invented() -> None:
    types = ("i64", "f64", "text", "bool", "date", "time", "list[i64]", "list[text]")
    facts: dict[str, Any] = {f"c{n}": kind for n, kind in enumerate(types)}
    facts["sure"] = sd.Column("text", nullable=False)
    trial = sd.rehearsal({"t": facts}, protects=sd.AddOneRow(), rows=500)
    rows = trial.tables["t"]
    assert rows["sure"].null_count == 0
    assert all(rows[name].null_count > 0 for name in facts if name != "sure")


@for_each(
    ("arguments", "error", "words"),
    [
        ({"of": 3}, InvalidParameter, "must be a session"),
        ({"of": {}}, InvalidParameter, "must be a session"),
        ({"of": {"a": {"x": "i64"}}}, InvalidParameter, "must be a protected unit"),
        (
            {"of": {"a": {"x": "int"}}, "protects": 1},
            InvalidParameter,
            "protected unit",
        ),
        ({"of": {"a": {}}, "protects": sd.AddOneRow()}, InvalidParameter, "columns"),
        (
            {"of": {"a": {"id": "time"}}, "protects": sd.AddRowsWithID("id")},
            InvalidQuery,
            "ids must be text, integers or dates",
        ),
        (
            {"of": {"a": {"\ud800": "text"}}, "protects": sd.AddOneRow()},
            InvalidParameter,
            "valid Unicode",
        ),
        ({"values": {"dayz": [1]}}, UnknownName, "Did you mean 'days'"),
        ({"values": {"days": []}}, InvalidParameter, "at least one f64 value"),
        ({"values": {"days": ["x"]}}, InvalidParameter, "at least one f64 value"),
        ({"values": {"days": 3}}, InvalidParameter, "at least one f64 value"),
        ({"values": {"ward": "North"}}, InvalidParameter, "at least one text value"),
        ({"values": 3}, InvalidParameter, "must be a dict of lists"),
        ({"values": {"patient": ["a"]}}, UnknownName, "no column 'patient'"),
        ({"protects": sd.AddOneRow()}, InvalidParameter, "is said by the session"),
        ({"rows": 0}, InvalidParameter, "at least 1"),
        ({"rows": 10**9}, InvalidParameter, "at most 1000000"),
        ({"seed": -1}, InvalidParameter, "at least 0"),
    ],
)
def test_what_is_refused(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    given: dict[str, Any] = {"of": session_of(VISITS)} | arguments
    with pytest.raises(error, match=words):
        sd.rehearsal(given.pop("of"), **given)


def test_a_part_is_rehearsed_like_its_table() -> None:
    opened = sd.Session(
        tables={"visits": sd.PrivateTable(VISITS, protects=sd.AddOneRow())},
        budget=sd.PureDP(1),
    )
    opened.view("long", sd.table("visits").filter(sd.col("days") > 3))
    parts = opened.partition("visits", "ward", ["North"], sd.PureDP("0.1"))
    assert sd.rehearsal(parts["North"]).tables["visits"].num_rows == 1000
    views = opened.partition("long", "ward", ["North"], sd.PureDP("0.1"))
    with pytest.raises(InvalidParameter, match="is a part of a view"):
        sd.rehearsal(views["North"])
