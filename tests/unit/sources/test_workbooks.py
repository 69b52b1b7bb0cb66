"""Excel workbooks: each cell by itself, by the rules of text files."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter, MissingDependency
from sordino.office.cli.main import main
from tests.batches import for_each
from tests.text_files import read
from tests.unit.form.test_form import send
from tests.workbooks import write_workbook

pytest.importorskip("python_calamine")

MORNING = dt.datetime(2026, 6, 1, 9, 30)  # noqa: DTZ001 UTC without a zone
KINDS = ("i64", "f64", "text", "bool", "date", "time")
CELLS: Any = [
    (7, (7, 7.0, "7", None, None, None)),
    (7.5, (None, 7.5, "7.5", None, None, None)),
    (1, (1, 1.0, "1", True, None, None)),
    (1e300, (None, 1e300, "1e+300", None, None, None)),
    (2.0**53, (2**53, 2.0**53, "9007199254740992.0", None, None, None)),
    (True, (None, None, "true", True, None, None)),
    ("ja", (None, None, "ja", True, None, None)),
    ("0012", (12, 12.0, "0012", None, None, None)),
    (dt.date(2026, 6, 1), (None, None, "2026-06-01", None, dt.date(2026, 6, 1), 0)),
    (MORNING, (None, None, "2026-06-01T09:30:00", None, None, 1)),
    ("2026-06-01", (None, None, "2026-06-01", None, dt.date(2026, 6, 1), 0)),
    ("k.A.", (None,) * 6),
    (None, (None,) * 6),
    (ValueError("#N/A"), (None,) * 6),
    (ValueError("#DIV/0!"), (None,) * 6),
]
"""Cells, and what each is in a column of each of the types."""
TIMES = (dt.datetime(2026, 6, 1), MORNING)  # noqa: DTZ001 UTC without a zone


@for_each("place", range(len(KINDS)))
def test_what_a_cell_means(place: int, tmp_path: Path) -> None:
    """Whatever stands beside it in its column, and the same on both engines."""
    rows = [["n", "x"], *([n, cell] for n, (cell, _) in enumerate(CELLS))]
    path = write_workbook(tmp_path / "t.xlsx", {"one": rows})
    words: Any = {"true": ("ja", "true", "1"), "false": "nein", "null": "k.A."}
    found = read(sd.Workbook(path, {"n": "i64", "x": KINDS[place]}, **words))
    told = {row["n"]: row["x"] for row in found}
    for n, (cell, wanted) in enumerate(CELLS):
        value = wanted[place]
        if KINDS[place] == "time" and value is not None:
            value = TIMES[value]
        assert (n, told[n], type(told[n])) == (n, value, type(value)), cell


def test_a_workbook_becomes_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the commands and on the page; what is proposed is what its cells are."""
    days = [dt.date(2026, 6, 1 + n % 9) for n in range(40)]
    rows = [[n // 2, "AB"[n % 2], 1.5, day, "-"] for n, day in enumerate(days)]
    names = ["patient", "ward", "cost", "day", "seen"]
    path = str(
        write_workbook(tmp_path / "St\u00e4dte.xlsx", {"one": [["2026"], names, *rows]})
    )
    job = str(tmp_path / "job.toml")
    choices = [
        "--id",
        "patient",
        "--group",
        "ward",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
    ]
    assert main(["init", path, "--to", job, *choices]) == 0
    assert main(["inspect", path, "--write", job]) == 0
    assert main(["check", job]) == 0
    assert "MaxRowsPerID" not in capsys.readouterr().err
    proposal = sd.inspect(path).proposal
    assert proposal is not None
    kinds = dict(zip(names, ("i64", "text", "f64", "date", "text"), strict=True))
    assert (proposal.columns, proposal.arguments) == (kinds, {"skip": 1})
    page = send(tmp_path, file="St\u00e4dte.xlsx", of="St\u00e4dte.xlsx", column="")
    assert "of 100 others" in page.content
    text = Path(job).read_text("utf-8").replace("skip = 1", 'delimiter = ";"')
    Path(job).write_text(text, "utf-8")
    assert main(["check", job]) == 2
    assert "delimiter" in capsys.readouterr().err


TITLED: Any = [["Visits"], [], [None, 2026], ["patient", "days"], [1, 3], [], [2, 4]]


@for_each("told", [{"skip": 3}, {"header": "days"}], ids=repr)
def test_rows_of_title_and_other_sheets(told: Any, tmp_path: Path) -> None:
    sheets = {"notes": [["x"], [1]], "data": TITLED}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    kinds = {"patient": "i64", "days": "i64"}
    found = read(sd.Workbook(path, kinds, sheet="data", **told))
    assert found == [{"patient": 1, "days": 3}, {"patient": 2, "days": 4}]


def test_workbooks_are_counted_and_released(tmp_path: Path) -> None:
    """By their path alone, with types beside it; what is unreadable can be counted."""
    rows: Any = [["patient", "days"], *([n, n % 7] for n in range(50)), [50, "many"]]
    path = str(write_workbook(tmp_path / "t.xlsx", {"one": rows}))
    unit, kinds = sd.AddRowsWithID("patient"), {"patient": "i64", "days": "i64"}
    table = sd.PrivateTable(path, protects=unit, columns=kinds)
    session = sd.Session({"t": table}, sd.PureDP(10**5))
    limited = sd.table("t").enforce(sd.MaxRowsPerID(1))
    asked = limited.agg(n=sd.count(), days=sd.sum("days", 0, 7), coverage=True)
    release = session.release(asked, sd.PureDP(10**4))
    assert release.table.to_pylist()[0]["n"] == 51
    assert release.coverage is not None
    unreadable = {row["what"]: row["count"] for row in release.coverage.to_pylist()}
    assert unreadable["t.days"] == 1
    assert "days: i64, 0 missing, 1 (1.96 %) unreadable" in str(
        sd.inspect(path, columns=kinds)
    )


@for_each(
    ("given", "says"),
    [
        ({"sheet": "data"}, "sheet is none of 'one', got 'data'"),
        ({"skip": 99}, "has no header there"),
        ({"header": "nobody"}, "has no header there"),
        ({"skip": 1}, "row 2, in which a column has no name"),
        ({"columns": {"nobody": "i64"}}, "nobody"),
    ],
    ids=repr,
)
def test_what_is_refused_when_opened(given: Any, says: str, tmp_path: Path) -> None:
    rows: Any = [["patient", "days"], [1, None, 3], [2, 4]]
    path = write_workbook(tmp_path / "t.xlsx", {"one": rows})
    with pytest.raises((InvalidParameter, sd.errors.UnknownName), match=says):
        MemoryEngine().open("t", sd.Workbook(path, **given), {})


def test_what_is_no_workbook(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 no zip file")
    with pytest.raises(InvalidParameter, match="cannot be opened"):
        MemoryEngine().open("t", str(tmp_path / "t.xlsx"), {})
    with pytest.raises(InvalidParameter, match="beside header"):
        sd.Workbook("t.xlsx", skip=1, header="x")
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingDependency, match=r"the extra excel: pip install"):
        MemoryEngine().open("t", sd.Workbook(tmp_path / "t.xlsx"), {})
