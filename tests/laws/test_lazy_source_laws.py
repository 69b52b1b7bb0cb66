"""What is read when it is asked for is read by its values, row by row, or refused."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.doors import open_source
from sordino.engines.duckdb.row_by_row import ROW_FUNCTIONS
from sordino.engines.duckdb.tables import of_relation
from sordino.errors import EngineUnavailable, InvalidParameter
from tests.batches import for_each
from tests.lazy_sources import BUDGET, count, nan_files, rows_of

Holds: TypeAlias = Callable[[Any], Any]
SQL: Final[Mapping[str, Holds]] = {
    "x < 100": lambda x: x < 100,
    "x <= 3": lambda x: x <= 3,
    "x >= 100": lambda x: (x >= 100) | np.isnan(x),
    "x > 100": lambda x: (x > 100) | np.isnan(x),
    "isnan(x)": np.isnan,
    "NOT (x < 100)": lambda x: ~(x < 100),
    "x = 2": lambda x: x == 2,
}
"""Conditions of DuckDB, to whom NaN is the largest of all, and what holds them."""
FRAMES: Final[Mapping[str, tuple[Callable[[], pl.Expr], Holds]]] = {
    "below": (lambda: pl.col("x") < 100, lambda x: x < 100),
    "far": (lambda: pl.col("x") >= 100, lambda x: (x >= 100) | np.isnan(x)),
    "nan": (lambda: pl.col("x").is_nan(), np.isnan),
    "not": (lambda: ~(pl.col("x") < 100), lambda x: ~(x < 100)),
    "two": (lambda: pl.col("x") == 2, lambda x: x == 2),
}


def _ways(path: Path, connection: Any, condition: str) -> Mapping[str, Any]:
    """Return a condition on a file in all forms of DuckDB."""
    text = f"FROM '{path}' WHERE {condition}"
    connection.execute(f"CREATE OR REPLACE VIEW v AS {text}")
    connection.execute("CREATE OR REPLACE VIEW w AS SELECT x AS y FROM v")
    return {
        "relation": connection.sql(text),
        "methods": connection.read_parquet(str(path)).filter(condition),
        "view": (connection, "v"),
        "view of a view": connection.table("w"),
    }


@for_each("named", ["honest", "honest, one row more", "lying"])
def test_conditions_see_values(named: str, tmp_path: Path) -> None:
    """Relations, views, views of views and lazy frames have what the cells say."""
    path, cells = nan_files(tmp_path)[named]
    connection, frame, asked = duckdb.connect(), pl.scan_parquet(path), []
    for condition, holds in SQL.items():
        for way, source in _ways(path, connection, condition).items():
            asked.append((condition, way, rows_of(source), holds(cells).sum()))
    for condition, (written, holds) in FRAMES.items():
        got = rows_of(frame.filter(written()))
        asked.append((condition, "lazy frame", got, holds(cells).sum()))
    assert [one for one in asked if one[2] != one[3]] == []
    setting = "SELECT current_setting('enable_optimizer')"
    assert connection.execute(setting).fetchall() == [(True,)]


def test_a_relation_keeps_the_meaning_of_its_connection() -> None:
    """Its schema, its zone and its settings reach the cursor that reads it."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r AS SELECT 1 AS x; CREATE SCHEMA s")
    connection.execute("CREATE TABLE s.r AS SELECT x FROM range(3) t(x)")
    connection.execute("CREATE VIEW s.v AS SELECT x FROM r WHERE x > 0")
    connection.execute("USE s; SET TimeZone = 'Asia/Tokyo'")
    zoned = "FROM r WHERE hour(TIMESTAMPTZ '2020-01-01 00:00:00Z') = 9"
    relations = [connection.sql(text) for text in ("FROM r", "FROM v", zoned)]
    assert list(map(rows_of, relations)) == [3, 2, 3]
    assert [rows_of((connection, name)) for name in ("r", "s.r", "s.v")] == [1, 3, 2]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r AS SELECT i AS id, i % 7 AS x, 'a' AS s, [i, 2] AS l "
        "FROM range(50) t(i)"
    )
    connection.execute("CREATE VIEW v AS SELECT * FROM r WHERE x < 3")
    connection.execute("CREATE VIEW c AS SELECT id, (SELECT count(*) FROM r) n FROM r")
    connection.execute("CREATE VIEW cc AS FROM c WHERE n > 1")
    connection.execute("CREATE MACRO m(a) AS a + (SELECT max(x) FROM r)")
    connection.execute("CREATE MACRO upper(a) AS (SELECT max(s) FROM r)")
    connection.execute("CREATE TEMP TABLE mine AS SELECT 1 AS x")
    connection.execute("CREATE TABLE g (s VARCHAR, z AS (CAST(s AS INTEGER)))")
    connection.register("registered", pa.table({"x": [1]}))
    return connection


