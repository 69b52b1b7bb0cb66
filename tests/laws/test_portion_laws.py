"""A bound keeps the very same rows, in whatever portions they are made."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import question_of, sortable_rows
from sordino.engines.duckdb import bounds
from sordino.engines.duckdb.session import DuckDB, duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.query.nodes import Source
from tests.duckdb_order import SALT, in_duckdb_order
from tests.effort import by_night

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


def kept(engine: Any, rows: pa.Table, per: tuple[str, ...], limit: int) -> list[Any]:
    source = Source("t", engine.open("t", rows, {}))
    bound = plans.bound_rows(source, per, limit)
    return sorted(sortable_rows(engine.answer(question_of(bound, *rows.column_names))))


@pytest.fixture(name="portioned")
def always_in_portions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Look at each table, and take few rows for very many; return what was kept."""
    seen: list[str] = []
    write = bounds.Looks._portions

    def written(self: bounds.Looks, *said: Any) -> Iterator[Any]:
        for node in write(self, *said):
            seen.append(type(node).__name__)
            yield node

    monkeypatch.setattr(bounds, "LEAST", 1)
    monkeypatch.setattr(bounds.Counts, "promise_much", lambda *_: True)
    monkeypatch.setattr(
        bounds.Counts, "heavy_ranges", lambda self: self.ranges_above(self.limit * 2)
    )
    monkeypatch.setattr(bounds, "EARLY_BITS", 2)
    monkeypatch.setattr(bounds.Looks, "_portions", written)
    return seen


def differ(shape: str, seed: int, kinds: int, per: tuple[str, ...], limit: int) -> bool:
    rows = drawn_rows(shape, seed, kinds)
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), rows, per, limit)
    return kept(duckdb_engine(salt=SALT, threads=2), rows, per, limit) != expected


@pytest.mark.parametrize("shape", SHAPES)
def test_portions_are_the_rows_of_the_bound(shape: str, portioned: list[str]) -> None:
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

    agree()
    assert not differ(shape, 1, 10**6, ("id",), 2)
    forms = {"light": {"KeepRows", "Marked"}, "heavy": {"KeepRows", "KeepEarly"}}
    assert {*portioned} >= forms.get(shape, {"KeepRows"})


def is_found_out() -> bool:
    """Tell whether one of some tables shows that other rows are kept."""
    return any(
        differ(shape, seed, kinds, ("id",), limit)
        for shape in ("light", "heavy")
        for seed in range(4)
        for kinds in (300, 10**6)
        for limit in (2, 5)
    )


def test_one_row_too_many_is_found_out(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    above = bounds.Counts.ranges_above
    monkeypatch.setattr(
        bounds.Counts, "ranges_above", lambda self, least: above(self, least + 1)
    )
    assert portioned == []
    assert is_found_out()


@by_night
@pytest.mark.slow
def test_twins_that_are_not_looked_for_are_found_out(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    """The mutant: of rows that are alike only those are seen whose first is early."""
    monkeypatch.setattr(bounds.Looks, "_twins", lambda *_: np.zeros(0, np.int64))
    assert portioned == []
    assert is_found_out()


@by_night
@pytest.mark.slow
def test_ids_of_too_few_early_rows_are_found_out(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    """The mutant: what comes first of the candidates is kept, early or not."""
    real, calls = bounds._is_early, []

    def early(digest: Any) -> Any:
        calls.append(digest)
        return real(digest) if len(calls) % 2 else digest.copy().eq(digest.copy())

    monkeypatch.setattr(bounds, "_is_early", early)
    assert portioned == []
    assert is_found_out()


@by_night
@pytest.mark.slow
def test_ids_that_are_kept_twice_are_found_out(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    """The mutant: ids whose early rows are kept are bounded with the others, too."""
    monkeypatch.setattr(bounds, "Without", lambda left, *_: left)
    assert portioned == []
    assert is_found_out()


def test_the_copy_is_gone_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, portioned: list[str]
) -> None:
    destroyed: list[str] = []
    keep, destroy = DuckDB.keep, DuckDB.destroy

    def failing(self: DuckDB, name: str, *said: Any) -> None:
        if portioned:
            raise MemoryError
        keep(self, name, *said)

    def noted(self: DuckDB, name: str) -> None:
        destroyed.append(name)
        destroy(self, name)

    monkeypatch.setattr(DuckDB, "keep", failing)
    monkeypatch.setattr(DuckDB, "destroy", noted)
    rows = drawn_rows("light", 1, 300)
    expected = kept(MemoryEngine(order=in_duckdb_order(SALT)), rows, ("id",), 2)
    assert kept(duckdb_engine(salt=SALT), rows, ("id",), 2) == expected
    assert "k0w" in destroyed


def test_first_rows_tell_the_shape() -> None:
    """Ids with few rows and heavy ids are seen by the first rows."""
    draw = np.random.default_rng(5)
    size = 2**20
    shapes = {
        "2 rows an id": draw.integers(0, size // 2, size // bounds.SAMPLE),
        "10 rows an id": draw.integers(0, size // 10, size // bounds.SAMPLE),
        "very many": draw.zipf(1.5, size // bounds.SAMPLE) % size,
    }
    promises = {}
    for name, ids in shapes.items():
        counts = bounds.Counts.of(5, size // bounds.FINE)
        places = draw.integers(0, len(counts.each), ids.max() + 1)
        counts.add(places[ids])
        promises[name] = counts.promise_much(size)
    assert promises == {"2 rows an id": True, "10 rows an id": False, "very many": True}
