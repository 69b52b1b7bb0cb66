"""Parquet files whose footers lie: what a file says of itself is no fact.

A footer is a struct of Thrift's compact protocol. `lied` walks through it and writes
other bytes of the same length over bounds and null counts, for any writer.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

Place: TypeAlias = tuple[int, ...]
Found: TypeAlias = tuple[Place, int, int]
"""The field ids and list places that lead to a value, and where its bytes are."""

_BINARY: Final = 8
_STATISTICS: Final = (3, 12)
_BOUNDS: Final = {"high": (1, 5), "low": (2, 6)}
_NULLS: Final = 3
_BLOOM: Final = (3, 14)


@dataclass(frozen=True)
class Lie:
    """What a footer is to say of a column; none of it: as it was."""

    high: bytes | None = None
    low: bytes | None = None
    nulls: int | None = None


class _Footer:
    """The values of a footer, read from its start to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def values(self) -> Iterator[Found]:
        """Yield every text and whole number of the struct."""
        return self._struct(())

    def _struct(self, place: Place) -> Iterator[Found]:
        field = 0
        while (head := self._byte()) != 0:
            kind, step = head & 15, head >> 4
            field = field + step if step else self._zigzag()
            yield from self._value(kind, (*place, field))

    def _value(self, kind: int, place: Place) -> Iterator[Found]:
        """Read a value of a kind: 1 and 2 are truths, which have no bytes."""
        start = self._at
        if kind in (4, 5, 6):
            self._varint()
            yield place, start, self._at
        elif kind == _BINARY:
            size = self._varint()
            yield place, self._at, self._at + size
            self._at += size
        elif kind in (3, 7):
            self._at += 1 if kind == 3 else 8
        elif kind in (9, 10):
            yield from self._list(place)
        elif kind == 12:
            yield from self._struct(place)

    def _list(self, place: Place) -> Iterator[Found]:
        head = self._byte()
        size = head >> 4
        if size == 15:
            size = self._varint()
        for number in range(size):
            if head & 15 in (1, 2):
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


def _encoded(number: int, size: int) -> bytes:
    """Return a small count in so many bytes."""
    coded = number << 1
    parts = [coded >> 7 * n & 127 for n in range(size)]
    return bytes([*(one | 128 for one in parts[:-1]), parts[-1]])


def lied(path: Path, lies: Mapping[int, Lie], *, groups: slice = slice(None)) -> int:
    """Have the footer of a file lie of columns by their places; count the lies told.

    Only of some row groups, if these are given.
    """
    data = bytearray(path.read_bytes())
    size = struct.unpack("<I", data[-8:-4])[0]
    start = len(data) - 8 - size
    told = 0
    found = list(_Footer(bytes(data[start:-8])).values())
    chosen = set(range(max(p[1] for p, _, _ in found if len(p) > 1 and p[0] == 4) + 1))
    chosen &= set(range(10**6)[groups])
    for place, first, end in found:
        match place:
            case (4, group, 1, column, *rest) if group in chosen and column in lies:
                new = _told(lies[column], tuple(rest), end - first)
                if new is not None and len(new) == end - first:
                    data[start + first : start + end] = new
                    told += 1
    path.write_bytes(data)
    return told


def _told(lie: Lie, rest: Place, size: int) -> bytes | None:
    """Return the bytes of a lie for one value of a column's statistics."""
    if rest[:2] != _STATISTICS or len(rest) != len(_STATISTICS) + 1:
        return None
    field = rest[-1]
    if field == _NULLS:
        return None if lie.nulls is None else _encoded(lie.nulls, size)
    if field in _BOUNDS["high"]:
        return lie.high
    return lie.low if field in _BOUNDS["low"] else None


def bloom_filters(path: Path) -> list[int]:
    data = path.read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0]
    foot = data[-8 - size : -8]
    places = []
    for place, first, end in _Footer(foot).values():
        match place:
            case (4, _, 1, _, *rest) if tuple(rest) == _BLOOM:
                number = 0
                for byte in reversed(foot[first:end]):
                    number = number << 7 | byte & 127
                places.append(number >> 1)
    return places
