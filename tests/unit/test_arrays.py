"""NumPy's numbers as Arrow's and back are what Arrow's own ways make of them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from sordino.engines.duckdb.session import DuckDB
from sordino.numbers.arrays import as_arrow, as_numpy, with_gaps
from tests.batches import for_each

KINDS: Final = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
SIZES: Final = (0, 1, 7, 8, 9, 65, 1000)


def numbers(kind: str, size: int) -> np.ndarray[Any, Any]:
    """Return numbers of a type, the extremes among them."""
    drawn = np.random.default_rng(size).integers(-100, 100, size).astype(kind)
    if kind.startswith("f"):
        odd = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324], kind)
        drawn[: min(size, 5)] = odd[: min(size, 5)]
    return drawn


@for_each("kind", KINDS)
def test_numbers_are_those_of_arrow(kind: str) -> None:
    """Of any type and size, with gaps between them in memory, and bit for bit."""
    for size in SIZES:
        values = numbers(kind, size)
        for view in (values, values[::-1], values[::2], values[1:]):
            column = as_arrow(view)
            column.validate(full=True)
            assert column.type == pa.array(view).type
            assert column.null_count == 0
            again = as_numpy(column)
            assert again.dtype == view.dtype
            assert again.tobytes() == view.tobytes()


@for_each("kind", KINDS)
def test_columns_are_those_of_arrow(kind: str) -> None:
    """Of a slice and of any chunks, which a change of what is returned leaves alone."""
    for size in SIZES:
        values = numbers(kind, size)
        column = pa.array(values)
        part = column[3:]
        assert as_numpy(part).tobytes() == values[3:].tobytes()
        for chunks in ([column], [column, part], [part, column[:0], column]):
            chunked = pa.chunked_array(chunks, column.type)
            copy = as_numpy(chunked)
            assert copy.tobytes() == chunked.to_numpy().astype(kind).tobytes()
            copy[:] = 0
            assert column.equals(pa.array(values)) or kind.startswith("f")
            assert as_numpy(column).tobytes() == values.tobytes()
    assert as_numpy(pa.chunked_array([], pa.int64())).size == 0


@for_each("size", SIZES)
def test_nan_is_missing_where_it_stands_for_that(size: int) -> None:
    """And nothing else is, an infinity neither."""
    values = numbers("f8", size)
    for view in (values, np.abs(np.nan_to_num(values)), values[::3]):
        column = with_gaps(view)
        column.validate(full=True)
        assert column.equals(pa.array(view, from_pandas=True))


def test_missing_values_are_no_numbers() -> None:
    for column in (pa.array([1, None]), pa.chunked_array([[True], [None]])):
        with pytest.raises(ValueError, match="missing"):
            as_numpy(column)


FRESH: Final = """
import sys
import numpy as np
import sordino as sd

x = np.random.default_rng(2).uniform(-10, 130, 1000)
rows = sd.PrivateTable({"x": x, "g": x.astype(int)}, protects=sd.AddOneRow())
session = sd.Session({"t": rows}, sd.PureDP(1))
keys = sd.KeySet.from_dict({"g": list(range(100))})
query = sd.table("t").group_by(keys).agg(n=sd.count(), m=sd.mean("x", 0, 9, nulls=0))
assert session.release(query, sd.PureDP(1)).table.num_rows == 100
print("pandas" in sys.modules, "pyarrow.dataset" in sys.modules)
"""


def test_a_first_release_brings_no_pandas() -> None:
    """Numbers go from NumPy to Arrow and DuckDB, and back, without it."""
    ended = subprocess.run(
        [sys.executable, "-c", FRESH],
        capture_output=True,
        env=dict(os.environ),
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout.split() == ["False", "False"]


def test_a_reader_is_read_whole() -> None:
    schema = pa.schema([("c0", pa.int64())])
    read: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(5):
            read.append(number)
            yield pa.record_batch([pa.array([number] * 10)], schema=schema)

    database = DuckDB({"threads": 1})
    database.hand("s0", pa.RecordBatchReader.from_batches(schema, batches()))
    connection = database._connect()
    text = "SELECT count(*) FROM s0 AS t WHERE t.c0 = 3 AND t.c0 < 4"
    assert connection.sql(text).fetchall() == [(10,)]
    assert read == list(range(5))
    database.close()
