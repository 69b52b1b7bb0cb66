"""A frame whose owner's cast fails at a cell, asked by a session and by its owner.

`python -m tests.spark_failing_cell` writes to stdout what is raised and what is left,
and to stderr what Spark logs by itself: first of our question, then of the owner's.
"""

import sys
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

import sordino as sd
from sordino.errors import EngineFailure
from tests.spark_here import users_session

CELL: Final = "a-private-cell"
MARK: Final = "-- the owner asks --"


def failing_frame(spark: Any) -> Any:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    texts = spark.createDataFrame(pa.table({"x": ["1", CELL] * 20}))
    return texts.repartition(4).selectExpr("CAST(x AS BIGINT) AS x")


def main() -> None:
    spark = users_session()
    spark.sparkContext.setLogLevel("WARN")
    table = sd.PrivateTable(failing_frame(spark), protects=sd.AddOneRow())
    session = sd.Session({"t": table}, budget=sd.PureDP(10))
    positive = sd.table("t").filter(sd.col("x") > 0)
    try:
        session.release(positive.agg(n=sd.count()), sd.PureDP(1))
    except EngineFailure as failure:
        left: Any = session.remaining
        told = (type(failure).__name__, failure.__cause__, failure.__context__)
        sys.stdout.write(" ".join(map(str, (*told, left.epsilon))))
    sys.stderr.write(MARK)
    sys.stderr.flush()
    with suppress(Exception):
        failing_frame(spark).collect()


if __name__ == "__main__":
    main()
