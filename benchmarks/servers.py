"""Questions answered in PostgreSQL, against the same SQL that protects nobody.

In CPU time of the server with all its processes, and of this one. A server of its own
is started where its programs are found; otherwise the rows say so.
"""

import os
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


def plain() -> Action:
    """Return the plain query, by a connection that stays open."""
    import psycopg  # noqa: PLC0415 only these rows need it

    connection = psycopg.connect(cluster().address(), autocommit=True)
    return lambda: connection.execute(MEANS_SQL).fetchall()


@final
@dataclass(frozen=True, kw_only=True)
class ServerRace:
    """Our CPU time over that of the plain query, in one server."""

    what: str
    ours: Callable[[], Action]
    floor: float

    def measure(self) -> Measured:
        """Take turns, so that a slow minute of the machine slows both."""
        if cluster() is None:
            return self._told("-", "NO SERVER FOUND", None)
        ours, theirs = self.ours(), plain()
        mine = other = float("inf")
        for _ in range(ROUNDS):
            mine, other = min(mine, _cpu(ours)), min(other, _cpu(theirs))
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


def _cpu(action: Action) -> float:
    start = _spent()
    for _ in range(TIMES):
        action()
    return (_spent() - start) / TIMES


def _spent() -> float:
    """Return the CPU time of the server with its processes, past ones too, and ours."""
    server = cluster().process.pid
    numbers = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    ticks = sum(_ticks(number, server) for number in numbers)
    here = os.times()
    return ticks / os.sysconf("SC_CLK_TCK") + here.user + here.system


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


FIVE_OF_ID: Final = sd.table("t").enforce(sd.MaxRowsPerID(5))
ROWS: Final = (
    ServerRace(
        what="PostgreSQL: count and mean by 1000 keys, row unit, 1e6 rows",
        ours=lambda: released(sd.AddOneRow(), known(sd.table("t")), PURE),
        floor=1.3,
    ),
    ServerRace(
        what="PostgreSQL: a further question over kept rows, 1e6 rows",
        ours=lambda: released(sd.AddRowsWithID("id"), known(FIVE_OF_ID), APPROX),
        floor=1.0,
    ),
)
