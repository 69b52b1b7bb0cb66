"""Arrays of a server as lists: of one dimension, by their entries alone."""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.engines.conformance.plans import explode_rows, question_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.entries import MOST
from sordino.engines.postgres.session import postgres_engine
from sordino.query.nodes import KeepUnique, Source
from tests.batches import for_each
from tests.postgres_server import Cluster, cluster, stored_table

BUDGET: Final = sd.PureDP(1)
SHAPES: Final[Mapping[str, tuple[str, list[Any]]]] = {
    "null": ("NULL", []),
    "empty": ("'{}'", []),
    "one dimension": ("'{7,NULL,7}'", [7, None, 7]),
    "counted from -3": ("'[-3:-2]={7,8}'", [7, 8]),
    "counted from 2": ("'[2:2]={7}'", [7]),
    "two dimensions": ("'{{7,8},{9,10}}'", []),
    "two dimensions of one entry": ("'{{7}}'", []),
    "three dimensions, odd": ("'[0:0][1:1][5:6]={{{7,8}}}'", []),
    "many": ("array_fill(7, '{9}'::integer[])", [7] * 9),
}
"""An array as written there, and the entries that it has here."""
ENTRIES: Final[Mapping[str, tuple[str, list[Any]]]] = {
    "smallint": ("'{-32768,NULL}'", [-32768, None]),
    "bigint": ("'{9223372036854775807}'", [2**63 - 1]),
    "real": ("'{1.5,-Infinity}'", [1.5, -math.inf]),
    "double precision": ("'{-0.0,NaN}'", [0.0, math.nan]),
    "numeric": (
        "'{NaN,1e400,-1e400,1e-400,0.1}'",
        [math.nan, math.inf, -math.inf, 0.0, 0.1],
    ),
    "text": (
        "ARRAY['a\"b\\\\{,}', '', 'NULL', NULL, repeat('x', 1048577)]",
        ['a"b\\\\{,}', "", "NULL", None, None],
    ),
    "varchar(3)": ("'{abc}'", ["abc"]),
    "char(3)": ("'{a}'", ["a"]),
    "uuid": (
        "'{00000000-0000-0000-0000-00000000000A}'",
        ["00000000-0000-0000-0000-00000000000a"],
    ),
    "boolean": ("'{t,f,NULL}'", [True, False, None]),
    "date": ("'{infinity,0001-01-01,\"0044-03-15 BC\"}'", [None, date(1, 1, 1), None]),
    "timestamp": (
        "'{-infinity,2026-01-02 03:04:05.6}'",
        [None, datetime(2026, 1, 2, 3, 4, 5, 600_000)],  # noqa: DTZ001 in UTC
    ),
    "timestamptz": ("'{2026-01-02 03:04:05+02}'", [datetime(2026, 1, 2, 1, 4, 5)]),  # noqa: DTZ001 in UTC
}
"""An array of each type, and its entries here."""


def listed(server: Cluster, kind: str, *values: str) -> tuple[str, str]:
    """Make a table of one array for each person anew."""
    server.run(
        "DROP TABLE IF EXISTS listed CASCADE",
        f"CREATE TABLE listed (id bigint, x {kind}[])",
    )
    for n, value in enumerate(values):
        server.run(f"INSERT INTO listed VALUES ({n}, {value})")  # noqa: S608 ours
    return server.address(), "listed"


def entries(engine: AbstractEngine, source: tuple[str, str]) -> list[tuple[Any, ...]]:
    node = Source("t", engine.open("t", source, {}))
    question = question_of(explode_rows(node, "x"), "id", "x")
    told = [tuple(row.values()) for row in engine.answer(question).to_pylist()]
    return sorted(told, key=repr)


def engines(server: Cluster) -> tuple[AbstractEngine, ...]:
    """Return the server's engine, and those to which its rows are handed."""
    return postgres_engine(server.address()), duckdb_engine(), MemoryEngine()


def test_shapes_of_arrays() -> None:
    """Null, empty, of any numbering: its entries; a matrix is no list."""
    server = cluster()
    source = listed(server, "integer", *(written for written, _ in SHAPES.values()))
    meant = sorted(
        (
            (n, entry, told.count(entry))
            for n, (_, told) in enumerate(SHAPES.values())
            for entry in dict.fromkeys(told)
        ),
        key=repr,
    )
    for engine in engines(server):
        assert entries(engine, source) == meant