BY_ROW: Final = """
    FROM r|FROM v|SELECT x * 2 AS y FROM r|FROM (FROM v WHERE id > 4)
    FROM main.r|FROM memory.main.r|FROM memory.main.v
    SELECT s.x FROM r s
    FROM r UNION ALL FROM v|FROM v UNION ALL BY NAME SELECT x FROM r
    SELECT id, unnest(l) FROM r|SELECT CASE WHEN x > 1 THEN 'a' END AS k FROM r
    SELECT try_cast(s AS INTEGER) AS i FROM r|SELECT CAST(x AS TINYINT) AS i FROM r
    WITH a AS (FROM r WHERE x < 2) FROM a|WITH a AS MATERIALIZED (FROM v) FROM a
    FROM r ORDER BY x|SELECT * EXCLUDE (s) FROM r
    FROM r WHERE s LIKE 'a%' AND x IN (1, 2)
    SELECT lower(s) AS s, l[1] AS f, coalesce(x, 1) AS x FROM r|SELECT 1 AS x, 2 AS y
    FROM (VALUES (1, 2), (3, 4)) AS t(a, b)|FROM range(5)
"""
NOT_BY_ROW: Final = """
    SELECT id, (SELECT count(*) FROM r) n FROM r -> subquery
    FROM c -> subquery
    FROM cc -> subquery
    SELECT m(x) FROM r -> 'm'
    SELECT upper(s) FROM r -> redefined
    FROM r LIMIT 10 -> LIMIT
    SELECT x FROM r OFFSET 3 -> LIMIT
    FROM r LIMIT 10% -> LIMIT
    FROM r ORDER BY x LIMIT 3 -> LIMIT
    FROM r USING SAMPLE 10% -> samples
    FROM r TABLESAMPLE 10% -> samples
    SELECT id, row_number() OVER () z FROM r -> window
    FROM r QUALIFY row_number() OVER () = 1 -> QUALIFY
    SELECT x, count(*) FROM r GROUP BY x -> GROUP BY
    SELECT max(x) FROM r -> 'max'
    SELECT x FROM r GROUP BY ALL HAVING x > 1 -> HAVING
    SELECT DISTINCT x FROM r -> DISTINCT
    SELECT DISTINCT ON (x) id FROM r -> DISTINCT
    FROM r WHERE x IN (FROM range(3)) -> subquery
    FROM r a WHERE EXISTS (FROM r b WHERE b.id = a.id + 1) -> subquery
    SELECT r.id FROM r JOIN v USING (id) -> joins
    SELECT r.id FROM r, v -> joins
    FROM r, LATERAL (SELECT r.x + 1 AS y) -> joins
    FROM r UNION FROM r -> set operation
    FROM r EXCEPT ALL FROM v -> set operation
    FROM r INTERSECT FROM v -> set operation
    SELECT x FROM r UNION ALL SELECT s FROM r -> other types
    WITH RECURSIVE a AS (SELECT 1 x UNION ALL SELECT x + 1 FROM a) FROM a -> RECURSIVE
    SELECT id, random() z FROM r -> 'random'
    FROM r WHERE random() < .5 -> 'random'
    SELECT now() AS t, x FROM r -> 'now'
    SELECT current_date AS t, x FROM r -> current_date
    SELECT rowid, x FROM r -> a row does not have
    SELECT getvariable('a') AS z, x FROM r -> 'getvariable'
    SELECT stats(x) AS z FROM r -> 'stats'
    SELECT COLUMNS('x') FROM r -> columns
    SELECT list_transform(l, lambda y: y + 1) AS l FROM r -> 'list_transform'
    SHOW TABLES -> SHOW
    FROM duckdb_tables() -> 'duckdb_tables'
    FROM query('FROM r LIMIT 3') -> 'query'
    FROM mine -> 'mine'
    FROM registered -> 'registered'
    FROM g -> 'g'
"""
"""Relations of all kinds, and a word of the reason for which they are refused."""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_what_is_of_one_row_is_read() -> None:
    connection, other = _connection(), []
    for text in (text for line in _lines(BY_ROW) for text in line.split("|")):
        relation = connection.sql(text)
        source = of_relation(relation, {})
        cells = source.read(range(len(source.fields))).to_pylist()
        got = sorted(str(tuple(row.values())) for row in cells)
        if source.doubt or got != sorted(map(str, relation.fetchall())):
            other.append((text, source.doubt))
    assert not other


