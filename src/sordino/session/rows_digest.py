"""What is in a public table, as a hash of its rows, whatever their order and source."""

import hashlib
import json
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sordino.keysets.canonical import canonical_order

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE: Final = 2**20
"""Rows that are hashed in one piece."""


def rows_digest(table: "pa.Table") -> str:
    """Return a SHA-256 that depends on the rows alone, each as often as it is there.

    Columns come in the order of their names, rows in the order of their values, missing
    first. Of each column, and of each 2**20 rows of it, one byte for each value is
    hashed, 1 if it is there and 0 if it is missing; then the values as little-endian
    64-bit integers, 0 if missing: of doubles the bits, of texts the lengths in UTF-8;
    and for texts the UTF-8 itself. A list is hashed as the text of its JSON.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    names = sorted(table.column_names)
    plain = pa.table({name: _comparable(table.column(name)) for name in names})
    order = canonical_order(plain) if names else np.empty(0, np.int64)
    sha256 = hashlib.sha256()
    for column in plain.columns:
        for start in range(0, len(order), _AT_ONCE):
            piece = column.take(pa.array(order[start : start + _AT_ONCE]))
            _add(sha256, piece.combine_chunks())
    return sha256.hexdigest()


def _add(sha256: "hashlib._Hash", piece: "pa.Array") -> None:
    """Hash some values of a column."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    sha256.update(piece.is_valid().cast(pa.uint8()).to_numpy().tobytes())
    if piece.type == pa.int64():
        sha256.update(_integers(piece).tobytes())
        return
    texts = [text.encode() for text in piece.fill_null("").to_pylist()]
    sha256.update(np.array([len(text) for text in texts], "<i8").tobytes())
    sha256.update(b"".join(texts))


def _integers(piece: "pa.Array") -> NDArray[np.int64]:
    """Return integers, 0 where one is missing."""
    numbers: NDArray[np.int64] = piece.fill_null(0).to_numpy().astype("<i8")
    return numbers


def _comparable(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return a column as integers or texts: equal where the values are equal."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    kind = column.type
    if pa.types.is_list(kind):
        listed = [
            None if cell is None else _list_text(cell) for cell in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(listed, pa.string())])
    if kind == pa.string():
        return column
    if kind == pa.float64():
        return pa.chunked_array([_bits(chunk) for chunk in column.chunks], pa.int64())
    narrow = {pa.bool_(): pa.uint8(), pa.date32(): pa.int32()}
    return column.cast(narrow.get(kind, pa.int64())).cast(pa.int64())


def _bits(doubles: "pa.Array") -> "pa.Array":
    """Return the bits of doubles: one kind of zero, one kind of NaN."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    values = doubles.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
    values = np.where(np.isnan(values), np.nan, values)
    return pa.array(values.view(np.int64), mask=doubles.is_null().to_numpy(False))


def _list_text(entries: list[object]) -> str:
    """Return a list as a text: its entries have one type."""
    listed = [entry.hex() if isinstance(entry, float) else entry for entry in entries]
    return json.dumps(listed, default=str)
