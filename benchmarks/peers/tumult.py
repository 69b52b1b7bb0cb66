"""Tumult Analytics, asked in a process of its own: it needs an older Spark than ours.

`python tumult.py FILE` reads a kind of question from each line ("rows" or "ids")
and writes the seconds on the wall that its answer took.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

GROUPS = 1000


def count_and_sum(frame: Any, protects: Any, bounded: Callable[[Any], Any]) -> None:
    """Ask a new session for a count and a sum of each group."""
    keys = KeySet.from_dict({"g": list(range(GROUPS))})
    session = Session.from_dataframe(
        PureDPBudget(2), "t", frame, protected_change=protects
    )
    groups = bounded(QueryBuilder("t")).groupby(keys)
    for query in (groups.count(), groups.sum("v", 0, 100)):
        session.evaluate(query, PureDPBudget(1)).toPandas()


def main() -> None:
    """Answer until there are no more lines."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # else the first python3 of the path
    spark = (
        SparkSession.builder
        .master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(sys.argv[1]).select("id", "g", "v")
    actions = {
        "rows": lambda: count_and_sum(frame, AddOneRow(), lambda query: query),
        "ids": lambda: count_and_sum(
            frame, AddRowsWithID("id"), lambda query: query.enforce(MaxRowsPerID(5))
        ),
    }
    for line in sys.stdin:
        started = time.perf_counter()
        actions[line.strip()]()
        sys.stdout.write(f"{time.perf_counter() - started}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
