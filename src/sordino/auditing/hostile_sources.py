"""Tables that differ by one odd row, and files that lie of themselves: for any reader.

Point them at whatever reads rows of people; one row must not change what it does of
the others. `COLUMNS` holds columns of every form with cells that readers stumble over,
and `odd_pairs` neighbours made of them. A footer of Parquet is a struct of Thrift's
compact protocol; `write_lies` walks through it and writes other bytes of the same
length over bounds and null counts, whoever wrote the file.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, final

import pyarrow as pa

ArrayMaker: TypeAlias = Callable[[Sequence[Any]], pa.Array]


def bits_as(kind: pa.DataType) -> ArrayMaker:
    """Maker of arrays of a type from their bits."""

    def make(values: Sequence[int | None]) -> pa.Array:
        wide = kind.bit_width // 8
        cells = b"".join((x or 0).to_bytes(wide, "little", signed=True) for x in values)
        there = pa.array([x is not None for x in values]).buffers()[1]
        return pa.Array.from_buffers(kind, len(values), [there, pa.py_buffer(cells)])

    return make


def texts_as(kind: pa.DataType) -> ArrayMaker:
    """Maker of texts from bytes, which may be none of UTF-8."""

    def make(values: Sequence[bytes | None]) -> pa.Array:
        buffers = pa.array(values, pa.large_binary()).buffers()
        large = pa.Array.from_buffers(pa.large_string(), len(values), buffers)
        return large.cast(kind) if kind != pa.large_string() else large

    return make


def values_as(kind: pa.DataType) -> ArrayMaker:
    """Maker of arrays of a type from values."""
    return lambda values: pa.array(values, kind, from_pandas=False)


def codes_of(make: ArrayMaker) -> ArrayMaker:
    """Maker of dictionaries of the values."""
    return lambda values: make(values).dictionary_encode()


def lists_of(make: ArrayMaker) -> ArrayMaker:
    """Maker of lists of two values each."""

    def lists(values: Sequence[Any]) -> pa.Array:
        entries = [cell for value in values for cell in (value, value)]
        ends = pa.array(range(0, len(entries) + 1, 2), pa.int32())
        return pa.ListArray.from_arrays(ends, make(entries))

    return lists


@final
@dataclass(frozen=True)
class OddColumn:
    """A column of some form, and cells that it may have: plain ones, then odd ones."""

    make: ArrayMaker
    pool: Sequence[Any]


_TICKS: Final = (
    *(0, 1, -1, 499, 500, -500, -1500, None, 2**63 - 1, -(2**63), 2**62),
    *(253402300799 * 10**n for n in (0, 3, 6)),
    *(253402300800 * 10**n for n in (0, 3, 6)),
    *(-62135596800 * 10**n for n in (0, 3, 6)),
    *(-62135596801 * 10**n for n in (0, 3, 6)),
)
_BYTES: Final = (
    *(b"a", b"", None, b"\xff", b"\xc3", b"\xed\xa0\x80", b"caf\xc3\xa9", b"\x00"),
    *(b"x" * (1 << 20), b"x" * ((1 << 20) + 1)),
)
_WHOLE: Final = (0, 5, -7, None, 10**38 - 1, -(10**37), 2**53 + 1, 12345678901234567)
_REAL: Final = (1.5, -0.0, None, math.nan, math.inf, 5e-324, 1e38)

COLUMNS: Final[Mapping[str, OddColumn]] = {
    **{
        f"moments in {unit} {zone}": OddColumn(
            bits_as(pa.timestamp(unit, zone)), _TICKS
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "America/New_York")
    },
    "days": OddColumn(bits_as(pa.date32()), (0, 5, None, 2**31 - 1, -(2**31), -719163)),
    "days in ms": OddColumn(
        bits_as(pa.date64()), (0, 86_400_000, None, 2**63 - 1, -(2**63), 5)
    ),
    "texts": OddColumn(texts_as(pa.string()), _BYTES),
    "large texts": OddColumn(texts_as(pa.large_string()), _BYTES),
    "text views": OddColumn(texts_as(pa.string_view()), _BYTES),
    "u64": OddColumn(values_as(pa.uint64()), (0, 2**63 - 1, None, 2**63, 2**64 - 1)),
    "i8": OddColumn(values_as(pa.int8()), (0, 127, None, -128)),
    "f32": OddColumn(values_as(pa.float32()), _REAL),
    "f64": OddColumn(values_as(pa.float64()), (*_REAL, 1e300)),
    "bools": OddColumn(values_as(pa.bool_()), (True, False, None)),
    **{
        f"decimals {kind}": OddColumn(bits_as(kind), _WHOLE)
        for kind in (
            *(pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(5, -3)),
            *(pa.decimal128(15, 2), pa.decimal256(76, 5), pa.decimal256(38, 2)),
        )
    },
    "uuids": OddColumn(values_as(pa.uuid()), (bytes(16), None, bytes(range(16)))),
    "coded texts": OddColumn(codes_of(texts_as(pa.string())), _BYTES[:8]),
    "coded moments": OddColumn(codes_of(bits_as(pa.timestamp("ms", "UTC"))), _TICKS),
    "lists of texts": OddColumn(lists_of(texts_as(pa.string())), _BYTES[:8]),
    "lists of moments": OddColumn(lists_of(bits_as(pa.timestamp("ms"))), _TICKS),
    "lists of u64": OddColumn(lists_of(values_as(pa.uint64())), (0, None, 2**64 - 1)),
}
"""Columns of Arrow; a new form is one more line, and the laws of sources hold it."""


@final
class OddPair(NamedTuple):
    """A table of plain rows, and the same with one row whose cell is odd."""

    name: str
    table: pa.Table
    beside: pa.Table


def odd_pairs(*names: str) -> Iterator[OddPair]:
    """Yield pairs of tables with columns i and x for each cell of some columns, or all.

    >>> [pair.name for pair in odd_pairs("bools")]
    ['bools: True', 'bools: False', 'bools: None']
    """
    for name in names or COLUMNS:
        column = COLUMNS[name]
        plain = [column.pool[0]] * 5
        for cell in column.pool:
            tables = (
                pa.table({"i": range(len(cells)), "x": column.make(cells)})
                for cells in (plain, [*plain, cell])
            )
            yield OddPair(f"{name}: {str(cell)[:40]}", *tables)


_Place: TypeAlias = tuple[int, ...]
_Value: TypeAlias = tuple[_Place, int, int]
"""The field ids and list places that lead to a value, and where its bytes are."""
_BINARY: Final = 8
_STATISTICS: Final = (3, 12)
_BOUNDS: Final = {"high": (1, 5), "low": (2, 6)}
_NULLS: Final = 3


@final
@dataclass(frozen=True)
class FooterLie:
    """What a footer is to say of a column; none of it: as it was."""

    high: bytes | None = None
    low: bytes | None = None
    nulls: int | None = None

    def bytes_for(self, rest: _Place, size: int) -> bytes | None:
        """Bytes of the lie for one value of a column's statistics."""
        if rest[:2] != _STATISTICS or len(rest) != len(_STATISTICS) + 1:
            return None
        field = rest[-1]
        if field == _NULLS:
            return None if self.nulls is None else _count_bytes(self.nulls, size)
        if field in _BOUNDS["high"]:
            return self.high
        return self.low if field in _BOUNDS["low"] else None


