"""Tables of a server: columns with a meaning, rights that suffice, and refusals."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import pytest

import sordino as sd
from sordino.engines.conformance.operations import TIME
from sordino.engines.conformance.plans import filter_rows, question_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.session import postgres_engine
from sordino.errors import EngineUnavailable, InvalidQuery, SordinoError, UnknownName
from sordino.query.nodes import Source
from tests.batches import for_each, sampled
from tests.postgres_server import Cluster, cluster

BUDGET: Final = sd.PureDP(1)
UNIT: Final = sd.AddOneRow()


def make(server: Cluster, name: str, columns: str, *rows: str) -> tuple[str, str]:
    """Make a table anew, and return it as a source."""
    server.run(
        f"DROP TABLE IF EXISTS {name} CASCADE", f"CREATE TABLE {name} ({columns})"
    )
    for row in rows:
        server.run(f"INSERT INTO {name} VALUES ({row})")  # noqa: S608 ours
    return server.address(), name


def values_read(engine: AbstractEngine, source: Any, name: str) -> list[Any]:
    schema = engine.open("t", source, {})
    told = engine.answer(question_of(Source("t", schema), name))
    return sorted(told.column(name).to_pylist(), key=repr)


TOP: Final = str(2**1024 - 2**970)
VALUES: Final[Mapping[str, tuple[tuple[str, Any], ...]]] = {
    "smallint": (("-32768", -32768), ("NULL", None)),
    "integer": (("2147483647", 2147483647),),
    "bigint": (("-9223372036854775808", -(2**63)), ("9223372036854775807", 2**63 - 1)),
    "real": (("0.1", 0.10000000149011612), ("'NaN'", math.nan), ("'-0'", 0.0)),
    "double precision": (("'-Infinity'", -math.inf), ("5e-324", 5e-324)),
    "numeric": (
        ("0.1", 0.1),
        ("'NaN'", math.nan),
        ("'Infinity'", math.inf),
        (TOP, math.inf),
        (f"-{TOP}", -math.inf),
        (str(2**1024 - 2**970 - 1), 1.7976931348623157e308),
        ("1e-400", 0.0),
        ("3e-324", 5e-324),
        ("9007199254740993", 9007199254740992.0),
        ("NULL", None),
    ),
    "numeric(12, 2)": (("-1234567890.12", -1234567890.12),),
    "text": (("''", ""), ("'é'", "é"), ("repeat('x', 1048577)", None)),
    "varchar(3)": (("'a '", "a "),),
    "char(3)": (("'a'", "a"),),
    "uuid": (
        (
            "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ),
    ),
    "boolean": (("true", True), ("false", False), ("NULL", None)),
    "date": (
        ("'2024-02-29'", date(2024, 2, 29)),
        ("'infinity'", None),
        ("'0044-03-15 BC'", None),
        ("'10000-01-01'", None),
        ("'0001-01-01'", date(1, 1, 1)),
    ),
    "timestamp": (
        ("'9999-12-31 23:59:59.999999'", TIME(9999, 12, 31, 23, 59, 59, 999999)),
        ("'-infinity'", None),
        ("'10000-01-01'", None),
    ),
    "timestamp with time zone": (
        ("'2026-03-29 02:30:00+02'", TIME(2026, 3, 29, 0, 30)),
        ("'infinity'", None),
        ("'0001-01-01 00:30:00+01'", None),
    ),
}


@sampled(3)
@for_each("kind", VALUES)
def test_values_become_ours(kind: str) -> None:
    server = cluster()
    rows = [text for text, _ in VALUES[kind]]
    source = make(server, "typed", f"x {kind}", *rows)
    meant = sorted(dict.fromkeys(one for _, one in VALUES[kind]), key=repr)
    for engine in (postgres_engine(server.address()), duckdb_engine(), MemoryEngine()):
        assert repr(values_read(engine, source, "x")) == repr(meant)


ODD: Final = (
    *("json", "jsonb", "json[]", "name[]", "int4range", "money", "bytea", "xml"),
    *("interval", "time", "inet", "point", "bit(3)", "tsvector", "oid", "name"),
    *("mood", "positive", "pair", "mood[]", "positive[]", "pair[]", "int2vector"),
)


def test_types_without_a_meaning_are_told() -> None:
    server = cluster()
    server.run(
        "DROP TYPE IF EXISTS mood, pair CASCADE",
        "DROP DOMAIN IF EXISTS positive CASCADE",
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN positive AS integer CHECK (value > 0)",
        "CREATE TYPE pair AS (one integer, other integer)",
    )
    columns = ", ".join(f"c{n} {kind}" for n, kind in enumerate(ODD))
    source = make(server, "odd", f"{columns}, x integer")
    table = sd.PrivateTable(source, protects=UNIT)
    session = sd.Session({"odd": table}, budget=BUDGET, engine="postgres")
    for place in range(len(ODD)):
        query = sd.table("odd").filter(~sd.col(f"c{place}").is_null()).agg(n=sd.count())
        with pytest.raises(UnknownName, match="has no place in a private table"):
            session.price(query, BUDGET)
    told = session.describe()
    assert "its type public.mood has no place" in str(told)
    with pytest.raises(SordinoError):
        sd.Session(
            {"odd": sd.PrivateTable(source, protects=UNIT, columns={"c0": "text"})},
            budget=BUDGET,
            engine="postgres",
        )


def test_collations_decide_nothing() -> None:
    """Texts are told apart, compared and grouped code point by code point."""
    server = cluster()
    server.run(
        "CREATE COLLATION IF NOT EXISTS alike"
        " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    texts = ["'a'", "'A'", "'á'", "'b'", "'B'"]
    source = make(server, "worded", "x text COLLATE alike", *texts)
    engine = postgres_engine(server.address())
    assert values_read(engine, source, "x") == sorted("aAábB", key=repr)
    rows = Source("t", engine.open("t", source, {}))
    below = filter_rows(rows, sd.col("x") < "a")
    assert engine.answer(question_of(below)).to_pylist() == [{"total 0": 2}]


def test_least_rights_suffice() -> None:
    server = cluster()
    server.drop_role("reader")
    server.run(
        "DROP SCHEMA IF EXISTS clinic CASCADE",
        "CREATE SCHEMA clinic",
        "CREATE TABLE clinic.visits (id bigint, ward text, name text)",
        "INSERT INTO clinic.visits VALUES (1, 'a', 'Ada'), (1, 'a', 'Ada')",
        "INSERT INTO clinic.visits VALUES (2, 'b', 'Bo')",
        "CREATE ROLE reader LOGIN",
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT CONNECT ON DATABASE postgres TO reader",
        "GRANT USAGE ON SCHEMA clinic TO reader",
        "GRANT SELECT (id, ward) ON clinic.visits TO reader",
    )
    source = (server.address("reader"), "clinic.visits")
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    beds = sd.PublicTable({"ward": ["a", "b"], "beds": [1, 2]})
    session = sd.Session(
        {"visits": table, "beds": beds}, budget=sd.PureDP(3), engine="postgres"
    )
    rows = sd.table("visits").enforce(sd.MaxRowsPerID(1)).join_public("beds", on="ward")
    keys = sd.KeySet.from_dict({"ward": ["a", "b"]})
    release = session.release(rows.group_by(keys).agg(n=sd.sum("beds", 0, 2)), BUDGET)
    assert release.table.num_rows == 2
    named = sd.table("visits").filter(sd.col("name") == "Ada").agg(n=sd.count())
    with pytest.raises(UnknownName, match="the role may not read it"):
        session.price(named, BUDGET)
    server.run("REVOKE SELECT (ward) ON clinic.visits FROM reader")
    with pytest.raises(EngineUnavailable, match="not what it was"):
        session.release(rows.agg(n=sd.count()), BUDGET)
    server.run("REVOKE USAGE ON SCHEMA clinic FROM reader")
    with pytest.raises(EngineUnavailable):
        session.release(rows.agg(n=sd.count()), BUDGET)
    assert session.remaining == sd.PureDP(2)


def test_a_role_without_rights_is_refused() -> None:
    server = cluster()
    make(server, "closed", "x integer", "1")
    server.drop_role("stranger")
    server.run("CREATE ROLE stranger LOGIN")
    server.run("GRANT CONNECT ON DATABASE postgres TO stranger")
    with pytest.raises(EngineUnavailable, match=r"no table|has no right"):
        values_read(MemoryEngine(), (server.address("stranger"), "closed"), "x")


def test_policies_for_rows_are_refused() -> None:
    """Rows that a policy hides would be missing in silence."""
    server = cluster()
    source = make(server, "policed", "id bigint, x integer", "1, 1", "2, 2")
    server.drop_role("tenant")
    server.run(
        "CREATE ROLE tenant LOGIN",
        "GRANT CONNECT ON DATABASE postgres TO tenant",
        "GRANT USAGE ON SCHEMA public TO tenant",
        "GRANT SELECT ON policed TO tenant",
    )
    table = sd.PrivateTable((server.address("tenant"), "public.policed"), protects=UNIT)
    session = sd.Session({"t": table}, budget=BUDGET, engine="postgres")
    server.run(
        "ALTER TABLE policed ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON policed USING (id = 1)",
    )
    query = sd.table("t").agg(n=sd.count())
    with pytest.raises(EngineUnavailable):
        session.release(query, BUDGET)
    assert session.remaining == BUDGET
    with pytest.raises(EngineUnavailable, match="policy"):
        values_read(MemoryEngine(), (server.address("tenant"), "public.policed"), "x")
    assert values_read(MemoryEngine(), source, "x") == [1, 2]  # its owner sees all


def test_policies_below_a_view_are_refused() -> None:
    """They hold for whom the view belongs to, or for whom it is asked by."""
    server = cluster()
    server.drop_role("owning")
    make(server, "guarded", "x integer, who text", "1, 'a'", "2, 'b'")
    server.run(
        "CREATE ROLE owning LOGIN",
        "GRANT CONNECT ON DATABASE postgres TO owning",
        "GRANT USAGE, CREATE ON SCHEMA public TO owning",
        "GRANT SELECT ON guarded TO owning",
        "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON guarded"
        " USING (who = current_setting('clinic.who', true))",
    )
    with server.asking("owning") as connection:
        connection.execute("CREATE VIEW public.shown_rows AS TABLE public.guarded")
    for role in ("owning", "keeper"):
        source = (server.address(role), "public.shown_rows")
        with pytest.raises(EngineUnavailable, match="policy"):
            values_read(MemoryEngine(), source, "x")


def test_foreign_rows_are_refused() -> None:
    server = cluster()
    server.run(
        "CREATE EXTENSION IF NOT EXISTS file_fdw",
        "DROP SERVER IF EXISTS files CASCADE",
        "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
        "DROP TABLE IF EXISTS whole CASCADE",
        "CREATE TABLE whole (x integer) PARTITION BY LIST (x)",
        "CREATE TABLE ones PARTITION OF whole FOR VALUES IN (1)",
        "CREATE FOREIGN TABLE twos PARTITION OF whole FOR VALUES IN (2)"
        " SERVER files OPTIONS (filename '/dev/null')",
        "CREATE VIEW above AS SELECT x FROM twos",
    )
    for name in ("twos", "whole", "above"):
        with pytest.raises(EngineUnavailable, match="foreign table"):
            values_read(MemoryEngine(), (server.address(), name), "x")
    assert values_read(MemoryEngine(), (server.address(), "ones"), "x") == []


def test_partitions_and_views_are_read() -> None:
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS parted CASCADE",
        "CREATE TABLE parted (x integer) PARTITION BY LIST (x)",
        "CREATE TABLE p1 PARTITION OF parted FOR VALUES IN (1)",
        "CREATE TABLE p2 PARTITION OF parted FOR VALUES IN (2)",
        "INSERT INTO parted VALUES (1), (2)",
        'CREATE VIEW "Odd ""name" AS SELECT x AS "X "" y" FROM parted',
    )
    engine = postgres_engine(server.address())
    assert values_read(engine, (server.address(), "parted"), "x") == [1, 2]
    named = (server.address(), '"Odd ""name"')
    assert values_read(engine, named, 'X " y') == [1, 2]


def test_private_rows_are_never_sent() -> None:
    server = cluster()
    source = make(server, "here", "x integer", "1")
    tables = {
        "here": sd.PrivateTable(source, protects=UNIT),
        "elsewhere": sd.PrivateTable({"x": [1, 2]}, protects=UNIT),
    }
    session = sd.Session(tables, budget=BUDGET, engine="postgres")
    with pytest.raises(InvalidQuery, match="never sent"):
        session.release(sd.table("elsewhere").agg(n=sd.count()), BUDGET)
    mapped = sd.table("here").flat_map(
        lambda row: [{"y": row["x"]}], {"y": "i64"}, max_rows=1
    )
    with pytest.raises(InvalidQuery, match="never sent"):
        session.release(mapped.agg(n=sd.sum("y", 0, 1, nulls=0)), BUDGET)
    assert session.remaining == BUDGET
    asked = sd.Session(tables, budget=BUDGET, engine="duckdb")
    assert (
        asked.release(mapped.agg(n=sd.sum("y", 0, 1, nulls=0)), BUDGET).table.num_rows
        == 1
    )


def test_one_session_asks_one_database() -> None:
    """Two addresses would be two moments, and rows would have to travel."""
    server = cluster()
    make(server, "one", "x integer")
    other = server.address() + "&application_name=other"
    tables = {
        "one": sd.PrivateTable((server.address(), "one"), protects=UNIT),
        "two": sd.PrivateTable((other, "one"), protects=UNIT),
    }
    with pytest.raises(EngineUnavailable, match="one database"):
        sd.Session(tables, budget=BUDGET, engine="postgres")


def test_a_server_without_tables_is_not_asked() -> None:
    table = sd.PrivateTable({"x": [1]}, protects=UNIT)
    session = sd.Session({"t": table}, budget=BUDGET, engine="postgres")
    with pytest.raises(EngineUnavailable, match="no table of this session"):
        session.release(sd.table("t").agg(n=sd.count()), BUDGET)
    assert session.remaining == BUDGET


def test_databases_of_other_encodings_are_refused() -> None:
    """Their texts have other lengths and other orders."""
    server = cluster()
    server.run(
        "DROP DATABASE IF EXISTS latin",
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1'",
    )
    with pytest.raises(EngineUnavailable, match="encoded in LATIN1, not in UTF8"):
        values_read(MemoryEngine(), (server.address(base="latin"), "t"), "x")
