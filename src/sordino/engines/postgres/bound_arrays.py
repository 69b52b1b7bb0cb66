"""Columns of Arrow as arrays that are bound in a statement, and arrays as columns.

Rows travel to the server as one array for each column, in PostgreSQL's binary form:
nothing is written there, so that no right is needed to hand over keys.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlglot import exp

from sordino.engines.postgres.sql_choices import by_code_point
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql, sql_type
from sordino.sources.arrow_kinds import is_list

_DAY_2000: Final = 10_957
_MOMENT_2000: Final = _DAY_2000 * 86_400 * 10**6
_HEADER: Final = struct.Struct(">iiIii")


@final
@dataclass(frozen=True)
class BoundArray:
    """A column in the binary form of an array."""

    data: bytes


@final
class BoundArrayDumper(Dumper):
    """Hands over what is in its form already; its type stands in the statement."""

    format = Format.BINARY

    def dump(self, obj: BoundArray) -> bytes:
        """Return the form."""
        return obj.data


@final
@dataclass(frozen=True)
class _Element:
    """How values of a type travel."""

    number: int
    """Of the type in PostgreSQL."""
    written: str
    packed: Callable[[pa.Array], tuple[bytes, Any]]
    """values that are there -> (all of their bytes, the length of each)"""
    read: Callable[[Sql], Sql] = lambda value: value


def _fixed(form: str, shift: int = 0) -> Callable[[pa.Array], tuple[bytes, Any]]:
    """Return what packs values of one length."""
    width = np.dtype(form).itemsize

    def packed(array: pa.Array) -> tuple[bytes, Any]:
        values = np.asarray(array) - shift if shift else np.asarray(array)
        return values.astype(form).tobytes(), np.full(len(array), width)

    return packed


def _texts(array: pa.Array) -> tuple[bytes, Any]:
    encoded = [text.encode() for text in array.to_pylist()]
    return b"".join(encoded), np.array([len(text) for text in encoded], np.int64)


def _decimals(array: pa.Array) -> tuple[bytes, Any]:
    return _texts(array.cast(pa.string()))


def _ticks(array: pa.Array) -> tuple[bytes, Any]:
    return _fixed(">i8", _MOMENT_2000)(array.cast(pa.int64()))


def _days(array: pa.Array) -> tuple[bytes, Any]:
    return _fixed(">i4", _DAY_2000)(array.cast(pa.int32()))


def _literals(array: pa.Array) -> tuple[bytes, Any]:
    return _texts(pa.array([_literal(entries) for entries in array.to_pylist()]))


def _literal(entries: list[Any]) -> str:
    """Return a list as PostgreSQL writes an array, each entry in quotes.

    >>> _literal([1, None, -0.0, float("inf")]), _literal(["a", ""])
    ('{"1",NULL,"0.0","inf"}', '{"a",""}')
    """
    return f"{{{','.join(map(_entry, entries))}}}"


def _entry(value: Any) -> str:
    if value is None:
        return "NULL"
    plain = repr(value + 0.0) if isinstance(value, float) else str(value)
    escaped = plain.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


_ELEMENTS: Final[Mapping[pa.DataType, _Element]] = {
    pa.int64(): _Element(20, "BIGINT", _fixed(">i8")),
    pa.float64(): _Element(701, "DOUBLE PRECISION", _fixed(">f8")),
    pa.string(): _Element(25, "TEXT", _texts, by_code_point),
    pa.large_string(): _Element(25, "TEXT", _texts, by_code_point),
    pa.bool_(): _Element(16, "BOOLEAN", _fixed(">u1")),
    pa.date32(): _Element(1082, "DATE", _days),
    pa.timestamp("us"): _Element(1114, "TIMESTAMP", _ticks),
    pa.decimal128(38, 0): _Element(
        25, "TEXT", _decimals, lambda value: sql.as_type(value, "DECIMAL")
    ),
}


def _element_of(arrow: pa.DataType) -> _Element:
    """Return how values of a type travel: lists as literals, for each has its length.

    An array of arrays has one length for all.
    """
    if not is_list(arrow):
        return _ELEMENTS[arrow]
    entry = _ELEMENTS[arrow.value_type]
    listed = f"{entry.written}[]"

    def read(value: Sql) -> Sql:
        return sql.as_type(value, listed)

    if entry.read is by_code_point:
        return _Element(25, "TEXT", _literals, lambda value: by_code_point(read(value)))
    return _Element(25, "TEXT", _literals, read)


def bound_array(column: pa.Array) -> BoundArray:
    """Return a column in the form of an array.

    >>> bound_array(pa.array([1, None])).data[20:].hex(" ", -4)
    '00000008 00000000 00000001 ffffffff'
    """
    element = _element_of(column.type)
    there = np.asarray(column.is_valid(), bool)
    data, lengths = element.packed(column.drop_null())
    sizes = np.zeros(len(column), np.int64)
    sizes[there] = lengths
    ends = np.cumsum(sizes + 4)
    entries = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    lengths_told = np.where(there, sizes, -1).astype(">i4")
    heads = (ends - sizes - 4)[:, None] + np.arange(4)
    entries[heads] = lengths_told.view(np.uint8).reshape(-1, 4)
    rows = np.repeat(np.arange(1, len(column) + 1), sizes)
    entries[np.arange(len(data)) + 4 * rows] = np.frombuffer(data, np.uint8)
    dimensions = (1, len(column), 1) if len(column) else (0,)
    head = struct.pack(
        f">iiI{len(dimensions) - 1}i", dimensions[0], 1, element.number, *dimensions[1:]
    )
    return BoundArray(head + entries.tobytes())


def unnested_arrays(table: pa.Table, first: int) -> exp.Select:
    """Return the rows of arrays that are bound from a place on, c0, c1, ... as ours."""
    elements = [_element_of(field.type) for field in table.schema]
    arrays = [
        exp.Cast(
            this=exp.Parameter(this=exp.Literal.number(place)),
            to=sql_type(f"{element.written}[]", "postgres"),
        )
        for place, element in enumerate(elements, first)
    ]
    names = [exp.to_identifier(f"v{place}") for place in range(len(elements))]
    alias = exp.TableAlias(this=exp.to_identifier("u"), columns=names)
    rows = exp.Table(this=sql.function("unnest", *arrays), alias=alias)
    columns = [
        exp.Alias(
            this=element.read(exp.column(name.copy(), table="u")),
            alias=exp.to_identifier(known_as),
        )
        for element, name, known_as in zip(
            elements, names, table.column_names, strict=True
        )
    ]
    return exp.Select().select(*columns).from_(rows)
