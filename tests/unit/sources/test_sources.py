"""The same rows give the same answers, whatever holds them."""

import datetime as dt
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from sordino.aggregations.measurement import Distinct, Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    STRANGE,
    comparable_answer,
    question_of,
    sortable_rows,
    whole_question,
)
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter, UnknownName
from sordino.expressions.language import col
from sordino.expressions.schema import Column
from sordino.query.nodes import Question, Source
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT, in_duckdb_order

ROWS = pa.table({
    "id": pa.array([1, 1, 1, 2, None, 2**62, -5], pa.int64()),
    'a"b;--': ["x", "y", "line\nbreak", None, 'quo"ted', "é", "x"],
    "A": pa.array([1.5, 0.0, -2.25, None, 1e300, 3.0, 1.5]),
    "ok": [True, False, None, True, True, False, True],
    "day": pa.array([dt.date(2020, 2, 29)] * 5 + [None, dt.date(1, 1, 1)]),
    "when": pa.array(
        [dt.datetime(2020, 1, 1, 2, 3, 4, 567)] * 6 + [None],  # noqa: DTZ001 UTC
        pa.timestamp("us"),
    ),
})
TYPES = ("i64", "text", "f64", "bool", "date", "time")
KINDS = dict(zip(ROWS.schema.names, TYPES, strict=True))
DECLARED = {name: Column(kind) for name, kind in KINDS.items()}


def _parquet(folder: Path) -> Path:
    pq.write_table(ROWS.slice(0, 3), folder / "part 1's.parquet", row_group_size=2)
    pq.write_table(ROWS.slice(3), folder / "part 2.parquet")
    return folder


def _database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("held", ROWS)
    connection.execute('CREATE TABLE "of; it" AS FROM held')
    return connection


def _csv(table: pa.Table, path: Path) -> str:
    """Return the path of a file of texts in quotes, which may hold line breaks."""
    pa_csv.write_csv(table, path)
    return str(path)


MADE: dict[str, Callable[[Path], Any]] = {
    "table": lambda _: ROWS,
    "chunks": lambda _: pa.concat_tables([ROWS.slice(0, 2), ROWS.slice(2)]),
    "batch": lambda _: ROWS.combine_chunks().to_batches()[0],
    "reader": lambda _: ROWS.to_reader(2),
    "data set": lambda at: ds.dataset(_parquet(at)),
    "one path": lambda at: (pq.write_table(ROWS, at / "t.PARQUET"), at / "t.PARQUET")[
        1
    ],
    "pattern": lambda at: str(_parquet(at) / "*.parquet"),
    "paths": lambda at: sorted(_parquet(at).glob("*"), reverse=True),
    "csv": lambda at: _csv(ROWS, at / "it's.csv"),
    "pandas": lambda _: ROWS.to_pandas(),
    "pandas of Arrow": lambda _: ROWS.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda _: (
        ROWS.to_pandas().astype(object).where(ROWS.to_pandas().notna(), None)
    ),
    "polars": lambda _: pl.from_arrow(ROWS),
    "lazy polars": lambda _: pl.DataFrame(pl.from_arrow(ROWS)).lazy(),
    "duckdb table": lambda _: (_database(), "of; it"),
    "duckdb relation": lambda _: _database().sql('FROM "of; it"'),
    "lists": lambda _: ROWS.to_pydict(),
}
ENGINES: dict[str, Callable[[], AbstractEngine]] = {
    "memory": lambda: MemoryEngine(order=in_duckdb_order(SALT)),
    "duckdb": lambda: duckdb_engine(salt=SALT),
}


def _asked(engine: AbstractEngine, source: Any, declared: Any) -> Any:
    schema = engine.open("t", source, declared)
    assert {name: schema[name].type for name in schema} == KINDS
    asked = whole_question(plans.bound_rows(Source("t", schema), ("id",), 2), "id")
    return comparable_answer(asked, engine.answer(asked))


@sampled(3)
@for_each("engine", ENGINES)
@for_each("made", MADE)
def test_sources_agree(engine: str, made: str, tmp_path: Path) -> None:
    expected = _asked(ENGINES["memory"](), ROWS, {})
    assert _asked(ENGINES[engine](), MADE[made](tmp_path), DECLARED) == expected


