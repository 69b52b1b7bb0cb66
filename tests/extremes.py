"""Rows with extreme values, and steps that such rows go through."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa

import sordino as sd
from sordino.query.builder import Query

TYPES: Final[Mapping[str, pa.DataType]] = {
    "id": pa.string(),
    "g": pa.string(),
    "x": pa.int64(),
    "y": pa.float64(),
    "day": pa.date32(),
    "when": pa.timestamp("us"),
    "ill": pa.bool_(),
    "codes": pa.list_(pa.int64()),
}
Row = Mapping[str, Any]

PLAIN: Final[Row] = {
    "id": "p1",
    "g": "a",
    "x": 3,
    "y": 2.5,
    "day": date(2024, 2, 29),
    "when": datetime.fromisoformat("2024-02-29T12:00:00"),
    "ill": True,
    "codes": [1, 2],
}
BASE: Final[tuple[Row, ...]] = (
    PLAIN,
    {**PLAIN, "g": "b", "x": 7},
    {**PLAIN, "id": "p2", "y": 0.5, "codes": [2, 3, 4]},
    {**PLAIN, "id": "p2", "ill": False},
)
STRANGER: Final[Row] = {**PLAIN, "id": "p3"}
"""A row of an id that no other row has."""

_FIRST: Final = datetime.fromisoformat("0001-01-01T00:00:00")
_LAST: Final = datetime.fromisoformat("9999-12-31T23:59:59.999999")

EXTREMES: Final[Mapping[str, Row]] = {
    "NaN": {"y": float("nan")},
    "infinity": {"y": float("inf")},
    "minus infinity": {"y": float("-inf")},
    "minus zero": {"y": -0.0},
    "the largest double": {"y": 1.7976931348623157e308},
    "the least double": {"y": 5e-324},
    "the largest integer": {"x": 2**63 - 1},
    "the least integer": {"x": -(2**63)},
    "zero": {"x": 0, "y": 0.0},
    "nothing": dict.fromkeys(set(TYPES) - {"id"}),
    "no id": {"id": None},
    "the empty id": {"id": ""},
    "a NUL in a text": {"g": "a\0b", "id": "p\0"},
    "a name of a language": {"g": "__proto__"},
    "a statement": {"g": "'; DROP TABLE visits; --"},
    "a long text": {"g": "w" * 10_000_000},
    "a text of accents": {"g": "e\u0301" * 50, "id": "\U0001f600"},
    "the last day": {"day": date.max, "when": _LAST},
    "the first day": {"day": date.min, "when": _FIRST},
    "an empty list": {"codes": []},
    "a long list": {"codes": list(range(100_000))},
    "a list of nothing": {"codes": [None]},
    "no list": {"codes": None},
}
"""What is special about one row."""


def table(*rows: Row) -> pa.Table:
    """Return rows as an Arrow table, in which NaN is not null."""
    return pa.table({
        name: pa.array([one[name] for one in rows], kind, from_pandas=False)
        for name, kind in TYPES.items()
    })


def _half(row: dict[str, Any]) -> dict[str, Any]:
    """Compute what fails for many rows."""
    return {"half": row["x"] / row["y"], "text": row["g"][0]}


def _words(row: dict[str, Any]) -> Any:
    """Make rows that are of a wrong type, or too many, or fail half-way."""
    yield {"word": row["g"]}
    yield {"word": row["x"]}
    yield {"word": 1 / row["x"]}


_C: Final = sd.col
STEPS: Final[Mapping[str, Callable[[Query], Query]]] = {
    "filter": lambda q: q.filter((_C("y") > 0) | (_C("x") % 3 == 0)),
    "filter of texts": lambda q: q.filter(_C("g").starts_with("a") | ~_C("ill")),
    "arithmetic": lambda q: q.with_columns(
        x=_C("x") * _C("x") + 1, y=_C("x") / _C("y") - _C("y"), z=_C("x") // _C("x")
    ),
    "casts": lambda q: q.with_columns(
        x=_C("y").cast("i64"), y=_C("g").cast("f64"), g=_C("x").cast("text")
    ),
    "texts": lambda q: q.with_columns(
        g=_C("g").upper().slice(0, 3), x=_C("g").length(), ill=_C("g").contains("a")
    ),
    "dates": lambda q: q.with_columns(
        x=_C("day").year(), day=_C("day").add_days(1), n=_C("when").hour()
    ),
    "choices": lambda q: q.with_columns(
        g=sd.when(_C("y") > 1).then(_C("g")).otherwise("low")
    ),
    "bins": lambda q: q.bin("y", [0.0, 1.0, 8.0], "g").bin("x", [0, 5, 10], "b"),
    "fill": lambda q: q.fill_null(g="none", x=0).fill_nan(y=1.0),
    "infinities": lambda q: q.replace_infinity(y=(-9, 9)),
    "drop nulls": lambda q: q.drop_nulls(),
    "drop NaN": lambda q: q.drop_nan(),
    "a function": lambda q: q.with_columns(
        sd.udf(_half, returns={"half": "f64", "text": "text"})
    ),
    "rows by a function": lambda q: q.flat_map(_words, {"word": "text"}, max_rows=2),
    "a list": lambda q: q.flat_map("codes", max_rows=3).rename({"codes": "code"}),
    "a public join": lambda q: q.join_public("wards", on="g", how="left"),
    "a public join on doubles": lambda q: q.join_public("rates", on="y"),
    "a join with itself": lambda q: q.enforce(sd.MaxRowsPerID(2)).join_private(
        "bounded", on="id"
    ),
    "bounds": lambda q: q.enforce(
        sd.MaxGroupsPerID(["g", "day"], 1), sd.MaxRowsPerGroupPerID("g", 1)
    ),
    "a selection": lambda q: q.select("x", "y", "g"),
}
"""Steps, each with what could fail on a row."""
PUBLIC: Final[Mapping[str, Mapping[str, Any]]] = {
    "wards": {"g": ["a", "a", None, "low"], "beds": [1, 2, 3, 4]},
    "rates": {"y": [0.0, -0.0, float("nan"), 2.5], "rate": [1, 2, 3, 4]},
}
