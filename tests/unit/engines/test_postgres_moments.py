"""Tables of a server that change: refused, or read as they are at one moment."""

from collections.abc import Callable
from typing import Final

import psycopg
import pytest

import sordino as sd
from sordino.engines.conformance.plans import question_of
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.session import postgres_engine
from sordino.engines.postgres.tables import TableOfServer, facts_of
from sordino.engines.statements.database import MomentPassed
from sordino.errors import EngineUnavailable
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.postgres_server import cluster
from tests.unit.engines.test_postgres_failures import (
    BUDGET,
    COUNT,
    quiet,
    session_of,
    table_named,
)

CHANGES: Final = {
    "dropped": "DROP TABLE changing CASCADE",
    "renamed": "ALTER TABLE changing RENAME TO changed",
    "a column gone": "ALTER TABLE changing DROP COLUMN secret",
    "a column more": "ALTER TABLE changing ADD COLUMN y integer",
    "another type": "ALTER TABLE changing ALTER COLUMN x TYPE integer",
    "moved": "DROP SCHEMA IF EXISTS away CASCADE; CREATE SCHEMA away;"
    " ALTER TABLE changing SET SCHEMA away",
}


@for_each("change", CHANGES)
def test_a_table_that_changes_is_refused(change: str) -> None:
    """Between price and release: before the charge, as what was opened is gone."""
    server = cluster()
    server.run("DROP TABLE IF EXISTS changed CASCADE")
    session = session_of(table_named(server, "changing"))
    assert session.price(COUNT, BUDGET).errors
    server.run(CHANGES[change])
    with pytest.raises(EngineUnavailable, match="not what it was") as caught:
        session.release(COUNT, BUDGET)
    assert quiet(caught.value)
    assert session.remaining == BUDGET


REPLACED: Final = {
    "a view": "CREATE VIEW replaced AS SELECT * FROM replaced_rows",
    "a view that looks around": "CREATE VIEW replaced WITH (security_barrier) AS"
    " SELECT x, secret FROM replaced_rows WHERE x > 0",
    "a materialised view": "CREATE MATERIALIZED VIEW replaced AS TABLE replaced_rows",
    "a partitioned table": "CREATE TABLE replaced (x bigint, secret text)"
    " PARTITION BY LIST (x);"
    " CREATE TABLE replaced_part PARTITION OF replaced DEFAULT",
}
AWAY: Final = (
    "CREATE EXTENSION IF NOT EXISTS file_fdw; DROP SERVER IF EXISTS away CASCADE;"
    " CREATE SERVER away FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE {}"
    " (x bigint, secret text) SERVER away OPTIONS (filename '/dev/null')"
)
OTHERS: Final = {
    "a view that is not made row by row": (
        "CREATE VIEW replaced AS SELECT * FROM replaced_rows LIMIT 1"
    ),
    "a foreign table": AWAY.format("replaced"),
    "a view of a foreign table": f"{AWAY.format('replaced_away')};"
    " CREATE VIEW replaced AS TABLE replaced_away",
    "a domain with a CHECK": "DROP DOMAIN IF EXISTS replaced_type CASCADE;"
    " CREATE DOMAIN replaced_type AS bigint CHECK (value > 0);"
    " CREATE TABLE replaced (x replaced_type, secret text)",
    "a type of names": "CREATE TABLE replaced (x bigint, secret name)",
    "other places": "CREATE TABLE replaced (secret text, x bigint)",
}


def opened_and_replaced(made: str) -> sd.Session:
    """Return a session whose table something else has replaced since its price."""
    server = cluster()
    server.run(
        "DO $$ DECLARE kind text; BEGIN FOR kind IN SELECT CASE relkind"
        " WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'"
        " WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END FROM pg_class"
        " WHERE relname = 'replaced' LOOP"
        " EXECUTE 'DROP ' || kind || ' replaced CASCADE'; END LOOP; END $$",
    )
    table_named(server, "replaced_rows")
    session = session_of(table_named(server, "replaced"))
    assert session.price(COUNT, BUDGET).errors
    server.run("DROP TABLE replaced", *made.split(";"))
    return session


