"""Text files as sources: encodings, several files, changed files, declarations."""

import gzip
import os
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import sordino as sd
from sordino.data.csv import CSVSource
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.errors import EngineFailure, EngineUnavailable, InvalidParameter
from sordino.expressions.casts import Layout
from tests.batches import for_each, sampled
from tests.text_files import column, read

ENGINES: Final = (MemoryEngine, duckdb_engine)


@sampled(2)
@for_each(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]
)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    """A text is the same in every encoding, also where blocks cut its signs."""
    words = ["K\u00f6ln" * n for n in range(1, 900)]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(
        gzip.compress("\n".join(["x,n", *(f"{w},1" for w in words)]).encode(encoding))
    )
    declared = encoding.removesuffix("-sig")
    assert column(path, "x", "text", encoding=declared) == sorted(words)


def test_a_single_column_keeps_its_blank_lines(tmp_path: Path) -> None:
    """In a file of one column a blank line is a row without a value."""
    pl.DataFrame({"x": [1, None, 3]}).write_csv(tmp_path / "t.csv")
    assert column(tmp_path / "t.csv", "x", "i64") == [None, 1, 3]


def test_rows_do_not_depend_on_the_columns_read(tmp_path: Path) -> None:
    """A count is the same whichever columns a query names (it was 40 of 100)."""
    path = tmp_path / "t.csv"
    path.write_bytes(
        ("x,y\n" + "1,K\u00f6ln\n" * 60 + "1,Bonn\n" * 40).encode("latin-1")
    )
    table = sd.Csv(path, {"x": "f64", "y": "text"}, encoding="latin-1")
    for engine in ENGINES:
        made = engine()
        made.open("t", table, {})
        source = CSVSource(table, {})
        assert [source.read(places).num_rows for places in ([], [0], [1], [1, 0])] == [
            100
        ] * 4


def test_several_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{name},1\n")
    pattern = str(tmp_path / "*.csv")
    assert column(pattern, "x", "text") == ["a", "b"]
    (tmp_path / "c.csv").write_text("y,x\n1,c\n")
    with pytest.raises(InvalidParameter, match="must have the columns of"):
        MemoryEngine().open("t", sd.Csv(pattern), {})


