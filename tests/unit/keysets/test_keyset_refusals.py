"""What is no set of keys: typed, naming the argument, showing it and the remedy."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sordino.data import KeySet
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError, UnknownName
from sordino.expressions.schema import Column, Schema
from tests.batches import calls_of, for_each
from tests.unit.keysets.models import Among, Number

NAN = float("nan")
EAST = timezone(timedelta(hours=1))
NOT_UTF8 = pa.array([b"\xff"], pa.binary()).view(pa.string())

COLUMNS: dict[str, tuple[Any, str]] = {
    "no values": ([], "must hold at least one key"),
    "no rows": (pa.array([], pa.int64()), "must hold at least one key"),
    "text for a list": ("AB", "must be a list"),
    "bytes for a list": (b"AB", "must be a list"),
    "a dict": ({"x": 1}, "must be a list"),
    "a number": (3, "must be a list"),
    "floats": ([1, 0.5], "must not hold floats.*got 0.5.*Bin them first"),
    "numpy floats": (np.array([0.5, 1]), "must not hold floats.*Bin them first"),
    "half floats": (np.array([0.5], np.float16), "must not hold floats"),
    "arrow floats": (pa.array([None, NAN, 0.5]), "must not hold floats.*got 0.5"),
    "integers turned floats": (pd.Series([1, None]), 'hold floats.*dtype "Int64"'),
    "zeros of both signs": ([0.0, -0.0], "must not hold floats"),
    "NaN": ([NAN], "must not hold NaN.*None"),
    "NaN beside text": (["A", NAN], "must not hold NaN.*None"),
    "NaN of numpy": (["A", np.float32("nan")], "must not hold NaN"),
    "NaN in objects": (pd.Series(["A", NAN], dtype=object), "must not hold NaN"),
    "NaN alone in arrow": (pa.array([NAN]), "must not hold NaN"),
    "text and integers": ([1, "1"], r"not i64 and text, got \[1, '1'\]"),
    "bools and integers": ([True, 1], "not bool and i64"),
    "numpy bools and integers": ([np.True_, np.int8(1)], "not bool and i64"),
    "dates and times": ([date(2025, 1, 1), datetime.now(UTC)], "not date and time"),
    "too long": ([2**63], "64 bits.*got 9223372036854775808"),
    "too long below": ([-(2**63) - 1], "64 bits"),
    "far too long": ([10**300], r"64 bits.*301 digits"),
    "unsigned too long": (np.array([2**63], np.uint64), "64 bits"),
    "lone surrogate": (["a\ud800"], r"valid Unicode.*got 'a\\ud800'"),
    "lone surrogate in numpy": (np.array(["\udfff"]), "valid Unicode"),
    "not UTF-8": (NOT_UTF8, "valid Unicode"),
    "only None": ([None, None], r"all its values are missing.*types=\{'x': \"i64\"\}"),
    "only null": (pa.nulls(2), "all its values are missing"),
    "only NaT": ([np.datetime64("NaT"), pd.NaT, pd.NA], "all its values are missing"),
    "decimals": ([Decimal(1)], "type Decimal"),
    "arrow decimals": (pa.array([Decimal(1)]), "type decimal128"),
    "fractions": ([Fraction(1, 2)], "type Fraction"),
    "complex": ([1j], "type complex"),
    "numpy complex": (np.array([1j]), "type complex128"),
    "pandas complex": (pd.Series([1j]), "type complex128"),
    "bytes": ([b"x"], "type bytes"),
    "arrow bytes": (pa.array([b"x"]), "type binary"),
    "lists": ([[1]], "type list"),
    "arrow lists": (pa.array([[1]]), "type list"),
    "structs": (pa.array([{"x": 1}]), "type struct"),
    "times of day": ([time(1)], "type time"),
    "durations": ([timedelta(1)], "type timedelta"),
    "numpy durations": (np.array([1], "m8[s]"), "type timedelta64"),
    "arrow durations": (pa.array([1], pa.duration("s")), "type duration"),
    "periods": (pd.Series(pd.period_range("2025", periods=1)), "must hold keys, and"),
    "wide integers": (pl.Series([1], dtype=pl.Int128), "type Int128"),
    "scalars of arrow": ([pa.scalar(1)], "type Int64Scalar"),
    "objects": ([object()], "type object"),
    "years": ([np.datetime64("2025")], "not Y"),
    "years in numpy": (np.array(["2025"], "M8[Y]"), "not Y"),
    "picoseconds": (np.array([1], "M8[ps]"), "not ps"),
    "after 9999": (np.array(["10000-01-01"], "M8[D]"), r"9999, got .*10000-01-01"),
    "after 9999 alone": ([np.datetime64("10000-01-01")], "1 to 9999"),
    "after 9999, in time": (np.array(["10000-01-01T00"], "M8[s]"), "1 to 9999"),
    "after 9999, in hours": (np.array(["10000-01-01T00"], "M8[h]"), "1 to 9999"),
    "before 1": (np.array(["0000-12-31"], "M8[us]"), "1 to 9999"),
    "before 1 in arrow": (pa.array([-719_163], pa.int32()).view(pa.date32()), "1 to"),
    "farthest second": (pa.array([-(2**63)], pa.timestamp("s")), "1 to 9999"),
    "before 1 in UTC": ([datetime(1, 1, 1, tzinfo=EAST)], "1 to 9999"),
    "nanoseconds": (np.array([0, 1_001], "M8[ns]"), "whole microseconds.*00001001'"),
    "a nanosecond": ([np.datetime64(1, "ns")], "whole microseconds"),
    "a nanosecond of pandas": ([pd.Timestamp(1)], "whole microseconds"),
    "half a day": (pa.array([0, 1], pa.int64()).view(pa.date64()), "whole days"),
    "two dimensions": (np.zeros((2, 2), np.int64), "one dimension"),
    "no dimension": (np.array(3), "one dimension"),
}  # fmt: skip


@for_each("case", COLUMNS)
def test_senseless_columns_are_refused_by_name(case: str) -> None:
    values, message = COLUMNS[case]
    for make in (KeySet.from_dict, KeySet.from_table):
        with pytest.raises(InvalidParameter, match=rf"^column 'x' .*{message}"):
            make({"y": [1], "x": values})


A = KeySet.from_dict({"a": [1, 2]})
HUGE = KeySet.from_dict({"h": range(10_000), "i": range(10_000)})
ODD: Any = KeySet

CALLS = calls_of("refused/keysets", globals())


@for_each("case", CALLS)
def test_senseless_calls_are_refused(case: str) -> None:
    call, message = CALLS[case]
    with pytest.raises(InvalidParameter, match=message) as caught:
        call()
    assert ", got " in str(caught.value)
    assert str(caught.value).endswith((".", ")"))
    assert len(str(caught.value)) < 300


@for_each(
    "call",
    [
        lambda: A["aa"],
        lambda: A.rename({"aa": "b"}),
        lambda: KeySet.from_dict({"a": [1]}, types={"aa": "i64"}),
        lambda: A.filter(Among(("aa",), frozenset())),
        lambda: A.check(Schema.of([("aa", Column("i64"))])),
    ],
)
def test_unknown_columns_are_told_the_known_ones(call: Callable[[], Any]) -> None:
    with pytest.raises(UnknownName, match=r"there is no column 'aa?'\. Did you mean"):
        call()


def test_conditions_must_be_true_or_false() -> None:
    with pytest.raises(InvalidParameter, match="true or false, not i64"):
        A.filter(Number())


@for_each(
    ("there", "remedy"),
    [("text", "Cast the column, or write the keys as t"), ("f64", "Floats"),
     ("list[i64]", "Explode the list"), ("bool", "Cast the column")],
)  # fmt: skip
def test_keys_of_another_type_than_the_table_are_refused(
    there: str, remedy: str
) -> None:
    with pytest.raises(
        InvalidQuery, match=rf"i64 in the column 'a', .* {re.escape(there)}\. {remedy}"
    ):
        A.check(Schema.of([("b", Column("i64")), ("a", Column(there))]))  # fmt: skip


def test_keys_of_other_columns_than_the_groups_are_refused() -> None:
    """The keys have the columns of the groups, and come back in their order."""
    schema = Schema.of([("b", Column("i64")), ("a", Column("i64"))])
    both = A * A.rename({"a": "b"})
    assert both.check(schema) is both
    assert both.check(schema, ("b", "a")).columns == ("b", "a")
    assert both.check(schema, ("b", "a")) == both
    with pytest.raises(InvalidParameter, match=r"^keys must have the columns a, b, "):
        A.check(schema, ("a", "b"))
    with pytest.raises(SordinoError, match=r"^keys must have the columns a, g"):
        both.check(schema, ("a",))
