"""Parquet files of which every redundant fact lies, each fact in turn.

A footer is a struct of Thrift's compact protocol. It is read as a tree, changed, and
encoded anew: so a lie may have any length. Rows, pages and dictionaries stay as they
are, and so do the counts of values that a reader needs to decode them.
"""

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Field: TypeAlias = list[Any]
"""The number of a field, its kind, and its value."""
Struct: TypeAlias = list[Field]
Groups: TypeAlias = Collection[int] | None
"""Row groups of which a lie is told; None: of all."""
Lie: TypeAlias = Callable[[Struct, Groups], None]

_TRUTHS: Final = (1, 2)
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_INTEGERS: Final = (4, 5, 6)
_I32, _I64 = 5, 6
_MAGIC: Final = b"PAR1"


class _Reader:
    """The values of a footer, from its start to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, kind: int) -> Any:
        if kind in _TRUTHS:
            return kind == _TRUTHS[0]
        if kind == _BYTE:
            return self._bytes(1)[0]
        if kind in _INTEGERS:
            number = self._varint()
            return number >> 1 ^ -(number & 1)
        if kind in (_DOUBLE, _BINARY):
            return self._bytes(8 if kind == _DOUBLE else self._varint())
        if kind in (_LIST, _SET):
            return self._list()
        return self._struct()

    def _struct(self) -> Struct:
        fields: Struct = []
        number = 0
        while head := self._bytes(1)[0]:
            kind, step = head & 15, head >> 4
            number = number + step if step else self.value(_I64)
            fields.append([number, kind, self.value(kind)])
        return fields

    def _list(self) -> tuple[int, list[Any]]:
        head = self._bytes(1)[0]
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        if kind in _TRUTHS:
            return kind, [self._bytes(1)[0] == _TRUTHS[0] for _ in range(size)]
        return kind, [self.value(kind) for _ in range(size)]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._bytes(1)[0]) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _written(kind: int, value: Any) -> bytes:
    if kind == _BYTE:
        return bytes([value])
    if kind in _INTEGERS:
        return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == _DOUBLE:
        return bytes(value)
    if kind == _BINARY:
        return _varint(len(value)) + bytes(value)
    if kind in (_LIST, _SET):
        return _written_list(*value)
    return _written_struct(value)


def _written_list(kind: int, values: list[Any]) -> bytes:
    size = len(values)
    head = bytes([min(size, 15) << 4 | kind]) + (_varint(size) if size >= 15 else b"")
    if kind in _TRUTHS:
        return head + bytes(_TRUTHS[0] if one else _TRUTHS[1] for one in values)
    return head + b"".join(_written(kind, one) for one in values)


def _written_struct(fields: Struct) -> bytes:
    data, last = b"", 0
    for number, told, value in sorted(fields, key=itemgetter(0)):
        kind = (_TRUTHS[0] if value else _TRUTHS[1]) if told in _TRUTHS else told
        step, last = number - last, number
        data += bytes([step << 4 | kind])  # no field lies 16 numbers after another
        data += b"" if told in _TRUTHS else _written(kind, value)
    return data + b"\0"


def tell_lie(honest: Path, path: Path, lie: Lie, groups: Groups = None) -> Path:
    """Write a copy of a file whose footer lies, maybe of some row groups alone."""
    data = honest.read_bytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    footer = _Reader(data[-8 - size : -8]).value(_STRUCT)
    lie(footer, groups)
    new = _written_struct(footer)
    path.write_bytes(data[: -8 - size] + new + struct.pack("<I", len(new)) + _MAGIC)
    return path


def _get(fields: Struct, number: int) -> Any:
    return next((value for n, _, value in fields if n == number), None)


def _set(fields: Struct, number: int, kind: int, value: Any) -> None:
    fields[:] = [field for field in fields if field[0] != number]
    fields.append([number, kind, value])


def _drop(fields: Struct, *numbers: int) -> None:
    fields[:] = [field for field in fields if field[0] not in numbers]


def _row_groups(footer: Struct, groups: Groups) -> Iterator[Struct]:
    for place, group in enumerate(_get(footer, 4)[1]):
        if groups is None or place in groups:
            yield group


def _chunks(footer: Struct, groups: Groups) -> Iterator[tuple[Struct, Struct]]:
    for group in _row_groups(footer, groups):
        for chunk in _get(group, 1)[1]:
            yield chunk, _get(chunk, 3)


def _of_statistics(change: Callable[[Struct, Struct], None]) -> Lie:
    """Return a lie in the statistics of column chunks: (statistics, chunk) -> None."""

    def lie(footer: Struct, groups: Groups) -> None:
        for _, said in _chunks(footer, groups):
            statistics = _get(said, 12) or []
            change(statistics, said)
            _set(said, 12, _STRUCT, statistics)

    return lie


def _of_chunks(change: Callable[[Struct, Struct], None]) -> Lie:
    """Return a lie of column chunks: (chunk, what is said of it) -> None."""

    def lie(footer: Struct, groups: Groups) -> None:
        for chunk, said in _chunks(footer, groups):
            change(chunk, said)

    return lie


_FORMS: Final[Mapping[int, Callable[[Any], bytes]]] = {
    0: lambda value: bytes([value]),
    1: lambda value: struct.pack("<i", value),
    2: lambda value: struct.pack("<q", value),
    4: lambda value: struct.pack("<f", value),
    5: lambda value: struct.pack("<d", value),
    6: lambda value: bytes(value),
}
"""How a bound is written, by the physical type of a column."""
_NARROW: Final[Mapping[int, tuple[Any, Any]]] = {
    0: (0, 0),
    1: (0, 5),
    2: (0, 5),
    4: (0.0, 5.0),
    5: (0.0, 5.0),
    6: (b"a", b"b"),
}
_FAR: Final[Mapping[int, tuple[Any, Any]]] = {
    0: (1, 1),
    1: (900, 901),
    2: (10**6 + 7, 10**6 + 8),
    4: (1e7, 2e7),
    5: (1e7, 2e7),
    6: (b"zz", b"zzz"),
}


def _bounds(pairs: Mapping[int, tuple[Any, Any]], *, old: bool = False) -> Lie:
    """Return bounds that are said of each chunk, also in the fields of old writers."""

    def change(statistics: Struct, said: Struct) -> None:
        kind = _get(said, 1)
        low, high = (_FORMS[kind](end) for end in pairs[kind])
        _drop(statistics, 1, 2, 5, 6, 7, 8)
        if old:
            statistics += [[1, _BINARY, high], [2, _BINARY, low]]
        else:
            statistics += [[7, _TRUTHS[0], True], [8, _TRUTHS[0], True]]
        statistics += [[5, _BINARY, high], [6, _BINARY, low]]

    return _of_statistics(change)


def _nulls(count: Callable[[int], int]) -> Lie:
    """Return a number of missing values, made of the number of values."""
    return _of_statistics(
        lambda statistics, said: _set(statistics, 3, _I64, count(_get(said, 5)))
    )


def _distinct(count: int) -> Lie:
    return _of_statistics(lambda statistics, _: _set(statistics, 4, _I64, count))


def _created_by(text: bytes) -> Lie:
    return lambda footer, _: _set(footer, 6, _BINARY, text)


def _rows_in_all(count: Callable[[int], int]) -> Lie:
    return lambda footer, _: _set(footer, 3, _I64, count(_get(footer, 3)))


def _constant(footer: Struct, groups: Groups) -> None:
    """Say that all values of a chunk are the same, and none is missing."""
    _bounds({kind: (low, low) for kind, (low, _) in _NARROW.items()})(footer, groups)
    _nulls(lambda _: 0)(footer, groups)


def _sorted(footer: Struct, groups: Groups) -> None:
    """Say that rows are sorted by the first two columns."""
    by = [
        [[1, _I32, place], [2, _TRUTHS[0], False], [3, _TRUTHS[0], True]]
        for place in range(2)
    ]
    for group in _row_groups(footer, groups):
        _set(group, 4, _LIST, (_STRUCT, by))


def _small(footer: Struct, groups: Groups) -> None:
    """Say that a row group has eight bytes."""
    for group in _row_groups(footer, groups):
        _set(group, 2, _I64, 8)
        _set(group, 6, _I64, 8)


def _no_index(chunk: Struct, said: Struct) -> None:
    """Drop the places of page indexes and Bloom filters."""
    _drop(chunk, 4, 5, 6, 7)
    _drop(said, 14, 15)


_IN_DICTIONARY: Final = (_STRUCT, [[[1, _I32, 0], [2, _I32, 8], [3, _I32, 1]]])
_SIZES: Final = [[1, _I64, 1], [3, _LIST, (_I64, [1, 0])]]

ALL_MISSING: Final = "all missing"
"""What a reader may take as content: then it decodes no page of the chunk."""
LIES: Final[Mapping[str, Lie]] = {
    "narrow bounds": _bounds(_NARROW),
    "narrow bounds of old writers": _bounds(_NARROW, old=True),
    "far bounds": _bounds(_FAR),
    "swapped bounds": _bounds({k: (high, low) for k, (low, high) in _NARROW.items()}),
    "constant": _constant,
    "none missing": _nulls(lambda _: 0),
    "half missing": _nulls(lambda size: size // 2),
    "fewer than none missing": _nulls(lambda _: -1),
    "too many missing": _nulls(lambda size: 10 * size),
    ALL_MISSING: _nulls(lambda size: size),
    "one distinct": _distinct(1),
    "none distinct": _distinct(0),
    "sorted": _sorted,
    "a row more": _rows_in_all(lambda rows: rows + 1),
    "a million times the rows": _rows_in_all(lambda rows: rows * 10**6),
    "no indexes": _of_chunks(_no_index),
    "by old parquet-mr": _created_by(b"parquet-mr version 1.5.0"),
    "by impala": _created_by(b"impala version 1.0"),
    "all in dictionaries": _of_chunks(
        lambda _, said: _set(said, 13, _LIST, _IN_DICTIONARY)
    ),
    "sizes of pages": _of_chunks(lambda _, said: _set(said, 16, _STRUCT, _SIZES)),
    "eight bytes": _small,
}
OF_FILES: Final = frozenset({
    "a row more",
    "a million times the rows",
    "by old parquet-mr",
    "by impala",
})
"""Lies that are told of a file as a whole."""


def lying_rows(count: int) -> pa.Table:
    """Return rows in runs, with a far value, NaN or nothing among each thousand."""
    place = np.arange(count)
    odd = place % 1000
    is_far = odd < 3
    steps = place // (count // 8 + 1)
    reals = np.where(odd < 2, np.nan, np.where(odd < 5, 1e9, 1.5))
    texts = np.where(is_far, 2, place * 3 // count % 2)
    return pa.table({
        "id": place // 2,
        "i": pa.array(np.where(is_far, 10**6, steps), mask=place % 97 == 0),
        "x": pa.array(reals, mask=place % 89 == 0, from_pandas=False),
        "s": pa.array(["a", "b", "zz"]).take(pa.array(texts)),
        "b": pa.array(is_far, mask=place % 83 == 0),
        "d": pa.array(np.where(is_far, 900, 3).astype(np.int32), pa.date32()),
    })


def long_rows(count: int) -> pa.Table:
    """Return rows in runs so long that millions of them lie in a few kB."""
    place = np.arange(count)
    far = 10**6 + place
    steps = np.where(place < 1000, far, place // 400_000)
    ids = np.where(place < 1000, 10**9 + place, place // 100_000)
    return pa.table({"id": ids, "i": steps})


def write_honest(rows: pa.Table, path: Path, *, group: int) -> Path:
    """Write rows in row groups, with all that pyarrow says of them."""
    pq.write_table(
        rows, path, row_group_size=group, compression="zstd", write_page_index=True
    )
    return path
