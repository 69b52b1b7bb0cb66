"""Which rows a bound keeps: by chance alone, where digests tie or hashes are shared."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sqlglot import exp

from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    comparable_answer,
    question_of,
    sortable_rows,
)
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.engines.statements import plans as kept_rows
from sordino.query.nodes import AbstractNode, Source
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT, in_duckdb_order


def _visits(count: int) -> pa.Table:
    """Return visits of which many are alike, some by nobody."""
    draw = np.random.default_rng(7)
    ids = draw.integers(0, count // 6, count)
    return pa.table({
        "id": pa.array(ids, mask=ids == 3),
        "ward": pa.array(["abcdef"[n] for n in draw.integers(0, 6, count)]),
        "days": pa.array(draw.integers(0, 3, count) / 2),
    })


BOUNDS: dict[str, Any] = {
    "rows": lambda rows: plans.bound_rows(rows, ("id",), 2),
    "groups": lambda rows: plans.bound_groups(rows, ("id",), ("ward", "days"), 2),
    "unique": lambda rows: plans.bound_unique(rows, ("id", "ward")),
    "rows of groups": lambda rows: plans.bound_rows(
        plans.bound_groups(rows, ("id",), ("ward",), 2), ("id", "ward"), 1
    ),
}
VISITS = _visits(3000)


def _kept(engine: AbstractEngine, source: Any, bound: str) -> list[tuple[Any, ...]]:
    rows = Source("t", engine.open("t", source, {}))
    kept: AbstractNode = BOUNDS[bound](rows)
    return sorted(sortable_rows(engine.answer(question_of(kept, "id", "ward", "days"))))


def _engines() -> dict[str, AbstractEngine]:
    return {
        "memory": MemoryEngine(order=keyed_order(SALT)),
        "one thread": duckdb_engine(salt=SALT, threads=1),
        "eight threads": duckdb_engine(salt=SALT, threads=8),
    }


@sampled(1, 2)
@for_each("bound", BOUNDS)
def test_order_does_not_matter(bound: str, tmp_path: Path) -> None:
    """Permuted, chunked or in files, by one thread or eight, the same rows are kept."""
    mixed = VISITS.take(np.random.default_rng(1).permutation(VISITS.num_rows))
    for start in range(0, 3000, 500):
        path = tmp_path / f"{start}.parquet"
        pq.write_table(mixed.slice(start, 500), path, row_group_size=70)
    chunks = pa.concat_tables([mixed.slice(n, 300) for n in range(2700, -1, -300)])
    engines = _engines()
    for name, engine in engines.items():
        first = _kept(engine, VISITS, bound)
        sources = (mixed, chunks, str(tmp_path / "*.parquet"))
        assert all(_kept(engine, one, bound) == first for one in sources)
        if name == "eight threads":
            assert first == _kept(engines["one thread"], VISITS, bound)


@sampled(4)
@for_each("bound", BOUNDS)
@for_each("name", _engines())
def test_other_ids_do_not_matter(bound: str, name: str) -> None:
    engine = _engines()[name]
    before = _kept(engine, VISITS, bound)
    ids = VISITS["id"].to_numpy(zero_copy_only=False)
    for one in (0, 1, 17):
        alone = _kept(engine, VISITS.filter(pa.array(ids == one)), bound)
        assert alone == [row for row in before if row[0] == (1, one)]


def test_bounds_hold() -> None:
    """No id has more than its bound, and nobody's rows together have no more."""
    for engine in _engines().values():
        for bound, column in (("rows", 3), ("groups", slice(1, 3))):
            seen: dict[Any, list[Any]] = {}
            for row in _kept(engine, VISITS, bound):
                seen.setdefault(row[0], []).append(row[column])
            counts = [
                sum(one[1] for one in held) if bound == "rows" else len(set(held))
                for held in seen.values()
            ]
            assert max(counts) == 2
            assert (0,) in seen


def test_another_key_keeps_other_rows() -> None:
    first, second = duckdb_engine(), duckdb_engine()
    assert _kept(first, VISITS, "rows") != _kept(second, VISITS, "rows")
    assert _kept(first, VISITS, "rows") == _kept(first, VISITS, "rows")


IDS = 200_000
CATEGORIES = 6
FALSE_ALARM = 1e-9


def _unevenness(counts: list[int]) -> float:
    expected = sum(counts) / CATEGORIES
    return sum((one - expected) ** 2 / expected for one in counts)


@pytest.mark.slow
def test_kept_rows_are_even() -> None:
    """Of six equal rows of each id any is kept as often; one hash fails this by far.

    The false-alarm rate is 1e-9: the statistic has a chi-square law of 5 degrees.
    """
    limit = stats.chi2.isf(FALSE_ALARM, CATEGORIES - 1)
    rows = pa.table({
        "id": np.repeat(np.arange(IDS), CATEGORIES),
        "ward": np.tile(np.arange(CATEGORIES), IDS),
    })
    engine = duckdb_engine()
    visits = Source("t", engine.open("t", rows, {}))
    for kept in (
        plans.bound_rows(visits, ("id",), 1),
        plans.bound_groups(visits, ("id",), ("ward",), 1),
    ):
        answer = engine.answer(question_of(kept, "ward"))
        assert _unevenness(answer.column(1).to_pylist()) < limit
    naive = (
        "SELECT count(*) FROM (SELECT ward, row_number() OVER "
        "(PARTITION BY id ORDER BY hash(id, ward)) AS n FROM rows) "
        "WHERE n = 1 GROUP BY ward"
    )
    connection = duckdb.connect()
    connection.register("rows", rows)
    biased = [one for (one,) in connection.sql(naive).fetchall()]
    assert _unevenness([*biased, *[0] * (CATEGORIES - len(biased))]) > 100 * limit


