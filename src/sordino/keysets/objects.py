"""Columns of keys in Python objects, one by one: exact, or refused."""

import operator
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from types import NoneType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from sordino.arrays import as_arrow
from sordino.errors import InvalidParameter
from sordino.keysets.columns import (
    Read,
    argument,
    outside_calendar,
    read_arrow,
    refused_float,
    refused_integer,
    refused_text,
    refused_type,
    too_fine,
)
from sordino.schema import arrow_type

_KINDS: Final[dict[type, str]] = {
    bool: "bool",
    int: "i64",
    str: "text",
    datetime: "time",
    date: "date",
}
_PLAIN: Final = frozenset({bool, int, str, date, NoneType})
"""Types whose values are taken as they are; times may have a zone."""
_COARSE: Final = ("h", "m", "s", "ms", "us", "ns")
_MOST: Final = 2**63


def read_objects(name: str, values: Sequence[Any]) -> Read:
    """Return Python objects of one kind in our type, or refuse them."""
    foreign = {kind: _reader(kind) for kind in set(map(type, values)) - _PLAIN}
    if foreign:
        read = [
            foreign[type(value)](name, value) if type(value) in foreign else value
            for value in values
        ]
    else:
        read = list(values)
    kinds = {type(value) for value in read} - {NoneType}
    if len(kinds) > 1:
        raise _refuse_mixture(name, read, kinds)
    if not kinds:
        return Read(None, pa.nulls(len(read)))
    kind = _KINDS[kinds.pop()]
    if kind == "i64":
        _refuse_long_integers(name, read)
    if kind == "i64" and None not in read:
        return Read(kind, as_arrow(np.array(read, np.int64)))
    if kind != "text":
        return Read(kind, pa.array(read, arrow_type(kind)))
    try:
        return read_arrow(name, pa.array(read, pa.large_string()))
    except UnicodeEncodeError as error:
        raise refused_text(name, error.object) from None


def _refuse_mixture(
    name: str, values: Sequence[Any], kinds: set[type]
) -> InvalidParameter:
    """Return the refusal of several types, with an example of each."""
    examples = [
        next(value for value in values if type(value) is kind)
        for kind in sorted(kinds, key=lambda kind: _KINDS[kind])
    ]
    listed = " and ".join(sorted(_KINDS[kind] for kind in kinds))
    return InvalidParameter(
        argument(name),
        examples,
        f"must hold values of one type, not {listed}",
        "Convert them to one type.",
    )


def _refuse_long_integers(name: str, values: Sequence[Any]) -> None:
    """Refuse integers of more than 64 bits."""
    for value in values:
        if value is not None and not -_MOST <= value < _MOST:
            raise refused_integer(name, value)


def _read_bool(name: str, value: Any) -> bool:
    """Return a NumPy bool as one of Python."""
    del name
    return bool(value)


def _read_integer(name: str, value: Any) -> int:
    """Return an integer of another library, or of an enumeration."""
    del name
    return operator.index(value)


def _read_text(name: str, value: str) -> str:
    """Return text of another class, such as an enumeration."""
    del name
    return str.__str__(value)


def _read_missing(name: str, value: Any) -> None:
    """Return None for the missing values of pandas."""
    del name, value


def _read_time(name: str, value: datetime) -> datetime:
    """Return a time in UTC without a zone; a time without a zone is in UTC."""
    try:
        moved = value if value.utcoffset() is None else value.astimezone(UTC)
    except OverflowError:
        raise outside_calendar(name, value) from None
    return datetime.combine(moved.date(), moved.time())


def _read_timestamp(name: str, value: Any) -> datetime:
    """Return a time of pandas, which may be finer and further away than ours."""
    if value.nanosecond:
        raise too_fine(name, value)
    try:
        return _read_time(name, value.to_pydatetime())
    except (ValueError, OverflowError, NotImplementedError):
        raise outside_calendar(name, value) from None


def _read_date(name: str, value: date) -> date:
    """Return a date of another class."""
    del name
    return date.fromordinal(value.toordinal())


def _read_datetime64(name: str, value: np.datetime64) -> date | None:
    """Return a date or time of NumPy; days are dates, what is finer are times."""
    if np.isnat(value):
        return None
    unit, _ = np.datetime_data(value.dtype)
    if unit == "D":
        day = value.item()
        if type(day) is not date:
            raise outside_calendar(name, value)
        return day
    if unit not in _COARSE:
        raise InvalidParameter(
            argument(name),
            value,
            f"must hold NumPy times in a unit from days to microseconds, not {unit}",
            'Convert them with .astype("datetime64[D]") or "datetime64[us]".',
        )
    if unit == "ns" and value.astype(np.int64) % 1_000:
        raise too_fine(name, value)
    moment = (value.astype("M8[us]") if unit == "ns" else value).item()
    if type(moment) is not datetime:
        raise outside_calendar(name, value)
    return moment


def _refuse_float(name: str, value: Any) -> None:
    """Refuse a float."""
    raise refused_float(name, float(value))


def _refuse(name: str, value: Any) -> None:
    """Refuse a value of a type that keys do not have."""
    raise refused_type(name, type(value).__name__, value)


_READERS: Final[tuple[tuple[type, Callable[[str, Any], Any]], ...]] = (
    (np.bool_, _read_bool),
    (np.timedelta64, _refuse),  # which is an integer to NumPy
    (int, _read_integer),
    (np.integer, _read_integer),
    (str, _read_text),
    (float, _refuse_float),
    (np.floating, _refuse_float),
    (np.datetime64, _read_datetime64),
    (datetime, _read_time),
    (date, _read_date),
    (object, _refuse),
)
_PANDAS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "NAType": _read_missing,
    "NaTType": _read_missing,
    "Timestamp": _read_timestamp,
}


def _reader(kind: type) -> Callable[[str, Any], Any]:
    """Return what reads values of a type; pandas is known by name, not imported."""
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in _PANDAS:
        return _PANDAS[kind.__name__]
    return next(reader for base, reader in _READERS if issubclass(kind, base))
