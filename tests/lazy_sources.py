"""Files with NaN, honest and lying, and sources whose rows an engine makes."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from sordino.auditing.hostile_sources import FooterLie, write_lies
from sordino.engines.doors import open_source

NAN: Final = [float("nan")] * 500
FAR: Final = struct.pack("<d", 50.0)
BUDGET: Final = sd.PureDP(10**9)
"""The noise of it is none."""


def nan_files(folder: Path) -> Mapping[str, tuple[Path, np.ndarray[Any, Any]]]:
    """Return files and what is in them: neighbours with NaN, and one that lies."""
    made = {}
    for name, values in {
        "honest": [*NAN, 1.0, 2.0, 3.0],
        "honest, one row more": [*NAN, 1.0, 2.0, 3.0, 150.0],
        "lying": [*NAN, 1.0, 2.0, 3.0, 150.0, 2e9],
    }.items():
        path = folder / f"{name}.parquet"
        cells = np.asarray(values)
        pq.write_table(pa.table({"x": pa.array(cells, from_pandas=False)}), path)
        made[name] = path, cells
    path = made["lying"][0]
    assert write_lies(path, {0: FooterLie(FAR, FAR, 0)})
    return made


def count(source: Any, **options: Any) -> int:
    """Return how many rows a session of a source counts."""
    table = sd.PrivateTable(source, protects=sd.AddOneRow(), **options)
    session = sd.Session({"t": table}, BUDGET, engine="memory")
    release = session.release(sd.table("t").agg(n=sd.count()), sd.PureDP(10**6))
    return int(release["n"].to_pylist()[0])


def rows_of(source: Any) -> int | str:
    """Return how many rows are read of a source that makes each of one row."""
    opened = open_source(source, {}).source
    return opened.doubt or int(opened.read([0]).num_rows)
