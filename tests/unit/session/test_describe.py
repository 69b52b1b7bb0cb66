"""What a session tells of itself: public facts, harmless as text and in a page."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.errors import SordinoError, UnknownName
from tests.batches import for_each, sampled

PLACE = "has no place in a private table"
PERSON = sd.AddRowsWithID("id")
ODD = pa.table({
    "id": [1, 1, 2],
    "x": [0.5, None, 2.0],
    "stay": pa.array([1, 2, 3], pa.duration("s")),
    "geo": [{"x": 1}] * 3,
})


def session(rows: Any = ODD, columns: Any = None, **more: Any) -> sd.Session:
    """Return a session of a private table, and a public one."""
    tables = {
        "t": sd.PrivateTable(rows, protects=PERSON, columns=columns),
        "wards": sd.PublicTable({"ward": ["A", "B"]}),
    }
    return sd.Session(tables, sd.ApproxDP(2, "1e-6"), **more)


def test_all_that_is_told() -> None:
    opened = session(columns={"x": sd.Column("f64", nullable=False)})
    opened.view("few", sd.table("t").enforce(sd.MaxRowsPerID(2)).select("x"))
    keys = sd.KeySet.from_dict({"id": [1, 2, 3]})
    asked = sd.table("few").group_by(keys).agg(n=sd.count())
    opened.release(asked, sd.PureDP(1))
    assert repr(opened.describe()).splitlines() == [
        "t: private: protects any one value of 'id', with all its rows",
        "  column  type  may be missing",
        "  id      i64   no",
        "  x       f64   NaN",
        f"  cannot be used: stay (its type duration[s] {PLACE})",
        f"  cannot be used: geo (its type struct<x: int64> {PLACE})",
        "",
        "few: a view: table('t').enforce(MaxRowsPerID(limit=2)).select('x')",
        "  column  type  may be missing",
        "  x       f64   NaN",
        "  id      i64   no",
        "",
        "wards: public, 2 rows",
        "  column  type  may be missing",
        "  ward    text  yes",
        "",
        "asked by: KeySet(3 keys of id)",
        "left: ApproxDP(epsilon=1, delta=1e-06) of ApproxDP(epsilon=2, delta=1e-06)",
    ]


UNITS: list[tuple[Any, str]] = [
    (sd.AddOneRow(), "any one row"),
    (sd.AddMaxRows(3), "any 3 rows"),
    (
        sd.AddMaxRowsInMaxGroups("id", 2, 5),
        "any 5 rows in each of any 2 values of 'id'",
    ),
    (PERSON, "any one value of 'id', with all its rows"),
]


@for_each(("unit", "whom"), UNITS)
def test_whom_a_table_protects(unit: Any, whom: str) -> None:
    opened = sd.Session({"t": sd.PrivateTable(ODD, protects=unit)}, sd.PureDP(1))
    assert repr(opened.describe()).startswith(f"t: private: protects {whom}\n")


def _parquet(rows: pa.Table, path: Path) -> Any:
    pq.write_table(rows, path / "t.parquet")
    return path / "t.parquet"


def _csv(rows: pa.Table, path: Path) -> Any:
    pa_csv.write_csv(rows, path / "t.csv")
    return path / "t.csv"


DOORS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda rows, _: rows,
    "pandas": lambda rows, _: rows.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda rows, _: pl.from_arrow(rows),
    "parquet": _parquet,
    "csv": _csv,
}


@sampled(2)
@for_each("door", DOORS)
def test_neighbours_are_told_alike(door: str, tmp_path: Path) -> None:
    """For any rows of the same types the description is the same, to the letter."""
    told = set()
    one = pa.table({"id": [1, 2, None], "x": [1.5, None, 3.0], "w": ["a", "b", None]})
    for rows in (one, one.slice(0, 1), one.slice(2, 1), pa.concat_tables([one] * 50)):
        source = DOORS[door](rows, tmp_path)
        opened = session(source, {"id": "i64", "x": "f64", "w": "text"})
        told |= {repr(opened.describe()), opened._repr_html_()}
    assert len(told) == 2


def test_nothing_is_asked_of_the_engine() -> None:
    opened = session()
    object.__setattr__(opened._desk, "engine", None)
    object.__setattr__(opened._desk.catalog, "engine", None)
    assert "wards" in repr(opened.describe())


HOSTILE = [
    "<script>alert(1)</script>",
    "a&b",
    'it\'s "quoted"',
    "\u202eflipped",
    "two\nlines",
    "",
    "long " * 200,
    "病院",
]


def test_names_are_harmless() -> None:
    usable = {name: [1] for name in HOSTILE}
    unusable = {f"no {name}": pa.array([1], pa.duration("s")) for name in HOSTILE}
    rows = pa.table({"id": [1], **usable, **unusable})
    opened = sd.Session(
        {name: sd.PrivateTable(rows, protects=PERSON) for name in HOSTILE},
        sd.PureDP(1),
    )
    opened.view("v", sd.table(HOSTILE[0]).filter(sd.col(HOSTILE[2]) > 0))
    told, page = repr(opened.describe()), opened._repr_html_()
    assert max(map(len, told.splitlines())) <= 100
    assert all(line.isprintable() for line in told.splitlines())
    assert len(told.splitlines()) == len(HOSTILE) * 20 + 13
    tags = set(re.findall(r"</?([a-zA-Z]+)", page))
    assert tags == {
        "div", "style", "svg", "title", "rect", "p", "strong", "span",
        "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert "\u202e" not in html.unescape(page)
    assert "long " * 20 not in page


def test_wide_tables_are_cut() -> None:
    rows = pa.table({"id": [1], **{f"c{n}": [n] for n in range(500)}})
    opened = session(rows)
    for told in (repr(opened.describe()), opened._repr_html_()):
        assert "... and 441 more" in told
        assert "c58" in told
        assert "c59" not in told


def test_parts_tell_what_they_are_of() -> None:
    opened = session()
    rows = sd.table("t").bin("x", [0, 1, 9], name="size")
    opened.view("sized", rows.enforce(sd.MaxGroupsPerID("size", 1)))
    part = opened.partition("sized", "size", ["[0, 1)"], sd.PureDP(1))["[0, 1)"]
    told = repr(part.describe())
    assert told.startswith("sized: a part of the rows, a view: table('t').bin(")
    assert told.endswith("left: PureDP(epsilon=1) of PureDP(epsilon=1)")


DOORS_OF_NAMES: dict[str, Callable[[sd.Session], object]] = {
    "price": lambda one: one.price(
        sd.table("t").agg(s=sd.sum("stay", 0, 1)), sd.PureDP(1)
    ),
    "filter": lambda one: one.price(
        sd.table("t").filter(sd.col("stay") > 1).agg(n=sd.count()), sd.PureDP(1)
    ),
    "all": lambda one: one.price_all(
        {"n": sd.table("t").group_by("stay").agg(n=sd.count())}, sd.PureDP(1)
    ),
    "release": lambda one: one.release(
        sd.table("t").group_by("stay").keys(), sd.ApproxDP(1, "1e-6")
    ),
    "view": lambda one: one.view("v", sd.table("t").select("stay")),
    "partition": lambda one: one.partition("t", "stay", [1], sd.PureDP(1)),
    "ids": lambda _: sd.Session(
        {"t": sd.PrivateTable(ODD, protects=sd.AddRowsWithID("stay"))}, sd.PureDP(1)
    ),
}


@for_each("door", DOORS_OF_NAMES)
def test_columns_that_cannot_be_used_are_told_with_the_reason(door: str) -> None:
    """Wherever the name of such a column stands, its refusal says why."""
    with pytest.raises(
        UnknownName, match=r"'stay' that can be used in 't': its type dur"
    ):
        DOORS_OF_NAMES[door](session())


@for_each("name", ["sta", "zzz", "t"])
def test_other_names_are_told_as_before(name: str) -> None:
    asked = sd.table("t").agg(s=sd.sum(name, 0, 1))
    with pytest.raises(SordinoError, match="Did you mean"):
        session().price(asked, sd.PureDP(1))
