"""DuckDB gives the answers of the memory engine to every question, bounds included."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.conformance.example_tables import comparable_answer
from sordino.engines.base import AbstractEngine
from sordino.engines.duckdb.engine import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.query.question import Question
from tests.dice import Dice, shrinking
from tests.distances import Claim, claim
from tests.doors import DOORS
from tests.drawn_queries import asked, drawn
from tests.duckdb_order import SALT, in_duckdb_order
from tests.worlds import world

QUESTIONS: Final = 4
_ORDER: Final = in_duckdb_order(SALT)


def engines(dice: Dice) -> dict[str, AbstractEngine]:
    """Return engines that keep the same rows."""
    return {
        "memory": MemoryEngine(order=_ORDER),
        "duckdb": duckdb_engine(salt=SALT, threads=dice.one((1, 8))),
    }


def differences(
    dice: Dice, door: str = "arrow"
) -> Iterator[tuple[Claim, Question, dict[str, Any]]]:
    """Draw a database and questions, and return the answers of all engines.

    The plain engine is given Arrow tables, unless the door holds something else.
    """
    one = world(dice)
    keeps_all = DOORS[door].nan and DOORS[door].lists
    doors = {"memory": "arrow" if keeps_all else door, "duckdb": door}
    opened = {
        name: one.catalog(engine, one.private, doors[name])
        for name, engine in engines(dice).items()
    }
    for _ in range(QUESTIONS):
        try:
            made = claim(asked(drawn(dice, opened["memory"])), opened["memory"])
        except SordinoError:
            continue
        for question in (made.question, *made.choice_questions):
            told = {
                name: comparable_answer(question, known.engine.answer(question))
                for name, known in opened.items()
            }
            yield made, question, told


def disagreements(dice: Dice, door: str = "arrow") -> Iterator[str]:
    """Return in words where engines differ."""
    for made, question, told in differences(dice, door):
        if told["memory"] != told["duckdb"]:
            yield f"{made.request}\n{question.totals}\n{told}"


@settings(max_examples=max(4, settings().max_examples // 4))
@given(st.data())
def test_duckdb_gives_the_answers_of_the_memory_engine(data: st.DataObject) -> None:
    """For any database and any question, at 1 thread or 8."""
    assert not list(disagreements(shrinking(data)))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.sampled(2)
def test_every_door_leads_to_the_same_answers(door: str) -> None:
    """For any database and any question, whatever holds the private rows."""

    @settings(max_examples=max(2, settings().max_examples // 40))
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        assert not list(disagreements(shrinking(data), door))

    agree()