@for_each("made", ["table", "parquet", "data set", "csv", "polars"])
def test_names_are_exact(made: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(STRANGE, path)
    sources: dict[str, Any] = {
        "table": STRANGE,
        "parquet": path,
        "data set": ds.dataset(STRANGE),
        "csv": _csv(STRANGE, tmp_path / "t.csv"),
        "polars": pl.DataFrame(STRANGE.to_pydict()),
    }
    engine = duckdb_engine()
    declared = {name: Column("i64") for name in STRANGE.schema.names}
    rows = Source("t", engine.open("t", sources[made], declared))
    totals = tuple(Total(col(name)) for name in STRANGE.schema.names)
    answer = engine.answer(Question(rows, (), totals))
    expected = [2 * n + 7 for n in range(STRANGE.num_columns)]
    assert [one[0].as_py() for one in answer.columns] == expected


WIDE = pa.table({
    "u64": pa.array([2**64 - 1, 2**63 - 1, 2**63, 0, None], pa.uint64()),
    "i8": pa.array([-128, 127, 0, None, 1], pa.int8()),
    "f32": pa.array([0.1, -0.0, math.nan, math.inf, None], pa.float32()),
    "cents": pa.array([Decimal("0.10"), Decimal("-9.99"), None] + [Decimal(1)] * 2),
    "wide": pa.array(
        [Decimal("1.1"), Decimal("-0.1"), None] + [Decimal("1e27") / 3] * 2,
        pa.decimal128(38, 10),
    ),
    "widest": pa.array(
        [Decimal("1.1"), Decimal("-0.1") - 10**30, None] + [Decimal(10**40 + 1)] * 2,
        pa.decimal256(60, 5),
    ),
    "large": pa.array(["a", "", None, "e", "x"], pa.large_string()),
    "view": pa.array(["a", "", None, "e", "x"], pa.string_view()),
    "coded": pa.array(["a", "", None, "a", "x"]).dictionary_encode(),
    "numbers": pa.array([1, 2, None, 2, 3]).dictionary_encode(),
    "uuid": pa.array([bytes(range(16)), None, *[bytes(16)] * 3], pa.uuid()),
    "far": pa.array([-(2**31), 2**31 - 1, -719162, -719163, 2932896], pa.date32()),
    "day": pa.array([0, -86_400_000, 2**62, None, 86_400_000], pa.date64()),
    "s": pa.array([-1, 0, 253402300799, 253402300800, None], pa.timestamp("s")),
    "ms": pa.array([-1, 0, 2**50, -(2**52), None], pa.timestamp("ms")),
    "us": pa.array([-1, 0, -(2**63) + 2, 2**62, None], pa.timestamp("us", "UTC")),
    "ns": pa.array([-1, 1500, 999, -2500, None], pa.timestamp("ns")),
    "zone": pa.array([-1, 1, 999, -1001, None], pa.timestamp("ns", "Asia/Tokyo")),
    "us zone": pa.array([-1, 1, 999, 0, None], pa.timestamp("us", "America/Lima")),
})
THOUSANDS = pa.array([Decimal(1000), Decimal("-99e3"), None], pa.decimal128(5, -3))
"""What Arrow can hold and a Parquet file cannot."""
LISTS = pa.table({
    "large": pa.array([[2**64 - 1, 5], [], None], pa.large_list(pa.uint64())),
    "fixed": pa.array([[0.1, -0.0], None, [1, 2]], pa.list_(pa.float32(), 2)),
    "texts": pa.array([["a", None], ["\u00e9"], []], pa.list_(pa.large_string())),
    "days": pa.array([[2**31 - 1, 0], None, [1]], pa.list_(pa.date32())),
})


@sampled(9)
@for_each(
    ("form", "name"),
    [
        *itertools.product(["table", "parquet"], WIDE.schema.names),
        ("table", "thousands"),
    ],
)
def test_types_become_ours(name: str, form: str, tmp_path: Path) -> None:
    """Each type turns into ours as in Python; what does not fit is missing."""
    thousands = name == "thousands"
    source: Any = pa.table({name: THOUSANDS}) if thousands else WIDE.select([name])
    if form == "parquet":
        pq.write_table(source, tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    answers = []
    for engine in (MemoryEngine(), duckdb_engine()):
        asked = question_of(Source("t", engine.open("t", source, {})), name)
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]


@for_each("name", LISTS.schema.names)
def test_lists_become_ours(name: str) -> None:
    answers = []
    for engine in (MemoryEngine(), duckdb_engine()):
        rows = Source("t", engine.open("t", LISTS, {}))
        asked = question_of(plans.explode_rows(rows, name), name)
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]


def test_long_text_is_missing() -> None:
    """A text of more than 1 MiB in UTF-8 has no value."""
    longest = "\u00e9" * 2**19
    texts = pa.table({"x": [longest, longest + "a", "a"]})
    for engine in (MemoryEngine(), duckdb_engine()):
        rows = Source("t", engine.open("t", texts, {}))
        answer = engine.answer(question_of(rows, totals=(Distinct(("x",)),)))
        assert answer.to_pylist() == [{"total 0": 2}]


UNUSABLE = {
    "struct": pa.array([{"x": 1}]),
    "map": pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int64())),
    "blob": pa.array([b"x"]),
    "interval": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    "clock": pa.array([1], pa.time64("us")),
    "nothing": pa.nulls(1),
    "half": pa.array([1.5], pa.float16()),
    "decimal": pa.nulls(1, pa.decimal128(20, -100)),
    "lists": pa.array([[[1]]]),
}


