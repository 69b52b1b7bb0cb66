"""In PostgreSQL, tables read in place: the answers of all engines, and their prices.

A smaller draw than on engines in memory: each database is written to a server.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.auditing.dice import Dice
from sordino.auditing.worlds import neighbour, world
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.conformance.verdicts import order_of
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.dialect import PostgresDialect
from sordino.engines.postgres.doubles import numeric
from sordino.engines.postgres.session import postgres_engine
from sordino.engines.statements import templates
from sordino.engines.statements.engine import SQLEngine
from tests.batches import for_each, sampled
from tests.dice import rolled, shrinking
from tests.distances import broken, claim, exact
from tests.doors import DOORS, Door
from tests.drawn_answers import answers_beside_meanings, prices_that_do_not_hold
from tests.duckdb_order import SALT
from tests.effort import often
from tests.extremes import BASE, EXTREMES, STEPS, table
from tests.laws import test_outcome_laws as outcomes
from tests.postgres_server import cluster

QUESTIONS: Final = 3
NEIGHBOURS: Final = 2
SERVER: Final = "table of a server"


pytestmark = pytest.mark.usefixtures("plain_door")


@pytest.fixture
def plain_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the same tables in memory, without what the server lacks."""
    plain = Door(lambda table, _: table, nul=False)
    monkeypatch.setitem(DOORS, "plain", plain)


def engine_of_server() -> SQLEngine:
    return postgres_engine(cluster().address(), salt=SALT)


def told_by_server(dice: Dice) -> Iterator[tuple[Any, Any]]:
    """Draw a database and questions: the answers of the server, and what is meant."""
    one, engine = world(dice), engine_of_server()
    opened = one.catalog(engine, one.private, DOORS[SERVER].private)
    memory = MemoryEngine(order=order_of(engine))
    # the rows leave the server, or were never there
    meaning = one.catalog(
        memory, one.private, DOORS[dice.one(("plain", SERVER))].private
    )
    yield from answers_beside_meanings(dice, opened, meaning, QUESTIONS)
    engine.close()


def disagreements(dice: Dice) -> list[str]:
    return [f"{told}\n{meant}" for told, meant in told_by_server(dice) if told != meant]


@pytest.mark.slow
@settings(max_examples=max(3, settings().max_examples // 8))
@given(st.data())
def test_a_server_gives_the_answers_of_the_memory_engine(data: st.DataObject) -> None:
    """For any database and any question that it can answer, bounds included."""
    assert not disagreements(shrinking(data))


@pytest.mark.slow
def test_a_server_answers_many_questions() -> None:
    told = [one for seed in range(often(4, 8)) for one in told_by_server(rolled(seed))]
    assert len(told) > 20
    assert all(answer == meant for answer, meant in told)


def complaints(dice: Dice) -> Iterator[str]:
    """Draw a database, neighbours and questions: what of their prices does not hold."""
    one, engine = world(dice), engine_of_server()
    catalog = one.catalog(engine, one.private, DOORS[SERVER].private)
    others = []
    for _ in range(NEIGHBOURS):
        further = engine_of_server()
        one.catalog(further, neighbour(dice, one), DOORS[SERVER].private)
        others.append(further)
    yield from prices_that_do_not_hold(dice, catalog, others, QUESTIONS)
    for opened in (engine, *others):
        opened.close()


@pytest.mark.slow
@settings(max_examples=max(2, settings().max_examples // 12))
@given(st.data())
def test_no_change_in_a_server_moves_an_answer_further(data: st.DataObject) -> None:
    """For any two neighbouring databases: what the price says, as everywhere."""
    assert not list(complaints(shrinking(data)))


@sampled(1, 2)
@for_each("step", [one for one in STEPS if one != "a list"])
def test_extreme_rows_in_a_server_move_no_answer_further(step: str) -> None:
    """With every extreme row the answers are those that are meant, and move as priced.

    Of the rows that a server can hold: no text of it has U+0000.
    """
    extreme = [outcomes.extreme_row(n) for n in range(len(EXTREMES))]
    rows = DOORS[SERVER].held(table(*BASE, *extreme))
    engines = [engine_of_server(), engine_of_server()]
    before = outcomes.opened(engines[0], rows, SERVER)
    outcomes.opened(engines[1], rows.slice(2), SERVER)  # without the first id
    memory = outcomes.opened(MemoryEngine(order=order_of(engines[0])), rows, "plain")
    for request in outcomes.asked(step):
        made = claim(request, before)
        for question in (made.question, *made.choice_questions):
            told, meant = (
                comparable_answer(question, one.engine.answer(question))
                for one in (before, memory)
            )
            assert told == meant
        assert not list(broken(made, *(exact(made, one) for one in engines)))
    for engine in engines:
        engine.close()


def _chance(self: Any, values: Any) -> Any:
    del self, values
    wide = templates.multiplied_by(
        templates.function("random"), templates.double(2**30)
    )
    return templates.as_type(wide, "BIGINT")


def _rows_for_people(self: Any, values: Any) -> Any:
    del self
    return numeric(templates.function("count", values[0].copy()))


@pytest.mark.slow
def test_another_digest_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where chance decides which rows are kept, an answer differs."""
    monkeypatch.setattr(PostgresDialect, "digest", _chance)
    assert any(disagreements(rolled(seed)) for seed in range(10, 200))


@pytest.mark.slow
def test_people_counted_by_rows_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count of rows in the place of a count of ids moves further than its price."""
    monkeypatch.setattr(PostgresDialect, "distinct", _rows_for_people)
    assert any(list(complaints(rolled(seed))) for seed in range(2, 200))