def test_what_is_not_of_one_row_is_refused_or_answered_for() -> None:
    other = []
    for line in _lines(NOT_BY_ROW):
        text, word = line.split(" -> ")
        relation = _connection().sql(text)
        try:
            sd.Session({"t": sd.PrivateTable(relation, sd.AddOneRow())}, BUDGET)
            other.append((text, "taken"))
        except InvalidParameter as refusal:
            said = str(refusal)
            if word not in said or "vouched_by=" not in said or ".filter(" not in said:
                other.append((text, said))
    assert not other
    limited, registered = (
        _connection().sql(text) for text in ("FROM c LIMIT 10", "FROM registered")
    )
    assert count(limited, vouched_by="A. Weber") == 10
    assert count(registered, vouched_by="A. Weber") == 1
    # a connection that alone sees its tables is asked for two of them at once
    alone = duckdb.connect()
    alone.execute("CREATE TEMP TABLE a AS FROM range(99999)")
    alone.execute("CREATE TEMP TABLE b AS FROM a")
    opened = [open_source(alone.sql(f"FROM {name}"), {}).source for name in "ab"]
    both = [source.hand_over([0]) for source in opened]
    assert [sum(map(len, rows)) for rows in both] == [99_999] * 2


def test_parameters_frames_andnan_files(tmp_path: Path) -> None:
    folder = tmp_path / "k=1"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), folder / "a.parquet")
    pq.write_table(pa.table({"x": ["far"]}), tmp_path / "b.parquet")
    (tmp_path / "t.csv").write_text("x\n1\n")
    connection, frame = duckdb.connect(), pa.table({"x": [1]})
    refused: dict[str, tuple[Any, str]] = {
        "parameters": (connection.sql("SELECT ? AS x", params=[3]), "parameters"),
        "a frame": (connection.sql("FROM frame"), "frame, or a"),
        "an Arrow table": (connection.from_arrow(frame), "frame, or a"),
        "text files": (connection.sql(f"FROM '{tmp_path}/t.csv'"), "as a table"),
        "sniffed": (connection.read_csv(str(tmp_path / "t.csv")), "sd.Csv"),
        "other types": (
            connection.sql(
                f"FROM read_parquet(['{folder}/a.parquet', '{tmp_path}/b.parquet'])"
            ),
            "types differ",
        ),
    }
    refused["folders"] = connection.sql(f"FROM '{folder}/a.parquet'"), "of folders"
    for options in ("hive_partitioning = true", "file_row_number = true"):
        text = f"FROM read_parquet('{folder}/*.parquet', {options})"
        refused[options] = connection.sql(text), options.split(" ")[0]
    other = {}
    for name, (source, word) in refused.items():
        with pytest.raises(InvalidParameter) as caught:
            count(source)
        if word not in str(caught.value):
            other[name] = str(caught.value)
    assert not other
    plain = f"FROM read_parquet('{folder}/a.parquet', hive_partitioning = false)"
    assert rows_of(connection.sql(plain)) == 2