@for_each("made", REPLACED)
def test_what_stands_in_the_place_of_a_table_is_read(made: str) -> None:
    """Under its name and with its columns, it is the table as it is now."""
    session = opened_and_replaced(REPLACED[made])
    assert session.release(COUNT, BUDGET).table.num_rows == 1


@for_each("made", OTHERS)
def test_what_is_something_else_is_refused(made: str) -> None:
    """Rows from elsewhere, or columns of other types or places: before the charge."""
    session = opened_and_replaced(OTHERS[made])
    with pytest.raises(EngineUnavailable, match="not what it was") as caught:
        session.release(COUNT, BUDGET)
    assert quiet(caught.value)
    assert session.remaining == BUDGET


def test_rows_that_change_are_read_as_they_are() -> None:
    server = cluster()
    session = session_of(table_named(server, "growing"))
    server.run("TRUNCATE growing", "INSERT INTO growing VALUES (7, '')")
    assert session.release(COUNT, BUDGET).table.num_rows == 1


def test_a_table_emptied_at_this_moment_is_refused() -> None:
    """After the moment of a transaction, before its lock: it would look empty."""
    server = cluster()
    address, name = table_named(server, "emptied")
    known = Server(address)
    facts = facts_of(known, "public", name)
    table = TableOfServer(known, facts)
    with known.transaction():
        known.rows("SELECT 1")  # the moment
        server.run("TRUNCATE emptied", "INSERT INTO emptied VALUES (7, '')")
        unnoticed = known.rows("SELECT count(*) FROM public.emptied")
        assert unnoticed == [(0,)]
        with pytest.raises(MomentPassed, match="emptied or written anew"):
            table.check()
    known.close()


def test_one_of_several_tables_that_is_emptied_is_noticed() -> None:
    server = cluster()
    address, _ = table_named(server, "one_half")
    table_named(server, "other_half")
    server.run(
        "DROP VIEW IF EXISTS both_halves",
        "CREATE VIEW both_halves AS TABLE one_half UNION ALL TABLE other_half",
    )
    known = Server(address)
    table = TableOfServer(known, facts_of(known, "public", "both_halves"))
    with known.transaction():
        known.rows("SELECT 1")  # the moment
        server.run("TRUNCATE other_half")
        with pytest.raises(MomentPassed):
            table.check()
    known.close()


@for_each("engine", [postgres_engine, lambda _: MemoryEngine()])
def test_another_moment_is_tried(
    monkeypatch: pytest.MonkeyPatch, engine: Callable[[str], AbstractEngine]
) -> None:
    """The rows are those of the next moment, in the server and read out of it."""
    address, name = source = table_named(cluster(), "emptying")
    made = engine(address)
    schema = made.open("t", source, {})
    check, changes = TableOfServer.check, iter(["TRUNCATE", "INSERT INTO"])

    def checked(table: TableOfServer) -> None:
        with table.server.transaction():
            table.server.rows("SELECT 1")  # the moment
            for change in changes:  # before the first lock alone
                rows = (
                    "" if change == "TRUNCATE" else "VALUES (7, ''), (8, ''), (9, '')"
                )
                cluster().run(f"{change} {name} {rows}")
            check(table)

    monkeypatch.setattr(TableOfServer, "check", checked)
    told = made.answer(question_of(Source("t", schema), "x"))
    assert sorted(told.column("x").to_pylist()) == [7, 8, 9]


def test_a_held_table_cannot_change() -> None:
    server = cluster()
    address, name = table_named(server, "held")
    known = Server(address)
    with known.transaction():
        TableOfServer(known, facts_of(known, "public", name)).check()
        for change in (f"TRUNCATE {name}", f"DROP TABLE {name}"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                server.run("SET lock_timeout TO '100ms'", change)
    known.close()
