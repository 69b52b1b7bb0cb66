"""Values in Python: what Arrow holds, as our types or None.

This is the plain meaning of the rules by which a table is opened (`sordino.schema`);
SQL engines say the same in their own words.
"""

import datetime as dt
import math
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa

from sordino.sources.arrow_kinds import is_list, is_uuid, kind_of

LONGEST: Final = 1 << 20
"""Bytes of the longest text that has a value."""

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_DAY_ZERO: Final = dt.date(1970, 1, 1).toordinal()
_LAST_DAY: Final = dt.date.max.toordinal()
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY_MILLISECONDS: Final = 86_400_000


def fit_i64(number: int) -> int | None:
    """Return an integer that fits into 64 bits."""
    return number if -(2**63) <= number < 2**63 else None


def decode_text(utf8: bytes) -> str | None:
    r"""Return the text of bytes in UTF-8, if it is not too long.

    >>> decode_text(b"caf\xc3\xa9"), decode_text(b"caf\xe9")
    ('café', None)
    """
    try:
        return utf8.decode() if len(utf8) <= LONGEST else None
    except UnicodeDecodeError:
        return None


def values_of(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as our types."""
    arrow = array.type
    if is_uuid(arrow):
        return _map_valid(array.storage, lambda blob: str(uuid.UUID(bytes=blob)))
    if isinstance(arrow, pa.BaseExtensionType):
        return values_of(array.storage)
    if pa.types.is_dictionary(arrow):
        return values_of(array.dictionary_decode())
    return _plain(array)


def _plain(array: pa.Array) -> list[Any]:
    """Return the values of an array of no extension."""
    arrow = array.type
    if is_list(arrow):
        return [
            None if not scalar.is_valid else values_of(scalar.values)
            for scalar in array
        ]
    match kind_of(arrow):
        case "time":
            scale = _PER_SECOND[arrow.unit]
            return _map_valid(
                array.cast(pa.int64()), lambda tick: moment_of(tick, scale)
            )
        case "date":
            return _dates(array)
        case "text":
            blobs = array.cast(pa.large_string()).cast(pa.large_binary())
            return _map_valid(blobs, decode_text)
        case kind:
            return _map_valid(array, _READINGS.get(kind or "", bool))


def _map_valid(array: pa.Array, reading: Callable[[Any], Any]) -> list[Any]:
    """Return the readings of the values that are not missing."""
    return [None if value is None else reading(value) for value in array.to_pylist()]


def moment_of(ticks: int, scale: int) -> dt.datetime | None:
    """Return the moment so many ticks after 1970, of which a second has `scale`.

    Halves of a microsecond go away from 1970.
    """
    size = (2 * abs(ticks) * 10**6 + scale) // (2 * scale)
    try:
        return _EPOCH + dt.timedelta(microseconds=size if ticks >= 0 else -size)
    except OverflowError:
        return None


def _dates(array: pa.Array) -> list[Any]:
    """Return the days of dates of 32 bits (days) or 64 bits (milliseconds)."""
    if pa.types.is_date32(array.type):
        return _map_valid(array.cast(pa.int32()), day_of)
    ticks = array.cast(pa.int64())
    return _map_valid(ticks, lambda tick: day_of(tick // _DAY_MILLISECONDS))


def day_of(number: int) -> dt.date | None:
    """Return a day by its number after 1970."""
    ordinal = number + _DAY_ZERO
    return dt.date.fromordinal(ordinal) if 1 <= ordinal <= _LAST_DAY else None


_READINGS: Final[dict[str, Callable[[Any], Any]]] = {
    "i64": fit_i64,
    "f64": lambda number: float(number) + 0.0,
}


def sort_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as what groups and sorts as they do: missing first, NaN last.

    >>> sort_values([None, 1.5, math.nan]) == sort_values([None, 1.5, -math.nan])
    True
    """
    return tuple(map(_sortable, values))


def _sortable(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, list):
        return (1, sort_values(value))
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)
