"""What every source of rows is, whatever holds them, and its values as our types.

Names of columns are free text of users and never reach a database: the n-th column of
a source is called cn. `values_of` is the plain meaning of the rules by which a table is
opened (`Schema`); SQL engines say the same in their own words.

Kernel: totals.
"""

import datetime as dt
import math
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import call
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar, final

import pyarrow as pa

from sordino.errors import EngineUnavailable, InvalidParameter, SordinoError, show
from sordino.expressions.language import col
from sordino.expressions.schema import PLAIN, Column, Schema, unknown
from sordino.expressions.tree import AbstractExpression

_SCALES: Final = range(-76, 77)  # of decimals whose powers of ten are doubles
_TESTS: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_integer, "i64"),
    (pa.types.is_float32, "f64"),
    (pa.types.is_float64, "f64"),
    (pa.types.is_decimal, "f64"),
    (pa.types.is_boolean, "bool"),
    (pa.types.is_string, "text"),
    (pa.types.is_large_string, "text"),
    (pa.types.is_string_view, "text"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "time"),
)
_LISTS: Final = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def kind_of(arrow: pa.DataType) -> str | None:
    """Return the name of our type, or None for types that cannot be used.

    >>> kind_of(pa.uint16()), kind_of(pa.list_(pa.string())), kind_of(pa.binary())
    ('i64', 'list[text]', None)
    """
    bare = storage_type(arrow)
    if is_list(bare):
        inner = kind_of(bare.value_type)
        return f"list[{inner}]" if inner in PLAIN else None
    if pa.types.is_decimal(bare) and bare.scale not in _SCALES:
        return None
    return next((kind for test, kind in _TESTS if test(bare)), None)


def is_list(arrow: pa.DataType) -> bool:
    """Tell whether values of a type are lists."""
    return any(map(call, _LISTS, repeat(arrow)))


def is_uuid(arrow: pa.DataType) -> bool:
    """Tell whether values of a type are UUIDs."""
    return isinstance(arrow, pa.UuidType)


def storage_type(arrow: pa.DataType) -> pa.DataType:
    """Return the type of the values themselves: text for UUIDs, no dictionaries."""
    if is_uuid(arrow):
        return pa.string()
    if isinstance(arrow, pa.BaseExtensionType):
        return storage_type(arrow.storage_type)
    return storage_type(arrow.value_type) if pa.types.is_dictionary(arrow) else arrow


T = TypeVar("T")
NOTHING: Final = "nothing"
"""A column that stands for none: rows of no columns would not be counted."""


class AbstractSource(ABC):
    """Rows that can be read as often as asked, always the same."""

    fields: tuple[tuple[str, pa.DataType], ...]
    """The name and the Arrow type of each column, in order."""

    paths: tuple[str, ...] = ()
    """The files that the rows are in, for who reads them by itself."""

    untyped: ClassVar[bool] = False
    """Whether columns are plain text whose types have to be declared."""

    ours: ClassVar[bool] = False
    """Whether what is handed over has our types, each value read by its rule."""

    unsaid: Mapping[str, str] = MappingProxyType({})
    """Columns that have no type, or that are not read, and what to do."""

    declared: Mapping[str, Column] = {}
    """What the source says of its columns, beside what the table says."""

    doubt: str = ""
    """Why a row of it may depend on more than one row, or be believed of; none: ""."""

    reading: Callable[[str], AbstractExpression] | None = None
    """How a column x of text is read as a declared type, where that is not a cast."""

    @abstractmethod
    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns at some places for a database, to be read once."""

    def check(self) -> None:  # noqa: B027 what lies in memory is what it was
        """Raise something if this is no longer of the form that it was opened in.

        No row is looked at.
        """

    def size(self) -> int | None:
        """Return how many rows it says it has, or None if it would have to read them.

        No more than time and memory may depend on it.
        """
        return None

    @abstractmethod
    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns at some places, called c0, c1, ... by their places."""

    def count_missing(self, place: int) -> int:
        """Return how many cells of a column are not there."""
        return int(self.read([place]).column(0).null_count)

    def cells(self, place: int) -> pa.Table:
        """Return cells of a column, and how many cells each of them stands for.

        Of a source that is larger than memory, the most frequent ones.
        """
        column = self.read([place]).column(0)
        return pa.table({"cell": column, "times": pa.repeat(1, len(column))})


@final
@dataclass(frozen=True)
class Stored:
    """A column as it lies in its source, and the type that it has in the session."""

    place: int
    arrow: pa.DataType
    kind: str
    reading: AbstractExpression | None = None
    """How a value x becomes of that type, None where it lies as one."""


