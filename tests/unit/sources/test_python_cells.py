"""Cells of Python and of Arrow become values of ours, or are missing."""

import datetime as dt
import itertools
import math
import random
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sordino.auditing.hostile_sources import bits_as
from sordino.data.arrow import column_of, column_type, handed_columns
from sordino.data.python_rows import cell_of, coerce, column_of_cells, kinds_of_cells
from sordino.data.source import kind_of, sort_values, values_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter
from sordino.expressions.schema import PLAIN, Column
from tests.batches import for_each, sampled
from tests.effort import often
from tests.odd_cells import ARROW, FRAMES, Loud, LoudText

DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001 UTC
READ = [
    (7.0, "i64", 7),
    (7.9, "i64", 7),
    (math.nan, "i64", None),
    (Decimal("7.5"), "f64", 7.5),
    (Decimal("0.1"), "f64", 0.1),
    (Decimal("sNaN"), "f64", None),
    (Decimal("1e999"), "f64", math.inf),
    (Decimal(7), "i64", 7),
    (Fraction(1, 3), "f64", 1 / 3),
    (2**70, "i64", None),
    (2**70, "f64", float(2**70)),
    (10**400, "f64", None),
    (2**53 + 1, "f64", float(2**53)),
    (True, "i64", 1),
    (True, "text", "true"),
    ("7", "i64", 7),
    ("7.5", "f64", 7.5),
    ("x", "f64", None),
    ("2020-01-01", "date", DAY),
    ("\ud800", "text", None),
    (b"caf\xc3\xa9", "text", "café"),
    (b"caf\xe9", "text", None),
    (uuid.UUID(int=5), "text", "00000000-0000-0000-0000-000000000005"),
    (np.int8(5), "i64", 5),
    (np.float32(0.5), "f64", 0.5),
    (np.bool_(True), "bool", True),
    (np.str_("x"), "text", "x"),
    (NOON, "date", DAY),
    (DAY, "time", dt.datetime(2020, 1, 1)),  # noqa: DTZ001 UTC
    (pd.Timestamp(NOON), "date", DAY),
    (pd.Timestamp("2020-01-01 21:00", tz="Asia/Tokyo"), "time", NOON),
    (pd.Timestamp(1500), "time", dt.datetime(1970, 1, 1, 0, 0, 0, 2)),  # noqa: DTZ001
    (pd.Timestamp(1499), "time", dt.datetime(1970, 1, 1, 0, 0, 0, 1)),  # noqa: DTZ001
    (np.datetime64("2020-01-01"), "date", DAY),
    (np.datetime64("2020"), "date", DAY),
    (np.datetime64("2020-01-01T12"), "time", NOON),
    (np.datetime64(2**62, "s"), "time", None),
    (dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), "time", None),
    (pd.NaT, "time", None),
    (pd.NA, "text", None),
    (np.array([1, 2]), "list[i64]", [1, 2]),
    (np.array([[1], [2]]), "list[i64]", None),
    ((1, "2", [3]), "list[i64]", [1, 2, None]),
    (dt.time(1), "text", None),
    ({"a": 1}, "text", None),
    (1j, "f64", None),
    (np.timedelta64(7, "s"), "i64", None),
    (dt.timedelta(7), "i64", None),
]


@for_each(("cell", "kind", "expected"), READ, ids=repr)
def test_a_cell_is_read_by_its_type(cell: Any, kind: str, expected: Any) -> None:
    assert cell_of(cell, kind) == expected
    assert column_of_cells([cell], kind).to_pylist() == [expected]


def test_no_cell_is_asked() -> None:
    """A cell whose every method fails is missing, or the built-in part of it."""
    for kind in (*PLAIN, "list[text]"):
        assert column_of_cells([Loud(), None], kind).null_count == 2
    assert column_of_cells([LoudText("x"), "y"], "text").to_pylist() == ["x", "y"]
    for base in (np.int64, Fraction, uuid.UUID):
        heir = type("Heir", (base,), {"__int__": Loud._fails, "__str__": Loud._fails})
        held = heir(int=7) if base is uuid.UUID else heir(7)
        assert column_of_cells([held], "text").to_pylist() == [None]
    assert kinds_of_cells([Loud(), LoudText("x")]) == {"", "text"}


