"""Rows as Python objects: pandas frames, and dicts of lists.

A cell is known by its own type, never by what it says of itself: of a built-in type
and of what inherits from it only the built-in part is read; other types are known
themselves, and not what inherits from them. So no method of a cell runs, but the zone
of a clock.

| the type of a cell | is read as |
|---|---|
| bool, int, float, and those of NumPy | bool, i64, f64 |
| Decimal, Fraction | f64, the nearest double |
| str; bytes in UTF-8; UUID | text |
| date | date |
| datetime, Timestamp, datetime64 | time in UTC, to the nearest microsecond |
| list, tuple, array of one dimension | a list of what its entries are |
| all others | missing |

In a column that is declared as another type a cell becomes what `cast` makes of it, as
it would in a whole column of its type.

What a column is follows from its dtype or from its declaration; what a cell becomes,
from that and from the cell.

| a column | without a declaration | declared |
|---|---|---|
| pandas, of a dtype with a type | that type; in float64 NaN is missing | a cast |
| pandas, dtype object or category | not usable | cell by cell; NaN is missing |
| pandas, another dtype | not usable | refused |
| the index of a pandas frame | not usable | refused |
| an array in a dict | its type | a cast |
| a list in a dict | the one type of its cells; two are refused | cell by cell |

A dict without declarations is for trying things out: its types are taken from its
values, by who opens it.

Kernel: totals.
"""

import datetime as dt
import decimal
import fractions
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sordino.data.arrow import TableSource, column_type
from sordino.data.source import (
    LONGEST,
    AbstractSource,
    day_of,
    decode_text,
    fit_i64,
    moment_of,
)
from sordino.errors import InvalidParameter
from sordino.expressions.casts import CAST, CASTS
from sordino.expressions.schema import PLAIN, Column
from sordino.numbers.arrays import as_arrow

Read: TypeAlias = tuple[str, Any]
"""One of our types, or "list", and the value; integers may be wider than 64 bits."""

_NANOSECONDS: Final = 10**9
_LEAST: Final = -(2**63)


def cell_of(cell: Any, kind: str) -> Any:
    """Value of a cell in a column of a type; None where it has none.

    >>> cell_of(7.0, "i64"), cell_of("7", "i64"), cell_of(b"a", "text")
    (7, 7, 'a')
    """
    return _in_column(cell, kind, _cast)


def coerce(value: Any, kind: str) -> Any:
    """Return a value of a function as its declared type, or None if it is of another.

    >>> coerce(3, "f64"), coerce(3.0, "i64"), coerce([True, "x"], "list[bool]")
    (3.0, None, [True, None])
    """
    return _in_column(value, kind, lambda *_: None)


def _in_column(cell: Any, kind: str, other: Callable[[Any, str, str], Any]) -> Any:
    read = read_cell(cell)
    if read is None:
        return None
    known, value = read
    if known == "list":
        inner = kind[5:-1] if kind.startswith("list[") else ""
        return [_in_column(entry, inner, other) for entry in value] if inner else None
    try:
        if (known, kind) == ("i64", "f64"):
            return float(value)
        value = fit_i64(value) if known == "i64" else value
        return value if known == kind or value is None else other(value, known, kind)
    except OverflowError:
        return None


def _cast(value: Any, known: str, kind: str) -> Any:
    return CAST.meaning(value, to=kind) if (known, kind) in CASTS else None


def read_cell(cell: Any) -> Read | None:
    """Return the type of ours that a cell has and its value, or None for missing."""
    try:
        kind: Any = type(cell)
        reading = _reader_of(kind)
        return None if reading is None else reading(cell)
    except Exception:  # noqa: BLE001 a zone of a clock may fail as it likes
        return None


@cache
def _reader_of(kind: Any) -> Callable[[Any], Read | None] | None:
    if kind in _EXACT:
        return _EXACT[kind]
    # not `kind.__mro__`, which a metaclass may answer as it likes
    for base in type.__dict__["__mro__"].__get__(kind):
        room = base.__module__.partition(".")[0]
        if room == "pandas" and base.__name__ in _OF_PANDAS:
            return partial(_OF_PANDAS[base.__name__], base)
        if base in _READINGS:
            return _READINGS[base]
    return None


def _pandas_moment(base: Any, value: Any) -> Read | None:
    return _numpy_moment(base.to_datetime64(value))


_OF_PANDAS: Final[Mapping[str, Callable[[Any, Any], Read | None]]] = {
    "NaTType": lambda *_: None,  # it claims to be a datetime
    "NAType": lambda *_: None,
    "Timestamp": _pandas_moment,
}