@for_each("name", UNUSABLE)
@for_each("engine", [MemoryEngine, duckdb_engine])
def test_unusable_columns_are_left_out(name: str, engine: type[Any]) -> None:
    """A column of a type that is none of ours is no column, and cannot be declared."""
    table = pa.table({name: UNUSABLE[name], "id": [1]})
    made = engine()
    schema = made.open("t", table, {})
    assert schema.names == ("id",)
    assert name in made.unusable("t")
    rows = Source("t", schema)
    assert made.answer(question_of(rows, "id")).to_pylist() == [{"id": 1, "total 0": 1}]
    assert made.answer(question_of(rows)).to_pylist() == [{"total 0": 1}]
    with pytest.raises(InvalidParameter, match="declares a column that cannot be used"):
        made.open("t", table, {name: Column("i64")})


@for_each("engine", [MemoryEngine, duckdb_engine])
def test_the_index_of_a_frame_is_told(engine: type[Any]) -> None:
    """What names the rows of pandas is no column, and the refusal says so."""
    frame = pd.DataFrame({"pid": [1, 2], "x": [3, 4], "y": [5, 6]})
    made = engine()
    assert made.open("t", frame.set_index(["pid", "x"]), {}).names == ("y",)
    assert set(made.unusable("t")) == {"pid", "x"}
    assert "reset_index()" in made.unusable("t")["pid"]
    with pytest.raises(InvalidParameter, match=r"index.*reset_index\(\)"):
        made.open("t", frame.set_index("pid"), {"pid": Column("i64")})
    beside = frame.set_index("pid", drop=False)
    assert made.open("t", beside, {}).names == ("pid", "x", "y")
    assert not made.unusable("t")


def test_declared_types_are_casts() -> None:
    table = pa.table({"x": ["1", " 2", "a", None, "9" * 30], "y": [1, 2, 3, 4, 5]})
    declared = {"x": Column("i64", nullable=False), "y": Column("f64")}
    for engine in (MemoryEngine(), duckdb_engine()):
        schema = engine.open("t", table, declared)
        assert schema["x"] is declared["x"]
        answer = engine.answer(question_of(Source("t", schema), "x", "y"))
        rows = sorted(row[:2] for row in sortable_rows(answer))
        assert rows[:3] == [((0,), (1, 3.0)), ((0,), (1, 4.0)), ((0,), (1, 5.0))]
        assert rows[3:] == [((1, 1), (1, 1.0)), ((1, 2), (1, 2.0))]


@for_each(
    ("source", "declared", "error", "says"),
    [
        (7, {}, InvalidParameter, "must be a table or the path of one"),
        ("no such file.parquet", {}, InvalidParameter, "matches no file"),
        ("pyproject.toml", {}, InvalidParameter, "by their endings"),
        ([], {}, InvalidParameter, "by their endings"),
        ("tests", {}, InvalidParameter, "must be a file"),
        ((1, 2), {}, InvalidParameter, "must be \\(connection, name of a table\\)"),
        (("v.duckdb", "v"), {}, InvalidParameter, "Give the connection itself"),
        (ROWS, {"aeg": Column("i64")}, UnknownName, "no column 'aeg'"),
        (ROWS, {"day": Column("bool")}, InvalidParameter, "cannot be read as that"),
        (
            pa.Table.from_arrays([[1], [2]], names=["x", "x"]),
            {},
            InvalidParameter,
            "two columns with the same name",
        ),
    ],
)
def test_refusals(source: Any, declared: Any, error: type[Any], says: str) -> None:
    for engine in (MemoryEngine(), duckdb_engine()):
        with pytest.raises(error, match=says):
            engine.open("t", source, declared)


def _fails_at_a_row() -> Any:
    """Return batches of which the second cannot be read."""

    def batches() -> Any:
        yield pa.record_batch({"x": [1]})
        raise ValueError("a private cell")

    schema = pa.schema({"x": pa.int64()})
    return pa.RecordBatchReader.from_batches(schema, batches())


def _hidden(of: str) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TEMP TABLE visits AS SELECT 1 AS x")
    return connection, of


@for_each("engine", [MemoryEngine, duckdb_engine])
@for_each(
    ("made", "named"),
    [
        (lambda: _hidden("visits"), "visits"),
        (lambda: _hidden("vists"), "vists"),
        (_fails_at_a_row, "RecordBatchReader"),
        (lambda: pl.LazyFrame({"x": ["a"]}).select("y"), "LazyFrame"),
    ],
)
def test_what_cannot_be_opened_is_named(
    engine: type[Any], made: Any, named: str
) -> None:
    """Opening is before any charge, and says which source, not what went wrong."""
    with pytest.raises(InvalidParameter, match="cannot be opened") as caught:
        engine().open("t", made(), {})
    assert repr(named) in str(caught.value)
    assert "private" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_csv_needs_declared_types(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    engine = duckdb_engine()
    assert engine.open("t", path, {"b": Column("i64")}).names == ("b",)
    assert "not declared" in engine.unusable("t")["a"]
