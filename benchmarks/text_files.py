"""What the look at a text file costs beside the reading of it."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

import sordino as sd
from benchmarks.frame import Action, Race, Row
from sordino.aggregations.measurement import Total
from sordino.data.csv import CSVSource
from sordino.engines.duckdb.session import duckdb_engine
from sordino.query.nodes import Question, Source

SIZE = 1_000_000
COLUMNS = {"id": "i64", "cost": "f64", "note": "text", "day": "date"}


@cache
def file() -> Path:
    """Write a file of a million rows, its texts in quotes, and return its path."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    rows = np.arange(SIZE)
    notes = np.array([f"note, {n}" for n in range(977)], object)
    table = pa.table({
        "id": rows,
        "cost": rows * 0.37,
        "note": notes[rows % 977],
        "day": pa.array(rows % 1000 + 18_000, pa.int32()).cast(pa.date32()),
    })
    path = Path(folder) / "visits.csv"
    pa_csv.write_csv(table, path)
    return path


def look() -> Action:
    """Return the opening of the file."""
    table = sd.Csv(file(), COLUMNS)
    return lambda: CSVSource(table, {})


def ask() -> Action:
    """Return a question that reads every column."""
    engine: Any = duckdb_engine()
    rows = Source("visits", engine.open("visits", sd.Csv(file(), COLUMNS), {}))
    cells = (
        sd.col("cost").cast("i64"),
        sd.col("note").length(),
        sd.col("day").year(),
        sd.col("id") % 7,
    )
    question = Question(rows, (), tuple(Total(one) for one in cells))
    return lambda: engine.answer(question)


ROWS: tuple[Row, ...] = (
    Race(
        what="text files: the look at opening, over a question of all columns, 1e6",
        ours=look,
        peer=ask,
        against="question",
        floor=0.6,
        goal=0.3,
        rounds=3,
    ),
)
