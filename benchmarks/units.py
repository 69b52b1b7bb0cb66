"""How far off a mean is where a row may take the place of another, and how else."""

from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa

import sordino as sd
from benchmarks.frame import Row
from benchmarks.moments import FACTS, NO_LIMIT, STATISTICS, UNITS, rms, values
from benchmarks.reached import Accuracy
from sordino.data.units import AbstractUnit

SAMPLES: Final = 1000


@cache
def mean_error(unit: AbstractUnit) -> float:
    """Return the error of a mean of all rows at epsilon 1, by what is protected."""
    sample = values("uniform", 1)
    table = pa.table({"x": sample[0]})
    private = sd.PrivateTable(table, protects=unit, columns=FACTS)
    session = sd.Session({"t": private}, NO_LIMIT)
    asked = sd.table("t").agg(mean=STATISTICS["mean"])
    means = [
        session.release(asked, sd.PureDP(1))["mean"][0].as_py() for _ in range(SAMPLES)
    ]
    return rms(np.array(means) - sample.mean()) / UNITS["mean"]


ROWS: tuple[Row, ...] = (
    Accuracy(
        what="mean at epsilon 1, ChangeOneRow: error",
        ours=lambda: mean_error(sd.ChangeOneRow()),
        unit="R/n",
        floor=1.6,
        goal=1.5,
        tolerance=0.2,
    ),
    Accuracy(
        what="mean at epsilon 1, ChangeOneRow over AddOneRow, which promises less",
        ours=lambda: mean_error(sd.ChangeOneRow()) / mean_error(sd.AddOneRow()),
        unit="",
        floor=1.7,
        goal=1.5,
        tolerance=0.3,
    ),
    Accuracy(
        what="mean at epsilon 1, ChangeOneRow over any two rows, which promise as much",
        ours=lambda: mean_error(sd.ChangeOneRow()) / mean_error(sd.AddMaxRows(2)),
        unit="",
        floor=0.85,
        goal=0.75,
        tolerance=0.3,
    ),
)