def test_a_clock_without_a_zone_that_works_is_missing() -> None:
    """A zone is the one thing of a cell that is asked, and may fail."""

    class Broken(dt.tzinfo):
        def utcoffset(self, _: Any) -> Any:
            raise ZeroDivisionError

        dst = tzname = utcoffset

    assert cell_of(NOON.replace(tzinfo=Broken()), "time") is None


@for_each("kind", [*PLAIN, "list[f64]"])
def test_the_fast_way_is_the_slow_one(kind: str) -> None:
    """For any cells: a column is what its cells are, one by one."""
    dice = random.Random(3)
    pool = FRAMES["objects as text"].pool
    for _ in range(400):
        few = [dice.choice(pool) for _ in range(dice.randrange(1, 3))]
        cells = few * dice.randrange(1, 3)
        made = column_of_cells(cells, kind).to_pylist()
        assert sort_values(made) == sort_values([cell_of(one, kind) for one in cells])


def test_functions_give_values_of_their_type() -> None:
    """What a function of a row returns is not cast, though read alike."""
    assert coerce(7.0, "i64") is None
    assert coerce("7", "i64") is None
    assert coerce(Decimal("7.5"), "f64") == 7.5
    assert coerce([1, "x"], "list[i64]") == [1, None]


OPENED: dict[str, tuple[Any, dict[str, str] | str]] = {
    "one type": ({"x": [1, None], "y": ["a", "b"]}, {"x": "i64", "y": "text"}),
    "decimals": ({"x": [Decimal(1), 2.5]}, {"x": "f64"}),
    "lists": ({"x": [[1], [], None]}, {"x": "list[i64]"}),
    "an array": ({"x": np.array([1, 2], np.uint8)}, {"x": "i64"}),
    "moments": ({"x": np.array(["2020-01-01T01"], "M8[s]")}, {"x": "time"}),
    "a series": ({"x": pd.Series([1.5])}, {"x": "f64"}),
    "Arrow": ({"x": pa.array(["a"])}, {"x": "text"}),
    "nothing": ({"x": [None], "y": []}, "columns of the same length"),
    "no value": ({"x": [None], "y": [object()]}, {}),
    "two types": ({"x": [1, "a"]}, "mixes i64 and text"),
    "two numbers": ({"x": [1, 2.5]}, "mixes f64 and i64"),
    "two lists": ({"x": [[1], ["a"]]}, "mixes list"),
    "an odd one": ({"x": [1, 1j]}, "mixes values of no type and i64"),
    "no list": ({"x": 5}, "must have a list of values"),
    "a text": ({"x": "abc"}, "must have a list of values"),
    "no names": ({1: [1]}, "must have text as column names"),
    "rows": ([{"x": 1}], "must be a list of paths, not of dict"),
}


@for_each(
    ("name", "engine"), [*itertools.product(OPENED, [MemoryEngine, duckdb_engine])]
)
def test_dicts_say_their_types_or_are_refused(name: str, engine: type[Any]) -> None:
    """A column has the one type of its values; a refusal shows no value of it."""
    source, expected = OPENED[name]
    if isinstance(expected, str):
        with pytest.raises(InvalidParameter, match=expected):
            engine().open("t", source, {})
    else:
        schema = engine().open("t", source, {})
        assert {key: schema[key].type for key in schema} == expected


@for_each("dtype", ["object", "category"])
def test_dtypes_that_say_nothing_are_declared(dtype: str) -> None:
    """Whatever is in it, the column is unusable until its type is declared."""
    for cells in (["a", "b"], ["a", 3], [DAY], [None], []):
        frame = pd.DataFrame({"x": pd.Series(cells, dtype=object).astype(dtype)})
        engine = duckdb_engine()
        assert engine.open("t", frame, {}).names == ()
        assert 'columns={"day": "date"}' in engine.unusable("t")["x"]
        assert engine.open("t", frame, {"x": Column("text")})["x"].type == "text"


