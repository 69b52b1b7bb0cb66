"""The same keys from any container: exact, canonical, and independent of it."""

from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from sordino.data import KeySet
from tests.batches import for_each
from tests.unit.keysets.models import keys_of

EAST = timezone(timedelta(hours=1))
NOON = datetime.fromisoformat("2025-03-01T12:00:00")
DAY = date(2025, 3, 1)
FIRST = datetime.fromisoformat("0001-01-01T00:00:00")
LAST = datetime.fromisoformat("9999-12-31T23:59:59.999999")
TEN = datetime.fromisoformat("1970-01-01T00:00:10")


class Ward(str, Enum):  # noqa: UP042 the older kind is the harder one
    """Text that is an enumeration, whose `str` is not its text."""

    A = "A"


class Number(IntEnum):
    """An integer that is an enumeration."""

    ONE = 1


COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "list": ([2, 1, 2], [1, 2]),
    "tuple": ((2, None), [None, 2]),
    "set": ({3, 1}, [1, 3]),
    "range": (range(3), [0, 1, 2]),
    "views of a dict": ({"b": 1, "a": 2}.keys(), ["a", "b"]),
    "generator": ((one for one in "ba"), ["a", "b"]),
    "numpy": (np.array([2, 1, 2], np.int8), [1, 2]),
    "numpy, bytes swapped": (np.array([2, 1], ">i4"), [1, 2]),
    "numpy bools": (np.array([True, False]), [False, True]),
    "numpy text": (np.array(["b", "a"]), ["a", "b"]),
    "numpy objects": (np.array(["b", None], object), [None, "b"]),
    "masked": (np.ma.masked_array([1, 2], [False, True]), [None, 1]),
    "numpy days": (np.array(["2025-03-01", "NaT"], "M8[D]"), [None, DAY]),
    "first and last day": (np.array(["9999-12-31", "0001-01-01"], "M8[D]"),
                           [date.min, date.max]),
    "first and last time": (
        np.array(["9999-12-31T23:59:59.999999", "0001-01-01"], "M8[us]"), [FIRST, LAST]
    ),
    "last second": (np.array(["9999-12-31T23:59:59"], "M8[s]"),
                    [LAST.replace(microsecond=0)]),
    "numpy hours": (np.array(["2025-03-01T12"], "M8[h]"), [NOON]),
    "numpy seconds": (np.array(["2025-03-01T12"], "M8[s]"), [NOON]),
    "numpy nanoseconds": (np.array(["2025-03-01T12", "NaT"], "M8[ns]"), [None, NOON]),
    "numpy steps": (np.array([1], "M8[10s]"), [TEN]),
    "arrow": (pa.array([2, 1, 2], pa.uint64()), [1, 2]),
    "arrow, chunked": (pa.chunked_array([[2], [], [1, 2]], pa.int16()), [1, 2]),
    "arrow, sliced": (pa.array([9, 2, None, 7])[1:3], [None, 2]),
    "arrow, large text": (pa.array(["b", "a"], pa.large_string()), ["a", "b"]),
    "arrow, dictionary": (pa.array(["b", "a", "b"]).dictionary_encode(), ["a", "b"]),
    "arrow, milliseconds": (pa.array([NOON], pa.timestamp("ms")), [NOON]),
    "arrow, zone": (pa.array([NOON], pa.timestamp("s", "Europe/Oslo")), [NOON]),
    "arrow, date64": (pa.array([DAY], pa.date64()), [DAY]),
    "pandas": (pd.Series([2, 1], index=[5, 6]), [1, 2]),
    "pandas, sliced": (pd.Series([3, 2, 1])[1:], [1, 2]),
    "pandas, nullable": (pd.Series([2, None], dtype="Int64"), [None, 2]),
    "pandas, text": (pd.Series(["b", None], dtype="str"), [None, "b"]),
    "pandas, objects": (pd.Series(["b", None, pd.NA], dtype=object), [None, "b"]),
    "pandas, categories": (pd.Series(pd.Categorical(["b"], list("abc"))), ["b"]),
    "pandas, zone": (pd.Series([NOON]).dt.tz_localize("UTC"), [NOON]),
    "pandas, index": (pd.date_range("2025-03-01T12", periods=1), [NOON]),
    "polars": (pl.Series([2, 1, None]), [None, 1, 2]),
    "polars, text": (pl.Series(["b", "a"]), ["a", "b"]),
    "polars, categories": (pl.Series(["b"], dtype=pl.Categorical), ["b"]),
    "polars, zone": (pl.Series([NOON]).dt.replace_time_zone("Asia/Tokyo"),
                     [NOON - timedelta(hours=9)]),
    "one integer in several types": ([1, np.int64(1), np.uint8(1), Number.ONE], [1]),
    "one text in several types": (["A", np.str_("A"), Ward.A], ["A"]),
    "one bool in several types": ([True, np.True_], [True]),
    "one day in several types": ([DAY, np.datetime64("2025-03-01")], [DAY]),
    "one time in several types": (
        [NOON, NOON.replace(tzinfo=UTC), datetime(2025, 3, 1, 13, tzinfo=EAST),
         np.datetime64("2025-03-01T12"), np.datetime64("2025-03-01T12", "ns"),
         pd.Timestamp("2025-03-01T12"), pd.Timestamp("2025-03-01T13", tz=EAST)],
        [NOON],
    ),
    "everything missing is None": ([None, pd.NaT, np.datetime64("NaT"), DAY],
                                   [None, DAY]),
    "numbers by size": ([10, 9, -1, -(2**63)], [-(2**63), -1, 9, 10]),
    "text by code point": (["\U0001f600", "\uffff", "é", "z", ""],
                           ["", "z", "é", "\uffff", "\U0001f600"]),
    "text with zeros": (["a\0", "a", "a\0b"], ["a", "a\0", "a\0b"]),
    "text is not normalised": (["e\u0301", "\u00e9"], ["e\u0301", "\u00e9"]),
}  # fmt: skip


