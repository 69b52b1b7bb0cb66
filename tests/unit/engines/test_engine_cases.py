"""Every engine gives the answers of the memory engine, which say what is meant."""

import pytest

from sordino.engines.base import AbstractEngine
from sordino.engines.duckdb import DuckDBEngine
from sordino.engines.memory import MemoryEngine
from tests.engine_cases import CASES, Case
from tests.engine_tables import SALT, compared, in_duckdb_order, opened

MEMORY = MemoryEngine(order=in_duckdb_order(SALT))
ENGINES: dict[str, AbstractEngine] = {
    "duckdb": DuckDBEngine(_salt=SALT, threads=1),
    "duckdb, many threads": DuckDBEngine(_salt=SALT, threads=8),
}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("name", ENGINES)
def test_engines_agree(name: str, case: Case) -> None:
    """An engine's answer is that of the memory engine, bounds included."""
    engine = ENGINES[name]
    question = case.asked(opened(engine))
    expected = case.asked(opened(MEMORY))
    assert compared(question, engine.answer(question)) == compared(
        expected, MEMORY.answer(expected)
    )
