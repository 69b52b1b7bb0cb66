"""What a Parquet file says of itself changes no answer, whoever wrote it.

Far values are beyond what the footer states. Each planted belief is found out.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.auditing.hostile_sources import (
    FooterLie,
    FooterValues,
    footer_of,
    write_lies,
)
from sordino.data.source import kind_of
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.duckdb import plans, tables
from sordino.engines.duckdb import session as connection
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import SordinoError
from sordino.expressions.schema import NUMBERS
from sordino.query.request import Request
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled
from tests.distances import claim
from tests.duckdb_order import SALT, in_duckdb_order
from tests.effort import by_night

ROWS: Final = 2_500
GROUP: Final = 1_000
_ZERO: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times


@dataclass(frozen=True)
class Kind:
    """A column: near values, the largest of them, one between, and a far one."""

    arrow: pa.DataType
    near: tuple[Any, ...]
    between: Any
    far: Any
    bytes: Callable[[Any], bytes]
    """How a bound is written in a footer."""

    @property
    def values(self) -> list[Any]:
        cycle = [*self.near * 2, None]
        listed = [cycle[place % len(cycle)] for place in range(ROWS)]
        return [self.far if place % 10 == 0 else x for place, x in enumerate(listed)]


def _days(one: date) -> int:
    return (one - _ZERO.date()).days


KINDS: Final = {
    "f64": Kind(
        pa.float64(), (1.0, 2.5, 9.0), 100.0, 1234.5, lambda x: struct.pack("<d", x)
    ),
    "f32": Kind(
        pa.float32(), (1.0, 2.5, 9.0), 100.0, 1234.5, lambda x: struct.pack("<f", x)
    ),
    "i64": Kind(pa.int64(), (1, 2, 9), 100, 2**40 + 5, lambda x: struct.pack("<q", x)),
    "i32": Kind(pa.int32(), (1, 2, 9), 100, 10**9, lambda x: struct.pack("<i", x)),
    "text": Kind(pa.string(), ("aaa1", "aaa9"), "b", "zzzz", str.encode),
    "date": Kind(
        pa.date32(),
        (date(2020, 1, 1), date(2020, 1, 9)),
        date(2025, 1, 1),
        date(2030, 1, 1),
        lambda x: struct.pack("<i", _days(x)),
    ),
    "time": Kind(
        pa.timestamp("us"),
        (_ZERO, _ZERO + timedelta(9)),
        _ZERO + timedelta(100),
        _ZERO + timedelta(1000),
        lambda x: struct.pack("<q", (x - _ZERO) // timedelta(microseconds=1)),
    ),
}


_BLOOM: Final = (3, 14)


def bloom_filters(path: Path) -> list[int]:
    """Return where the filters of a file begin."""
    _, foot = footer_of(path.read_bytes())
    places = []
    for place, first, end in FooterValues(foot).values():
        match place:
            case (4, _, 1, _, *rest) if tuple(rest) == _BLOOM:
                number = 0
                for byte in reversed(foot[first:end]):
                    number = number << 7 | byte & 127
                places.append(number >> 1)
    return places


def by_pyarrow(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, row_group_size=GROUP, write_page_index=True)


def by_polars(table: pa.Table, path: Path) -> None:
    frame = pl.DataFrame(pl.from_arrow(table))
    frame.write_parquet(path, row_group_size=GROUP, statistics="full")


def by_duckdb(table: pa.Table, path: Path) -> None:
    connection = duckdb.connect()
    connection.register("held", table)
    connection.sql("FROM held").write_parquet(str(path), row_group_size=2048)


BELIEVED: Final = [name for name in KINDS if name not in {"date", "time"}]
"""Types through whose rule statistics pass; that of days and moments is a CASE."""
WRITERS: Final = {"pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb}


def rows(kind: Kind, values: list[Any] | None = None) -> pa.Table:
    """Return the column x, and a small key."""
    held = kind.values if values is None else values
    return pa.table({
        "x": pa.array(held, kind.arrow, from_pandas=False),
        "k": [place % 7 for place in range(len(held))],
    })


LIES: Final = ("high", "low", "nulls", "all")


def lies(kind: Kind) -> dict[str, FooterLie]:
    """Return what a footer is made to say: less than is there, or none missing."""
    high, low = kind.bytes(kind.near[-1]), kind.bytes(kind.near[0])
    return {
        "high": FooterLie(high=high),
        "low": FooterLie(low=high, high=high),
        "nulls": FooterLie(nulls=0),
        "all": FooterLie(high=low, low=low, nulls=0),
    }


def public(kind: Kind) -> pa.Table:
    """Return far and near values to be joined with, NaN among them."""
    values = [kind.far, kind.near[0], kind.between]
    if pa.types.is_floating(kind.arrow):
        values.append(nan)
    return pa.table({
        "x": pa.array(values, kind.arrow, from_pandas=False),
        "w": list(range(len(values))),
    })


def requests(kind: Kind) -> Iterator[Request]:
    """Yield questions whose answers a false bound would change."""
    t, x, n = sd.table("t"), sd.col("x"), sd.count()
    last = kind.near[-1]
    for condition in (
        x < kind.between,
        x <= last,
        x > kind.between,
        x == kind.far,
        x != last,
        x.is_in([kind.far, last]),
        ~(x < kind.between) | (sd.col("k") == 1),
        x.is_null(),
        ~x.is_null(),
    ):
        yield t.filter(condition).agg(n=n)
    yield t.join_public("p", on="x").agg(n=sd.sum("w", 0, 5))
    yield t.join_public("p", on="x", how="left").agg(n=sd.sum("w", 0, 5, nulls=5))
    yield t.drop_nulls("x").agg(n=sd.count_distinct("x"))
    chosen = sd.when(x <= last).then(1).when(x > kind.between).then(1000).otherwise(5)
    yield t.with_columns(c=chosen).group_by("k").agg(c=sd.sum("c", 0, 1000))
    if pa.types.is_floating(kind.arrow):
        yield t.filter(x.is_nan()).agg(n=n)
        yield t.drop_nan("x").agg(n=sd.mean("x", 0, 10, nulls="drop"))
        yield t.with_columns(y=x.cast("i64")).agg(n=sd.sum("y", 0, 10, nulls=0))
    else:
        yield t.group_by("x").agg(n=n)
    if kind_of(kind.arrow) in NUMBERS:
        yield t.agg(n=sd.sum("x", 0, 10, nulls=0), v=sd.variance("x", 0, 10, nulls=0))
        yield t.agg(m=sd.median("x", 0, 10, nulls="drop"))


def answers(engine: AbstractEngine, kind: Kind, source: Any) -> list[Any]:
    """Return the exact answers to all questions, or that one failed."""
    catalog = open_catalog(
        engine,
        {
            "t": sd.PrivateTable(source, protects=sd.AddOneRow()),
            "p": sd.PublicTable(public(kind)),
        },
    )
    found: list[Any] = []
    for request in requests(kind):
        asked = claim(request, catalog)
        for question in (asked.question, *asked.choice_questions):
            try:
                found.append(comparable_answer(question, engine.answer(question)))
            except SordinoError as failure:
                found.append(type(failure).__name__)
    return found


@cache
def right(name: str, honest: str = "") -> list[Any]:
    kind = KINDS[name]
    table = rows(kind, NAN_ROWS if honest else None)
    return answers(MemoryEngine(order=in_duckdb_order(SALT)), kind, table)


def told(path: Path, kind: str, writer: str, lie: str) -> Path:
    WRITERS[writer](rows(KINDS[kind]), path)
    assert write_lies(path, {0: lies(KINDS[kind])[lie]})
    return path


def duck() -> SQLEngine:
    return duckdb_engine(salt=SALT, threads=2)


@sampled(1, 8)
@for_each("lie", LIES)
@for_each("kind", KINDS)
@for_each("writer", WRITERS)
def test_no_footer_is_believed(
    writer: str, kind: str, lie: str, tmp_path: Path
) -> None:
    """For every writer and type: bounds and null counts may say what they like."""
    path = told(tmp_path / "t.parquet", kind, writer, lie)
    assert answers(duck(), KINDS[kind], path) == right(kind)


NAN_ROWS: Final = [nan if place % 3 else float(place % 10) for place in range(ROWS)]


@sampled(1, 3)
@for_each("kind", ["f64", "f32"])
@for_each("writer", WRITERS)
def test_nan_is_counted(writer: str, kind: str, tmp_path: Path) -> None:
    """Honest writers leave NaN out of the bounds, and it is there all the same."""
    path = tmp_path / "t.parquet"
    WRITERS[writer](rows(KINDS[kind], NAN_ROWS), path)
    assert answers(duck(), KINDS[kind], path) == right(kind, "nan")


def test_a_lie_about_some_groups_of_some_files(tmp_path: Path) -> None:
    kind = KINDS["f64"]
    table = rows(kind)
    for place, path in enumerate((tmp_path / "a.parquet", tmp_path / "b.parquet")):
        by_pyarrow(table.slice(place * GROUP, GROUP + 500 * place), path)
    assert write_lies(
        tmp_path / "b.parquet", {0: lies(kind)["high"]}, groups=slice(1, None)
    )
    assert answers(duck(), kind, str(tmp_path / "*.parquet")) == right("f64")


@pytest.mark.slow
def test_no_bloom_filter_is_believed(tmp_path: Path) -> None:
    for kind in ("i64", "text"):
        path = tmp_path / f"{kind}.parquet"
        by_duckdb(rows(KINDS[kind]), path)
        data = bytearray(path.read_bytes())
        places = bloom_filters(path)
        assert places
        for start in places:
            data[start + 20 : start + 32] = bytes(12)
        path.write_bytes(data)
        assert answers(duck(), KINDS[kind], path) == right(kind)


@pytest.fixture
def believing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files as a database reads them: with its optimiser, looking at no plan."""
    monkeypatch.setitem(connection._SETTINGS, "enable_optimizer", "true")
    windows = "top_n_window_elimination"
    monkeypatch.setitem(connection._SETTINGS, "disabled_optimizers", windows)
    monkeypatch.setattr(plans, "_is_written", lambda *_: True)
    monkeypatch.setattr(tables, "_OPTIONS", {})