@pytest.mark.slow
def test_rows_that_are_alike_count_each() -> None:
    """Of three rows that are alike and one other, the other is kept once in four.

    The false-alarm rate is 1e-9: the statistic has a chi-square law of 1 degree. If the
    three were kept or dropped together, the other would be one of two: that fails.
    """
    rows = pa.table({
        "id": np.repeat(np.arange(IDS), 4),
        "ward": np.tile([0, 0, 0, 1], IDS),
    })
    engine = duckdb_engine()
    visits = Source("t", engine.open("t", rows, {}))
    answer = engine.answer(question_of(plans.bound_rows(visits, ("id",), 1), "ward"))
    counts = dict(zip(*(one.to_pylist() for one in answer.columns), strict=True))

    def unevenness(rare: int) -> float:
        expected = IDS / 4
        return (rare - expected) ** 2 / (expected * 3 / 4)

    assert sum(counts.values()) == IDS
    assert unevenness(counts[1]) < stats.chi2.isf(FALSE_ALARM, 1)
    assert unevenness(IDS // 2) > 100 * stats.chi2.isf(FALSE_ALARM, 1)


LEVELS = 3
"""Of digests: with as many ids as values all of them are met by several rows."""


def rows() -> pa.Table:
    """Return rows of which many agree in some columns, some in all, some missing."""
    draw = np.random.default_rng(11)
    days = draw.integers(-2, 4, 900)
    return pa.table({
        "id": pa.array(days * 0 + draw.integers(0, 40, 900)),
        "ward": pa.array(draw.integers(0, 3, 900), mask=draw.integers(0, 9, 900) == 0),
        "days": pa.array(days / 2, mask=draw.integers(0, 9, 900) == 0),
    })


def few_digests(
    self: DuckDBDialect, values: Sequence[exp.Expression]
) -> exp.Expression:
    del self  # (id, ward, days, number among rows alike)
    level = exp.Coalesce(this=values[-2].copy(), expressions=[exp.Literal.number(0)])
    return exp.cast(exp.Mod(this=exp.Paren(this=level), expression=levels()), "BIGINT")


def levels() -> exp.Expression:
    return exp.cast(exp.Literal.number(LEVELS), "DOUBLE")


def same_digests(given: list[tuple[int, ...]], kinds: tuple[str, ...]) -> list[int]:
    del kinds
    found = (np.fmod(row[-2] or 0, LEVELS) for row in given)
    return [int(np.rint(one)) for one in found]


@sampled(5)
@for_each("limit", [1, 2, 3, 7, 20, 40])
@for_each("per", [("id",), ("id", "ward"), ("ward",)])
def test_ties(
    per: tuple[str, ...], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBDialect, "digest", few_digests)
    answers = []
    for engine in (duckdb_engine(threads=2), MemoryEngine(order=same_digests)):
        held = Source("t", engine.open("t", rows(), {}))
        asked = question_of(plans.bound_rows(held, per, limit), "id", "ward", "days")
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]


ROWS: Final = pa.table({
    "id": [["a", "b", "cc", "dd", None, "", "eee"][n % 7] for n in range(120)],
    "ward": ["xyz"[n * n % 3] for n in range(120)],
    "days": list(range(120)),
})


def kept(engine: Any) -> list[Any]:
    """Return the rows that an engine keeps of each id."""
    source = Source("t", engine.open("t", ROWS, {}))
    found = []
    for limit in (1, 3):
        rows = plans.bound_rows(source, ("id",), limit)
        answer = engine.answer(question_of(rows, "id", "ward", "days"))
        found.append(sorted(sortable_rows(answer)))
    return found


def kept_with(key_hash: str) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBDialect, "key_hash", key_hash)
        return kept(duckdb_engine(salt=SALT))


@for_each("key_hash", ["", "hash", "strlen"])
def test_a_hash_decides_nothing(key_hash: str) -> None:
    """By a good hash, by one that most ids share, and by none, the same is kept."""
    assert kept_with(key_hash) == kept(MemoryEngine(order=in_duckdb_order(SALT)))


def test_groups_that_are_mixed_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: rows of other groups are not looked for among those of a hash."""
    first = kept_rows._first_or_unclear

    def believing(work: Any, node: Any, ranked: Any, width: int) -> Any:
        narrow = type(ranked)(ranked.name, ranked.columns, ranked.further[: width + 2])
        return first(work, node, narrow, width)

    monkeypatch.setattr(kept_rows, "_first_or_unclear", believing)
    assert kept_with("strlen") != kept_with("hash")