def test_one_row_never_decides_whether_there_is_an_answer() -> None:
    """A cell that cannot be computed is missing, and no other cell is another one."""
    connection, other = duckdb.connect(), []
    failing = {
        "CAST(s AS INTEGER)": 49,
        "x::TINYINT": 49,
        "(s || '0')::INTEGER * 2": 49,
        "x * 9223372036854775807": 2,
        "strptime(s, '%d')": 31,
    }
    connection.execute(
        "CREATE TABLE r AS SELECT CASE WHEN i = 0 THEN 'far' ELSE i::VARCHAR END AS s, "
        "CASE WHEN i = 0 THEN 1000 ELSE i - 1 END AS x FROM range(50) t(i)"
    )
    for text, whole in failing.items():
        relation = connection.table("r").project(f"{text} AS y")
        cells = open_source(relation, {}).source.read([0]).column(0)
        got = len(cells) - cells.null_count
        kept = rows_of(connection.sql(f"FROM r WHERE ({text}) IS NOT NULL"))
        if (got, kept) != (whole, whole):
            other.append((text, got, kept, whole))
    assert not other


@for_each(
    "change",
    [
        "CREATE OR REPLACE VIEW v AS SELECT * FROM r WHERE x < 2",
        "CREATE OR REPLACE VIEW v AS SELECT id, x, s, l FROM r LIMIT 9",
        "CREATE OR REPLACE VIEW v AS SELECT id, x, s, l FROM other WHERE x < 3",
        "DROP VIEW v",
    ],
)
def test_a_view_that_says_something_else_is_refused_before_the_charge(
    change: str,
) -> None:
    connection = duckdb.connect()
    for name in ("r", "other"):
        rows = "SELECT i AS id, i AS x, 'a' AS s, [i] AS l FROM range(9) t(i)"
        connection.sql(rows).create(name)
    connection.execute("CREATE VIEW v AS SELECT * FROM r WHERE x < 3")
    for source in ((connection, "v"), connection.table("v")):
        connection.execute("CREATE OR REPLACE VIEW v AS SELECT * FROM r WHERE x < 3")
        table = sd.PrivateTable(source, protects=sd.AddOneRow())
        session = sd.Session({"t": table}, BUDGET, engine="memory")
        connection.execute(change)
        with pytest.raises(EngineUnavailable, match="not what it was"):
            session.release(sd.table("t").agg(n=sd.count()), sd.PureDP(1))
        assert session.remaining == BUDGET


def test_who_answers_is_told() -> None:
    relation = _connection().sql("SELECT x, count(*) AS n FROM r GROUP BY x")
    table = sd.PrivateTable(relation, sd.AddOneRow(), vouched_by="A. Weber")
    described = repr(sd.Session({"t": table}, BUDGET).describe())
    assert "A. Weber answers for how its rows are made" in described
    assert "vouched_by='A. Weber'" in repr(table)
    assert sd.Session({"t": table, "p": sd.PublicTable(relation)}, BUDGET)
    assert sd.inspect(relation).rows == 7
    for nobody in (" ", 7):
        with pytest.raises(InvalidParameter, match="vouched_by"):
            sd.PrivateTable(relation, sd.AddOneRow(), vouched_by=nobody)  # type: ignore[arg-type]


def test_listed_functions_are_consistent() -> None:
    """DuckDB's own catalogue says of each that equal arguments give the same."""
    known = duckdb.connect().execute(
        "SELECT function_name FROM duckdb_functions() "
        "WHERE function_type = 'scalar' GROUP BY ALL "
        "HAVING bool_and(stability = 'CONSISTENT')"
    )
    assert {name for (name,) in known.fetchall()} >= ROW_FUNCTIONS - {"if", "nullif"}


