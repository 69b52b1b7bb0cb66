"""Columns of keys as our types, exactly, and the canonical form of a table of keys.

What would have to be rounded, cut or guessed is refused. A table is canonical if it is
sorted, has each key once, and has our Arrow types.

Keys are ordered by their columns in turn. A missing value comes first, then numbers and
dates by size, text code point by code point, and False before True.

Kernel: totals.
"""

import hashlib
import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from types import NoneType
from typing import Any, Final, NamedTuple, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.expressions.schema import arrow_type
from sordino.numbers.arrays import as_arrow, as_numpy
from sordino.numbers.rounding import decimals

MOST_KEYS: Final = 10_000_000
"""How many keys are written out at most."""
MOST_TEXT: Final = 2**31 - 1
"""How many bytes of text an Arrow column of text holds."""
KINDS: Final = {
    arrow_type(kind): kind for kind in ("i64", "text", "bool", "date", "time")
}
"""The types that keys may have."""

_FEW: Final = 10**15
_NAMED: Final = 4
_AS_NUMBERS: Final = {"bool": pa.uint8(), "date": pa.int32()}


@final
@dataclass(frozen=True, repr=False)
class Extent:
    """How many keys there are, and their columns; no key is listed."""

    count: int
    names: tuple[str, ...]
    exact: bool = True

    def __repr__(self) -> str:
        listed = ", ".join(self.names[:_NAMED])
        more = f", ... ({len(self.names)} columns)" if self.names[_NAMED:] else ""
        bound = "" if self.exact else "at most "
        noun = "key" if self.count == 1 else "keys"
        return f"{bound}{count_text(self.count)} {noun} of {listed}{more}"


def count_text(count: int) -> str:
    """Return a readable number, however large.

    >>> count_text(12_000), count_text(10**30), count_text(2**100)
    ('12,000', '1e30', '1.27e30')
    """
    if count < _FEW:
        return f"{count:,}"
    with decimals(3):
        head, _, exponent = f"{Decimal(count):.2e}".partition("e+")
    return f"{head.rstrip('0').rstrip('.')}e{exponent}"


def refuse_too_many(extent: Extent) -> None:
    """Refuse to write out more keys than anybody could want, before it is begun."""
    if extent.count > MOST_KEYS:
        raise InvalidParameter(
            "keys",
            extent,
            f"must be at most {MOST_KEYS:,} to be listed",
            "Filter, project or shorten the columns first.",
        )


def sort_canonically(table: pa.Table) -> pa.Table:
    """Return the different rows of a table in order, in memory of their own."""
    sorted_rows, new, _ = _sort(table)
    refuse_too_many(Extent(int(new.sum()), tuple(table.column_names)))
    return sorted_rows if new.all() else take_rows(sorted_rows, np.flatnonzero(new))


def ranks(table: pa.Table) -> NDArray[np.int64]:
    """Return the places of the rows in canonical order; equal rows have equal ones.

    The ranks of two tables compare only if the tables were put in one before.
    """
    _, new, order = _sort(table)
    places = np.empty(order.size, np.int64)
    places[order] = np.cumsum(new) - 1
    return places


def _sort(table: pa.Table) -> tuple[pa.Table, NDArray[np.bool_], NDArray[Any]]:
    """Return the rows in order, which of them differ from the one before, the order."""
    order = canonical_order(table)
    rows = take_rows(table, order)
    new = np.zeros(order.size, np.bool_)
    new[:1] = True
    for column in rows.columns:
        new[1:] |= _steps(column.combine_chunks())
    return rows, new, order


def canonical_order(table: pa.Table) -> NDArray[np.int64]:
    """Return the places of the rows in the order of their values, missing first."""
    keys = []
    for column in table.columns:
        # False, for missing, comes before True
        keys += [column.is_valid()] if column.null_count else []
        keys.append(column)
    names = [str(place) for place in range(len(keys))]  # safe in Arrow's field paths
    ascending = [(name, "ascending") for name in names]
    order = pc.sort_indices(pa.table(keys, names), sort_keys=ascending)
    places: NDArray[np.int64] = as_numpy(order).astype(np.int64)
    return places


def _steps(column: pa.Array) -> NDArray[np.bool_]:
    """Tell for each value but the first whether it differs from the one before."""
    after, before = column[1:], column[:-1]
    one_missing = pc.xor(after.is_null(), before.is_null())
    steps = pc.coalesce(pc.not_equal(after, before), one_missing)
    return as_numpy(steps)


def take_rows(table: pa.Table, rows: NDArray[Any]) -> pa.Table:
    """Return some rows of a table, refusing more text than a column can hold."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type == pa.string():
            # lengths have 32 bits: their sum needs more
            lengths = as_numpy(_without_gaps(pc.binary_length(column)))
            refuse_long_text(name, int(lengths[rows].sum(dtype=np.int64)))
    return table.take(as_arrow(rows)).combine_chunks()


def join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of tables with the same columns, one table after the other."""
    together = pa.concat_tables(tables)
    for name, column in zip(together.column_names, together.columns, strict=True):
        if column.type == pa.string():
            refuse_long_text(name, text_bytes(column))
    return together.combine_chunks()