@for_each("engine", ["memory", "duckdb"])
def test_a_changed_file_is_not_read(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    table = sd.PrivateTable(path, protects=sd.AddOneRow(), columns={"x": "i64"})
    session = sd.Session(tables={"t": table}, budget=sd.PureDP(1), engine=engine)
    before = path.stat()
    path.write_text("x,y\n1,3\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(EngineUnavailable, match="is another text file"):
        session.release(sd.table("t").agg(n=sd.count()), sd.PureDP(1))
    assert session.remaining == sd.PureDP(1)


def test_a_file_that_changes_while_it_is_read_fails(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,2\n" * 10)
    source = CSVSource(sd.Csv(path, {"x": "i64"}), {})
    rows = source.hand_over([0])
    path.write_text("x,y\n" + "1,2\n" * 9)
    with pytest.raises(EngineFailure):
        rows.read_all()


def test_a_wrong_delimiter_is_told_from_the_header(tmp_path: Path) -> None:
    """A file with semicolons says so, before its records are looked at."""
    path = tmp_path / "t.csv"
    path.write_text("x;y\n1,5;2\n")
    with pytest.raises(
        InvalidParameter, match=r"Try sd\.Csv\('t.csv', delimiter=';'\)"
    ):
        MemoryEngine().open("t", path, {"x": sd.Column("f64")})


def test_quotes_can_be_letters(tmp_path: Path) -> None:
    """Without quoting a quote is a letter; or other signs stand around fields."""
    path = tmp_path / "t.csv"
    path.write_text("x,y\n5\" pipe,'a,b'\n".replace("'a,b'", "'a'"))
    assert column(path, "x", "text", quote=None) == ['5" pipe']
    assert column(path, "y", "text", quote="'") == ["a"]


@for_each(
    ("given", "says"),
    [
        ({"delimiter": ""}, "a single ASCII character"),
        ({"delimiter": "\n"}, "a single ASCII character"),
        ({"delimiter": "1"}, "a single ASCII character"),
        ({"delimiter": "\u00e9"}, "a single ASCII character"),
        ({"delimiter": '"'}, "is the delimiter"),
        ({"quote": 7}, "a single ASCII character"),
        ({"encoding": "utf8"}, "must be one of"),
        ({"encoding": "rot13"}, "must be one of"),
        ({"decimal": ";"}, "must be one of"),
        ({"date": "%d.%m"}, "year, month and day"),
        ({"date": "%d.%m.%Y %H"}, "more than a day"),
        ({"date": "%d.%m.%y"}, "has no %y"),
        ({"time": "%d%d%m%Y"}, "each once"),
        ({"time": "%Y-%m-%d %"}, "has no %"),
        ({"time": 7}, "must be a format"),
        ({"true": ()}, "text or a list of texts"),
        ({"true": "no"}, "also listed in false"),
        ({"null": 7}, "text or a list of texts"),
        ({"thousands": "."}, "also the decimal sign"),
        ({"thousands": "_"}, "must be one of"),
        ({"thousands": 7}, "must be one of"),
        ({"currency": "e"}, "occur in no number"),
        ({"currency": "5"}, "occur in no number"),
        ({"currency": ("$", "nan")}, "occur in no number"),
        ({"currency": ""}, "occur in no number"),
        ({"skip": -1}, "at least 0"),
        ({"skip": 1.5}, "must be an integer"),
        ({"skip": 10**6}, "at most 1000"),
        ({"skip": 3, "header": "x"}, "beside header"),
        ({"header": 7}, "must be text"),
        ({"columns": ["x"]}, "must be a dict from names to types"),
        ({"columns": {"x": "int"}}, "must be one of"),
    ],
)
def test_refused_declarations(given: Any, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says) as refused:
        sd.Csv("t.csv", **given)
    assert refused.value.name in {*given, "quote", "type"}


TITLED = 'Visits of 2026\nmade by "us\n\npatient;note\r\n1;a\r\n2;"b\nc"\n'


@for_each("told", [{"skip": 3}, {"header": "note"}], ids=repr)
@for_each("encoding", ["utf-8", "utf-16", "latin-1"])
def test_lines_of_title_stand_above_the_header(
    told: Any, encoding: str, tmp_path: Path
) -> None:
    """They are read as no row, whatever they hold; the header is found by a column."""
    path = tmp_path / "t.csv"
    path.write_bytes(TITLED.encode(encoding))
    kinds = {"patient": "i64", "note": "text"}
    rows = read(sd.Csv(path, kinds, delimiter=";", encoding=encoding, **told))
    assert rows == [{"patient": 1, "note": "a"}, {"patient": 2, "note": "b\nc"}]


def test_a_header_below_title_is_refused_by_its_line(tmp_path: Path) -> None:
    """Lines are numbered as an editor does, and a remedy names what is there to say."""
    path = tmp_path / "t.csv"
    path.write_text(TITLED + "3;x;y\n")
    engine = MemoryEngine()
    for told, says in (
        ({"skip": 3}, "line 8 has 3 fields, where the header has 2"),
        ({"skip": 99}, "line 100 has no header"),
        ({"header": "nobody"}, "first 1,000 lines of 't.csv' do not have"),
        ({}, "line 2 has a quote within a field"),
    ):
        with pytest.raises(InvalidParameter, match=says):
            engine.open("t", sd.Csv(path, {}, delimiter=";", **told), {})
    path.write_text("Visits;;\npatient;note;x\n1;a;b\n")
    with pytest.raises(InvalidParameter, match=r"line 1, that names '' twice.*skip=3"):
        engine.open("t", sd.Csv(path, {}, delimiter=";"), {})


def test_paths_and_columns_are_refused_when_opened(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    engine = MemoryEngine()
    with pytest.raises(InvalidParameter, match="path, a pattern or a list"):
        engine.open("t", sd.Csv(7), {})
    with pytest.raises(InvalidParameter, match="matches no file"):
        engine.open("t", sd.Csv(tmp_path / "other.csv"), {})
    with pytest.raises(InvalidParameter, match="by the table"):
        engine.open("t", sd.Csv(path, {"x": "i64"}), {"x": sd.Column("i64")})
    with pytest.raises(InvalidParameter, match="cannot be read as that"):
        engine.open("t", sd.Csv(path, {"x": "list[i64]"}), {})


def test_a_layout_is_read_alike_by_python_and_re2() -> None:
    """Signs that mean something in patterns stand for themselves."""
    layout = Layout.of("date", "(%d)[%m]*%Y%%+", clock=False)
    assert layout.parts == ("day", "month", "year")
