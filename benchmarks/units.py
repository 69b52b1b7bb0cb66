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


def sum_error(unit: AbstractUnit, *ends: int) -> float:
    """Return the deviation of sums of views by page at mu 0.5, as the price tells."""
    facts = {name: sd.Column("i64", nullable=False) for name in ("page", "views")}
    views = sd.PrivateTable({"page": [1], "views": [2]}, protects=unit, columns=facts)
    pages = sd.KeySet.from_dict({"page": list(range(50))})
    asked = sd.table("t").group_by(pages).agg(views=sd.sum("views", *ends))
    price = sd.Session({"t": views}, NO_LIMIT).price(asked, sd.GaussianDP("0.5"))
    return float(price.errors["views"].sd)


ROWS: tuple[Row, ...] = (
    Accuracy(
        what="views by page, 30 of one person within [0, 10000], mu 0.5: sd",
        ours=lambda: sum_error(sd.AddMaxTotal("views", 30), 0, 10_000),
        unit="",
        floor=61,
        goal=60.5,
        tolerance=0.01,
    ),
    Accuracy(
        what="the same, at most 1 on each page (30 ** 0.5 / mu)",
        ours=lambda: sum_error(sd.AddMaxTotal("views", 30, in_each=("page", 1))),
        unit="",
        floor=11,
        goal=10.96,
        tolerance=0.01,
    ),
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