@for_each("case", COLUMNS)
def test_values_are_read_exactly(case: str) -> None:
    given, expected = COLUMNS[case]
    values = KeySet.from_dict({"x": given}).table().column("x").to_pylist()
    assert values == expected
    assert [type(one) for one in values] == [type(one) for one in expected]


@for_each("kind", ["i64", "text", "bool", "date", "time"])
def test_declared_types_settle_columns_of_none(kind: str) -> None:
    types = {"x": kind}
    for keys in (
        KeySet.from_dict({"x": [None]}, types=types),
        KeySet.from_tuples([(None,), (None,)], columns=("x",), types=types),
        KeySet.from_table(pa.table({"x": pa.nulls(3)}), types=types),
    ):
        assert keys_of(keys) == [(None,)]
        assert keys.schema["x"].type == kind
        assert keys.schema["x"].nullable


def test_tables_of_all_kinds_are_one_set() -> None:
    rows = {"ward": ["B", "A", "B"], "year": [2, 1, 2], "open": [True, False, True]}
    tables: list[Any] = [
        rows,
        pa.table(rows),
        pa.record_batch(rows),
        pd.DataFrame(rows, index=[7, 8, 9]),
        pl.DataFrame(rows),
    ]
    expected = KeySet.from_tuples(
        [("A", 1, False), ("B", 2, True)], columns=("ward", "year", "open")
    )
    for table in tables:
        keys = KeySet.from_table(table)
        assert keys == expected
        assert keys_of(keys) == keys_of(expected)
        assert keys.fingerprint == expected.fingerprint


def test_tuples_may_be_lists() -> None:
    """JSON has no tuples."""
    keys = KeySet.from_tuples([["A", 1], ("A", 1)], columns=["ward", "year"])  # type: ignore[arg-type, list-item]
    assert keys_of(keys) == [("A", 1)]


def test_sets_do_not_change_with_their_source() -> None:
    array = np.arange(3)
    keys = KeySet.from_dict({"x": array})
    array[:] = 7
    assert keys_of(keys) == [(0,), (1,), (2,)]


def test_the_table_is_plain() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"]), "y": ["c", "d"]})
    table = KeySet.from_table(frame).table()
    assert table.schema.metadata is None
    assert table.schema.types == [pa.string(), pa.string()]
    assert all(column.num_chunks == 1 for column in table.columns)


def test_names_may_look_like_paths() -> None:
    keys = KeySet.from_dict({".a[0].b": [2, 1], "a.b": [None, "x"]})
    assert keys_of(keys) == [(1, None), (1, "x"), (2, None), (2, "x")]
    assert (keys - keys[["a.b", ".a[0].b"]]).size == 0
