"""A view of a server is read if each of its rows is made of one, and cannot fail."""

from typing import Final

import pytest

import sordino as sd
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.views import view_doubt
from sordino.errors import EngineUnavailable, InvalidParameter
from tests.postgres_server import cluster

COUNT: Final = sd.table("t").agg(n=sd.count())
MADE: Final = (
    "DROP SCHEMA IF EXISTS judged CASCADE",
    "CREATE SCHEMA judged",
    "CREATE TYPE judged.mood AS ENUM ('low', 'high')",
    "CREATE TABLE judged.t (id int NOT NULL PRIMARY KEY, x int, s text, c char(3))",
    "ALTER TABLE judged.t ADD d date, ADD at timestamptz, ADD m judged.mood",
    "ALTER TABLE judged.t ADD u uuid, ADD n numeric, ADD b boolean, ADD f real",
    "ALTER TABLE judged.t ADD a int[]",
    "CREATE TABLE judged.other (id int, y int)",
    "INSERT INTO judged.t SELECT k, k, 'a' FROM generate_series(1, 9) AS k",
    "CREATE FUNCTION judged.sure(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'",
    "CREATE VIEW judged.top AS SELECT * FROM judged.t ORDER BY x LIMIT 3",
    "CREATE VIEW judged.some AS SELECT * FROM judged.t WHERE x > 3",
)
BY_ROW: Final = (
    "SELECT * FROM judged.t",
    'SELECT id, x AS "X "" y :jointree", s AS ":limitCount" FROM judged.t WHERE x > 5',
    "SELECT id FROM judged.t WHERE x > 5 AND (s = 'a' OR s IN ('x', 'y'))",
    "SELECT id FROM judged.t WHERE x > 5 OR d < '2026-01-01'",
    "SELECT CASE WHEN x < 3 THEN 'a' WHEN x IS NULL THEN NULL END AS k FROM judged.t",
    "SELECT coalesce(x, 0) AS z, nullif(x, 3) AS y FROM judged.t WHERE b IS NOT TRUE",
    "SELECT m::text AS m, u::text AS u, n::text AS n, x::bigint AS x FROM judged.t",
    "SELECT c::text AS c, f::float8 AS f, upper(s) AS s, trim(s) AS q FROM judged.t",
    "SELECT id FROM judged.t UNION ALL SELECT y FROM judged.other WHERE y <> 3",
    "SELECT id FROM (SELECT id, x FROM judged.t WHERE x = 3) AS q WHERE id <> 4",
    "SELECT * FROM judged.some WHERE id BETWEEN 1 AND 7",
    "SELECT id FROM ONLY judged.t WHERE at > '2020-01-01+00'",
    "SELECT id FROM judged.t WHERE s IS DISTINCT FROM 'a'",
)
BY_MANY: Final = (
    "SELECT id FROM judged.t LIMIT 5",
    "SELECT id FROM judged.t ORDER BY id OFFSET 1",
    "SELECT id FROM judged.t ORDER BY x FETCH FIRST 3 ROWS WITH TIES",
    "SELECT count(*) AS id FROM judged.t",
    "SELECT max(id) AS id FROM judged.t HAVING true",
    "SELECT DISTINCT x FROM judged.t",
    "SELECT DISTINCT ON (x) id FROM judged.t",
    "SELECT id, s FROM judged.t GROUP BY id",
    "SELECT id, row_number() OVER () AS k FROM judged.t",
    "SELECT id, random() AS k FROM judged.t",
    "SELECT id, clock_timestamp() AS k FROM judged.t",
    "SELECT id, current_user::text AS k FROM judged.t",
    "SELECT id, generate_series(1, 3) AS k FROM judged.t",
    "SELECT t.id FROM judged.t JOIN judged.other USING (id)",
    "SELECT t.id FROM judged.t, judged.other",
    "SELECT t.id FROM judged.t, LATERAL (SELECT x) AS q",
    "SELECT id FROM judged.t WHERE x = (SELECT max(x) FROM judged.t)",
    "SELECT id FROM judged.t WHERE EXISTS (SELECT FROM judged.other)",
    "SELECT id, (SELECT count(*) FROM judged.t) AS k FROM judged.t",
    "WITH q AS (SELECT * FROM judged.t) SELECT id FROM q",
    "WITH RECURSIVE q AS (SELECT 1 AS id UNION ALL TABLE q) SELECT id FROM q",
    "SELECT id FROM judged.t UNION SELECT id FROM judged.other",
    "SELECT id FROM judged.t EXCEPT ALL SELECT id FROM judged.other",
    "SELECT id FROM judged.t TABLESAMPLE BERNOULLI (50)",
    "SELECT * FROM (VALUES (1), (2)) AS v (id)",
    "SELECT 1 AS id",
    "SELECT * FROM generate_series(1, 9) AS id",
    "SELECT id FROM judged.top",
    "SELECT id FROM (SELECT id FROM judged.t LIMIT 2) AS q",
    "SELECT id FROM judged.t WHERE ctid > '(0,5)'",
    "SELECT id, xmin::text AS k FROM judged.t",
    "SELECT id, t::text AS k FROM judged.t",
    # what can fail for one row would end the question for all
    "SELECT id, 1 / x AS k FROM judged.t",
    "SELECT id FROM judged.t WHERE x + 1 > 3",
    "SELECT id, s::int AS k FROM judged.t",
    "SELECT id, x::smallint AS k FROM judged.t",
    "SELECT id FROM judged.t WHERE s LIKE 'a%'",
    "SELECT id FROM judged.t WHERE a = '{1}'",
    "SELECT id, a::text AS k FROM judged.t",
    "SELECT id, judged.sure(x) AS k FROM judged.t",
    # a name that cannot be told from the tree
    'SELECT id, x AS ":expr" FROM judged.t',
)


