"""What is declared of a server's tables, and false, changes no answer.

Each control shows that the same server is fooled where it is asked plainly.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres import plans
from sordino.engines.postgres import server as server_module
from sordino.engines.postgres import session as database
from sordino.engines.postgres import tables as server_tables
from sordino.engines.postgres.server import PINS
from sordino.engines.postgres.session import postgres_engine
from sordino.engines.postgres.tables import TableOfServer
from sordino.errors import EngineUnavailable
from sordino.query.request import Request
from sordino.session.tables import Catalog, open_catalog
from tests.distances import claim
from tests.effort import by_night
from tests.postgres_server import Cluster, cluster
from tests.unit.engines.test_postgres_settings import role_with

ROWS: Final = 1000
MADE: Final = """
DROP SCHEMA IF EXISTS lies CASCADE;
CREATE SCHEMA lies;
SET search_path TO lies;
CREATE TABLE rows AS SELECT id, id % 10 AS x FROM generate_series(1, 1000::int8) AS id;

-- a CHECK that was never looked at, and is believed
CREATE TABLE plain AS TABLE rows;
ALTER TABLE plain ADD CONSTRAINT lie CHECK (x < 5) NOT VALID;

-- the same of a child
CREATE TABLE parent (LIKE rows);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child TABLE rows;
ALTER TABLE child ADD CONSTRAINT lie CHECK (x < 5) NOT VALID;

-- a partition whose rows are out of its bounds
CREATE TABLE parted (LIKE rows) PARTITION BY RANGE (x);
CREATE TABLE low AS TABLE rows;
ALTER TABLE low ADD CONSTRAINT lie CHECK (x >= 0 AND x < 5 AND x IS NOT NULL) NOT VALID;
UPDATE pg_constraint SET convalidated = true WHERE conname = 'lie';
ALTER TABLE parted ATTACH PARTITION low FOR VALUES FROM (0) TO (5);
CREATE TABLE high PARTITION OF parted FOR VALUES FROM (5) TO (100);

-- an index that misses rows
CREATE TABLE indexed AS TABLE rows;
CREATE INDEX missing ON indexed (id) WHERE x < 5;
UPDATE pg_index SET indpred = null WHERE indexrelid = 'missing'::regclass;

-- a primary key that comes twice, with two values of x
CREATE TABLE keyed AS SELECT * FROM rows WHERE id <= 500;
ALTER TABLE keyed ADD PRIMARY KEY (id);
UPDATE pg_index SET indisready = false WHERE indexrelid = 'keyed_pkey'::regclass;
INSERT INTO keyed SELECT id, (id + 1) % 10 FROM rows WHERE id <= 500;
UPDATE pg_index SET indisready = true WHERE indexrelid = 'keyed_pkey'::regclass;

-- a NOT NULL that is not so
CREATE TABLE there AS SELECT id, CASE WHEN id % 2 = 0 THEN x END AS x FROM rows;
UPDATE pg_attribute SET attnotnull = true
  WHERE attrelid = 'there'::regclass AND attname = 'x';

