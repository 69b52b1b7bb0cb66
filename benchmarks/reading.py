"""What it costs to believe nothing that a Parquet file says of itself."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from benchmarks.data import folder, parquet
from benchmarks.frame import Action, Race, Row
from benchmarks.queries import PURE, ROWS_OF_G, SIZE, known, session

ROUNDS: Final = 5
AGAINST: Final = "believing"
FILTERED: Final = ROWS_OF_G.filter((sd.col("x") < 40) & (sd.col("id") < SIZE // 100))
LATE: Final = sd.table("t").filter(sd.col("seen").year() > 1990).agg(n=sd.count())


@contextmanager
def believing() -> Generator[None]:
    """Read files as DuckDB does by itself: with its optimiser, looking at no plan."""
    from sordino.engines.duckdb import plans, session, tables  # noqa: PLC0415 only these rows need it

    with (
        patch.dict(session._SETTINGS, enable_optimizer="true"),  # noqa: SLF001
        patch.object(plans, "_is_written", lambda *_: True),
        patch.object(tables, "_OPTIONS", {}),
    ):
        yield


def released(query: Any, source: Any) -> Action:
    """Return a release of a session that stays open."""
    stays = session(source, sd.AddOneRow())
    return lambda: stays.release(query, PURE)


def believed(query: Any, source: Any) -> Action:
    """Return the same release, as the file says."""
    with believing():
        release = released(query, source)

    def run() -> Any:
        with believing():
            return release()

    return run


def race(what: str, query: Any, source: Any, floor: float) -> Race:
    """Return what reading by values takes over reading by what is said."""
    return Race(
        what=what,
        ours=lambda: released(query, source()),
        peer=lambda: believed(query, source()),
        against=AGAINST,
        floor=floor,
        rounds=ROUNDS,
    )


@cache
def moments(size: int, unit: str) -> Path:
    """Return a file with moments in a unit."""
    path = Path(folder().name) / f"moments-{unit}-{size}.parquet"
    if not path.exists():
        held = pq.read_table(parquet(size))
        seen = held["id"].cast(pa.int64()).combine_chunks()
        kind = pa.timestamp(unit)
        pq.write_table(held.append_column("seen", seen.cast(kind)), path)
    return path


ROWS: tuple[Row, ...] = (
    race(
        "reading by values: count and mean of floats by 1000 known keys, 1e7 rows",
        known(ROWS_OF_G),
        lambda: parquet(SIZE),
        floor=1.1,
    ),
    race(
        "reading by values: the same of filtered floats, sorted by nothing",
        known(FILTERED),
        lambda: parquet(SIZE),
        floor=1.2,
    ),
    Race(
        what="reading by values: moments in ns (by Arrow) over moments in us, 1e7 rows",
        ours=lambda: released(LATE, moments(SIZE, "ns")),
        peer=lambda: released(LATE, moments(SIZE, "us")),
        against="us",
        floor=4,
        rounds=ROUNDS,
    ),
)
