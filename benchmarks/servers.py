"""Questions answered in PostgreSQL, against SQL that protects nobody.

In CPU time of the server with all its processes, and of this one; and in the time that
passes, in which the plain query has a second processor: no temporary table is read by
several processes. A server of its own is started where its programs are found;
otherwise the rows say so.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import sordino as sd
from benchmarks.data import GROUPS
from benchmarks.frame import Action, Measured, duration
from benchmarks.queries import APPROX, FACTS, PURE, known

SIZE: Final = 1_000_000
ROUNDS: Final = 5
TIMES: Final = 2
MEANS_SQL: Final = """
SELECT g, count(*), avg(CASE WHEN x < 0 THEN 0 WHEN x > 100 THEN 100 ELSE x END)
FROM rows GROUP BY g"""
BOUNDED_SQL: Final = MEANS_SQL.replace(
    "FROM rows",
    """FROM (
  SELECT g, x, row_number() OVER (PARTITION BY id ORDER BY
    hashint8extended(hash_record_extended(ROW(id, g, x), 7), 7)) AS place
  FROM rows) AS ranked WHERE place <= 5""",
)
"""By hand: rows that are alike are kept or left together, and nothing is kept for
another question."""
TABLE_SQL: Final = f"""
CREATE TABLE rows AS SELECT
  floor(sqrt(random()) * {SIZE // 10})::bigint AS id,
  floor(random() * {GROUPS})::bigint AS g,
  random() * 140 - 10 AS x
FROM generate_series(1, {SIZE})"""  # noqa: S608 ours


@cache
def cluster() -> Any:
    """Return a server that has the rows, None if there is none."""
    from tests.postgres_server import programs, start_cluster  # noqa: PLC0415 with pytest

    if programs() is None:
        return None
    server = start_cluster(shared_buffers="256MB", work_mem="64MB")
    server.run("SELECT setseed(0.5)", TABLE_SQL, "VACUUM ANALYZE rows")
    return server


def session(protects: Any) -> sd.Session:
    """Return a session over the rows in the server."""
    source = (cluster().address(), "rows")
    rows = sd.PrivateTable(source, protects=protects, columns=FACTS)
    budget = sd.ApproxDP(10**9, "0.5")
    return sd.Session({"t": rows}, budget, engine="postgres")


def released(protects: Any, query: Any, budget: Any) -> Action:
    """Return a release of a session that stays open, and has kept what it keeps."""
    stays = session(protects)
    stays.release(query, budget)
    return lambda: stays.release(query, budget)


def bounded_anew(query: Any, budget: Any) -> Action:
    """Return a release whose rows are bounded each time."""
    stays = session(sd.AddRowsWithID("id"))

    def release() -> None:
        stays.forget()
        stays.release(query, budget)

    return release


def plain(text: str) -> Action:
    """Return a query of SQL, by a connection that stays open."""
    import psycopg  # noqa: PLC0415 only these rows need it

    connection = psycopg.connect(cluster().address(), autocommit=True)
    return lambda: connection.execute(text.encode()).fetchall()


def spent() -> float:
    """Return the CPU time of the server with its processes, past ones too, and ours."""
    server = cluster().number
    numbers = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    ticks = sum(_ticks(number, server) for number in numbers)
    here = os.times()
    return ticks / os.sysconf("SC_CLK_TCK") + here.user + here.system


@final
@dataclass(frozen=True, kw_only=True)
class ServerRace:
    """Our time over that of SQL that protects nobody, in one server."""

    what: str
    ours: Callable[[], Action]
    theirs: str = MEANS_SQL
    clock: Callable[[], float] = spent
    floor: float

    def measure(self) -> Measured:
        """Take turns, so that a slow minute of the machine slows both."""
        if cluster() is None:
            return self._told("-", "NO SERVER FOUND", None)
        ours, theirs = self.ours(), plain(self.theirs)
        mine = other = float("inf")
        for _ in range(ROUNDS):
            mine = min(mine, _took(ours, self.clock))
            other = min(other, _took(theirs, self.clock))
        shown = f"plain SQL {duration(other)}"
        return self._told(duration(mine), shown, mine / other)

    def _told(self, ours: str, peer: str, ratio: float | None) -> Measured:
        return Measured(
            what=self.what,
            ours=ours,
            peer=peer,
            ratio=ratio,
            floor=self.floor,
            goal=None,
            better="less",
        )


def _took(action: Action, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(TIMES):
        action()
    return (clock() - start) / TIMES


def _ticks(process: int, server: int) -> int:
    """Return what a process of the server has spent, of its ended children too."""
    try:
        told = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2]
    except OSError:  # it has ended
        return 0
    _, parent, *fields = told.split()
    own, ended = fields[9:11], fields[11:13]
    if process == server:
        return sum(map(int, [*own, *ended]))
    return sum(map(int, own)) if int(parent) == server else 0


FIVE_OF_ID: Final = known(sd.table("t").enforce(sd.MaxRowsPerID(5)))


def further() -> Action:
    """Return a question over rows that are kept."""
    return released(sd.AddRowsWithID("id"), FIVE_OF_ID, APPROX)


ROWS: Final = (
    ServerRace(
        what="PostgreSQL: count and mean by 1000 keys, row unit, 1e6 rows",
        ours=lambda: released(sd.AddOneRow(), known(sd.table("t")), PURE),
        floor=1.3,
    ),
    ServerRace(
        what="PostgreSQL: a further question over kept rows, 1e6 rows",
        ours=further,
        floor=1.0,
    ),
    ServerRace(
        what="PostgreSQL: the same, in the time that passes",
        ours=further,
        clock=time.perf_counter,
        floor=1.0,
    ),
    ServerRace(
        what="PostgreSQL: a first bounded question, over the plain query, 1e6 rows",
        ours=lambda: bounded_anew(FIVE_OF_ID, APPROX),
        floor=16,
    ),
    ServerRace(
        what="PostgreSQL: the same, over a bound written by hand",
        ours=lambda: bounded_anew(FIVE_OF_ID, APPROX),
        theirs=BOUNDED_SQL,
        floor=1.1,
    ),
)
