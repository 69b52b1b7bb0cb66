"""Finds the key of each row; a missing value is a value like any other."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def match_rows(keys: "pa.Table", rows: "pa.Table") -> NDArray[np.int64]:
    """Return for each row the place of its key, -1 if it is none of them.

    Both tables have the same columns; with no columns every row has the one key.

    >>> import pyarrow as pa
    >>> keys = pa.table({"g": ["a", None]})
    >>> match_rows(keys, pa.table({"g": [None, "b", "a"]})).tolist()
    [1, -1, 0]
    """
    if not keys.num_columns:
        return np.zeros(rows.num_rows, np.int64)
    codes = np.zeros(keys.num_rows + rows.num_rows, np.int64)
    for ours, theirs in zip(keys.columns, rows.columns, strict=True):
        column = _codes(ours, theirs)
        # dense again after each column, so that products stay small
        _, codes = np.unique(
            codes * (int(column.max(initial=0)) + 1) + column, return_inverse=True
        )
    key_codes, row_codes = codes[: keys.num_rows], codes[keys.num_rows :]
    place = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    place[key_codes] = np.arange(keys.num_rows)
    places: NDArray[np.int64] = place[row_codes]
    return places


def _codes(ours: "pa.ChunkedArray", theirs: "pa.ChunkedArray") -> NDArray[np.int64]:
    """Return one integer for each value of two columns, equal for equal values."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    both = pa.chunked_array([*ours.chunks, *theirs.chunks], ours.type)
    encoded = both.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: NDArray[np.int64] = encoded.indices.to_numpy().astype(np.int64)
    return codes