def _text(value: str) -> Read | None:
    plain = str.__str__(value)  # no method of a class that inherits from it runs
    return ("text", plain) if len(plain.encode()) <= LONGEST else None


def _decode(blob: bytes) -> Read | None:
    text = decode_text(bytes.__add__(blob, b""))
    return None if text is None else ("text", text)


def _double(value: Any) -> Read:
    return "f64", float(value) + 0.0


def _day(value: dt.date) -> Read:
    return "date", dt.date.fromordinal(dt.date.toordinal(value))


def _moment(value: dt.datetime) -> Read:
    moment = dt.datetime.combine(dt.datetime.date(value), dt.datetime.time(value))
    offset = dt.datetime.utcoffset(value)  # asks its zone, which may fail as it likes
    return "time", moment if offset is None else moment - offset


def _numpy_moment(value: np.datetime64) -> Read | None:
    unit, many = np.datetime_data(value.dtype)
    ticks = int(value.view("i8")) * many
    if ticks == _LEAST:  # NaT
        return None
    if unit in _MONTHS:
        months = ticks * _MONTHS[unit]
        return "date", dt.date(1970 + months // 12, months % 12 + 1, 1)
    if unit in _DAYS:
        day = day_of(ticks * _DAYS[unit])
        return None if day is None else ("date", day)
    moment = moment_of(ticks * _PARTS[unit], _NANOSECONDS)
    return None if moment is None else ("time", moment)


_MONTHS: Final = {"Y": 12, "M": 1}
_DAYS: Final = {"W": 7, "D": 1}
_PARTS: Final = {
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
"""Nanoseconds of the units of NumPy that are shorter than a day."""


def _entries(values: Any) -> Read | None:
    if isinstance(values, np.ndarray):
        return ("list", list(values)) if values.ndim == 1 else None
    base = list if issubclass(type(values), list) else tuple
    return "list", [*base.__iter__(values)]


_READINGS: Final[Mapping[type, Callable[[Any], Read | None]]] = {
    bool: lambda truth: ("bool", truth),
    int: lambda number: ("i64", int.__add__(number, 0)),
    float: lambda number: ("f64", float.__add__(number, 0.0)),  # -0.0 becomes 0.0
    str: _text,
    bytes: _decode,
    dt.date: _day,
    dt.datetime: _moment,
    decimal.Decimal: lambda number: _double(decimal.Decimal.__float__(number)),
    list: _entries,
    tuple: _entries,
}

_EXACT: Final[Mapping[type, Callable[[Any], Read | None]]] = {
    fractions.Fraction: _double,
    uuid.UUID: lambda uid: ("text", str(uid)),
    np.ndarray: _entries,
    np.datetime64: _numpy_moment,
    np.bool_: lambda truth: ("bool", bool(truth)),
    **dict.fromkeys(
        (np.dtype(code).type for code in np.typecodes["AllInteger"]),
        lambda number: ("i64", int(number)),
    ),
    **dict.fromkeys((np.dtype(code).type for code in np.typecodes["Float"]), _double),
}
"""How cells of other types are read, but not of what inherits from them."""

_OWN: Final[Mapping[str, type]] = {
    "i64": int,
    "f64": float,
    "text": str,
    "bool": bool,
    "date": dt.date,
}
"""Types whose cells Arrow reads as we do."""


def column_of_cells(cells: Iterable[Any], kind: str) -> pa.Array:
    """Return the cells of a column as its type.

    Where all cells are of the one type that Arrow reads as we do, it may; that is told
    from their types, and no cell is asked.
    """
    listed = list(cells)
    array = _at_once(listed, kind)
    if array is None:
        values = [cell_of(value, kind) for value in listed]
        # in a dict NaN is a value; as from pandas it would be missing
        array = pa.array(values, column_type(kind), from_pandas=False)
    return array


def _at_once(cells: list[Any], kind: str) -> pa.Array | None:
    if kind not in _OWN or not set(map(type, cells)) <= {type(None), _OWN[kind]}:
        return None
    try:
        array = pa.array(cells, column_type(kind), from_pandas=False)
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None
    if kind == "f64":
        return pc.add(array, 0.0)
    if kind == "text" and (pc.max(pc.binary_length(array)).as_py() or 0) > LONGEST:
        return None
    return array


def kinds_of_cells(cells: Iterable[Any]) -> set[str]:
    """Return which types of ours the cells of a column have; "" is for none of them.

    >>> sorted(kinds_of_cells([1, None, 2.5])), kinds_of_cells([[1], []])
    (['f64', 'i64'], {'list[i64]'})
    """
    kinds: set[str] = set()
    for cell in cells:
        known, value = _read_known(cell)
        if known == "list":
            inner = {_read_known(entry)[0] for entry in value if entry is not None}
            kinds |= {f"list[{kind}]" if kind in PLAIN else "" for kind in inner}
        elif cell is not None:
            kinds.add(known)
    return kinds


def _read_known(cell: Any) -> Read:
    return read_cell(cell) or ("", None)


_NUMPY: Final = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
_PANDAS: Final = re.compile(
    r"(U?Int(8|16|32|64)|Float(32|64)|Boolean|DatetimeTZ|String|Arrow)Dtype"
)
"""The types of pandas that say what their cells are."""


_INDEX: Final = "it is the index of the frame, which is not read; give df.reset_index()"


def of_pandas(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a pandas frame; its index is not a column."""
    index = (str(label) for label in frame.index.names if label is not None)
    names, arrays, unsaid = [], [], dict.fromkeys(index, _INDEX)
    for place, label in enumerate(frame.columns):
        name, series = str(label), frame.iloc[:, place]
        unsaid.pop(name, None)
        array = _of_series(series, declared.get(name))
        if isinstance(array, str):
            unsaid[name] = array
            array = pa.nulls(len(series))
        names.append(name)
        arrays.append(array)
    return TableSource(pa.Table.from_arrays(arrays, names=names), unsaid)


def _of_series(series: Any, declared: Column | None) -> Any:
    dtype = series.dtype
    sort = type(dtype).__name__
    if sort in {"ObjectDType", "CategoricalDtype"}:
        if declared is None:
            return (
                f"its dtype {dtype.name} says no type, which is never taken from cells;"
                ' declare it, for example columns={"day": "date"}'
            )
        return _without_nan(column_of_cells(series.array, declared.type))
    if sort == "StringDtype" and dtype.storage == "python":
        return column_of_cells(series.array, "text")
    if _is_plain(dtype) or _PANDAS.fullmatch(sort) or str(dtype).startswith("datetime"):
        return pa.Array.from_pandas(series)
    return (
        f"its dtype {dtype if isinstance(dtype, np.dtype) else sort} has no place here"
    )


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.isnative and dtype.str[1:] in _NUMPY


def _without_nan(array: pa.Array) -> pa.Array:
    """Return a column in which NaN is missing, as it is to pandas."""
    if not pa.types.is_floating(array.type):
        return array
    return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)


def of_columns(columns: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a dict of lists."""
    arrays, unsaid = [], {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise InvalidParameter(
                "source",
                "a dict",
                "must have text as column names",
                "Name every column.",
            )
        array = _of_values(name, values, declared.get(name))
        if isinstance(array, str):
            unsaid[name] = array
            array = pa.nulls(len(values))
        arrays.append(array)
    if len({len(array) for array in arrays}) > 1:
        raise InvalidParameter(
            "source",
            "a dict",
            "must have columns of the same length",
            "Pad the shorter ones with None.",
        )
    return TableSource(pa.table(arrays, names=list(columns)), unsaid)


def _of_values(name: str, values: Any, declared: Column | None) -> Any:
    sorts = (
        f"{ancestor.__module__}.{ancestor.__name__}"
        for ancestor in type(values).__mro__
    )
    typed = next((_TYPED[sort] for sort in sorts if sort in _TYPED), None)
    if typed is not None:
        return typed(values, declared)
    if isinstance(values, np.ndarray) and values.ndim == 1 and _is_plain(values.dtype):
        return as_arrow(values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(
            "source", name, "must have a list of values in each column", "Give a list."
        )
    cells = list(values)
    if declared is not None:
        return column_of_cells(cells, declared.type)
    kinds = sorted(kinds_of_cells(cells))
    if len(kinds) > 1:
        listed = " and ".join(kind or "values of no type" for kind in kinds)
        raise InvalidParameter(
            "source",
            name,
            f"has columns without a declared type, and one mixes {listed}",
            f'Declare it: columns={{{name!r}: "{kinds[-1]}"}}.',
        )
    if kinds in ([], [""]):
        return "none of its values has a type; declare one"
    return column_of_cells(cells, kinds[0])


_TYPED: Final[Mapping[str, Callable[[Any, Column | None], Any]]] = {
    "pyarrow.lib.Array": lambda array, _: array,
    "pyarrow.lib.ChunkedArray": lambda array, _: array,
    "pandas.Series": _of_series,
    "polars.series.series.Series": lambda series, _: series.to_arrow(),
}
"""How columns that say a type become Arrow, by their class."""

FROM_OBJECTS: Final[dict[str, Callable[..., AbstractSource]]] = {
    "builtins.dict": of_columns,
    "pandas.DataFrame": of_pandas,
}
"""How the objects of each class become a source, by package and class."""
