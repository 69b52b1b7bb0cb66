"""Answers to drawn questions beside what is meant, and their prices."""

from collections.abc import Iterator, Sequence
from typing import Any

from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.drawn_queries import draw_request as asked
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.engine import AbstractEngine
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import EngineFailure, SordinoError
from sordino.session.tables import Catalog
from tests.distances import broken, claim, exact


def answers_beside_meanings(
    dice: Dice, opened: Catalog, meaning: Catalog, questions: int
) -> Iterator[tuple[Any, Any]]:
    """Draw questions: the answers of an engine, and those of another that is right.

    What it refuses is passed over. Each is asked twice, so that rows are kept, read
    again and made anew.
    """
    engine = opened.engine
    assert isinstance(engine, SQLEngine)
    for _ in range(questions):
        try:
            made = claim(asked(drawn(dice, opened)), opened)
            parts = (made.question, *made.choice_questions)
            answers = [engine.answer(question) for question in parts]
        except EngineFailure:
            raise
        except SordinoError:
            continue
        for question, answer in zip(parts, answers, strict=True):
            meant = comparable_answer(question, meaning.engine.answer(question))
            yield comparable_answer(question, answer), meant
            if dice.chance(1, 3):  # else of the rows that are kept
                engine.forget()
            yield comparable_answer(question, engine.answer(question)), meant


def prices_that_do_not_hold(
    dice: Dice, opened: Catalog, neighbours: Sequence[AbstractEngine], questions: int
) -> Iterator[str]:
    """Draw questions: where neighbours differ by more than the price says."""
    for _ in range(questions):
        try:
            made = claim(asked(drawn(dice, opened)), opened)
            before = exact(made, opened.engine)
        except EngineFailure:
            raise
        except SordinoError:
            continue
        for engine in neighbours:
            yield from broken(made, before, exact(made, engine))
