"""Questions answered in PostgreSQL, against the same SQL that protects nobody.

In wall time: the work is the server's, and it is not this process. A server of its own
is started where its programs are found; otherwise the rows say so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, final

import sordino as sd
from benchmarks.data import GROUPS
from benchmarks.frame import Action, Measured, duration
from benchmarks.queries import APPROX, FACTS, PURE, known

SIZE: Final = 1_000_000
ROUNDS: Final = 5
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
def server_address() -> str | None:
    """Return the address of a server that has the rows, None if there is none."""
    from tests.postgres_server import programs, start_cluster  # noqa: PLC0415 with pytest

    if programs() is None:
        return None
    made = start_cluster(shared_buffers="256MB", work_mem="64MB")
    made.run("SELECT setseed(0.5)", TABLE_SQL, "VACUUM ANALYZE rows")
    return made.address()


def session(protects: Any) -> sd.Session:
    """Return a session over the rows in the server."""
    source = (server_address(), "rows")
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

    connection = psycopg.connect(str(server_address()), autocommit=True)
    return lambda: connection.execute(MEANS_SQL).fetchall()


@final
@dataclass(frozen=True, kw_only=True)
class ServerRace:
    """Our wall time over that of the plain query, in one server."""

    what: str
    ours: Callable[[], Action]
    floor: float

    def measure(self) -> Measured:
        """Take turns, so that a slow minute of the machine slows both."""
        if server_address() is None:
            return self._told("-", "NO SERVER FOUND", None)
        ours, theirs = self.ours(), plain()
        mine = other = float("inf")
        for _ in range(ROUNDS):
            mine, other = min(mine, _wall(ours)), min(other, _wall(theirs))
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


def _wall(action: Action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


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
