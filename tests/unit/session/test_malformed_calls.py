"""Malformed calls are refused with our own errors, read nothing and charge nothing."""

import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sordino as sd
from sordino.engines.doors import EngineName
from sordino.errors import InvalidParameter, SordinoError
from tests.batches import for_each, sampled
from tests.effort import often
from tests.malformed import BUDGET, COUNT, LONGEST, TABLE, Calls, session, wrong_calls


@sampled(1)
@for_each("engine", ["duckdb", "memory"])
@for_each("seed", [0, 1])
def test_malformed_calls(seed: int, engine: EngineName) -> None:
    """Whatever stands in an argument, what leaves is an answer or a typed refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert wrong_calls(Calls(session(engine), seed), 1200) == []


@pytest.mark.slow
@for_each("engine", ["duckdb", "memory"])
def test_many_malformed_calls(engine: EngineName) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert wrong_calls(Calls(session(engine), 7), often(5_000, 15_000)) == []


def test_a_foreign_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defects: a foreign error, a charge, and an endless message."""
    calls = Calls(session("memory"), 0)
    on = calls.session
    calls.doors = {
        "price": lambda: on.price(TABLE.agg(n=COUNT), BUDGET),
        "view": lambda: on.release(sd.table("r").agg(n=COUNT), BUDGET),
        "table": lambda: (_ for _ in ()).throw(sd.errors.SordinoError("x" * 2000)),
    }

    def broken(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr("sordino.session.executor.Desk.buy", broken)
    told = " ".join(wrong_calls(calls, 40))
    assert "price: " in told
    assert "KeyError" in told
    assert "2000 letters" in told
    monkeypatch.undo()
    assert "view: charged or read" in wrong_calls(calls, 40)


@for_each(
    "weights", [pd.NA, np.array([1, 2]), np.array(1), [1], "n", 0, False, {"n": pd.NA}]
)
def test_odd_weights(weights: Any) -> None:
    with pytest.raises(InvalidParameter, match="weights"):
        TABLE.agg(n=COUNT, weights=weights)


@for_each("names", [3, int, decimal.Decimal(1), np.array(1)])
def test_odd_names_of_bins(names: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^names must be"):
        sd.Bins([0, 1], names=names)
    with pytest.raises(InvalidParameter, match=r"^edges must be"):
        sd.Bins(names)


LONG = "x" * 200_000
NAMED: dict[str, Any] = {
    "aggregation": lambda name: TABLE.agg(**{name: 3}),  # type: ignore[arg-type]
    "new column": lambda name: TABLE.fill_null(**{name: object()}),
    "infinity": lambda name: TABLE.replace_infinity(**{name: 3}),
    "batch": lambda name: session("memory").price_all({name: None}, BUDGET),  # type: ignore[dict-item]
    "table": lambda name: session("memory").price(sd.table(name).agg(n=COUNT), BUDGET),
    "column": lambda name: session("memory").price(
        TABLE.agg(n=sd.sum(name, 0, 1)), BUDGET
    ),
    "tables": lambda name: sd.Session({name: 3}, BUDGET),
}


def test_a_name_that_no_request_could_say_is_refused_at_once() -> None:
    """A table or a view of it would be there, and each release of it refused."""
    table = sd.PrivateTable({"x": [1, 2]}, protects=sd.AddOneRow())
    session = sd.Session(tables={"t": table}, budget=sd.PureDP(1))
    with pytest.raises(InvalidParameter, match=r"^name must be valid Unicode"):
        session.view("half \ud800", sd.table("t"))
    with pytest.raises(InvalidParameter, match=r"^tables must be valid Unicode"):
        sd.Session(tables={"\ud800": table}, budget=sd.PureDP(1))
    with pytest.raises(InvalidParameter, match=r"^of must be valid Unicode"):
        sd.rehearsal(of={"\ud800": {"x": "i64"}}, protects=sd.AddOneRow())


@for_each("where", NAMED)
@for_each("name", [LONG, "\ud800", "two\nlines", "\u202eback"])
def test_odd_names_in_messages(where: str, name: str) -> None:
    with pytest.raises(SordinoError) as caught:
        NAMED[where](name)
    told = str(caught.value)
    assert len(told) < LONGEST
    assert told.isprintable()


@for_each("engine", ["duckdb", "memory"])
def test_lone_surrogates_in_names(engine: EngineName) -> None:
    """A name that no file can hold is refused by name, before anything is charged."""
    opened = session(engine)
    rows = sd.table("r")
    for asked in (
        rows.agg(**{"\ud800": COUNT}),  # type: ignore[arg-type]
        rows.with_columns(**{"\ud800": sd.col("x")}).agg(n=COUNT),
        rows.rename({"g": "\ud800"}).group_by("\ud800").agg(n=COUNT),
    ):
        with pytest.raises(InvalidParameter, match=r"surrogates\), got '\\ud800'"):
            opened.release(asked, BUDGET)
    assert opened.history() == ()
