"""What a label costs a file that carries it, over the file alone."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import sordino as sd
from benchmarks.data import folder
from benchmarks.frame import Action, Race, Row
from sordino.release.text import side_by_side

GROUPS: Final = 1_000_000
ROUNDS: Final = 5


@cache
def wide_release() -> sd.Release:
    """Return counts of a million public groups."""
    keys = pa.table({"g": np.arange(GROUPS)})
    rows = sd.PrivateTable({"g": [1, 2, 3]}, protects=sd.AddOneRow())
    session = sd.Session({"t": rows}, sd.PureDP(1))
    query = sd.table("t").group_by(sd.KeySet.from_table(keys)).agg(n=sd.count())
    return session.release(query, sd.PureDP(1))


def alone(kind: str) -> Action:
    """Return what writes values and errors, and nothing about them."""
    release = wide_release()
    table = side_by_side(release.table, release.errors, len(release.keys))
    path = str(Path(folder().name) / f"alone.{kind}")
    write: Any = csv.write_csv if kind == "csv" else parquet.write_table
    return lambda: write(table, path)


def labelled(kind: str) -> Action:
    """Return what writes a release with its label."""
    release = wide_release()
    path = Path(folder().name) / f"labelled.{kind}"
    write = release.to_csv if kind == "csv" else release.to_parquet
    return lambda: write(path)


def race(kind: str, floor: float) -> Race:
    """Return what a file with its label takes over the file alone."""
    return Race(
        what=f"a file with its label: {kind} of a million groups",
        ours=lambda: labelled(kind),
        peer=lambda: alone(kind),
        against="arrow",
        floor=floor,
        rounds=ROUNDS,
    )


ROWS: tuple[Row, ...] = (race("csv", 1.5), race("parquet", 1.5))
