"""A server that fails: what is told, what is charged, and what is not said."""

import _thread
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

import sordino as sd
from sordino.errors import EngineFailure, EngineUnavailable, InvalidParameter
from tests.batches import for_each
from tests.postgres_server import Cluster, cluster, lose_connection, start_cluster

BUDGET: Final = sd.PureDP(1)
SECRET: Final = "an-open-secret"  # noqa: S105 of nobody
COUNT: Final = sd.table("t").filter(sd.col("x") >= 0).agg(n=sd.count())


pytestmark = pytest.mark.usefixtures("silent")


def session_of(source: Any) -> sd.Session:
    table = sd.PrivateTable(source, protects=sd.AddOneRow(), vouched_by="a test")
    return sd.Session({"t": table}, budget=BUDGET, engine="postgres")


def table_named(server: Cluster, name: str, *further: str) -> tuple[str, str]:
    """Make a table of two rows anew."""
    server.run(
        f"DROP TABLE IF EXISTS {name} CASCADE",
        f"CREATE TABLE {name} (x bigint, secret text)",
        f"INSERT INTO {name} VALUES (1, '{SECRET}'), (2, '{SECRET}')",  # noqa: S608 ours
        *further,
    )
    return server.address(), name


def quiet(failure: BaseException) -> bool:
    bare = failure.__cause__ is None and failure.__context__ is None
    return bare and SECRET not in f"{failure!r}{failure}"


@pytest.fixture
def silent(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    """Hold that nothing is logged or printed that is secret."""
    caplog.set_level(logging.DEBUG)
    yield
    told = capfd.readouterr()
    assert SECRET not in f"{caplog.text}{told.out}{told.err}"
    assert "psycopg" not in caplog.text


def test_no_server() -> None:
    address = f"postgresql://me:{SECRET}@localhost:1/base?connect_timeout=2"
    with pytest.raises(EngineUnavailable, match="cannot be asked: no server") as caught:
        session_of((address, "t"))
    assert quiet(caught.value)
    with pytest.raises(EngineUnavailable, match="no address") as caught:
        session_of((f"postgresql://{SECRET}:x:y@[", "t"))
    assert quiet(caught.value)
    with pytest.raises(InvalidParameter, match="address, name of a table") as refused:
        session_of(address)
    assert quiet(refused.value)


def test_wrong_password_and_database() -> None:
    server = cluster()
    server.run("CREATE ROLE locked LOGIN PASSWORD 'right'")
    rules = server.folder / "data" / "pg_hba.conf"
    held = rules.read_text()
    rules.write_text(f"local all locked scram-sha-256\n{held}")
    server.run("SELECT pg_reload_conf()")
    try:
        address = f"{server.address('locked')}&password={SECRET}"
        _wait_for_rules(server)
        with pytest.raises(
            EngineUnavailable, match="does not let the role in"
        ) as caught:
            session_of((address, "t"))
        assert quiet(caught.value)
        with pytest.raises(EngineUnavailable, match="needs a password"):
            session_of((server.address("locked"), "t"))
    finally:
        rules.write_text(held)
        server.run("SELECT pg_reload_conf()")
    for away in (server.address(base="nowhere"), server.address("nobody_here")):
        with pytest.raises(EngineUnavailable, match="does not let the role in") as told:
            session_of((away, "t"))
        assert told.value.lasts


def _wait_for_rules(server: Cluster) -> None:
    """Wait until the server has read whom it lets in."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            with server.asking("locked"):
                time.sleep(0.02)
        except psycopg.OperationalError:
            return


def test_an_address_is_shown_nowhere(tmp_path: Path) -> None:
    server = cluster()
    _, name = table_named(server, "shown")
    address = f"{server.address()}&password={SECRET}"
    table = sd.PrivateTable(
        (address, name), protects=sd.AddOneRow(), vouched_by="a test"
    )
    ledger = tmp_path / "shown.ledger"
    session = sd.Session({"t": table}, BUDGET, ledger=ledger, engine="postgres")
    release = session.release(COUNT, BUDGET)
    shown = [
        ledger.read_text(),
        table,
        session,
        session.describe(),
        session.history(),
        release,
    ]
    assert SECRET not in "".join(f"{one!r}{one}" for one in shown)
    assert SECRET not in f"{release.explain()}"


def view_of(server: Cluster, name: str, computed: str) -> tuple[str, str]:
    table_named(server, f"{name}_rows")
    columns = f"{computed} AS x, secret"
    server.run(f"CREATE VIEW {name} AS SELECT {columns} FROM {name}_rows")  # noqa: S608 ours
    return server.address(), name


def spent_by_failing(session: sd.Session) -> EngineFailure:
    with pytest.raises(EngineFailure) as caught:
        session.release(COUNT, BUDGET)
    assert quiet(caught.value)
    assert session.remaining == sd.PureDP(0)
    return caught.value


def test_what_a_server_says_of_a_cell_is_not_passed_on() -> None:
    """A view may fail at a cell, which the server quotes: one sentence, and charged."""
    server = cluster()
    session = session_of(view_of(server, "quoting", "secret::bigint"))
    spent_by_failing(session)
    assert SECRET in server.log  # the server did say it


def test_rows_that_are_read_out_fail_as_quietly() -> None:
    server = cluster()
    source = view_of(server, "quoting_out", "secret::bigint")
    table = sd.PrivateTable(source, protects=sd.AddOneRow(), vouched_by="a test")
    spent_by_failing(sd.Session({"t": table}, budget=BUDGET))


def test_a_view_cannot_write() -> None:
    """Each question runs in a transaction that must not."""
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS spied",
        "CREATE TABLE spied (told text)",
        "CREATE OR REPLACE FUNCTION spy(one text) RETURNS bigint LANGUAGE SQL AS"
        " $$INSERT INTO public.spied VALUES (one) RETURNING 1::bigint$$",
    )
    spent_by_failing(session_of(view_of(server, "spying", "spy(secret)")))
    with server.asking() as connection:
        assert connection.execute("SELECT count(*) FROM spied").fetchone() == (0,)


def when_sleeping(server: Cluster, work: Callable[[], object]) -> threading.Thread:
    """Do something as soon as a question sleeps in the server."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

    def wait() -> None:
        with server.asking() as connection:
            deadline = time.monotonic() + 55
            while connection.execute(asked.encode()).fetchone() == (0,):
                assert time.monotonic() < deadline
                time.sleep(0.02)
        work()

    watcher = threading.Thread(target=wait)
    watcher.start()
    return watcher


SLEEPING: Final = "x + length(pg_sleep(60)::text)"
KILL: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE wait_event = 'PgSleep'"
)


