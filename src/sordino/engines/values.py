"""Values in Python: what Arrow holds and what functions return, as our types or None.

This is the plain meaning of the rules by which a table is opened (`sordino.schema`);
SQL engines say the same in their own words.
"""

import datetime as dt
import math
import uuid
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Final

import pyarrow as pa

from sordino.engines.kinds import is_list, is_uuid

LONGEST: Final = 1 << 20
"""Bytes of the longest text that has a value."""

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_DAY_ZERO: Final = dt.date(1970, 1, 1).toordinal()
_LAST_DAY: Final = dt.date.max.toordinal()
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY_MILLISECONDS: Final = 86_400_000


def coerced(value: Any, kind: str) -> Any:
    """Return a value as one of our types, or None if it is of another.

    >>> coerced(3, "f64"), coerced(3.0, "i64"), coerced([True, "x"], "list[bool]")
    (3.0, None, [True, None])
    """
    try:
        return _COERCIONS[kind](value)
    except Exception:  # noqa: BLE001 a value's own methods may fail as they like
        return None


def _integer(value: Any) -> int | None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return within(int(value)) if whole else None


def within(number: int) -> int | None:
    """Return an integer that fits into 64 bits."""
    return number if -(2**63) <= number < 2**63 else None


def _double(value: Any) -> float | None:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) + 0.0 if real else None


def _text(value: Any) -> str | None:
    fits = isinstance(value, str) and len(value.encode()) <= LONGEST
    return str(value) if fits else None


def _bool(value: Any) -> bool | None:
    return bool(value) if type(value).__name__ in ("bool", "bool_") else None


def _date(value: Any) -> dt.date | None:
    return value if type(value) is dt.date else None


def _time(value: Any) -> dt.datetime | None:
    if not isinstance(value, dt.datetime):
        return None
    if value.utcoffset() is not None:
        value = value.astimezone(dt.UTC)
    made: dt.datetime = dt.datetime.combine(value.date(), value.time())
    return made


_PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "i64": _integer,
    "f64": _double,
    "text": _text,
    "bool": _bool,
    "date": _date,
    "time": _time,
}


def _each(kind: str) -> Callable[[Any], list[Any] | None]:
    """Return the coercion of a list of a kind."""

    def coerce(value: Any) -> list[Any] | None:
        if not isinstance(value, (list, tuple)):
            return None
        return [coerced(one, kind) for one in value]

    return coerce


_COERCIONS: Final[dict[str, Callable[[Any], Any]]] = {
    **_PLAIN,
    **{f"list[{kind}]": _each(kind) for kind in _PLAIN},
}


def values_of(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as our types."""
    arrow = array.type
    if is_uuid(arrow):
        return _mapped(array.storage, lambda held: str(uuid.UUID(bytes=held)))
    if isinstance(arrow, pa.BaseExtensionType):
        return values_of(array.storage)
    if pa.types.is_dictionary(arrow):
        return values_of(array.dictionary_decode())
    return _plain(array)


def _plain(array: pa.Array) -> list[Any]:
    """Return the values of an array of no extension."""
    arrow = array.type
    if is_list(arrow):
        return [None if not one.is_valid else values_of(one.values) for one in array]
    if pa.types.is_timestamp(arrow):
        scale = _PER_SECOND[arrow.unit]
        return _mapped(array.cast(pa.int64()), lambda ticks: _moment(ticks, scale))
    if pa.types.is_date(arrow):
        return _dates(array)
    return _mapped(array, _READINGS[_family(arrow)])


def _mapped(array: pa.Array, reading: Callable[[Any], Any]) -> list[Any]:
    """Return the readings of the values that are not missing."""
    return [None if one is None else reading(one) for one in array.to_pylist()]


def _moment(ticks: int, scale: int) -> dt.datetime | None:
    """Return so many ticks after the epoch, halves of a microsecond away from it."""
    size = (2 * abs(ticks) * 10**6 + scale) // (2 * scale)
    try:
        return _EPOCH + dt.timedelta(microseconds=size if ticks >= 0 else -size)
    except OverflowError:
        return None


def _dates(array: pa.Array) -> list[Any]:
    """Return the days of dates of 32 bits (days) or 64 bits (milliseconds)."""
    if pa.types.is_date32(array.type):
        return _mapped(array.cast(pa.int32()), _day)
    ticks = array.cast(pa.int64())
    return _mapped(ticks, lambda one: _day(one // _DAY_MILLISECONDS))


def _day(number: int) -> dt.date | None:
    ordinal = number + _DAY_ZERO
    return dt.date.fromordinal(ordinal) if 1 <= ordinal <= _LAST_DAY else None


def _family(arrow: pa.DataType) -> str:
    """Return how plain values of a type are read."""
    if pa.types.is_integer(arrow):
        return "integer"
    if pa.types.is_boolean(arrow):
        return "bool"
    numeric = pa.types.is_floating(arrow) or pa.types.is_decimal(arrow)
    return "number" if numeric else "text"


_READINGS: Final[dict[str, Callable[[Any], Any]]] = {
    "integer": within,
    "bool": bool,
    "number": lambda one: float(one) + 0.0,
    "text": _text,
}


def canonical(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as what groups and sorts as they do: missing first, NaN last.

    >>> canonical([None, 1.5, math.nan]) == canonical([None, 1.5, -math.nan])
    True
    """
    return tuple(map(_sortable, values))


def _sortable(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, list):
        return (1, canonical(value))
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)
