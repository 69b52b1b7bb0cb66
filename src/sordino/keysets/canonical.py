"""Tables of keys in their canonical form: sorted, each key once, our Arrow types.

Keys are ordered by their columns in turn. A missing value comes first, then numbers and
dates by size, text code point by code point, and False before True.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.arrays import as_arrow, as_numpy
from sordino.errors import InvalidParameter
from sordino.numbers.precision import decimals
from sordino.schema import arrow_type

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
        """Show the number and the first names."""
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
    names = sorted(table.column_names)
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
    """Return an integer for each value, 0 where it is missing."""
    if kind == "text":
        values = pc.binary_length(column)
    else:
        values = column.cast(_AS_NUMBERS.get(kind, pa.int64()))
    return as_numpy(_without_gaps(values))


def _without_gaps(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers, 0 where one is missing."""
    return numbers.fill_null(0) if numbers.null_count else numbers


def _joined_text(column: pa.ChunkedArray) -> memoryview:
    """Return the UTF-8 of all values, one after the other."""
    array = column.fill_null("").combine_chunks()
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)
    first, last = offsets[array.offset], offsets[array.offset + len(array)]
    return memoryview(data_buffer or b"")[first:last]
