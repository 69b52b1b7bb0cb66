"""Clocks of zones: the offsets of zoneinfo, the same on every engine."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest

import sordino as sd
from sordino.engines.conformance.plans import project_to, question_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.postgres.session import postgres_engine
from sordino.expressions.dates import END, FIRST, clock_of
from sordino.expressions.language import col
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.postgres_server import cluster
from tests.spark_here import engine_beside

ZONES: Final = (
    *("Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kolkata"),
    *("Australia/Lord_Howe", "America/Sao_Paulo", "Etc/GMT-1"),
)
STEP: Final = timedelta(microseconds=1)


def moments(zone: str) -> list[datetime]:
    """Return each change of a zone, what lies beside it, and the ends of its years."""
    ends = [FIRST, END, datetime(1, 1, 1), datetime.max]  # noqa: DTZ001, DTZ901 UTC
    edges = [*clock_of(zone).edges, *ends[:2], datetime(2026, 7, 1, 12)]  # noqa: DTZ001
    return sorted({
        *edges,
        *(e - STEP for e in edges),
        *(e + STEP for e in edges),
        *ends,
    })


def truth(moment: datetime, zone: str) -> int | None:
    """Return the offset that zoneinfo tells, for the years that have rules."""
    if not FIRST <= moment < END:
        return None
    there = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    offset = there.utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


@for_each("zone", ZONES)
def test_offsets_are_those_of_zoneinfo(zone: str) -> None:
    for moment in moments(zone):
        offset, local = col("x").utc_offset(zone), col("x").local_time(zone)
        wanted = truth(moment, zone)
        assert offset.value({"x": moment}) == wanted
        shown = None if wanted is None else moment + timedelta(seconds=wanted)
        assert local.value({"x": moment}) == shown


def differing(engine: AbstractEngine, zone: str) -> list[Any]:
    """Return the times for which an engine has another offset, or another clock."""
    times = moments(zone)
    table = pa.table({
        "x": pa.array(times, pa.timestamp("us")),
        "row": list(range(len(times))),
    })
    source = Source("times", engine.open("times", table, {}))
    asked = {"offset": col("x").utc_offset(zone), "clock": col("x").local_time(zone)}
    rows = project_to(source, row=col("row"), **asked)
    answer = engine.answer(question_of(rows, "row", *asked)).to_pylist()
    return [
        (name, times[row["row"]])
        for row in answer
        for name, expression in asked.items()
        if expression.value({"x": times[row["row"]]}) != row[name]
    ]


@pytest.mark.slow
@for_each("zone", ZONES)
def test_duckdb_has_the_same_clocks(zone: str) -> None:
    assert not differing(duckdb_engine(), zone)


@pytest.mark.slow
def test_other_engines_have_the_same_clocks() -> None:
    server = postgres_engine(cluster().address())
    for engine in (duckdb_engine(), server, engine_beside()):
        for zone in (*ZONES[:2], ZONES[-1]):
            assert not differing(engine, zone)
    server.close()


def test_sql_means_the_clocks_that_duckdb_shows() -> None:
    """Both steps of AT TIME ZONE are DuckDB's own answer."""
    start = datetime(2026, 3, 28)  # noqa: DTZ001
    rows = pa.table({"seen": [start + timedelta(minutes=17 * n) for n in range(400)]})
    asked = "HOUR((seen AT TIME ZONE 'UTC') AT TIME ZONE 'Europe/Berlin')"
    text = f"SELECT {asked} AS h, COUNT(*) AS n FROM v GROUP BY 1 ORDER BY 1"  # noqa: S608
    session = sd.Session(
        {"v": sd.PrivateTable(rows, protects=sd.AddOneRow())},
        budget=sd.ApproxDP(10**12, "1e-3"),
        engine="memory",
    )
    keys = {"h": list(range(24))}
    release = session.sql(text, sd.ApproxDP(10**9, "1e-4"), keys=keys)
    ours = [tuple(row.values()) for row in release.table.to_pylist()]
    with duckdb.connect() as connection:
        connection.register("v", rows)
        assert ours == connection.execute(text).fetchall()


@for_each("zone", ["", "Mars", "../etc/passwd", "a\0b", 5, None])
def test_what_is_no_zone_is_refused(zone: Any) -> None:
    with pytest.raises(sd.errors.InvalidParameter):
        col("x").local_time(zone)


def test_other_rules_are_another_question() -> None:
    """The words hold the rules, so that a change of them is not an old answer."""
    words = col("x").utc_offset("Europe/Berlin").words
    assert clock_of("Europe/Berlin").digest in str(words)
    assert str(words) != str(col("x").utc_offset("Europe/Paris").words)