def opened(name: str, vouched_by: str | None = None) -> sd.Session:
    source = (cluster().address(), f"judged.{name}")
    table = sd.PrivateTable(source, protects=sd.AddOneRow(), vouched_by=vouched_by)
    return sd.Session({"t": table}, budget=sd.PureDP(1))


def doubts(texts: tuple[str, ...]) -> dict[str, str]:
    server = cluster()
    server.run(*MADE)
    server.run(*(f"CREATE VIEW judged.v{n} AS {text}" for n, text in enumerate(texts)))
    asked = Server(server.address())
    asked.connect()
    with asked.transaction():
        return {
            text: view_doubt(asked, "judged", f"v{n}") for n, text in enumerate(texts)
        }


def test_what_is_made_row_by_row_is_read_and_nothing_else() -> None:
    """One case after the other, so that each that differs is named."""
    assert {text: why for text, why in doubts(BY_ROW).items() if why} == {}
    assert [text for text, why in doubts(BY_MANY).items() if not why] == []


def test_a_view_that_is_doubted_is_refused() -> None:
    """With the reason, and what to do; nothing is charged or read."""
    cluster().run(*MADE)
    with pytest.raises(InvalidParameter, match="must make each row of one row") as told:
        opened("top")
    assert "not made row by row" in str(told.value)
    assert "vouched_by" in str(told.value)


def test_somebody_can_answer_for_a_view() -> None:
    """Then it is read, and the session says who does."""
    cluster().run(*MADE)
    with opened("top", vouched_by="A. Weber, who wrote the view") as session:
        assert "A. Weber" in str(session.describe())
        assert session.release(COUNT, sd.PureDP(1)).table.num_rows == 1


def test_a_view_that_changes_its_mind_is_refused_before_the_charge() -> None:
    cluster().run(*MADE, "CREATE VIEW judged.upper_one AS TABLE judged.some")
    with opened("upper_one") as session:
        assert session.price(COUNT, sd.PureDP("0.1")).errors
        cluster().run(
            "CREATE OR REPLACE VIEW judged.some AS SELECT * FROM judged.t LIMIT 3"
        )
        with pytest.raises(EngineUnavailable, match="not what it was"):
            session.release(COUNT, sd.PureDP("0.1"))
        assert session.remaining == sd.PureDP(1)