def text_bytes(column: Any) -> int:
    """Return the number of bytes of all the text in a column."""
    return pc.sum(pc.cast(pc.binary_length(column), pa.int64())).as_py() or 0


def refuse_long_text(name: str, size: int) -> None:
    """Refuse a column with more text than Arrow can hold in one piece."""
    if size > MOST_TEXT:
        raise InvalidParameter(
            f"column {name!r}",
            size,
            f"must hold at most {MOST_TEXT:,} bytes of text",
            "Use shorter keys, such as codes.",
        )


def fingerprint(table: pa.Table) -> str:
    """Return a SHA-256 that depends on the set of keys alone.

    Hashed are a line of JSON with the sorted names and types of the columns and the
    number of keys; then, for each column, one byte for each key, 1 if it is there and 0
    if it is missing; the values as little-endian 64-bit integers, 0 if missing, which
    for text are the lengths in UTF-8; and for text the UTF-8 itself.
    """
    names = sorted(table.column_names)  # the order of columns tells no set apart
    ordered = sort_canonically(table.select(names))
    kinds = [KINDS[column.type] for column in ordered.columns]
    head = {"columns": list(zip(names, kinds, strict=True)), "keys": ordered.num_rows}
    digest = hashlib.sha256(json.dumps(head, separators=(",", ":")).encode() + b"\n")
    for column, kind in zip(ordered.columns, kinds, strict=True):
        digest.update(as_numpy(column.is_valid()).tobytes())
        digest.update(_numbers(column, kind).astype("<i8").tobytes())
        if kind == "text":
            digest.update(_joined_text(column))
    return digest.hexdigest()


def _numbers(column: pa.ChunkedArray, kind: str) -> NDArray[Any]:
    if kind == "text":
        values = pc.binary_length(column)
    else:
        values = column.cast(_AS_NUMBERS.get(kind, pa.int64()))
    return as_numpy(_without_gaps(values))


def _without_gaps(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    return numbers.fill_null(0) if numbers.null_count else numbers


def _joined_text(column: pa.ChunkedArray) -> memoryview:
    array = column.fill_null("").combine_chunks()
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)
    # a slice shares the buffers of the whole, of which other keys are no part
    first, last = offsets[array.offset], offsets[array.offset + len(array)]
    return memoryview(data_buffer or b"")[first:last]


FIRST_DAY: Final = -719_162
LAST_DAY: Final = 2_932_896
"""The first day of year 1 and the last of year 9999, counted from 1970."""

_DAY: Final = 86_400_000_000
_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
_NANOSECONDS: Final = 1_000
_FIRST: Final = FIRST_DAY * _DAY
_LAST: Final = (LAST_DAY + 1) * _DAY - 1
_MOST: Final = 2**63 - 1


@final
class Read(NamedTuple):
    """The values of a column in our type, or None if all are missing."""

    type: str | None
    values: pa.Array


def argument(name: str) -> str:
    """Return how a column is called in a refusal."""
    return f"column {name!r}"


def read_arrow(name: str, array: pa.Array) -> Read:
    """Return an Arrow array in our type, or refuse it."""
    if pa.types.is_dictionary(array.type):
        return read_arrow(name, array.dictionary_decode())
    for belongs, reader in _READERS:
        if belongs(array.type):
            return reader(name, array)
    raise refused_type(name, str(array.type), array[0].as_py() if array else None)


def refused_type(name: str, kind: str, example: object) -> InvalidParameter:
    """Return the refusal of a type that keys do not have."""
    return InvalidParameter(
        argument(name),
        example,
        f"must hold keys, and values of type {kind} are not",
        "Use integers, text, bools, dates or times, and None where one is missing.",
    )


def refused_float(name: str, example: object) -> InvalidParameter:
    """Return the refusal of floats."""
    if example != example:  # noqa: PLR0124 only NaN differs from itself
        return InvalidParameter(
            argument(name),
            example,
            "must not hold NaN, which equals nothing",
            "Write None for the group of missing values.",
        )
    return InvalidParameter(
        argument(name),
        example,
        "must not hold floats, which are seldom exactly equal",
        "Bin them first, or turn them into integers or text. (pandas turns integers "
        'beside missing values into floats: use dtype "Int64".)',
    )


def read_days(name: str, days: NDArray[np.int64], missing: NDArray[np.bool_]) -> Read:
    """Return dates from their distance to 1970."""
    outside = (days < FIRST_DAY) | (days > LAST_DAY)
    if outside.any():
        raise outside_calendar(name, days[outside].astype("M8[D]")[0])
    return Read("date", pa.array(days.astype("M8[D]"), mask=missing))


