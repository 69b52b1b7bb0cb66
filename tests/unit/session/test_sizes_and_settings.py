"""Public sizes are refused beforehand; settings of a process decide nothing."""

import datetime as dt
import math
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino import errors
from sordino.engines.doors import EngineName
from sordino.engines.statements.engine import SQLEngine
from tests.batches import for_each, sampled

ROWS = pa.table({"a": [1, 2, 2], "x": [0.5, 99.0, None]})
TABLE = sd.table("t")
BUDGET = sd.PureDP(1)


def session(rows: Any = ROWS, **more: Any) -> sd.Session:
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    return sd.Session({"t": table}, sd.PureDP(1000), **more)


def many(count: int) -> Any:
    sides = {"a": range(1000), "b": range(1000), "c": range(count // 10**6)}
    keys = sd.KeySet.from_dict(sides)
    rows = TABLE.with_columns(b=sd.col("a"), c=sd.col("a"))
    return rows.group_by(keys).agg(n=sd.count())


@pytest.mark.slow
def test_answers_that_are_too_large() -> None:
    opened = session()
    assert opened.price(many(10_000_000), BUDGET)._purchase.plan.question.by == (
        "a",
        "b",
        "c",
    )
    for groups in (10**8, 10**11):
        with pytest.raises(errors.InvalidQuery, match=r"would have \d+ groups"):
            opened.release(many(groups), BUDGET)
    three = {name: many(6_000_000) for name in "abc"}
    opened.price(three["a"], BUDGET)
    with pytest.raises(errors.InvalidQuery, match="fewer groups"):
        opened.release_all(three, BUDGET)
    assert opened.history() == ()


@pytest.mark.slow
def test_many_totals() -> None:
    opened = session()
    wide: dict[str, Any] = {f"s{n}": sd.sum("a", 0, n + 1) for n in range(501)}
    with pytest.raises(errors.InvalidQuery, match="needs 501 exact totals"):
        opened.release(TABLE.agg(**wide), BUDGET)
    opened.price(TABLE.agg(**dict(list(wide.items())[:500])), BUDGET)
    assert opened.history() == ()


@for_each("failure", [MemoryError(99), errors.EngineUnavailable("it is gone")])
def test_what_fails_after_the_charge(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """One sentence is told: not what failed, nor that nothing was charged."""
    opened = session()

    def failing(*_: object) -> None:
        raise failure

    monkeypatch.setattr("sordino.session.executor.noisy_answer", failing)
    with pytest.raises(errors.EngineFailure) as caught:
        opened.release(TABLE.agg(n=sd.count()), BUDGET)
    assert caught.value.__context__ is None
    assert len(opened.history()) == 1


QUESTIONS: dict[str, Any] = {
    "mean": sd.mean("x", 0, 100, nulls=0),
    "mean of what is there": sd.mean("x", 0, 100),
    "variance": sd.variance("x", 0, 100),
    "deviation": sd.stdev("x", 0, 100, nulls=0),
    "median": sd.median("x", 0, 100),
    "bounds": sd.bounds("x"),
}


@sampled(3, 6)
@for_each("epsilon", ["0.01", 1, 100])
@for_each("asked", QUESTIONS)
def test_settings_of_numpy(asked: str, epsilon: Any) -> None:
    """Empty groups, and a process in which NumPy raises or warnings are errors."""
    opened = session()
    keys = sd.KeySet.from_dict({"a": range(300)})
    query = TABLE.group_by(keys).agg(n=sd.count(), m=QUESTIONS[asked])
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", errors.WeakBudget)  # an epsilon of 100 is told
        release = opened.release(query, sd.PureDP(epsilon))
        repr(release)
        release._repr_html_()
    assert len(release) == 300


EDGES: dict[str, tuple[Any, Any]] = {
    "i64": ([0, 10, 20, 30], [None, -1, 0, 5, 9, 10, 20, 29, 30, 31]),
    "f64": ([0.5, 1.5, 2.5], [None, math.nan, math.inf, -0.0, 0.5, 1.5, 2.4, 2.5, 3.0]),
    "date": (
        [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)],
        [None, dt.date(2019, 12, 31), dt.date(2020, 1, 1), dt.date(2022, 1, 1)],
    ),
}


@sampled(8)
@for_each("engine", ["duckdb", "memory"])
@for_each("right", [True, False])
@for_each("ends", [True, False])
@for_each("kind", EDGES)
def test_bins_as_columns_are_bins_as_rows(
    kind: str, *, ends: bool, right: bool, engine: EngineName
) -> None:
    """A histogram counts what a column of bins says, for any edge and any value."""
    edges, values = EDGES[kind]
    bins = sd.Bins(edges, right=right, include_ends=ends)
    opened = session(pa.table({"x": pa.array(values)}), engine=engine)
    columns = opened.price(TABLE.agg(h=sd.histogram("x", bins)), BUDGET)
    rows = opened.price(TABLE.histogram("x", bins), BUDGET)
    told = [
        opened._desk.engine.answer(one._purchase.plan.question)
        for one in (columns, rows)
    ]
    across = [one[0].as_py() for one in told[0].columns]
    named = dict(zip(bins.labels, across, strict=True))
    assert named == dict(
        zip(*(one.to_pylist() for one in told[1].columns), strict=True)
    )
    assert [named[label] for label in bins.labels] == [
        sum(bins.label(value) == label for value in values) for label in bins.labels
    ]


@pytest.mark.slow
def test_many_bins() -> None:
    """As columns there may be 300, written in pieces of a bounded size each."""
    opened = session()
    edges = list(range(301))
    histogram = opened.price(TABLE.agg(h=sd.histogram("a", edges[:101])), BUDGET)
    few = opened.price(TABLE.agg(h=sd.histogram("a", edges[:11])), BUDGET)
    assert isinstance(opened._desk.engine, SQLEngine)
    long, short = (
        len(opened._desk.engine.statement(one._purchase.plan.question))
        for one in (histogram, few)
    )
    assert long < 12 * short
    release = opened.release(histogram.request, BUDGET)
    assert "more columns" in repr(release)
    assert len(sd.histogram("a", edges).columns("h")) == 300
    with pytest.raises(errors.InvalidParameter, match="there they are rows"):
        sd.histogram("a", [*edges, 301])
    asked = TABLE.histogram("a", list(range(1001)))
    assert len(opened.release(asked, BUDGET)) == 1000