@final
class FooterValues:
    """The values of a footer, read from its start to its end."""

    def __init__(self, data: bytes) -> None:
        """Begin at the start of a struct."""
        self._data = data
        self._at = 0

    def values(self) -> Iterator[_Value]:
        """Yield every text and whole number of the struct."""
        return self._struct(())

    def _struct(self, place: _Place) -> Iterator[_Value]:
        field = 0
        while (head := self._byte()) != 0:
            kind, step = head & 15, head >> 4
            field = field + step if step else self._zigzag()
            yield from self._value(kind, (*place, field))

    def _value(self, kind: int, place: _Place) -> Iterator[_Value]:
        """Read a value of a kind: 1 and 2 are truths, which have no bytes."""
        start = self._at
        if kind in {4, 5, 6}:
            self._varint()
            yield place, start, self._at
        elif kind == _BINARY:
            size = self._varint()
            yield place, self._at, self._at + size
            self._at += size
        elif kind in {3, 7}:
            self._at += 1 if kind == 3 else 8
        elif kind in {9, 10}:
            yield from self._list(place)
        elif kind == 12:
            yield from self._struct(place)

    def _list(self, place: _Place) -> Iterator[_Value]:
        head = self._byte()
        size = head >> 4
        if size == 15:
            size = self._varint()
        for number in range(size):
            if head & 15 in {1, 2}:
                self._at += 1
            yield from self._value(head & 15, (*place, number))

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _zigzag(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)


def _count_bytes(number: int, size: int) -> bytes:
    """Return a small count in so many bytes."""
    coded = number << 1
    parts = [coded >> 7 * n & 127 for n in range(size)]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


def footer_of(data: bytes) -> tuple[int, bytes]:
    """Return where the footer of a file begins, and its bytes."""
    (size,) = struct.unpack("<I", data[-8:-4])
    start = len(data) - 8 - size
    return start, data[start:-8]


def write_lies(
    path: Path, lies: Mapping[int, FooterLie], *, groups: slice = slice(None)
) -> int:
    """Have the footer of a file lie of columns by their places; count the lies.

    Only of some row groups, if these are given.
    """
    data = bytearray(path.read_bytes())
    start, footer = footer_of(bytes(data))
    values = list(FooterValues(footer).values())
    count = max(place[1] for place, _, _ in values if len(place) > 1 and place[0] == 4)
    chosen, lied = range(count + 1)[groups], 0
    for place, first, end in values:
        match place:
            case (4, group, 1, column, *rest) if group in chosen and column in lies:
                new = lies[column].bytes_for(tuple(rest), end - first)
                if new is not None and len(new) == end - first:
                    data[start + first : start + end] = new
                    lied += 1
    path.write_bytes(data)
    return lied
