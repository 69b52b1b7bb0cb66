"""A bound keeps the very same rows when digests are sorted outside of DuckDB."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import question_of, sortable_rows
from sordino.engines.duckdb import bounds, session
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import DuckDB, duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.query.nodes import Source
from tests.duckdb_order import SALT, in_duckdb_order

BOUNDS: Final = (("id",), ("name",), ("name", "id"), ("id", "days"))
SHAPES: Final = ("light", "heavy", "even")


def drawn_rows(shape: str, seed: int, kinds: int) -> pa.Table:
    """Return rows of ids with few rows or very many; some are alike, some missing."""
    draw = np.random.default_rng(seed)
    few, many = draw.integers(0, 400, 500), draw.integers(0, 6, 60)
    ids = {
        "light": np.concatenate([few, many]),
        "heavy": np.concatenate([few[:90], draw.zipf(1.6, 900) % 12]),
        "even": draw.integers(0, 60, 500),
    }[shape]
    days = draw.integers(0, kinds, len(ids))
    return pa.table({
        "id": pa.array(ids, mask=draw.integers(0, 25, len(ids)) == 0),
        "name": [None if one == 3 else f"id {one % 50}" for one in ids],
        "days": pa.array(days, mask=draw.integers(0, 9, len(ids)) == 0),
        "cost": pa.array(np.where(days % 5 == 0, np.nan, days / 4)),
    })


def kept(engine: Any, rows: Any, per: tuple[str, ...], limit: int) -> list[Any]:
    source = Source("t", engine.open("t", rows, {}))
    bound = plans.bound_rows(source, per, limit)
    return sorted(sortable_rows(engine.answer(question_of(bound, *source.schema))))


@pytest.fixture(name="portioned")
def always_sorted_outside(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sort any digests, in small parts; return of which nodes rows were kept."""
    seen: list[str] = []
    hand = bounds.Truncation._hand_over

    def handed(self: bounds.Truncation, rows: pa.Table, node: Any) -> Any:
        seen.append(type(node).__name__)
        return hand(self, rows, node)

    for name, few in (("LEAST", 1), ("PART", 16), ("CHUNK", 50)):
        monkeypatch.setattr(bounds, name, few)
    monkeypatch.setattr(bounds.Truncation, "_hand_over", handed)
    return seen


def differ(shape: str, seed: int, kinds: int, per: tuple[str, ...], limit: int) -> bool:
    rows = drawn_rows(shape, seed, kinds)
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), rows, per, limit)
    return kept(duckdb_engine(salt=SALT, threads=2), rows, per, limit) != expected


@pytest.mark.parametrize("shape", SHAPES)
def test_sorted_digests_are_the_rows_of_the_bound(
    shape: str, portioned: list[str]
) -> None:
    """For any table, any columns that name who is bounded, and any limit."""

    @settings(max_examples=max(4, settings().max_examples // 20))
    @given(
        st.integers(0, 2**32),
        st.sampled_from((1, 7, 300, 10**6)),
        st.sampled_from(BOUNDS),
        st.integers(1, 12),
    )
    def agree(seed: int, kinds: int, per: tuple[str, ...], limit: int) -> None:
        assert not differ(shape, seed, kinds, per, limit)

    # first: no smaller table need be looked for that shows an error as well
    assert not any(differ(shape, 1, kinds, ("id",), 2) for kinds in (7, 300))
    agree()
    assert {*portioned} == {"Made", "KeepNumbered"}


def test_a_row_alone_is_kept(portioned: list[str]) -> None:
    """Rows are handed over in pieces, of which the last may have one row."""
    rows = drawn_rows("light", 1, 300).slice(0, 1)
    assert len(kept(duckdb_engine(salt=SALT), rows, ("id",), 2)) == 1
    assert portioned == ["Made"]


WORDS: Final = tuple(
    np.array(each, np.uint64)
    for each in (
        [1, 2, 3, 2**15, 2**16, 2**20],
        [1 << 18, 1 << 25, 3 << 30, 1 << 33, 1 << 50],
        [n << 44 for n in range(40)],
    )
)


@given(st.integers(0, 2**32), st.sampled_from(WORDS), st.sampled_from(WORDS))
def test_words_are_put_in_the_order_of_all_their_bits(
    seed: int, some: Any, others: Any
) -> None:
    """Also where they agree in those by which they are sorted first."""
    draw = np.random.default_rng(seed)
    for size, part in ((1, 16), (40, 16), (300, 16), (300, 2**15)):
        keys, digests = draw.choice(some, size), draw.choice(others, size)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounds, "PART", part)
            order = bounds._order(keys, digests, 1)
        expected = np.lexsort((digests, keys))
        assert sorted(order) == list(range(size))
        assert (keys[order] == keys[expected]).all()
        assert (digests[order] == digests[expected]).all()


def test_integers_have_keys_of_their_own() -> None:
    """What is mixed can be undone, so that no two integers have one key."""
    ids = np.random.default_rng(1).integers(0, 2**64, 10_000, np.uint64)
    back = bounds._mix_bits(ids)
    back ^= back >> np.uint64(32)
    back *= np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    back ^= back >> np.uint64(32)
    assert (back == ids).all()


TEXTS: Final = (None, "", "\0", "a", "abcdefgh", "abcdefgi", "abcdefgh\0", "abcdefghé")


def shared(texts: tuple[str | None, ...]) -> bool:
    """Tell whether ids of one hash are told apart, in any pieces."""
    arrays = [pa.array([*texts[at:], *texts[:at]][:3]) for at in range(len(texts))]
    pieces = [bounds._words_of_ids([column]) for column in arrays]
    names = {name for words in pieces for name in words}
    nothing = np.zeros(3, np.uint8)
    rows = [
        tuple(int(words.get(name, nothing)[at]) for name in sorted(names))
        for words in pieces
        for at in range(3)
    ]
    told = [value for column in arrays for value in column.to_pylist()]
    return all(
        (rows[m] == rows[n]) == (told[m] == told[n])
        for m in range(len(told))
        for n in range(m)
    )


def test_words_of_ids_are_those_of_no_other() -> None:
    assert shared(TEXTS)


def with_shared_keys() -> bool:
    """Tell whether other rows are kept where all ids of one length share a hash."""
    draw = np.random.default_rng(7)
    ids = [f"{one:02d}" for one in draw.integers(0, 40, 400)]
    rows = pa.table({"id": ids, "days": draw.integers(0, 10**6, 400)})
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), rows, ("id",), 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBDialect, "key_hash", "strlen")
        return kept(duckdb_engine(salt=SALT), rows, ("id",), 3) != expected


