"""Engines give the answers of the memory engine to every question, bounds included."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.drawn_queries import draw_request as asked
from sordino.auditing.worlds import world
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.conformance.verdicts import order_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.query.nodes import Question
from tests.batches import for_each, sampled
from tests.dice import rolled, shrinking
from tests.distances import Claim, claim
from tests.doors import DOORS
from tests.drawn_answers import answers_beside_meanings
from tests.duckdb_order import SALT, in_duckdb_order
from tests.sqlite_engine import database
from tests.sqlite_engine.engine import sqlite_engine

QUESTIONS: Final = 4
_ORDER: Final = in_duckdb_order(SALT)


def engines(dice: Dice) -> dict[str, AbstractEngine]:
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
        name: one.catalog(engine, one.private, DOORS[doors[name]].private)
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
    for made, question, told in differences(dice, door):
        if told["memory"] != told["duckdb"]:
            yield f"{made.request}\n{question.totals}\n{told}"


@settings(max_examples=max(4, settings().max_examples // 4))
@given(st.data())
def test_duckdb_gives_the_answers_of_the_memory_engine(data: st.DataObject) -> None:
    """For any database and any question, at 1 thread or 8."""
    assert not list(disagreements(shrinking(data)))


@sampled(1, 3)
@for_each("door", DOORS)
def test_every_door_leads_to_the_same_answers(door: str) -> None:
    @settings(max_examples=max(2, settings().max_examples // 40))
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        assert not list(disagreements(shrinking(data), door))

    agree()


def told_by_sqlite(dice: Dice) -> Iterator[bool]:
    """Draw a database and questions: whether SQLite answers, and not another thing.

    Nothing is yielded for a question that it refuses, for it holds no doubles.
    """
    one, engine = world(dice), sqlite_engine()
    opened = one.catalog(engine, one.private)
    meaning = one.catalog(MemoryEngine(order=order_of(engine)), one.private)
    for answer, meant in answers_beside_meanings(dice, opened, meaning, QUESTIONS):
        yield answer == meant


@settings(max_examples=max(4, settings().max_examples // 8))
@given(st.data())
def test_sqlite_gives_the_answers_of_the_memory_engine(data: st.DataObject) -> None:
    """For any database and any question that a database without doubles can answer."""
    assert all(told_by_sqlite(shrinking(data)))


def test_sqlite_answers_many_questions() -> None:
    told = [one for seed in range(12) for one in told_by_sqlite(rolled(seed))]
    assert len(told) > 10
    assert all(told)


@pytest.mark.slow
def test_another_digest_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows are kept by their place, not by what they are, an answer differs."""
    counter = itertools.count()
    monkeypatch.setattr(database, "keyed_digest", lambda *_: next(counter) % 7)
    assert not all(
        one for seed in range(80, 120) for one in told_by_sqlite(rolled(seed))
    )
