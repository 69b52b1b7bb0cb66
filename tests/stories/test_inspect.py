"""A curator's look at a table: marked as private, and right for every source."""

import datetime as dt
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, UnknownName
from sordino.office.cli.main import main
from sordino.office.cli.sql import INSPECT
from sordino.session.inspection import PRIVATE
from tests.batches import for_each, sampled

PAGE: Final = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")
PERSON: Final = sd.AddRowsWithID("person")
ROWS: Final = {
    "person": [1, 1, 1, 2, None, 3],
    "ward": ["A", "A", "B", "A", "A", None],
    "days": ["3", "many", "12,5", None, "x", "7"],
}
KINDS: Final = {"person": "i64", "ward": "text", "days": "i64"}


def _csv(folder: Path) -> Any:
    pl.DataFrame(ROWS).write_csv(folder / "t.csv")
    return folder / "t.csv"


def _parquet(folder: Path) -> Any:
    pq.write_table(pa.table(ROWS), folder / "t.parquet")
    return str(folder / "*.parquet")


def _relation(folder: Path) -> Any:
    del folder
    connection = duckdb.connect()
    connection.register("held", pa.table(ROWS))
    return connection.sql("SELECT * FROM held")


SOURCES: Final[dict[str, Any]] = {
    "csv": _csv,
    "parquet": _parquet,
    "arrow": lambda _: pa.table(ROWS),
    "reader": lambda _: pa.table(ROWS).to_reader(),
    "polars": lambda _: pl.DataFrame(ROWS),
    "pandas": lambda _: pd.DataFrame(ROWS).astype({"days": object}),
    "lists": lambda _: ROWS,
    "relation": _relation,
}


@sampled(3)
@for_each("source", SOURCES)
def test_every_source(source: str, tmp_path: Path) -> None:
    """Missing cells, unreadable ones by their shape, rows of ids and what is cut."""
    limits = [sd.MaxRowsPerID(2), sd.MaxGroupsPerID("ward", 1)]
    found = sd.inspect(SOURCES[source](tmp_path), PERSON, KINDS, limits).to_dict()
    assert found["private"] is True
    assert found["rows"] == 6
    columns = {one["name"]: one for one in found["columns"]}
    assert [columns[name]["missing"] for name in KINDS] == [1, 1, 1]
    assert columns["days"]["unreadable"] == 3
    assert columns["days"]["shapes"] == {"a": 2, "99,9": 1}
    assert columns["person"]["unreadable"] == columns["ward"]["unreadable"] == 0
    assert found["ids"] == {
        "column": "person",
        "ids": 3,
        "rows_without": 1,
        "rows_per_id": {"least": 1, "median": 1, "90 %": 3, "99 %": 3, "most": 3},
    }
    first, second = found["limits"]
    assert first == {"limit": "MaxRowsPerID(limit=2)", "rows_cut": 1, "ids_cut": 1}
    assert second["ids_cut"] == 1
    assert second["rows_cut"] in {1, 2}  # as the hash decides


def test_what_has_no_place_in_our_types() -> None:
    table = pa.table({
        "wide": pa.array([2**64 - 1, 1, None], pa.uint64()),
        "far": pa.array([2**31 - 1, 0, None], pa.date32()),
        "odd": pa.array([{"a": 1}] * 3),
    })
    found = sd.inspect(table)
    shapes = {one.name: (one.missing, one.shapes) for one in found.columns}
    assert shapes == {
        "wide": (1, (("beyond our uint64", 1),)),
        "far": (1, (("beyond our date32[day]", 1),)),
    }
    assert "struct" in found.unusable["odd"]
    frame = pd.DataFrame({"day": [dt.date(2026, 1, 1), Decimal(1), "x", None]})
    (day,) = sd.inspect(frame.astype(object), columns={"day": "date"}).columns
    assert (day.missing, dict(day.shapes)) == (1, {"Decimal": 1, "a": 1})


def test_undeclared_text_shows_its_shapes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("day;name\n01.06.2025;K\u00f6ln\n31.12.2025;\n", encoding="utf-8")
    found = sd.inspect(sd.Csv(path, delimiter=";"))
    day, name = found.undeclared
    assert day.shapes == (("99.99.9999", 2),)
    assert name.shapes == (("(missing)", 1), ("a", 1))
    assert "K\u00f6ln" not in repr(found)
    assert "2025" not in repr(found)


def test_it_is_marked_as_private() -> None:
    """Whatever it shows begins with whose eyes it is for; so does its docstring."""
    found = sd.inspect({"x": [1, 2]})
    assert repr(found).startswith(PRIVATE)
    assert str(found).startswith("PRIVATE")
    assert "curator's eyes only" in str(sd.inspect.__doc__)
    assert next(iter(found.to_dict())) == "private"


@for_each("ids", [[], [None]])
def test_empty_tables(ids: list[None]) -> None:
    """A table without rows or ids has no quantiles, and nothing is divided by 0."""
    limits = [sd.MaxRowsPerID(1)]
    found = sd.inspect({"person": ids}, PERSON, {"person": "i64"}, limits)
    assert found.ids is not None
    assert (found.ids.ids, found.ids.quantiles) == (0, ())
    assert "rows per id: none" in repr(found)


def test_refusals() -> None:
    with pytest.raises(InvalidParameter, match="no id column is named"):
        sd.inspect(ROWS, columns=KINDS, limits=[sd.MaxRowsPerID(1)])
    limits: Any = [7]
    with pytest.raises(InvalidParameter, match="must be a list of constraints"):
        sd.inspect(ROWS, PERSON, KINDS, limits)
    with pytest.raises(UnknownName, match="no column 'town'"):
        sd.inspect(ROWS, PERSON, KINDS, [sd.MaxGroupsPerID("town", 1)])


def test_the_command_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["inspect", "--help"])
    told = capsys.readouterr().out
    section = PAGE.partition("## `sordino inspect`")[2]
    assert f"$ {INSPECT.example}" in section
    options = set(re.findall(r"--[a-z-]+", told.partition("example:")[0])) - {"--help"}
    assert options <= set(re.findall(r"--[a-z-]+", section))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        "person\tdays\twhen\n1\t3\t1.6.2025\n1\tK\u00f6\tx\n".encode("cp1252")
    )
    words = ["inspect", str(path), "--delimiter", "\\t", "--encoding", "cp1252"]
    words += ["--quote", "none", "--date", "%d.%m.%Y", "--column", "person=i64"]
    words += ["--column", "days=i64", "--column", "when=date", "--id", "person"]
    words += ["--max-rows-per-id", "1", "--max-groups-per-id", "days=1"]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("PRIVATE: exact counts of private rows")
    assert main([*words, "--max-rows-per-group-per-id", "days=3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["private"] is True
    assert [one["unreadable"] for one in found["columns"]] == [0, 1, 1]
    assert [one["rows_cut"] for one in found["limits"]] == [1, 1, 0]


@for_each(
    ("words", "says"),
    [
        (["no such file.csv"], "matches no file"),
        (["{}", "--column", "x=int"], "must be one of"),
        (["{}", "--encoding", "utf8"], "must be one of"),
        (["{}", "--id", "nobody"], "no column 'nobody'"),
        (["{}", "--max-rows-per-id", "1"], "no id column is named"),
    ],
)
def test_refused_commands(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    assert main(["inspect", *(one.format(path) for one in words)]) == 1
    told = capsys.readouterr()
    assert says in told.err
    assert len(told.err.splitlines()) == 1
    for wrong in (["--column", "x"], ["--max-rows-per-id", "x"]):
        with pytest.raises(SystemExit):
            main(["inspect", str(path), *wrong])
