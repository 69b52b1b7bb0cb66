"""Every engine gives the answers of the memory engine, which say what is meant."""

import pytest

from sordino.engines.base import AbstractEngine
from sordino.engines.duckdb import DuckDBEngine
from sordino.engines.memory import MemoryEngine
from tests.engine_cases import BOUNDED_CASES, CASES, Case
from tests.engine_tables import SALT, Sources, compared, in_duckdb_order, opened

MEMORY = MemoryEngine(order=in_duckdb_order(SALT))
ENGINES: dict[str, AbstractEngine] = {
    "duckdb": DuckDBEngine(_salt=SALT, threads=1),
    "duckdb, many threads": DuckDBEngine(_salt=SALT, threads=8),
}
TABLES: dict[str, Sources] = {name: opened(one) for name, one in ENGINES.items()}
EXPECTED = opened(MEMORY)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("name", ENGINES)
def test_engines_agree(name: str, case: Case) -> None:
    """An engine's answer is that of the memory engine, bounds included."""
    asked, expected = case.asked(TABLES[name]), case.asked(EXPECTED)
    answer = ENGINES[name].answer(asked)
    assert compared(asked, answer) == compared(expected, MEMORY.answer(expected))


def test_cases_see_which_rows_are_kept() -> None:
    """Most bounded cases have another answer when rows are kept in another order."""
    other = MemoryEngine(order=in_duckdb_order(SALT + 1))
    tables = opened(other)
    differing = 0
    for case in BOUNDED_CASES:
        asked, expected = case.asked(tables), case.asked(EXPECTED)
        answers = other.answer(asked), MEMORY.answer(expected)
        differing += compared(asked, answers[0]) != compared(expected, answers[1])
    assert 2 * differing > len(BOUNDED_CASES)
