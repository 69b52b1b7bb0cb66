"""Rows of people for the benchmarks of queries, seeded, in Parquet files.

Rows: (id, g, k, x), of ids with skewed numbers of rows.
"""

import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK: Final = 5_000_000
GROUPS: Final = 1000
KEYS_OF_ROWS: Final = 86
"""Keys among a thousand rows: about 8e5 of 1e7 rows are left with 3 for each id."""


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="sordino-bench-")


@cache
def parquet(size: int) -> Path:
    """Return a file of rows, ten for each id on average, their number lognormal."""
    path = Path(folder().name) / f"rows-{size}.parquet"
    generator = np.random.default_rng(7)
    shares = generator.lognormal(0, 1.3, max(size // 10, 1)).cumsum()
    writer = None
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        rows = chunk(generator, shares, count, max(size * KEYS_OF_ROWS // 1000, 1))
        writer = writer or pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    assert writer is not None, "a file has rows"  # noqa: S101 sizes are ours
    writer.close()
    return path


def chunk(
    generator: np.random.Generator, shares: np.ndarray, count: int, keys: int
) -> pa.Table:
    """Return some rows, each of an id drawn by its share."""
    drawn = generator.uniform(0, shares[-1], count)
    return pa.table({
        "id": shares.searchsorted(drawn),
        "g": generator.integers(0, GROUPS, count),
        "k": generator.integers(0, keys, count),
        "x": generator.uniform(-10, 130, count),
    })


@cache
def table(size: int) -> pa.Table:
    """Return rows of five for each id, in 100 groups, in memory."""
    generator = np.random.default_rng(2)
    return pa.table({
        "id": generator.integers(0, size // 5, size),
        "g": generator.integers(0, 100, size),
        "x": generator.uniform(-10, 130, size),
    })
