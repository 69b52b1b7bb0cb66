"""Sessions that are no sessions, and those that leave their process."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"
import copy
import math
import os
import pickle
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino import errors
from tests.batches import calls_of, for_each
from tests.refusals import (
    BUDGET,
    COUNT,
    PRIVATE,
    ROWS,
    SUM,
    WARDS,
    N,
    assert_silent,
    session,
)

TABLE: Final = sd.PublicTable({"a": [1]})
TWICE: Final = pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])


OPENINGS: Final = calls_of("refused/sessions", globals(), NONE=None, math=math)
"""What cannot be opened, and words of the refusal."""


def protecting(unit: Any) -> sd.PrivateTable:
    return sd.PrivateTable({"id": [PRIVATE], "cost": [4711.0]}, protects=unit)


def opened(tables: Any) -> sd.Session:
    return sd.Session(tables, BUDGET)


@for_each("name", OPENINGS)
def test_senseless_sessions_are_refused(name: str) -> None:
    call, *words = OPENINGS[name]
    with pytest.raises(errors.SordinoError) as caught:
        call()
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert len(message) < 500
    assert ". " in message
    assert_silent(caught.value)


@for_each("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_sessions_do_not_leave_their_process(leave: Callable[[Any], Any]) -> None:
    """A pickle or a copy of a session would spend its budget again."""
    held = session()
    with pytest.raises(errors.SessionMoved, match="budget would be spent twice"):
        leave(held)


def test_sessions_do_not_work_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    held = session()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: -1)
        refuse_strangers(held)
    assert not held.history()


def refuse_strangers(held: sd.Session) -> None:
    for call in (
        lambda: held.price(COUNT, BUDGET),
        lambda: held.release(COUNT, BUDGET),
        lambda: held.statement(COUNT, BUDGET),
        lambda: held.view("seen", ROWS),
    ):
        with pytest.raises(errors.SessionMoved, match="forked"):
            call()


@for_each("shown", [repr, str, lambda one: repr(vars(one))])
def test_sessions_show_no_cell(shown: Callable[[Any], str]) -> None:
    held = session()
    texts = [shown(held), shown(held.price(COUNT, BUDGET))]
    assert not any(PRIVATE in text for text in texts)


def test_a_repeated_key_costs_nothing_and_belongs_to_one_question() -> None:
    held = session()
    first = held.release(COUNT, BUDGET, key="2026-11")
    spent = repr(held.spent)
    again = held.release(COUNT, BUDGET, key="2026-11")
    assert (again.table, again.errors) == (first.table, first.errors)
    for other in (
        ROWS.agg(n=SUM),
        ROWS.agg(n=N, noise="laplace"),
        ROWS.group_by(WARDS).agg(n=N),
        ROWS.filter(sd.col("days") > 1).agg(n=N),
    ):
        with pytest.raises(errors.InvalidQuery, match="another request"):
            held.release(other, BUDGET, key="2026-11")
    assert repr(held.spent) == spent
    assert len(held.history()) == 1