@pytest.mark.slow
def test_a_list_of_too_many_entries_is_missing() -> None:
    server = cluster()
    filled = "array_fill(7, ARRAY[{}])"
    source = listed(server, "integer", filled.format(MOST + 1), filled.format(3))
    assert entries(postgres_engine(server.address()), source) == [(1, 7, 3)]


@for_each("kind", ENTRIES)
def test_entries_are_read_like_columns(kind: str) -> None:
    server = cluster()
    written, told = ENTRIES[kind]
    source = listed(server, kind, f"{written}::{kind}[]")
    texts = list(map(repr, told))
    meant = sorted({f"(0, {text}, {texts.count(text)})" for text in texts})
    for engine in engines(server):
        assert sorted(map(repr, entries(engine, source))) == meant


def test_lists_that_are_alike_are_one_value() -> None:
    server = cluster()
    source = listed(server, "integer", "'{7,8}'", "'[0:1]={7,8}'", "'[5:6]={7,8}'")
    engine = postgres_engine(server.address())
    node = Source("t", engine.open("t", source, {}))
    (told,) = engine.answer(question_of(node, "x")).to_pylist()
    assert told == {"x": [7, 8], "total 0": 3}


def test_collations_do_not_merge_entries() -> None:
    """Of a collation to which a and A are alike."""
    server = cluster()
    server.run(
        "CREATE COLLATION IF NOT EXISTS alike"
        " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    source = listed(server, "text", "'{a,A}'", "'{A,a}'")
    server.run("ALTER TABLE listed ALTER x TYPE text[] COLLATE alike")
    engine = postgres_engine(server.address())
    assert entries(engine, source) == [(n, one, 1) for n in (0, 1) for one in "Aa"]
    node = Source("t", engine.open("t", source, {}))
    assert engine.answer(question_of(node, "x")).num_rows == 2


def test_lists_of_public_tables_travel() -> None:
    """Each with its length, its nulls, and whatever stands in a text."""
    texts = [None, [], ["", None, 'a "b"', "\\", "{,}", "NULL", "\n"]]
    moments = [[datetime(1, 1, 1), None], [], None]  # noqa: DTZ001 in UTC
    rows = pa.table({
        "i": [0, 1, 2],
        "text": pa.array(texts, pa.list_(pa.string())),
        "f64": pa.array([[-0.0, math.nan, 5e-324], [math.inf, None], []]),
        "time": pa.array(moments, pa.list_(pa.timestamp("us"))),
        "bool": pa.array([[True], [False, None], None], pa.list_(pa.bool_())),
        "date": pa.array([[date(9999, 12, 31)], None, []], pa.list_(pa.date32())),
    })
    source = stored_table(rows)  # bound as any table that is handed over is
    engine = postgres_engine(source[0])
    node = Source("t", engine.open("t", source, {}))
    memory = MemoryEngine()
    meant = Source("t", memory.open("t", rows, {}))
    for name in rows.column_names[1:]:
        told = [
            sorted(
                map(
                    repr,
                    made.answer(question_of(explode_rows(one, name), name)).to_pylist(),
                )
            )
            for made, one in ((engine, node), (memory, meant))
        ]
        assert told[0] == told[1]


def test_a_session_asks_for_entries() -> None:
    server = cluster()
    source = listed(server, "text", "'{a,b}'", "'{}'", "NULL", "'{{a}}'", "'{a,a,c}'")
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, sd.PureDP(9), engine="postgres")
    keys = sd.KeySet.from_dict({"x": ["a", "b"]})
    bounded = sd.table("t").enforce(sd.MaxRowsPerID(1))
    rows = bounded.flat_map("x", max_rows=2).group_by(keys).agg(n=sd.count())
    for _ in range(2):
        assert session.release(rows, BUDGET).table.num_rows == 2


def test_a_list_alone_in_its_group_is_kept() -> None:
    server = cluster()
    source = listed(server, "integer", "'{7,8}'", "'{7}'", "NULL", "'{}'", "'{9}'")
    server.run("INSERT INTO listed VALUES (0, '{7}'), (1, NULL), (1, '{}')")
    told = []
    for engine in engines(server):
        node = Source("t", engine.open("t", source, {}))
        unique = KeepUnique(node, ("id",), node.schema)
        question = question_of(unique, "id", "x")
        told.append(sorted(map(repr, engine.answer(question).to_pylist())))
    assert told == [told[0]] * 3
    assert len(told[0]) == 3