CREATE VIEW seen_plain AS SELECT * FROM plain WHERE x >= 5;
CREATE VIEW seen_parent AS SELECT * FROM parent WHERE x >= 5;
CREATE VIEW seen_parted AS SELECT * FROM parted WHERE x >= 5;
CREATE VIEW seen_indexed AS SELECT * FROM indexed WHERE id <= 10;
CREATE VIEW seen_there AS SELECT * FROM there WHERE x IS NULL;
VACUUM ANALYZE indexed;
VACUUM ANALYZE keyed;
VACUUM ANALYZE plain
"""
FOOLED: Final = {
    "SELECT count(*) FROM lies.plain WHERE x >= 5": 500,
    "SELECT count(*) FROM lies.parent WHERE x >= 5": 500,
    "SELECT count(*) FROM lies.parted WHERE x >= 5": 500,
    "SELECT count(*) FROM lies.indexed WHERE id <= 10": 10,
    "SELECT count(*) FROM (SELECT id, x FROM lies.keyed GROUP BY id, x) AS q": 1000,
    "SELECT count(*) FROM generate_series(1, 500) AS i JOIN lies.keyed ON id = i": 1000,
}
"""What is right, and what a server that believes does not answer."""
ROLE: Final = {"constraint_exclusion": "on", "enable_seqscan": "off"}
TABLES: Final = ("plain", "parent", "parted", "indexed", "there", "keyed")


@dataclass(frozen=True)
class Asked:
    """A question of one of the tables, or of a view of it."""

    table: str
    request: Request


def asked() -> Iterator[Asked]:
    """Yield questions whose answers a false declaration would change."""
    x, n = sd.col("x"), sd.count()
    keys = sd.KeySet.from_dict({"x": list(range(10))})
    both = sd.KeySet.from_dict({"id": list(range(1, 21)), "x": list(range(10))})
    for name in (*TABLES, *(f"seen_{name}" for name in TABLES if name != "keyed")):
        t = sd.table(name)
        for condition in (x >= 5, sd.col("id") <= 10, x.is_null(), ~x.is_null()):
            yield Asked(name, t.filter(condition).agg(n=n))
        yield Asked(name, t.group_by(keys).agg(n=sd.sum("x", 0, 9, nulls=0)))
        yield Asked(name, t.group_by(both).agg(n=n))
        yield Asked(name, t.group_by("x").agg(n=n))
        yield Asked(name, t.agg(n=sd.count_distinct("x")))
        yield Asked(name, t.join_public("p", on="id").agg(n=sd.sum("w", 0, 9)))
        yield Asked(name, t.agg(n=n))


def view_rows(name: str, rows: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    if name == "indexed":
        return [row for row in rows if row[0] <= 10]
    if name == "there":
        return [row for row in rows if row[1] is None]
    return [row for row in rows if row[1] >= 5]


def stored_rows(name: str) -> list[tuple[Any, Any]]:
    """Return the rows of a table, or of a view of one, as they were written."""
    seen = name.removeprefix("seen_")
    if seen != name:
        return view_rows(seen, stored_rows(seen))
    if seen == "keyed":
        return [(i, (i + more) % 10) for more in (0, 1) for i in range(1, 501)]
    odd = seen == "there"
    return [(i, None if odd and i % 2 else i % 10) for i in range(1, ROWS + 1)]


REFUSED: Final = "refused"
PUBLIC: Final = {
    "id": [n % 1200 for n in range(6000)],
    "w": [n % 10 for n in range(6000)],
}


def rows_of(name: str) -> pa.Table:
    ids, values = zip(*stored_rows(name), strict=True)
    return pa.table({"id": pa.array(ids), "x": pa.array(values, pa.int64())})


def catalog_of(
    engine: AbstractEngine, source: Callable[[str], Any], names: Iterable[str]
) -> Catalog:
    tables = {
        name: sd.PrivateTable(source(name), protects=sd.AddOneRow()) for name in names
    }
    return open_catalog(engine, {**tables, "p": sd.PublicTable(PUBLIC)})


def differing(address: str, questions: Sequence[Asked] = ()) -> dict[str, Any]:
    """Return the questions that a server answers in another way than the rows do."""
    right, engine = MemoryEngine(), postgres_engine(address)
    every = questions or tuple(asked())
    names = {one.table for one in every}
    known = catalog_of(right, rows_of, names)
    catalog = catalog_of(engine, lambda name: (address, f"lies.{name}"), names)
    wrong = {}
    for place, one in enumerate(every):
        was = claim(one.request, known).question
        now = claim(one.request, catalog).question
        got: Any = REFUSED
        with suppress(EngineUnavailable):
            got = comparable_answer(now, engine.prepare(now)())
        if got != comparable_answer(was, right.answer(was)):
            wrong[f"{one.table} {place % 10}"] = got
    engine.close()
    return wrong


def lying(settings: dict[str, str]) -> tuple[Cluster, str]:
    """Return a server whose tables are not as they are declared, and a role."""
    server = cluster()
    with server.asking() as connection:
        for one in MADE.split(";\n"):
            connection.execute(one.encode())
    return server, role_with(server, "believing", settings)


def test_a_few_declarations_are_not_believed() -> None:
    """A CHECK and an index below views, and a key: one question of each."""
    _, address = lying(ROLE)
    wanted = {"seen_plain": 9, "seen_indexed": 9, "keyed": 5}
    every = list(asked())
    few = [
        [one for one in every if one.table == name][place]
        for name, place in wanted.items()
    ]
    assert differing(address, few) == {}


@by_night
@pytest.mark.slow
def test_nothing_that_is_declared_is_believed() -> None:
    """Constraints, bounds, indexes, keys, NOT NULL: the answers are those of the rows.

    A role that has them believed even more changes nothing; asked plainly it is fooled.
    Without our settings, and with columns as they are, a plan that believes of a table
    what would move its rows is refused. Without one of these, some answer is wrong.
    """
    server, address = lying(ROLE)
    with server.asking("believing") as connection:
        told = {
            text: connection.execute(text.encode()).fetchall()[0][0] for text in FOOLED
        }
    assert {text for text in FOOLED if told[text] == FOOLED[text]} == set()
    assert differing(address) == {}
    with pytest.MonkeyPatch.context() as planted:
        planted.setattr(server_tables, "_opaque", lambda column: column)
        assert "keyed 5" in differing(address)
        planted.setattr(server_module, "_PIN", "SELECT 1")
        planted.setattr(plans, "PINS", {})
        moved = {name.split()[0]: told for name, told in differing(address).items()}
        assert {moved[name] for name in ("indexed",)} == {REFUSED}
        assert not {"plain", "parent", "parted"} & set(moved)
        planted.setattr(database, "scanned_tables", lambda *_: Counter())
        planted.setattr(TableOfServer, "scans", lambda *_: Counter())
        assert {"plain", "parent", "parted", "indexed"} <= {
            name.split()[0] for name in differing(address)
        }


def test_a_plan_is_read_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What asks nothing of a table may leave it out; other plans are refused, free.

    What is declared after a table was opened is as little believed.
    """
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS late CASCADE",
        "CREATE TABLE late (id int8, x int8)",
        "CREATE TABLE later () INHERITS (late)",
        "INSERT INTO later SELECT i, i % 10 FROM generate_series(1, 100) AS i",
    )
    late = sd.PrivateTable((server.address(), "public.late"), protects=sd.AddOneRow())
    budget = sd.PureDP(10**9)
    session = sd.Session({"t": late}, budget, engine="postgres")
    t, spent = sd.table("t"), sd.PureDP(10**6)

    def count(query: sd.Query) -> int:
        answer = session.release(query.agg(n=sd.count()), spent).table
        return int(answer.column("n")[0].as_py())

    assert count(t.filter(sd.col("x") >= 5)) == 50
    assert count(t.filter(sd.lit(False))) == 0
    monkeypatch.setattr(plans, "PINS", {**PINS, "enable_sort": "off"})
    with pytest.raises(
        EngineUnavailable, match=r"declared of them.*othing was charged"
    ):
        count(t.filter(sd.col("x") >= 7))
    monkeypatch.undo()
    monkeypatch.setattr(plans, "_STEPS", plans._STEPS - {"Aggregate"})
    left = session.remaining
    with pytest.raises(
        EngineUnavailable, match=r"declared of them.*othing was charged"
    ):
        count(t.filter(sd.col("x") >= 6))
    assert session.remaining == left
    monkeypatch.undo()
    server.run(
        "ALTER TABLE later ADD CONSTRAINT late_lie CHECK (x < 5) NOT VALID",
        "UPDATE pg_constraint SET convalidated = true WHERE conname = 'late_lie'",
    )
    assert count(t.filter(sd.col("x") >= 5)) == 50


def test_a_key_that_is_declared_later_is_not_believed() -> None:
    """A session lives on while a table gets a primary key; its ids come twice."""
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS twice",
        "CREATE TABLE twice (id int8, x int8)",
        "INSERT INTO twice SELECT i, 0 FROM generate_series(1, 20) AS i",
    )
    twice = sd.PrivateTable((server.address(), "public.twice"), protects=sd.AddOneRow())
    session = sd.Session({"t": twice}, sd.PureDP(10**9), engine="postgres")
    ready = (
        "UPDATE pg_index SET indisready = {} WHERE indexrelid = 'twice_pkey'::regclass"
    )
    server.run(
        "ALTER TABLE twice ADD PRIMARY KEY (id)",
        ready.format(False),
        "INSERT INTO twice SELECT i, 1 FROM generate_series(1, 20) AS i",
        ready.format(True),
        "VACUUM ANALYZE twice",
    )
    keys = sd.KeySet.from_dict({"id": list(range(1, 21)), "x": [0, 1]})
    asked_for = sd.table("t").group_by(keys).agg(n=sd.count())
    counts = session.release(asked_for, sd.PureDP(10**6)).table.column("n")
    assert counts.to_pylist() == [1] * 40
