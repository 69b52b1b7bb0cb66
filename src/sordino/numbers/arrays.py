"""NumPy's numbers as Arrow's and back, without pandas (docs/adr/0214).

`pyarrow.array`, `pyarrow.scalar` and `to_numpy` import pandas wherever it is installed,
which takes longer than a first question.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def as_arrow(values: NDArray[Any]) -> "pa.Array":
    """Return numbers or truths in a row as Arrow has them; NaN stays NaN.

    >>> as_arrow(np.array([True, False, True])).to_pylist()
    [True, False, True]
    """
    return _arrow_of(values, None)


def with_gaps(values: NDArray[np.float64]) -> "pa.Array":
    """Return numbers as Arrow has them, those that are NaN missing.

    >>> with_gaps(np.array([0.5, np.nan])).to_pylist()
    [0.5, None]
    """
    doubles = np.asarray(values, np.float64)
    there = ~np.isnan(doubles)
    return _arrow_of(doubles, None if there.all() else there)


def as_numpy(column: "pa.Array | pa.ChunkedArray") -> NDArray[Any]:
    """Return numbers or truths of which none is missing; those of an array stay its.

    >>> import pyarrow as pa
    >>> as_numpy(pa.chunked_array([[1, 2], [3]])).tolist()
    [1, 2, 3]
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if column.null_count:
        raise ValueError("a value is missing")
    if pa.types.is_boolean(column.type):
        truths: NDArray[Any] = as_numpy(column.cast(pa.uint8())).view(np.bool_)
        return truths
    if isinstance(column, pa.ChunkedArray):
        joined: NDArray[Any] = np.from_dlpack(column.combine_chunks()).copy()
        return joined
    numbers: NDArray[Any] = np.from_dlpack(column)
    return numbers


def _arrow_of(values: NDArray[Any], there: NDArray[np.bool_] | None) -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    kind = pa.from_numpy_dtype(values.dtype)
    # a buffer has no strides
    cells = _bits(values) if kind == pa.bool_() else np.ascontiguousarray(values)
    mask = None if there is None else pa.py_buffer(_bits(there))
    return pa.Array.from_buffers(kind, values.size, [mask, pa.py_buffer(cells)])


def _bits(truths: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(truths, bitorder="little")
