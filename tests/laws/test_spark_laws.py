"""In Spark, frames read in place: the answers of all engines, and their prices.

A smaller draw than on engines in memory: a question takes some tenths of a second.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.auditing.worlds import neighbour, world
from sordino.engines.conformance.plans import (
    bound_rows,
    comparable_answer,
    whole_question,
)
from sordino.engines.conformance.verdicts import order_of
from sordino.engines.memory import MemoryEngine
from sordino.engines.spark.dialect import SparkDialect
from sordino.engines.statements import templates
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.dice import rolled
from tests.distances import broken, claim, exact
from tests.doors import DOORS
from tests.drawn_answers import answers_beside_meanings, prices_that_do_not_hold
from tests.extremes import BASE, EXTREMES, STEPS, table
from tests.laws import test_outcome_laws as outcomes
from tests.laws import test_source_laws as sources
from tests.odd_cells import ARROW
from tests.spark_here import engine_beside, frame_of_rows

pytestmark = pytest.mark.slow
FRAME: Final = "frame of Spark"
SALT: Final = 7
QUESTIONS: Final = 2
WORLDS: Final = 3
NEIGHBOURED: Final = 2
UNITS: Final[dict[type[Any], int]] = {sd.ChangeOneRow: 12, sd.AddMaxTotal: 8}
"""Seeds of worlds that protect them."""
STEPPED: Final = ("arithmetic", "casts", "texts", "dates", "filter of texts")
"""Steps in which a cell may be what no engine expects."""


def told_by_spark(dice: Dice) -> Iterator[tuple[Any, Any]]:
    """Draw a database and questions: the answers of Spark, and what is meant."""
    drawn_world, engine = world(dice), engine_beside(salt=SALT)
    opened = drawn_world.catalog(engine, drawn_world.private, DOORS[FRAME].private)
    memory = MemoryEngine(order=order_of(engine))
    meaning = drawn_world.catalog(memory, drawn_world.private)
    yield from answers_beside_meanings(dice, opened, meaning, QUESTIONS)
    engine.close()


def disagreements(dice: Dice) -> list[str]:
    return [f"{told}\n{meant}" for told, meant in told_by_spark(dice) if told != meant]


def test_spark_gives_the_answers_of_the_memory_engine() -> None:
    answers = [pair for seed in range(WORLDS) for pair in told_by_spark(rolled(seed))]
    assert len(answers) > 2 * WORLDS
    assert all(told == meant for told, meant in answers)


def complaints(dice: Dice) -> Iterator[str]:
    """Draw a database, a neighbour and questions: prices that do not hold."""
    drawn_world, engines = world(dice), [engine_beside(salt=SALT) for _ in range(2)]
    catalog = drawn_world.catalog(engines[0], drawn_world.private, DOORS[FRAME].private)
    drawn_world.catalog(engines[1], neighbour(dice, drawn_world), DOORS[FRAME].private)
    yield from prices_that_do_not_hold(dice, catalog, engines[1:], QUESTIONS)
    for engine in engines:
        engine.close()


def test_no_change_of_a_frame_moves_an_answer_further() -> None:
    assert not [one for seed in range(NEIGHBOURED) for one in complaints(rolled(seed))]


@for_each("unit", UNITS)
def test_no_change_of_a_unit_moves_an_answer_further(unit: type[Any]) -> None:
    """A row that takes the place of another, and a person that adds to a sum."""
    seed = UNITS[unit]
    assert unit in map(type, world(rolled(seed)).units.values())
    assert not list(complaints(rolled(seed)))


def test_extreme_rows_of_a_frame_move_no_answer_further() -> None:
    extreme = [outcomes.extreme_row(n) for n in range(len(EXTREMES))]
    rows = DOORS[FRAME].held(table(*BASE, *extreme))
    engines = [engine_beside(salt=SALT), engine_beside(salt=SALT)]
    before = outcomes.opened(engines[0], rows, FRAME)
    outcomes.opened(engines[1], rows.slice(2), FRAME)  # without the first id
    memory = outcomes.opened(MemoryEngine(order=order_of(engines[0])), rows, "arrow")
    for step in STEPPED:
        query = STEPS[step](sd.table("visits")).enforce(sd.MaxRowsPerID(3))
        sums: Any = {name: sd.sum(name, -5, 5, nulls=0) for name in "xy"}
        made = claim(query.agg(n=sd.count(), **sums), before)
        told, meant = (
            comparable_answer(made.question, opened.engine.answer(made.question))
            for opened in (before, memory)
        )
        assert told == meant, step
        assert not list(broken(made, *(exact(made, one) for one in engines)))
    for engine in engines:
        engine.close()


FORMS: Final = ("texts", "f64", "lists of texts", "decimals decimal128(38, 0)")


@for_each("name", FORMS)
def test_one_more_cell_of_a_frame_changes_no_other(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines: dict[str, Any] = {"memory": MemoryEngine, "spark": engine_beside}
    monkeypatch.setattr(sources, "ENGINES", engines)
    form = ARROW[name]
    whole = [(n, cell) for n, cell in enumerate(form.pool)]
    make = sources.arrow_table(form)
    for place in (0, len(whole) - 1):
        pairs = [*whole[:place], *whole[place + 1 :]]
        odd = whole[place][1]

        def frame(cells: Any) -> Any:
            return frame_of_rows(make(cells))

        assert not list(sources._complaints(form, frame, pairs, place, odd))


def _chance(self: Any, values: Any) -> Any:
    del self, values
    return templates.as_type(
        templates.multiplied_by(templates.function("rand"), templates.double(2**30)),
        "BIGINT",
    )


def _rows_for_people(self: Any, values: Any) -> Any:
    del self
    return templates.as_type(
        templates.function("count", values[0].copy()), "DECIMAL(38, 0)"
    )


def test_another_digest_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where chance decides which rows are kept, the answer differs.

    False alarms: none in 120^40 runs, for three of ten rows of 40 ids are kept.
    """
    visits = pa.table({
        "id": [n % 40 for n in range(400)],
        "ward": [f"w{n}" for n in range(400)],
    })
    agreeing = []
    for digest in (SparkDialect.digest, _chance):
        monkeypatch.setattr(SparkDialect, "digest", digest)
        engine = engine_beside(salt=SALT)
        answers = []
        for asked_engine in (engine, MemoryEngine(order=order_of(engine))):
            rows = Source("t", asked_engine.open("t", visits, {}))
            question = whole_question(bound_rows(rows, ("id",), 3), "ward")
            answers.append(comparable_answer(question, asked_engine.answer(question)))
        agreeing.append(answers[0] == answers[1])
        engine.close()
    assert agreeing == [True, False]


def test_people_counted_by_rows_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count of rows in the place of a count of ids moves further than its price."""
    people = sd.table("visits").enforce(sd.MaxRowsPerID(3)).agg(ids=sd.count_ids())
    holding = []
    for distinct in (SparkDialect.distinct, _rows_for_people):
        monkeypatch.setattr(SparkDialect, "distinct", distinct)
        engines = [engine_beside(salt=SALT), engine_beside(salt=SALT)]
        rows = DOORS[FRAME].held(table(*BASE))
        made = claim(people, outcomes.opened(engines[0], rows, FRAME))
        outcomes.opened(engines[1], rows.slice(2), FRAME)  # without the first id
        totals = [exact(made, engine) for engine in engines]
        holding.append(not list(broken(made, *totals)))
    assert holding == [True, False]
