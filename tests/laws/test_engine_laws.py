"""DuckDB gives the answers of the memory engine to every question, bounds included."""

from collections.abc import Iterator
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.engines.base import AbstractEngine
from sordino.engines.duckdb import DuckDBEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.query.question import Question
from sordino.session.catalog import Catalog
from tests.dice import Dice, shrinking
from tests.distances import Claim, claim
from tests.drawn_queries import asked, drawn
from tests.engine_tables import SALT, compared, in_duckdb_order
from tests.worlds import World, world

QUESTIONS: Final = 4
_ORDER: Final = in_duckdb_order(SALT)


def engines(dice: Dice) -> dict[str, AbstractEngine]:
    """Return engines that keep the same rows."""
    return {
        "memory": MemoryEngine(order=_ORDER),
        "duckdb": DuckDBEngine(_salt=SALT, threads=dice.one((1, 8))),
    }


def differences(dice: Dice) -> Iterator[tuple[Claim, Question, dict[str, Any]]]:
    """Draw a database and questions, and return the answers of all engines."""
    one = world(dice)
    opened = {name: catalog(one, engine) for name, engine in engines(dice).items()}
    for _ in range(QUESTIONS):
        try:
            made = claim(asked(drawn(dice, opened["memory"])), opened["memory"])
        except SordinoError:
            continue
        for question in (made.question, *made.choice_questions):
            told = {
                name: compared(question, known.engine.answer(question))
                for name, known in opened.items()
            }
            yield made, question, told


def catalog(one: World, engine: AbstractEngine) -> Catalog:
    """Return the catalog of a database."""
    return one.catalog(engine, one.private)


def disagreements(dice: Dice) -> Iterator[str]:
    """Return in words where engines differ."""
    for made, question, told in differences(dice):
        if told["memory"] != told["duckdb"]:
            yield f"{made.request}\n{question.totals}\n{told}"


@settings(max_examples=max(4, settings().max_examples // 4))
@given(st.data())
def test_duckdb_gives_the_answers_of_the_memory_engine(data: st.DataObject) -> None:
    """For any database and any question, at 1 thread or 8."""
    assert not list(disagreements(shrinking(data)))
