"""A connection that is lost at each step of a release: what is told, and charged."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import sordino as sd
from sordino.engines.postgres.server import Server
from sordino.errors import EngineFailure, EngineUnavailable
from tests.effort import often
from tests.postgres_server import Cluster, cluster, lose_connection
from tests.unit.engines.test_postgres_failures import BUDGET, quiet, table_named


def steps_of(session: sd.Session, query: Any, end_at: int, server: Cluster) -> int:
    """Ask, and lose the connection before one thing is sent; return how many were."""
    count = 0

    def watched(name: str) -> Callable[..., Any]:
        sends = getattr(Server, name)

        def sent(known: Server, *arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == end_at:
                lose_connection(server, session)
            return sends(known, *arguments)

        return sent

    with pytest.MonkeyPatch.context() as patch:
        for name in ("command", "rows", "change"):
            patch.setattr(Server, name, watched(name))
        session.release(query, BUDGET)
    return count


def outcome_of(table: sd.PrivateTable, end_at: int, server: Cluster) -> type | None:
    """Return how a release ends, None if it ended before the connection was lost."""
    session = sd.Session({"t": table}, sd.PureDP(3), engine="postgres")
    query = sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    failures: list[Exception] = []
    try:
        count = steps_of(session, query, end_at, server)
    except (EngineUnavailable, EngineFailure) as failure:
        failures.append(failure)
        count = end_at
    assert all(map(quiet, failures))
    ended: list[type] = [type(failure) for failure in failures] or [sd.Session]
    outcome = ended[0] if count >= end_at else None
    assert session.spent == sd.PureDP(0 if outcome is EngineUnavailable else 1)
    assert session.release(query, BUDGET).table.num_rows == 1
    session.close()
    return outcome


@pytest.mark.slow
def test_a_connection_that_is_lost_at_each_step() -> None:
    """Refused and free, or failed and charged, or answered; and the next one is."""
    server = cluster()
    source = table_named(server, "stepping")
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("x"))
    steps = (
        outcome_of(table, end_at, server) for end_at in itertools.count(1, often(3, 1))
    )
    told = set(itertools.takewhile(lambda outcome: outcome is not None, steps))
    assert told == {EngineUnavailable, EngineFailure, sd.Session}