def test_ids_that_share_a_hash_are_bounded_apart(portioned: list[str]) -> None:
    assert not with_shared_keys()
    assert portioned == ["KeepNumbered"]


def is_found_out() -> bool:
    """Tell whether one of some tables shows that other rows are kept."""
    return any(
        differ(shape, seed, kinds, ("id",), limit)
        for shape in ("light", "heavy")
        for seed in range(2)
        for kinds in (7, 300)
        for limit in (2, 5)
    )


def without(name: str) -> Callable[..., Any]:
    real = bounds._not_plain

    def blind(keys: Any, words: dict[str, Any]) -> Any:
        return real(keys, {key: word for key, word in words.items() if key != name})

    return blind


def test_what_is_not_looked_at_is_found_out(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    """The mutants: rows that are alike, or ids that share a key, taken for plain."""
    assert portioned == []
    monkeypatch.setattr(bounds, "_not_plain", without("digest"))
    assert is_found_out()
    monkeypatch.undo()
    monkeypatch.setattr(bounds, "LEAST", 1)
    monkeypatch.setattr(bounds, "_not_plain", without("id 0 1"))
    assert with_shared_keys()


def test_the_statement_runs_where_rows_are_not_held(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    """More rows than a source says, more than there is room for, or too long ids."""
    rows = drawn_rows("light", 1, 300)
    long = rows.set_column(
        1,
        "name",
        [[None if one is None else one * 99 for one in rows["name"].to_pylist()]],
    )
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), long, ("name",), 2)
    assert kept(duckdb_engine(salt=SALT), long, ("name",), 2) == expected
    monkeypatch.setattr(DuckDB, "_room", lambda _: 20_000)
    assert not differ("light", 1, 300, ("id",), 2)
    monkeypatch.undo()
    monkeypatch.setattr(bounds, "LEAST", 1)
    monkeypatch.setattr(bounds, "MOST", 500)
    monkeypatch.setattr(bounds.Truncation, "_size", lambda *_: 400)
    assert not differ("light", 1, 300, ("id",), 2)
    assert portioned == []


def test_the_plan_of_what_is_streamed_is_read(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str], tmp_path: Path
) -> None:
    """A file whose stream ran by another plan is handed over before a row is kept."""
    before: list[int] = []

    def ran_otherwise(*_: Any) -> bool:
        before.append(len(portioned))
        return False

    rows = drawn_rows("light", 1, 300)
    pq.write_table(rows, tmp_path / "rows.parquet")
    monkeypatch.setattr(session, "ran_as_written", ran_otherwise)
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), rows, ("id",), 2)
    engine = duckdb_engine(salt=SALT)
    assert kept(engine, str(tmp_path / "rows.parquet"), ("id",), 2) == expected
    assert before == [0]