@pytest.mark.usefixtures("believing")
@sampled(1, 6)
@for_each("kind", BELIEVED)
@for_each("writer", WRITERS)
def test_a_planted_belief_is_found_out(writer: str, kind: str, tmp_path: Path) -> None:
    """Of a false bound, for every writer and type, some answer is wrong."""
    path = told(tmp_path / "t.parquet", kind, writer, "high")
    assert answers(duck(), KINDS[kind], path) != right(kind)


@pytest.mark.usefixtures("believing")
@sampled(1)
@for_each("writer", ["pyarrow", "polars"])
def test_a_planted_belief_in_honest_bounds_is_found_out(
    writer: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    WRITERS[writer](rows(KINDS["f64"], NAN_ROWS), path)
    assert answers(duck(), KINDS["f64"], path) != right("f64", "nan")


@sampled(1, 2)
@for_each("writer", WRITERS)
def test_values_read_by_arrow_are_the_same(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBDialect, "in_place", lambda *_: None)
    path = tmp_path / "t.parquet"
    for kind in ("f64", "i64", "text"):
        WRITERS[writer](rows(KINDS[kind]), path)
        assert write_lies(path, {0: FooterLie(nulls=GROUP)}) or writer == "duckdb"
        assert answers(duck(), KINDS[kind], path) == right(kind)


LARGE: Final = 172
"""Row groups of the usual size from which on DuckDB 2.0 splits rows by bounds."""


def write_large_lie(path: Path) -> int:
    """Write rows by whose number passes wake up, and return how many ids there are.

    Of 1000 ids the footer says that there is none.
    """
    size = 122_880
    place = np.arange(LARGE * size)
    ids = np.where(place < 1000, 10**9 + place, place // 2)
    table = pa.table({"id": ids})
    pq.write_table(table, path, row_group_size=size, compression="zstd")
    lie = FooterLie(high=struct.pack("<q", size // 2 - 1))
    assert write_lies(path, {0: lie}, groups=slice(0, 1))
    return len(np.unique(ids))


def bounded_count(path: Path) -> Any:
    """Return how many rows are left of one for each id."""
    table = sd.PrivateTable(path, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, sd.PureDP(10**9), threads=1)
    request = sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    (count,) = session.release(request, sd.PureDP(10**6))["n"].to_pylist()
    return count


@by_night
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_no_footer_of_a_large_file_is_believed(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Rows are not split by bounds where they are many; with its optimiser they are."""
    path = tmp_path / "t.parquet"
    ids = write_large_lie(path)
    assert bounded_count(path) == ids
    request.getfixturevalue("believing")
    assert bounded_count(path) != ids
