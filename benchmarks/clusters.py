"""Questions answered in Spark, against its SQL without privacy and against Tumult.

On the wall: the work is Java's, and it is not this process. Spark runs in this process,
Tumult Analytics in an environment of its own, `.venv/tumult`, for it needs an older
Spark. Where either is not installed the rows say so.
"""

import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sordino as sd
from benchmarks.data import GROUPS, folder, parquet
from benchmarks.frame import Action, Measured, Row, duration

MILLION: Final = 1_000_000
ROUNDS: Final = {1: 12, 10: 4}
"""Turns, by millions of rows: Java is compiled while it runs."""
PATIENCE: Final = 150.0
"""Seconds that Tumult is given for an answer."""
TUMULT: Final = Path(__file__).parents[1] / ".venv/tumult"
"""Where `make bench` installs it; `.ready` says that it could."""
BUDGET: Final = sd.PureDP(2)
PARTITIONS: Final = ("spark.sql.shuffle.partitions", "8")
KEYS: Final = sd.KeySet.from_dict({"g": list(range(GROUPS))})
TABLE: Final = sd.table("t")
FIVE_OF_ID: Final = TABLE.enforce(sd.MaxRowsPerID(5))
PEOPLE: Final = sd.AddRowsWithID("id")
PLAIN: Final = """
SELECT g, count(*), sum(CASE WHEN v < 0 THEN 0 WHEN v > 100 THEN 100 ELSE v END)
FROM {rows} GROUP BY g"""
BOUNDED: Final = """
(SELECT g, v, row_number() OVER (PARTITION BY id ORDER BY xxhash64(id, g, v)) AS place
 FROM t) WHERE place <= 5"""


@cache
def rows_file(millions: int) -> str:
    """Return a file of rows (id, g, v), v an integer of -10 to 130."""
    path = Path(folder().name) / f"spark-{millions}.parquet"
    rows = pq.read_table(parquet(millions * MILLION), columns=["id", "g", "x"])
    v = pc.cast(pc.round(rows["x"]), pa.int64())
    pq.write_table(rows.drop_columns("x").append_column("v", v), path)
    return str(path)


@cache
def spark() -> Any:
    """Return a Spark of this machine, which is started once."""
    if find_spec("pyspark") is None:
        raise ImportError
    from sordino.engines.doors import Settings  # noqa: PLC0415 as the next
    from sordino.engines.spark.cluster import started_session  # noqa: PLC0415 extra

    session = started_session(Settings(threads=2, memory_limit="3GB"))
    session.conf.set(*PARTITIONS)
    return session


def opened(millions: int, protects: Any) -> sd.Session:
    """Return a session over the rows as a frame."""
    frame = spark().read.parquet(rows_file(millions))
    table = sd.PrivateTable(frame, protects=protects)
    return sd.Session({"t": table}, sd.PureDP(10**9))


def count_and_sum(rows: Any) -> Any:
    """Return the request for a count and a sum of each group."""
    return rows.group_by(KEYS).agg(n=sd.count(), v=sd.sum("v", 0, 100))


def asked(millions: int, protects: Any, rows: Any, *, keeps: bool = False) -> Action:
    """Return a release of a session that stays open; what is kept may be let go."""
    session = opened(millions, protects)

    def release() -> None:
        if not keeps:
            session.forget()
        session.release(count_and_sum(rows), BUDGET)

    return release


def opened_and_asked(millions: int, protects: Any, rows: Any) -> Action:
    """Return a release of a new session each time."""

    def release() -> None:
        session = opened(millions, protects)
        session.release(count_and_sum(rows), BUDGET)
        session.close()

    return release


def plain(millions: int, rows: str) -> Action:
    """Return the same without privacy, in a session of its own."""
    session = spark().newSession()
    session.conf.set(*PARTITIONS)  # which a new session does not inherit
    session.read.parquet(rows_file(millions)).createOrReplaceTempView("t")
    return lambda: session.sql(PLAIN.format(rows=rows)).toArrow()


