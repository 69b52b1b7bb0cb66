"""For any file: the answer is that of the values which its own reader decodes.

    answer(file whose footer lies) = answer(all columns of it, as they are read)

Every fact that a footer has beside the rows lies in turn, of all row groups or of some,
and is asked about in every shape of statement, by each way in which an engine reads a
file. "All values of this chunk are missing" may be taken as content; then it is content
of every question.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from sordino.aggregations.measurement import Distinct, Extreme, Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    Sources,
    comparable_answer,
    question_of,
    whole_question,
)
from sordino.engines.duckdb import plans as executed_plans
from sordino.engines.duckdb import session as connection
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.expressions.language import col, lit, when
from sordino.query.nodes import AbstractNode, Question, Source
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT, in_duckdb_order
from tests.effort import by_night, often
from tests.footers import LIES, OF_FILES, long_rows, lying_rows, tell_lie, write_honest

GROUPS: Final = 6
SOME: Final = (0, 2, 5)
PARTS: Final = often(60, 1)
"""Of the slow law each lie is asked a part of the questions; by night, all."""
MOST: Final = 100
"""More questions than there are."""
FEW: Final = (
    *("narrow bounds", "far bounds", "constant", "none missing", "all missing"),
    "a row more",
)
PUBLIC: Final = pa.table({
    "i": pa.array([10**6, None, 7, 0], pa.int64()),
    "x": pa.array([nan, 1e9, None, 1.5], from_pandas=False),
    "s": ["zz", None, "q", "a"],
    "w": [1, 2, 3, 4],
})
_I, _X, _S, _B = (col(name) for name in "ixsb")
_CONDITIONS: Final = (
    *(_I > 100, _I <= 5, _I == 10**6, _I.is_in([10**6, 7]), _I.is_null()),
    *(_X < 100, _X > 100, _X.is_nan(), ~_X.is_null(), ~(_X < 100) | (_I > 5)),
    *(_S > "c", _B, ~_B, col("d").year() > 1970),
)


def questions(t: Sources) -> Iterator[Question]:
    rows, public = t["t"], t["p"]
    for condition in _CONDITIONS:
        yield question_of(plans.filter_rows(rows, condition))
    yield whole_question(rows)
    there = when(_I.is_null()).then(5).otherwise(_I)
    yield question_of(rows, totals=(Total(there), Total(_I, 3, 5), Total(lit(1))))
    chosen = when(_I <= 5).then(1).when(_X > 100).then(1000).otherwise(5)
    yield question_of(plans.project_to(rows, c=chosen), "c")
    for name in ("i", "s", "b", "d"):
        yield question_of(rows, name)
    yield question_of(rows, "i", keys={"i": [0, 7, 10**6, None]})
    yield question_of(rows, "s", "b", keys={"s": ["a", "q"], "b": [True, None]})
    for on in ("i", "x", "s"):
        narrow = plans.project_to(rows, id=col("id"), **{on: col(on)})
        for outer in (False, True):
            joined = plans.join_rows(narrow, public, (on,), outer=outer)
            yield question_of(joined, totals=(Total(col("w")), Total(lit(1))))
        yield question_of(plans.rows_without(narrow, public, (on,)))
    yield from _bounded_questions(rows)


def _bounded_questions(rows: AbstractNode) -> Iterator[Question]:
    """Yield questions of bounded rows, each of which may be kept, and read twice."""
    far = _I > 100
    for bounded in (
        plans.bound_rows(rows, ("id",), 1),
        plans.bound_groups(rows, ("id",), ("i",), 1),
        plans.bound_rows(plans.bound_rows(rows, ("id", "i"), 1), ("id",), 2),
    ):
        yield whole_question(bounded)
        yield question_of(plans.filter_rows(bounded, far), "s")
        yield question_of(bounded, totals=(Distinct(("id",)),))
    yield question_of(plans.bound_unique(rows, ("i",)))
    yield question_of(plans.bound_rows(plans.filter_rows(rows, far), ("id",), 1))
    yield question_of(plans.crowded_ids(rows, ("id",), ("i",), 1))
    yield question_of(plans.sized_memberships(rows, ("id",), ("i",)), "i", "size")
    most = Extreme(_I, is_greatest=True)
    per_id = plans.gather_rows(rows, "id", most=most, n=Total(lit(1)))
    yield question_of(plans.filter_rows(per_id, col("most") > 100), "n")
    left = plans.project_to(rows, id=col("id"), i=_I)
    right = plans.bound_rows(plans.project_to(rows, id=col("id"), s=_S), ("id",), 1)
    yield question_of(plans.filter_rows(plans.join_rows(left, right, ("id",)), far))
    yield question_of(plans.rows_without(left, plans.filter_rows(left, far), ("id",)))


@dataclass(frozen=True)
class Way:
    """A way in which an engine comes to the rows of a file."""

    engine: Callable[[], AbstractEngine]
    source: Callable[[Path], Any]
    decoded: Callable[[Path], pa.Table]
    """All columns of the file, as the reader of this way decodes them."""
    rows: int = 6_000


def _by_duckdb(path: Path) -> pa.Table:
    connection = duckdb.connect(config={"enable_optimizer": "false"})
    return connection.read_parquet(str(path)).to_arrow_table()


def _by_polars(path: Path) -> pa.Table:
    return pl.read_parquet(path).to_arrow()


def _relation(path: Path) -> Any:
    return duckdb.connect().sql(f"FROM read_parquet('{path}') WHERE x < 1e6 OR b")


def _relation_rows(path: Path) -> pa.Table:
    held = _by_duckdb(path)
    connection = duckdb.connect(config={"enable_optimizer": "false"})
    connection.register("held", held)
    return connection.sql("FROM held WHERE x < 1e6 OR b").to_arrow_table()


_LAZY: Final = pl.col("i") > 100


def _duck() -> AbstractEngine:
    return duckdb_engine(salt=SALT, threads=2)


def _memory() -> AbstractEngine:
    return MemoryEngine(order=in_duckdb_order(SALT))


WAYS: Final[Mapping[str, Way]] = {
    "DuckDB's own reader": Way(_duck, lambda path: path, _by_duckdb),
    "a relation of DuckDB": Way(_duck, _relation, _relation_rows),
    "a lazy frame of Polars": Way(
        _duck,
        lambda path: pl.scan_parquet(path).filter(_LAZY),
        lambda path: pl.DataFrame(_by_polars(path)).filter(_LAZY).to_arrow(),
    ),
    "a data set of Arrow": Way(_duck, ds.dataset, pq.read_table),
    "the engine in memory": Way(_memory, lambda path: path, pq.read_table, rows=120),
}
"""A way of Spark is added here, where Spark is installed."""


def opened(engine: AbstractEngine, tables: Mapping[str, Any]) -> Sources:
    return {
        name: Source(name, engine.open(name, source, {}))
        for name, source in tables.items()
    }


def answers(
    engine: AbstractEngine, source: Any, wanted: Collection[int]
) -> dict[int, Any]:
    """Return the exact answers to some questions, or by what each was refused."""
    tables = opened(engine, {"t": source, "p": PUBLIC})
    found: dict[int, Any] = {}
    for place, question in enumerate(questions(tables)):
        if place in wanted:
            try:
                found[place] = comparable_answer(question, engine.answer(question))
            except SordinoError as failure:
                found[place] = type(failure).__name__
    engine.close()
    return found


def marked(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.remove_metadata()) as stream:
        stream.write_table(table.combine_chunks().replace_schema_metadata(None))
    return bytes(sink.getvalue())


def moved(
    way: Way,
    folder: Path,
    lies: Iterable[tuple[str, Collection[int] | None]],
    parts: int,
) -> dict[str, list[int]]:
    """Return the questions whose answers a lie moves; a refused file moves none.

    Of so many parts of the questions each lie is asked one, in turn.
    """
    group = way.rows // GROUPS
    rows = lying_rows(way.rows)
    honest = write_honest(rows, folder / "honest.parquet", group=group)
    right: dict[bytes, dict[int, Any]] = {}
    wrong: dict[str, list[int]] = {}
    for number, (lie, groups) in enumerate(lies):
        path = tell_lie(honest, folder / f"{number}.parquet", LIES[lie], groups)
        wanted = range(number % parts, MOST, parts)
        try:
            table = way.decoded(path)
            found = answers(way.engine(), way.source(path), wanted)
        except (OSError, SordinoError, pl.exceptions.PolarsError):
            continue
        known = right.setdefault(marked(table), {})
        asked = set(found) - set(known)
        if asked:
            known |= answers(_duck(), table, asked)
        places = [place for place, one in found.items() if one != known[place]]
        if places:
            wrong.setdefault(lie, []).extend(places)
    return wrong


@for_each("way", WAYS)
def test_no_footer_is_believed(way: str, tmp_path: Path) -> None:
    """For some lies, whoever reads: only what is decoded decides about an answer."""
    assert moved(WAYS[way], tmp_path, [(lie, None) for lie in FEW], often(20, 3)) == {}


def fooled(path: Path) -> set[str]:
    """Return who asks a lying file plainly, and is told what it says of itself."""
    plain = duckdb.connect()
    far = {
        "DuckDB": plain.sql(f"FROM read_parquet('{path}') WHERE i > 100"),
        "Polars": pl.scan_parquet(path).filter(_LAZY).collect().to_arrow(),
        "Arrow": ds.dataset(path).filter(ds.field("i") > 100).to_table(),
    }
    return {name for name, rows in far.items() if not len(rows)}


def test_the_lies_are_believed_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = write_honest(lying_rows(6_000), tmp_path / "honest.parquet", group=1_000)
    lie = tell_lie(honest, tmp_path / "lie.parquet", LIES["constant"])
    assert fooled(honest) == set()
    assert fooled(lie) == {"DuckDB", "Polars", "Arrow"}
    monkeypatch.setitem(connection._SETTINGS, "enable_optimizer", "true")
    own = WAYS["DuckDB's own reader"]
    told = [("constant", None)]
    assert moved(own, tmp_path, told, 6) == {}  # its plans are other than is written
    monkeypatch.setattr(executed_plans, "_is_written", lambda *_: True)
    assert moved(own, tmp_path, told, 6)


LARGE: Final = 70 * 122_880
"""Rows of a size at which passes wake up that split rows, in kilobytes."""


@by_night
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_no_footer_of_a_file_of_millions_is_believed(tmp_path: Path) -> None:
    rows = long_rows(LARGE)
    honest = write_honest(rows, tmp_path / "honest.parquet", group=122_880)
    assert honest.stat().st_size < 200_000
    groups, ids = (1_001 + (LARGE - 1) // size for size in (400_000, 100_000))
    for lie in ("narrow bounds", "constant"):
        path = tell_lie(honest, tmp_path / "lie.parquet", LIES[lie], {0})
        engine = duckdb_engine(salt=SALT, threads=1)
        table = opened(engine, {"t": path})["t"]
        counts = [
            engine.answer(one).columns[-1].to_pylist() for one in large_questions(table)
        ]
        in_all, far, by_group, bounded = counts
        engine.close()
        assert (in_all, far, bounded) == ([LARGE], [1000], [ids]), lie
        assert (len(by_group), sum(by_group)) == (groups, LARGE), lie


def large_questions(rows: AbstractNode) -> Iterator[Question]:
    yield question_of(rows)
    yield question_of(plans.filter_rows(rows, _I >= 10**6))
    yield question_of(rows, "i")
    yield question_of(plans.bound_rows(rows, ("id",), 1))


@pytest.mark.slow
@sampled(1, 1)
@for_each("way", WAYS)
def test_no_footer_at_all_is_believed(way: str, tmp_path: Path) -> None:
    every = [(lie, None) for lie in LIES]
    some = [(lie, SOME) for lie in LIES if lie not in OF_FILES]
    assert moved(WAYS[way], tmp_path, [*every, *some], PARTS) == {}
