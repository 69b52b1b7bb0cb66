"""Which rows a server keeps, where they lie, and when they go."""

from collections.abc import Sequence
from itertools import starmap
from typing import Any, Final

import pytest

import sordino as sd
from sordino.data.postgres_connection import ServerRefusal
from sordino.engines.conformance.plans import bound_rows, whole_question
from sordino.engines.postgres.dialect import PostgresDialect
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.session import postgres_engine
from sordino.query.nodes import Source
from tests.postgres_server import Cluster, cluster, lose_connection
from tests.statistics import MOST_UNEVEN, unevenness_of

COUNT: Final = sd.PureDP(1)
BUDGET: Final = sd.PureDP(20)
ROWS: Final = sd.table("t").enforce(sd.MaxRowsPerID(2))


def filled(server: Cluster, name: str) -> tuple[str, str]:
    """Make a table of three rows for each of a hundred people."""
    server.run(
        f"DROP TABLE IF EXISTS {name} CASCADE",
        f"CREATE TABLE {name} (id bigint, ward text, x integer)",
        f"INSERT INTO {name} SELECT n % 100, chr(97 + n % 7), n % 5"  # noqa: S608 ours
        " FROM generate_series(1, 300) AS n",
    )
    return server.address(), name


def session_of(source: Any) -> sd.Session:
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": table}, budget=BUDGET, engine="postgres")


def asked(session: sd.Session, column: str) -> int:
    keys = sd.KeySet.from_dict({column: ["a"] if column == "ward" else [1]})
    release = session.release(ROWS.group_by(keys).agg(n=sd.count()), COUNT)
    return int(release.table.num_rows)


def places(server: Cluster) -> set[str]:
    """Return the tables that sessions have made in a server.

    Those of earlier tests may go at any time, with their sessions.
    """
    text = b"SELECT relname FROM pg_class WHERE relname ~ '^sordino_'"
    with server.asking() as connection:
        return set(starmap(str, connection.execute(text)))


def test_rows_are_kept_and_destroyed() -> None:
    """One place for all questions; it goes with `forget`, and with the session."""
    server = cluster()
    before = places(server)
    session = session_of(filled(server, "keeping"))
    asked(session, "ward")
    (place,) = places(server) - before
    asked(session, "x")
    assert places(server) - before == {place}
    session.forget()
    assert places(server) <= before
    asked(session, "ward")
    assert len(places(server) - before) == 1
    session.close()
    with server.asking() as connection:  # the server ends a session when it can
        for _ in range(500):
            if places(server) <= before:
                break
            connection.execute("SELECT pg_sleep(0.01)")
    assert places(server) <= before


def test_kept_rows_are_settled() -> None:
    """Each of their pages is noted as seen by all, so that a scan looks at no row."""
    server = cluster()
    before = places(server)
    session = session_of(filled(server, "settling"))
    asked(session, "ward")
    (place,) = places(server) - before
    text = "SELECT relpages, relallvisible FROM pg_class WHERE relname = %s"
    with server.asking() as connection:
        ((pages, settled),) = connection.execute(text, [place]).fetchall()
    assert pages == settled > 0
    session.close()


def test_rows_that_cannot_be_settled_answer_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server may refuse what is no part of an answer."""
    command = Server.command

    def refused(self: Server, text: str) -> None:
        if text.startswith("VACUUM"):
            raise ServerRefusal("it refuses this", "57014")
        command(self, text)

    monkeypatch.setattr(Server, "command", refused)
    session = session_of(filled(cluster(), "unsettled"))
    for column in ("ward", "x"):
        assert asked(session, column) == 1
    assert session.spent == sd.PureDP(2)


def test_kept_rows_are_of_their_moment() -> None:
    server = cluster()
    session = session_of(filled(server, "snapshot"))
    engine: Any = session._desk.engine
    asked(session, "ward")
    server.run("TRUNCATE snapshot")
    seen: list[Any] = []
    table = type(engine._database).table

    def watched(self: Any, statement: Any, salt: int) -> Any:
        seen.append(table(self, statement, salt))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(engine._database), "table", watched)
        asked(session, "ward")
        kept = seen[-1]
        session.forget()
        asked(session, "ward")
    assert kept.num_rows == 1
    assert seen[-1].num_rows == 0


def test_without_the_right_rows_are_bounded_anew() -> None:
    """A role that may make no temporary table gets its answers all the same."""
    server = cluster()
    _, name = filled(server, "strict")
    server.drop_role("sparing")
    server.run(
        "CREATE ROLE sparing LOGIN",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
        "GRANT CONNECT ON DATABASE postgres TO sparing",
        "GRANT USAGE ON SCHEMA public TO sparing",
        f"GRANT SELECT ON {name} TO sparing",
    )
    before = places(server)
    session = session_of((server.address("sparing"), f"public.{name}"))
    assert asked(session, "ward") == 1
    assert asked(session, "x") == 1
    assert places(server) <= before


def test_behind_a_pool_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    server = cluster()
    source = filled(server, "pooled")
    known = Server(server.address())
    known.connect()
    assert not known.is_pooled
    known.close()
    monkeypatch.setattr(Server, "is_pooled", True)
    before = places(server)
    session = session_of(source)
    assert asked(session, "ward") == 1
    assert places(server) <= before


def test_a_lost_connection_loses_what_was_kept() -> None:
    """The next question makes the rows anew, and the one after it finds them."""
    server = cluster()
    before = places(server)
    session = session_of(filled(server, "losing"))
    asked(session, "ward")
    lose_connection(server, session)
    assert places(server) <= before
    assert asked(session, "ward") == 1
    (place,) = places(server) - before
    assert asked(session, "x") == 1
    assert places(server) - before == {place}
    assert session.spent == sd.PureDP(3)


def test_what_a_lost_connection_kept_can_be_forgotten() -> None:
    server = cluster()
    session = session_of(filled(server, "lost"))
    asked(session, "ward")
    lose_connection(server, session)
    session.forget()
    assert asked(session, "ward") == 1


def test_a_question_over_kept_rows_is_the_same() -> None:
    server = cluster()
    source = filled(server, "alike")
    engine = postgres_engine(server.address())
    rows = Source("t", engine.open("t", source, {}))
    question = whole_question(bound_rows(rows, ("id",), 2), "ward")
    first = engine.answer(question).sort_by("ward")
    assert engine.answer(question).sort_by("ward") == first
    engine.forget()
    assert engine.answer(question).sort_by("ward") == first
    engine.close()


IDS: Final = 20_000
SIDES: Final = 6


def unevenness() -> float:
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS dice CASCADE",
        "CREATE TABLE dice AS SELECT id::bigint, side::bigint"  # noqa: S608 ours
        f" FROM generate_series(1, {IDS}) AS id, generate_series(1, {SIDES}) AS side",
    )
    engine = postgres_engine(server.address())
    found = unevenness_of(engine, (server.address(), "dice"), IDS)
    engine.close()
    return found


def test_each_row_is_as_likely_as_another() -> None:
    """A false alarm once in 1e9 runs."""
    assert unevenness() < MOST_UNEVEN


def test_a_hash_that_is_not_mixed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner hash alone prefers some rows by far."""
    mixed = PostgresDialect.digest

    def inner_alone(self: PostgresDialect, values: Sequence[Any]) -> Any:
        return mixed(self, values).expressions[0]

    monkeypatch.setattr(PostgresDialect, "digest", inner_alone)
    assert unevenness() > MOST_UNEVEN
