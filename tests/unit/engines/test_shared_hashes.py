"""Groups that share a hash are bounded by their own keys: nothing is believed of it."""

from typing import Any, Final

import pyarrow as pa
import pytest

from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import question_of, sortable_rows
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements import plans as kept_rows
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.duckdb_order import SALT, in_duckdb_order

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
    """Return what DuckDB keeps where groups have some hash."""
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