@for_each(
    "made",
    [
        pd.period_range("2020", periods=2, freq="M"),
        pd.interval_range(0, 2),
        pd.arrays.SparseArray([0, 1]),
        pd.to_timedelta([1, 2]),
        np.array([1j, 2]),
        np.array([1.5, 2], ">f8"),
    ],
    ids=lambda one: str(one.dtype),
)
def test_other_dtypes_are_not_usable(made: Any) -> None:
    """The dtypes of pandas that have no place are unusable, and say why."""
    engine = duckdb_engine()
    assert engine.open("t", pd.DataFrame({"x": made}), {}).names == ()
    assert "has no place here" in engine.unusable("t")["x"]
    with pytest.raises(InvalidParameter, match="cannot be used"):
        engine.open("t", pd.DataFrame({"x": made}), {"x": Column("i64")})


TRIES = often(60, 150)


def _same(one: list[Any], other: list[Any]) -> bool:
    """Tell whether values are the same; NaN is, and a zero has no sign."""
    return sort_values(one) == sort_values(other)


@sampled(6)
@for_each("name", ARROW)
def test_a_column_is_what_its_cells_are(name: str) -> None:
    """For any cells, sliced or not: as a whole, one by one, and in plain Python."""
    form, dice = ARROW[name], random.Random(1)
    for _ in range(TRIES):
        cells = [dice.choice(form.pool) for _ in range(dice.randrange(1, 7))]
        array = form.make(cells)
        start = dice.randrange(len(cells))
        made = column_of(array)
        assert made.type == column_type(kind_of(array.type) or "")
        whole = made.to_pylist()
        assert _same(whole, values_of(array))
        assert _same(whole[start:], column_of(array.slice(start)).to_pylist())
        alone = [column_of(form.make([one])).to_pylist()[0] for one in cells]
        assert _same(whole, alone)


def test_zeros_have_no_sign() -> None:
    for array in (
        pa.array([-0.0]),
        pa.array([-0.0], pa.float32()),
        pa.array([Decimal("-0.0")]),
    ):
        assert str(column_of(array)[0].as_py()) == "0.0"


def test_every_decimal_is_the_nearest_double() -> None:
    """For any digits and scale: as Python reads the number that is written."""
    dice = random.Random(2)
    for kind in (pa.decimal32(9, 4), pa.decimal64(18, 3), pa.decimal128(38, 20)):
        digits = [
            dice.randrange(-(10**kind.precision), 10**kind.precision) for _ in "x" * 300
        ]
        numbers = [Decimal(one).scaleb(-kind.scale) for one in digits]
        made = column_of(pa.array(numbers, kind)).to_pylist()
        assert made == [float(one) for one in numbers]


def test_a_database_reads_what_is_handed_over() -> None:
    batches = [pa.record_batch({"x": pa.array([2**63, 5], pa.uint64())})] * 3
    connection = duckdb.connect()
    handed = handed_columns(batches, (("x", pa.uint64()),), [0])
    connection.register("t", handed)
    rows = connection.execute("SELECT count(*), sum(c0) FROM t WHERE c0 < 7").fetchall()
    assert rows == [(3, 15)]
    plan = connection.execute("EXPLAIN SELECT c0 FROM t WHERE c0 < 7").fetchall()[0][1]
    assert "Filter" in plan


def test_long_texts_are_missing_alone() -> None:
    texts = pa.array(["a", "x" * (1 << 20), "x" * ((1 << 20) + 1), "é" * (1 << 19)])
    lengths = [one and len(one) for one in column_of(texts).to_pylist()]
    assert lengths == [1, 1 << 20, None, 1 << 19]
    assert column_of_cells(texts.to_pylist(), "text").null_count == 1


def test_bits_under_missing_values_mean_nothing() -> None:
    there = pa.array([False, True]).buffers()[1]
    far = pa.py_buffer(np.array([2**63 - 1, 0]).tobytes())
    moments = pa.Array.from_buffers(pa.timestamp("s"), 2, [there, far])
    assert column_of(moments).to_pylist()[0] is None
    assert column_of(bits_as(pa.date32())([None, 0])).null_count == 1
