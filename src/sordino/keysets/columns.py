"""Columns of keys in Arrow arrays of any kind, brought into our types exactly.

Whatever would have to be rounded, cut or guessed is refused.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.keysets.canonical import refuse_long_text, text_bytes

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


def _read_bools(name: str, array: pa.Array) -> Read:
    """Return bools as they are."""
    del name
    return Read("bool", array)


def _read_integers(name: str, array: pa.Array) -> Read:
    """Return integers of any width that fit."""
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
    """Return text; Arrow has three kinds of it."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise refused_text(name, "bytes that are not UTF-8") from None
    large = array.cast(pa.large_string())
    refuse_long_text(name, text_bytes(large))
    return Read("text", large.cast(pa.string()))


def _read_date32(name: str, array: pa.Array) -> Read:
    """Return days."""
    return read_days(name, *_numbers(array.cast(pa.int32())))


def _read_date64(name: str, array: pa.Array) -> Read:
    """Return days that are counted in milliseconds."""
    ticks, missing = _numbers(array)
    day = _DAY // _MICROSECONDS["ms"]
    uneven = ticks % day != 0
    if uneven.any():
        raise too_fine(name, ticks[uneven].astype("M8[ms]")[0], "days")
    return read_days(name, ticks // day, missing)


def _read_times(name: str, array: pa.Array) -> Read:
    """Return times in UTC, which is what Arrow counts in whatever zone it shows."""
    ticks, missing = _numbers(array)
    return read_ticks(name, ticks, array.type.unit, missing)


def _read_nothing(name: str, array: pa.Array) -> Read:
    """Return missing values, whose type the caller has to know."""
    del name
    return Read(None, array)


def _refuse_floats(name: str, array: pa.Array) -> Read:
    """Refuse floats, showing a number if there is one."""
    values = [value for value in array[:1].to_pylist() if value is not None]
    numbers = pc.drop_null(array.filter(pc.invert(pc.is_nan(array))))[:1].to_pylist()
    raise refused_float(name, (numbers or values or [None])[0])


def _numbers(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the integers behind the values, 0 where they are missing, and where."""
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return array.cast(pa.int64()).fill_null(0).to_numpy(), missing


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether Arrow holds text."""
    return str(kind) in ("string", "large_string", "string_view")


_READERS: Final[
    tuple[tuple[Callable[[pa.DataType], bool], Callable[[str, pa.Array], Read]], ...]
] = (
    (pa.types.is_boolean, _read_bools),
    (pa.types.is_integer, _read_integers),
    (_is_text, _read_text),
    (pa.types.is_date32, _read_date32),
    (pa.types.is_date64, _read_date64),
    (pa.types.is_timestamp, _read_times),
    (pa.types.is_null, _read_nothing),
    (pa.types.is_floating, _refuse_floats),
)