@final
class Tumult:
    """A process of Tumult Analytics over a file."""

    def __init__(self, path: str) -> None:
        """Start it, if it is installed."""
        if not (TUMULT / ".ready").exists():
            raise ImportError
        program = Path(__file__).parent / "peers/tumult.py"
        self._process = subprocess.Popen(
            [str(TUMULT / "bin/python"), str(program), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def seconds(self, kind: str) -> float | None:
        """Return how long an answer took, None for one that does not come in time."""
        pipes: Any = self._process
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        pipes.stdin.write(f"{kind}\n")
        pipes.stdin.flush()
        answer = pipes.stdout.readline()
        is_late = not patience.is_alive()
        patience.cancel()
        if not (answer or is_late):
            raise RuntimeError("Tumult ended without an answer")
        return float(answer) if answer else None


@cache
def tumult(path: str) -> Tumult:
    """Return the process over a file, started once."""
    return Tumult(path)


@final
@dataclass(frozen=True, kw_only=True)
class SparkRace:
    """Our wall time over that of plain SQL in the same Spark."""

    what: str
    ours: Callable[[], Action]
    theirs: Callable[[], Action]
    floor: float
    rounds: int
    goal: float | None = None

    def measure(self) -> Measured:
        """Take turns, so that a slow minute of the machine slows both."""
        try:
            sides = self.ours(), self.theirs()
        except ImportError:
            return self._row("-", "NO PYSPARK", None)
        for side in sides:
            side()
        turns = [[_wall(side) for side in sides] for _ in range(self.rounds)]
        mine, other = map(min, zip(*turns, strict=True))
        return self._row(duration(mine), f"plain {duration(other)}", mine / other)

    def _row(self, ours: str, peer: str, ratio: float | None) -> Measured:
        return Measured(
            what=self.what,
            ours=ours,
            peer=peer,
            ratio=ratio,
            floor=self.floor,
            goal=self.goal,
            better="less",
        )


@final
@dataclass(frozen=True, kw_only=True)
class TumultRace:
    """How many times faster we are than Tumult, each in its Spark, taking turns."""

    what: str
    ours: Callable[[], Action]
    kind: str
    millions: int
    rounds: int = 2

    def measure(self) -> Measured:
        """Take the least time of each; one that does not answer took all it had."""
        try:
            peer, ours = tumult(rows_file(self.millions)), self.ours()
        except ImportError:
            return self._row("-", "Tumult absent", None)
        ours()
        mine, theirs = [], []
        for _ in range(self.rounds):
            mine.append(_wall(ours))
            seconds = peer.seconds(self.kind)
            if seconds is None:
                late = f"Tumult over {duration(PATIENCE)}"
                return self._row(duration(min(mine)), late, PATIENCE / min(mine))
            theirs.append(seconds)
        shown = f"Tumult {duration(min(theirs))}"
        return self._row(duration(min(mine)), shown, min(theirs) / min(mine))

    def _row(self, ours: str, peer: str, ratio: float | None) -> Measured:
        return Measured(
            what=self.what,
            ours=ours,
            peer=peer,
            ratio=ratio,
            floor=5,
            goal=20,
            better="more",
        )


def _wall(action: Action) -> float:
    """Return the seconds of a call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def rows_of(millions: int) -> tuple[Row, ...]:
    """Return the rows of a size."""
    size = f"1e{len(str(millions * MILLION)) - 1} rows"
    what = f"Spark: count and sum by 1000 keys, {size}"
    return (
        SparkRace(
            what=f"{what}, row unit",
            ours=lambda: asked(millions, sd.AddOneRow(), TABLE),
            theirs=lambda: plain(millions, "t"),
            floor=1.3,
            rounds=ROUNDS[millions],
            goal=1.1,
        ),
        SparkRace(
            what=f"{what}, MaxRowsPerID(5), over SQL with the same bound",
            ours=lambda: asked(millions, PEOPLE, FIVE_OF_ID),
            theirs=lambda: plain(millions, BOUNDED),
            floor=1.3,
            rounds=ROUNDS[millions],
            goal=1.1,
        ),
        SparkRace(
            what=f"{what}, a further question over kept rows, over plain SQL",
            ours=lambda: asked(millions, PEOPLE, FIVE_OF_ID, keeps=True),
            theirs=lambda: plain(millions, "t"),
            floor=1.0,
            rounds=ROUNDS[millions],
        ),
        TumultRace(
            what=f"{what}, row unit, faster than Tumult",
            ours=lambda: opened_and_asked(millions, sd.AddOneRow(), TABLE),
            kind="rows",
            millions=millions,
        ),
        TumultRace(
            what=f"{what}, MaxRowsPerID(5), faster than Tumult",
            ours=lambda: opened_and_asked(millions, PEOPLE, FIVE_OF_ID),
            kind="ids",
            millions=millions,
            rounds=1,
        ),
    )


ROWS: Final = rows_of(1)