def read_ticks(
    name: str, ticks: NDArray[np.int64], unit: str, missing: NDArray[np.bool_]
) -> Read:
    """Return times from their distance to 1970 in a unit; missing ones are 0."""
    if unit == "ns":
        uneven = ticks % _NANOSECONDS != 0
        if uneven.any():
            raise too_fine(name, ticks[uneven].astype("M8[ns]")[0])
        ticks, unit = ticks // _NANOSECONDS, "us"
    each = _MICROSECONDS[unit]
    outside = (ticks < _FIRST // each) | (ticks > _LAST // each)
    if outside.any():
        raise outside_calendar(name, ticks[outside].astype(f"M8[{unit}]")[0])
    values = pa.array((ticks * each).astype("M8[us]"), mask=missing)
    return Read("time", values)


def outside_calendar(name: str, example: object) -> InvalidParameter:
    """Return the refusal of a date or time that no calendar of ours has."""
    return InvalidParameter(
        argument(name),
        example,
        "must hold dates of the years 1 to 9999",
        "Write None for a date that is not known.",
    )


def too_fine(
    name: str, example: object, unit: str = "microseconds"
) -> InvalidParameter:
    """Return the refusal of a time that falls between two of ours."""
    return InvalidParameter(
        argument(name), example, f"must hold whole {unit}", "Round the times first."
    )


def refused_text(name: str, example: object) -> InvalidParameter:
    """Return the refusal of text that is not Unicode."""
    return InvalidParameter(
        argument(name),
        example,
        "must hold valid Unicode (no lone surrogates)",
        "Decode the text again from its source.",
    )


def _read_integers(name: str, array: pa.Array) -> Read:
    if array.type == pa.uint64():
        most = pc.max(array).as_py()
        if most is not None and most > _MOST:
            raise refused_integer(name, most)
    return Read("i64", array.cast(pa.int64()))


def refused_integer(name: str, example: object) -> InvalidParameter:
    """Return the refusal of an integer of more than 64 bits."""
    return InvalidParameter(
        argument(name),
        example,
        "must hold integers of 64 bits, -2**63 to 2**63 - 1",
        "Turn longer identifiers into text.",
    )


def _read_text(name: str, array: pa.Array) -> Read:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise refused_text(name, "bytes that are not UTF-8") from None
    large = array.cast(pa.large_string())
    refuse_long_text(name, text_bytes(large))
    return Read("text", large.cast(pa.string()))


def _read_date32(name: str, array: pa.Array) -> Read:
    return read_days(name, *_column_numbers(array.cast(pa.int32())))


def _read_date64(name: str, array: pa.Array) -> Read:
    ticks, missing = _column_numbers(array)
    day = _DAY // _MICROSECONDS["ms"]
    uneven = ticks % day != 0
    if uneven.any():
        raise too_fine(name, ticks[uneven].astype("M8[ms]")[0], "days")
    return read_days(name, ticks // day, missing)


def _read_times(name: str, array: pa.Array) -> Read:
    # Arrow counts in UTC, whatever zone it shows
    ticks, missing = _column_numbers(array)
    return read_ticks(name, ticks, array.type.unit, missing)


def _refuse_floats(name: str, array: pa.Array) -> Read:
    values = [value for value in array[:1].to_pylist() if value is not None]
    numbers = pc.drop_null(array.filter(pc.invert(pc.is_nan(array))))[:1].to_pylist()
    raise refused_float(name, (numbers or values or [None])[0])


def _column_numbers(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the integers behind the values, 0 where they are missing, and where."""
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return array.cast(pa.int64()).fill_null(0).to_numpy(), missing


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


_READERS: Final[
    tuple[tuple[Callable[[pa.DataType], bool], Callable[[str, pa.Array], Read]], ...]
] = (
    (pa.types.is_boolean, lambda _, array: Read("bool", array)),
    (pa.types.is_integer, _read_integers),
    (_is_text, _read_text),
    (pa.types.is_date32, _read_date32),
    (pa.types.is_date64, _read_date64),
    (pa.types.is_timestamp, _read_times),
    (pa.types.is_null, lambda _, array: Read(None, array)),  # the caller knows its type
    (pa.types.is_floating, _refuse_floats),
)


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
_OBJECT_MOST: Final = 2**63


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
    for value in values:
        if value is not None and not -_OBJECT_MOST <= value < _OBJECT_MOST:
            raise refused_integer(name, value)


def _read_bool(name: str, value: Any) -> bool:
    del name
    return bool(value)


def _read_integer(name: str, value: Any) -> int:
    """Return an integer of another library, or of an enumeration."""
    del name
    return operator.index(value)


def _read_object_text(name: str, value: str) -> str:
    del name
    return str.__str__(value)


def _read_missing(name: str, value: Any) -> None:
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
    raise refused_float(name, float(value))


def _refuse(name: str, value: Any) -> None:
    raise refused_type(name, type(value).__name__, value)


_OBJECT_READERS: Final[tuple[tuple[type, Callable[[str, Any], Any]], ...]] = (
    (np.bool_, _read_bool),
    (np.timedelta64, _refuse),  # which is an integer to NumPy
    (int, _read_integer),
    (np.integer, _read_integer),
    (str, _read_object_text),
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
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in _PANDAS:
        return _PANDAS[kind.__name__]
    return next(reader for base, reader in _OBJECT_READERS if issubclass(kind, base))
