"""One Spark for all tests of a process, or a loud word that there is none.

It is that of a user with habits: another zone, ANSI off, names of any case, functions
and views that are called like ours, few partitions.
"""

import os
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
import pytest

from sordino.engines.doors import Settings
from sordino.engines.spark import cluster
from sordino.engines.spark.session import spark_engine
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import EngineUnavailable

HABITS: Final = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.shuffle.partitions": "2",
}
"""What a user has set."""
_SETTINGS: Final = Settings(threads=2, memory_limit="1500MB")


@cache
def users_session() -> Any:
    """Return the session of a user, or skip: its views shadow what ours is called."""
    refuse_missing()
    place = f"spark.sql.warehouse.dir={tempfile.mkdtemp()}"
    with patch.dict(
        os.environ, {"PYSPARK_SUBMIT_ARGS": f"--conf {place} pyspark-shell"}
    ):
        session = cluster.running_session() or cluster.started_session(_SETTINGS)
    for name, value in HABITS.items():
        session.conf.set(name, value)
    session.range(3).selectExpr("id AS c0").createOrReplaceTempView("s0")
    session.udf.register("try_add", lambda one, other: 7)  # noqa: ARG005 it is wrong
    return session


def refuse_missing() -> None:
    """Skip, loudly, where Spark cannot run."""
    if find_spec("pyspark") is None:
        _skip("pip install '.[spark]'")
    try:
        cluster.refuse_old_java()
    except EngineUnavailable as missing:
        _skip(str(missing))


def frame_of_rows(table: pa.Table) -> Any:
    """Return a frame of rows; a time without a zone stays one."""
    session = users_session().newSession()
    session.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    batches = [batch for batch in table.to_batches() if batch.num_rows] or [empty]
    return session.createDataFrame(pa.Table.from_batches(batches))


def _skip(why: str) -> None:
    """Say loudly that Spark is not tried here."""
    told = f"SPARK IS NOT TESTED: {why}"
    print(told, file=sys.__stderr__)
    pytest.skip(told)


def engine_beside(**options: Any) -> SQLEngine:
    users_session()
    return spark_engine(**options)