LAZY: Final[Mapping[str, tuple[Callable[[pl.LazyFrame], pl.LazyFrame], str]]] = {
    "head": (lambda at: at.head(3), "takes some rows"),
    "tail": (lambda at: at.tail(3), "takes some rows"),
    "sort": (lambda at: at.sort("x"), "order of rows"),
    "group_by": (lambda at: at.group_by("x").agg(pl.len()), "group_by"),
    "unique": (lambda at: at.unique(), "equal rows"),
    "join": (lambda at: at.join(at, on="x"), "joins"),
    "row index": (lambda at: at.with_row_index(), "row_index"),
    "aggregate": (lambda at: at.filter(pl.col("x") > pl.col("x").mean()), "'Agg'"),
    "window": (lambda at: at.select(pl.col("x").sum().over("x")), "'Over'"),
    "shift": (lambda at: at.select(pl.col("x").shift(1)), "'Shift'"),
    "sample": (lambda at: at.select(pl.col("x").shuffle()), "'Random'"),
    "strict cast": (lambda at: at.select(pl.col("x").cast(pl.Int8)), "strict=False"),
    "reverse": (lambda at: at.reverse(), "'Reverse'"),
    "values": (lambda at: at.with_columns(pl.Series("k", [1] * 503)), "'Literal'"),
    "Python": (lambda at: at.map_batches(lambda frame: frame), "Python"),
}


def test_lazy_frames_are_judged_before_they_are_collected(tmp_path: Path) -> None:
    """What is of one row is read; the rest is refused, or somebody answers for it."""
    path, other = nan_files(tmp_path)["honest"][0], []
    frame = pl.scan_parquet(path)
    for name, (make, word) in LAZY.items():
        try:
            count(make(frame))
            other.append((name, "taken"))
        except InvalidParameter as refusal:
            if word not in str(refusal):
                other.append((name, str(refusal)))
    assert not other
    assert count(frame.head(3), vouched_by="A. Weber") == 3
    x = pl.col("x")
    made = frame.with_columns(x.cast(pl.Int64, strict=False).alias("i"), pl.lit(1))
    renamed = pl.concat([made, made]).rename({"i": "j"}).drop("x").drop_nulls()
    assert count(renamed) == 6
    assert count(pl.LazyFrame({"x": [1, 2]}).filter(x > 1)) == 1


def test_a_filtered_data_set_is_refused(tmp_path: Path) -> None:
    """A filter of Arrow is pushed to the footers; one of the session sees values."""
    path, cells = nan_files(tmp_path)["lying"]
    whole = ds.dataset(path)
    for filtered in (
        whole.filter(pc.field("x") > 100),
        ds.dataset(pa.table({"x": [1.0]})).filter(pc.field("x") > 0),
    ):
        with pytest.raises(InvalidParameter, match="filtered by Arrow"):
            count(filtered)
    table = sd.PrivateTable(whole, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, BUDGET)
    far = sd.table("t").filter(sd.col("x") > 100).agg(n=sd.count())
    expected = [int(((cells > 100) | np.isnan(cells)).sum())]
    got = session.release(far, sd.PureDP(10**6))["n"].to_pylist()
    assert got in (expected, [int((cells > 100).sum())])
    assert count(ds.dataset([whole, whole])) == 2 * len(cells)


def test_an_order_that_a_frame_claims_is_not_believed() -> None:
    """Polars' mark of sorted values stays behind: DuckDB and memory see cells."""
    frame = pl.DataFrame({"x": [9, 1, 5]}).with_columns(pl.col("x").set_sorted())
    for source in (frame, frame.lazy()):
        assert count(source) == 3
        table = sd.PrivateTable(source, protects=sd.AddOneRow())
        session = sd.Session({"t": table}, BUDGET)
        below = sd.table("t").filter(sd.col("x") < 6).agg(n=sd.count())
        assert session.release(below, sd.PureDP(10**6))["n"].to_pylist() == [2]