def test_a_backend_that_is_killed() -> None:
    server = cluster()
    session = session_of(view_of(server, "sleeping", SLEEPING))
    watcher = when_sleeping(server, lambda: server.run(KILL))
    spent_by_failing(session)
    watcher.join()
    again = session_of((server.address(), "sleeping_rows"))
    assert again.release(COUNT, BUDGET).table.num_rows == 1


def test_a_connection_that_is_lost_between_questions() -> None:
    """It is made anew, before the charge or after it: no row was read yet."""
    server = cluster()
    session = session_of(table_named(server, "between"))
    lose_connection(server, session)
    assert session.release(COUNT, sd.PureDP("0.5")).table.num_rows == 1
    with after_the_charge(session, lambda: lose_connection(server, session)):
        assert session.release(COUNT, sd.PureDP("0.5")).table.num_rows == 1


@contextmanager
def after_the_charge(session: sd.Session, work: Callable[[], None]) -> Generator[None]:
    """Do something between the charge and the question of the next release."""
    engine: Any = session._desk.engine
    prepare = engine.prepare

    def prepared(question: Any) -> Callable[[], Any]:
        answer = prepare(question)

        def answered() -> Any:
            work()
            return answer()

        return answered

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(engine), "prepare", lambda _, question: prepared(question))
        yield


