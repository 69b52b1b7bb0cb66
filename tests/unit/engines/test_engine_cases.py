"""Every engine gives the answers of the memory engine, which say what is meant."""

import pytest

from sordino.engines.conformance import plans
from sordino.engines.conformance.bounds import ADDING_CASES, BOUNDED_CASES, CASES
from sordino.engines.conformance.plans import (
    PLAIN_CASES,
    Case,
    Sources,
    comparable_answer,
)
from sordino.engines.conformance.verdicts import open_each
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import EngineFailure
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT, in_duckdb_order
from tests.effort import often

MEMORY = MemoryEngine(order=in_duckdb_order(SALT))
ENGINES: dict[str, AbstractEngine] = {
    "duckdb": duckdb_engine(salt=SALT, threads=1),
    "duckdb, many threads": duckdb_engine(salt=SALT, threads=8),
}
TABLES: dict[str, Sources] = {
    name: open_each(one, plans.TABLES) for name, one in ENGINES.items()
}
EXPECTED = open_each(MEMORY, plans.TABLES)


@sampled(1, len(CASES))
@for_each("case", CASES, ids=[case.name for case in CASES])
@for_each("name", ENGINES)
def test_engines_agree(name: str, case: Case) -> None:
    asked, expected = case.asked(TABLES[name]), case.asked(EXPECTED)
    answer = ENGINES[name].answer(asked)
    assert comparable_answer(asked, answer) == comparable_answer(
        expected, MEMORY.answer(expected)
    )


MULTIPLICITIES = {
    ("visits", ("id",)): 4,
    ("visits", ("days",)): 2,
    ("visits", ("ward", "days")): 2,
    ("visits", ("id", "ward", "seen")): 1,
    ("wards", ("ward",)): 2,
    ("strange", ("", "a.b")): 2,
    ("empty", ("id",)): 0,
}


@for_each(("table", "on"), MULTIPLICITIES)
def test_multiplicity(table: str, on: tuple[str, ...]) -> None:
    for engine in (MEMORY, *ENGINES.values()):
        assert engine.multiplicity(table, on) == MULTIPLICITIES[table, on]


@pytest.mark.slow
def test_parts_add_up() -> None:
    engine = duckdb_engine(salt=SALT, parts=(5,))
    tables = open_each(engine, plans.TABLES)
    for case in ADDING_CASES:
        asked, expected = case.asked(tables), case.asked(EXPECTED)
        answer = engine.answer(asked)
        assert comparable_answer(asked, answer) == comparable_answer(
            expected, MEMORY.answer(expected)
        )


@pytest.mark.slow
def test_parts_that_do_not_add_up() -> None:
    engine = duckdb_engine(salt=SALT, parts=(5,))
    tables = open_each(engine, plans.TABLES)
    for case in PLAIN_CASES[: often(4, 9)] + BOUNDED_CASES[: often(6, 12)]:
        asked = case.asked(tables)
        with pytest.raises(EngineFailure):
            engine.answer(asked)


@pytest.mark.slow
def test_cases_see_which_rows_are_kept() -> None:
    """Most bounded cases have another answer when rows are kept in another order."""
    other = MemoryEngine(order=in_duckdb_order(SALT + 1))
    tables = open_each(other, plans.TABLES)
    differing = 0
    for case in BOUNDED_CASES:
        asked, expected = case.asked(tables), case.asked(EXPECTED)
        answers = other.answer(asked), MEMORY.answer(expected)
        differing += comparable_answer(asked, answers[0]) != comparable_answer(
            expected, answers[1]
        )
    assert 2 * differing > len(BOUNDED_CASES)