@final
@dataclass(frozen=True)
class Opened:
    """A source, and what of it can be used."""

    source: AbstractSource
    schema: Schema
    stored: Mapping[str, Stored]
    unusable: Mapping[str, str]
    """For each column without a usable type, why."""

    @property
    def lossy(self) -> frozenset[str]:
        """Return the columns that lie as another type, so that cells can be lost."""
        return frozenset(
            name for name, column in self.stored.items() if column.reading is not None
        )

    def held_as(self, kinds: Container[str]) -> "Opened":
        """Return the table with the columns that an engine can hold."""
        columns = [column for column in self.schema.columns if column[1].type in kinds]
        lacking = {
            name: f"this engine cannot hold {column.type}"
            for name, column in self.schema.columns
            if column.type not in kinds
        }
        return replace(
            self, schema=Schema.of(columns), unusable={**self.unusable, **lacking}
        )

    @classmethod
    def of(cls, source: AbstractSource, declared: Mapping[str, Column]) -> "Opened":
        """Match the columns of a source with what is declared of them."""
        names = [name for name, _ in source.fields]
        # which of two is read would be up to the library
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidParameter(
                "source",
                twice,
                "has two columns with the same name",
                "Rename one of them.",
            )
        for name in declared:
            if name not in names and name not in source.unsaid:
                raise unknown("column", name, names)
        stored, columns, unusable = {}, [], dict(source.unsaid)
        for place, (name, arrow) in enumerate(source.fields):
            kind = kind_of(arrow)
            if name in source.unsaid:
                continue
            if kind is None:
                unusable[name] = f"its type {arrow} has no place in a private table"
            elif source.untyped and name not in declared:
                unusable[name] = _UNDECLARED
            else:
                column = declared.get(name, Column(kind))
                reading = _read_as(source, name, kind, column.type)
                stored[name] = Stored(place, arrow, column.type, reading)
                columns.append((name, column))
        _refuse(unusable, declared)
        return cls(source, Schema.of(columns), stored, unusable)


def lookup(tables: Mapping[str, T], name: str) -> T:
    """Entry of a table by name; an unknown name is refused."""
    if name not in tables:
        raise unknown("table", name, tables)
    return tables[name]


def refuse_changed(table: str, source: AbstractSource) -> None:
    """Refuse a source that is gone, or of another form than when it was opened."""
    try:
        source.check()
    except Exception:  # noqa: BLE001, S110 what a library says of a file may quote it
        pass
    else:
        return
    raise EngineUnavailable(
        f"the table {show(table)} is not what it was when the session was made: it "
        "cannot be read, is another text file, or has other columns or files. Put it "
        "back, or make a new session"
    )


def _read_as(
    source: AbstractSource, name: str, kind: str, declared: str
) -> AbstractExpression | None:
    if declared == kind:
        return None
    try:
        as_declared = source.reading or col("x").cast
        reading = as_declared(declared)
        reading.column(Schema((("x", Column(kind)),)))
    except SordinoError:
        pass
    else:
        return reading
    raise InvalidParameter(
        "columns",
        name,
        f"is declared as {declared} but holds {kind}, which cannot be read as that",
        "Declare the type it has.",
    )


_UNDECLARED: Final = (
    "it is read from text and its type is not declared: columns={...} says it, and "
    "sd.inspect(path) proposes it"
)


def _refuse(unusable: Mapping[str, str], declared: Mapping[str, Column]) -> None:
    for name, reason in unusable.items():
        if name in declared:
            raise InvalidParameter(
                "columns",
                name,
                f"declares a column that cannot be used ({reason})",
                "Leave it out, or convert it where the table is made.",
            )


def internal(places: Sequence[int]) -> list[str]:
    """Return the names of the columns at some places."""
    return [f"c{place}" for place in places]


def or_nothing(table: pa.Table, places: Sequence[int]) -> pa.Table:
    """Return columns of a table by their places, or one that stands for none."""
    if not places:
        return pa.table({NOTHING: pa.nulls(table.num_rows, pa.bool_())})
    return table.select(list(places)).rename_columns(internal(places))


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
        # a long or broken text is missing by itself: no other row may be lost by it
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
    return [None if value is None else reading(value) for value in array.to_pylist()]


def moment_of(ticks: int, scale: int) -> dt.datetime | None:
    """Moment `ticks` after 1970, `scale` ticks a second; None beyond the calendar.

    Halves of a microsecond go away from 1970.
    """
    size = (2 * abs(ticks) * 10**6 + scale) // (2 * scale)
    try:
        return _EPOCH + dt.timedelta(microseconds=size if ticks >= 0 else -size)
    except OverflowError:
        return None


def _dates(array: pa.Array) -> list[Any]:
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
    "f64": lambda number: float(number) + 0.0,  # of two zeros only 0.0 is left
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
        return (2,)  # NaN equals no NaN, and would be a group of its own each time
    return (1, value)
