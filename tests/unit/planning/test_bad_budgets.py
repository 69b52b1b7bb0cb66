"""Sessions that are no sessions, and those that leave their process."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"

import copy
import math
import os
import pickle
from collections.abc import Callable
from typing import Any, Final, cast

import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import (
    InvalidQuery,
    SessionMoved,
    SordinoError,
)
from tests.batches import for_each
from tests.refusals import (
    BUDGET,
    COUNT,
    NONE,
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


OPENINGS: Final[dict[str, tuple[Callable[[], Any], tuple[str, ...]]]] = {
    "no tables": (lambda: sd.Session({}, BUDGET), ("tables", "{}")),
    "nothing for tables": (lambda: sd.Session(NONE, BUDGET), ("tables", "None")),
    "a dict for a table": (lambda: sd.Session({"t": {}}, BUDGET), ("tables['t']",)),
    "a table named by a number": (lambda: opened({5: TABLE}), ("tables", "5")),
    "a number for a budget": (lambda: session(budget=1), ("budget", "1")),
    "no budget": (lambda: session(budget=None), ("budget", "None")),
    "a budget of nothing": (lambda: session(budget=sd.PureDP(0)), ("budget",)),
    "no end of a budget": (lambda: session(budget=sd.PureDP(math.inf)), ("budget",)),
    "a risk of nothing": (lambda: session(budget=sd.Advantage(0)), ("budget",)),
    "a loss for a budget": (lambda: session(budget=sd.LaplaceLoss(1)), ("budget",)),
    "another engine": (lambda: session(engine="oracle"), ("engine", "duckdb")),
    "a number for an engine": (lambda: session(engine=5), ("engine", "5")),
    "no threads": (lambda: session(threads=0), ("threads", "at least 1")),
    "a text of threads": (lambda: session(threads="many"), ("threads", "many")),
    "a bool of threads": (lambda: session(threads=True), ("threads", "True")),
    "too many threads": (lambda: session(threads=10**9), ("threads", "at most")),
    "no size": (lambda: session(memory_limit="lots"), ("memory_limit", "2GB")),
    "a number for a size": (lambda: session(memory_limit=5), ("memory_limit", "5")),
    "a negative size": (lambda: session(memory_limit="-1GB"), ("memory_limit",)),
    "a statement for a size": (
        lambda: session(memory_limit="1GB'; DROP TABLE t; --"),
        ("memory_limit", "DROP"),
    ),
    "nobody protected": (lambda: sd.PrivateTable({}, protects=NONE), ("protects",)),
    "a class of units": (
        lambda: sd.PrivateTable({}, protects=cast("Any", sd.AddOneRow)),
        ("protects", "AddOneRow"),
    ),
    "no rows protected": (lambda: sd.AddMaxRows(0), ("max_rows", "at least 1")),
    "a bool of rows": (lambda: sd.AddMaxRows(True), ("max_rows", "True")),
    "too many rows": (lambda: sd.AddMaxRows(10**400), ("max_rows", "at most")),
    "no groups protected": (
        lambda: sd.AddMaxRowsInMaxGroups("ward", 0, 1),
        ("max_groups",),
    ),
    "no rows in groups": (
        lambda: sd.AddMaxRowsInMaxGroups("ward", 1, 0),
        ("max_rows_per_group",),
    ),
    "a number for the ids": (lambda: sd.AddRowsWithID(cast("Any", 5)), ("column",)),
    "no space of ids": (
        lambda: sd.AddRowsWithID("id", id_space=NONE),
        ("id_space", "None"),
    ),
    "ids that are no column": (
        lambda: opened({"t": protecting(sd.AddRowsWithID("idd"))}),
        ("idd", "id"),
    ),
    "ids that are doubles": (
        lambda: opened({"t": protecting(sd.AddRowsWithID("cost"))}),
        ("cost", "f64"),
    ),
    "groups that are no column": (
        lambda: opened({"t": protecting(sd.AddMaxRowsInMaxGroups("wrd", 1, 1))}),
        ("wrd",),
    ),
    "a number for a source": (
        lambda: opened({"t": sd.PublicTable(5)}),
        ("source", "int"),
    ),
    "no file": (
        lambda: opened({"t": sd.PublicTable("/nowhere/t.parquet")}),
        ("source", "/nowhere"),
    ),
    "a column of two names": (
        lambda: opened({"t": sd.PublicTable(TWICE)}),
        ("a",),
    ),
    "a type that is none": (
        lambda: sd.PublicTable({"a": [1]}, columns={"a": "int"}),
        ("type", "i64"),
    ),
    "types that are a number": (
        lambda: sd.PublicTable({"a": [1]}, columns=cast("Any", 5)),
        ("columns", "5"),
    ),
    "a type of no column": (
        lambda: opened({"t": sd.PublicTable({"a": [1]}, columns={"b": "i64"})}),
        ("b", "a"),
    ),
}
"""What cannot be opened, and words of the refusal."""


def protecting(unit: Any) -> sd.PrivateTable:
    return sd.PrivateTable({"id": [PRIVATE], "cost": [4711.0]}, protects=unit)


def opened(tables: Any) -> sd.Session:
    return sd.Session(tables, BUDGET)


@for_each("name", OPENINGS)
def test_senseless_sessions_are_refused(name: str) -> None:
    call, words = OPENINGS[name]
    with pytest.raises(SordinoError) as caught:
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
    with pytest.raises(SessionMoved, match="budget would be spent twice"):
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
        with pytest.raises(SessionMoved, match="forked"):
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
        with pytest.raises(InvalidQuery, match="another request"):
            held.release(other, BUDGET, key="2026-11")
    assert repr(held.spent) == spent
    assert len(held.history()) == 1