@pytest.mark.slow
def test_a_server_that_dies() -> None:
    """In the middle: charged. After it: told and not charged."""
    server = start_cluster()
    session = session_of(view_of(server, "dying", SLEEPING))
    later = session_of((server.address(), "dying_rows"))
    watcher = when_sleeping(server, server.kill)
    spent_by_failing(session)
    watcher.join()
    with pytest.raises(EngineUnavailable) as caught:
        later.release(COUNT, BUDGET)
    assert quiet(caught.value)
    assert later.remaining == BUDGET
    server.stop()


@pytest.mark.slow
def test_a_server_that_dies_after_the_charge() -> None:
    """Before a row was read: charged, and nobody is told that it is not."""
    server = start_cluster()
    session = session_of(table_named(server, "dying_later"))

    def end_server() -> None:
        lose_connection(server, session)
        server.stop()

    with after_the_charge(session, end_server):
        spent_by_failing(session)


def test_statement_timeout() -> None:
    server = cluster()
    _, name = view_of(server, "slow", SLEEPING)
    server.drop_role("hasty")
    server.run(
        "CREATE ROLE hasty LOGIN SUPERUSER",
        "ALTER ROLE hasty SET statement_timeout TO '300ms'",
    )
    spent_by_failing(session_of((server.address("hasty"), name)))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Interrupt again where an interruption struck a callback, which cannot raise it.

    A collector of garbage runs in the midst of anything, and others are called by it. A
    job in the background of a shell would not hear of one at all.
    """
    told = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            threading.Timer(0.1, _thread.interrupt_main).start()  # not in this callback
        else:
            told(unraisable)

    monkeypatch.setattr(sys, "unraisablehook", hook)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_an_interruption_is_one() -> None:
    """Ctrl-C cancels the statement in the server; what was charged stays charged."""
    server = cluster()
    session = session_of(view_of(server, "stopped", SLEEPING))
    watcher = when_sleeping(server, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        session.release(COUNT, BUDGET)
    watcher.join()
    assert session.remaining == sd.PureDP(0)
    with server.asking() as connection:
        asked = b"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        deadline = time.monotonic() + 20
        while connection.execute(asked).fetchone() != (0,):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    another = session_of((server.address(), "stopped_rows"))
    assert another.release(COUNT, BUDGET).table.num_rows == 1


def test_too_many_connections_are_told() -> None:
    server = cluster()
    server.drop_role("single")
    server.run("CREATE ROLE single LOGIN CONNECTION LIMIT 0")
    server.run("GRANT CONNECT ON DATABASE postgres TO single")
    with pytest.raises(EngineUnavailable, match="no room for"):
        session_of((server.address("single"), "t"))


PATTERNS: Final = (
    "x{99}" * 10,
    "([a-z]|[0-9a-f]{1,9}){99}",
    "(.*a){99}.*(.+b){99}",
    "([^a]|[é-龘]+){90}",
)
"""As large as a pattern may be."""


@for_each("pattern", PATTERNS)
def test_the_largest_patterns_are_matched(pattern: str) -> None:
    """A database that found one too complex would refuse it where no row is read."""
    session = session_of(table_named(cluster(), "matched"))
    rows = sd.table("t").filter(sd.col("secret").matches(pattern))
    assert session.release(rows.agg(n=sd.count()), BUDGET).table.num_rows == 1


def test_salts_are_bound() -> None:
    """Others who watch the server's statements see $1 where a key stands."""
    server = cluster()
    table = sd.PrivateTable(
        view_of(server, "watched", SLEEPING),
        vouched_by="a test",
        protects=sd.AddRowsWithID("secret"),
    )
    session = sd.Session({"t": table}, budget=BUDGET, engine="postgres")
    engine: Any = session._desk.engine
    salt = engine._salt
    seen: list[str] = []

    def look() -> None:
        with server.asking() as connection:
            asked = b"SELECT query FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            seen.extend(starmap(str, connection.execute(asked)))
        server.run(KILL)

    watcher = when_sleeping(server, look)
    with pytest.raises(EngineFailure):
        session.release(
            sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.sum("x", 0, 9, nulls=0)),
            BUDGET,
        )
    watcher.join()
    (text,) = seen
    assert "HASH_RECORD_EXTENDED" in text
    assert str(salt) not in text
    assert str(salt - 2**63) not in text
