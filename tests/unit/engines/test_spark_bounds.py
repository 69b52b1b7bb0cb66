"""Which rows of an id Spark keeps: as a fair die would choose them."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from sordino.conformance.short_plans import bound_rows, question_of
from sordino.engines.spark.database import Spark
from sordino.engines.spark.dialect import SparkDialect
from sordino.engines.sql import writer
from sordino.query.nodes import Source
from tests.spark_here import engine_beside

pytestmark = pytest.mark.slow
IDS: Final = 6_000
SIDES: Final = 6
MOST: Final = 35.9
"""Chi-square with 5 degrees of freedom is above this once in a million runs."""


def unevenness() -> float:
    """Return the chi-square of keeping one of six rows of each of many ids.

    All ids have the same six rows, so nothing but the hash decides.
    """
    engine = engine_beside(salt=7)
    dice = pa.table({
        "id": np.repeat(np.arange(IDS), SIDES),
        "side": np.tile(np.arange(SIDES), IDS),
    })
    rows = Source("t", engine.open("t", dice, {}))
    answer: Any = engine.answer(question_of(bound_rows(rows, ("id",), 1), "side"))
    engine.close()
    (counts,) = [answer[name].to_pylist() for name in answer.column_names[1:2]]
    assert sum(counts) == IDS
    expected = IDS / SIDES
    return float(sum((count - expected) ** 2 for count in counts)) / expected


def test_each_row_is_as_likely_as_another() -> None:
    """False alarms: one in a million salts, and this salt is none of them."""
    assert unevenness() < MOST


def test_an_order_by_what_rows_hold_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest that is one of the values keeps the same row of every id."""

    def held(self: SparkDialect, values: Sequence[Any]) -> Any:
        del self
        return values[-1].copy()

    monkeypatch.setattr(SparkDialect, "digest", held)
    assert unevenness() > MOST


def shuffles_of_a_bound(patch: pytest.MonkeyPatch) -> int:
    """Return how often all rows are sent to other workers to be bounded."""
    frames: list[Any] = []
    frame_of = Spark._frame

    def noted(self: Spark, *statement: Any) -> Any:
        frames.append(frame_of(self, *statement))
        return frames[-1]

    patch.setattr(Spark, "_frame", noted)
    engine = engine_beside(salt=7)
    rows = Source(
        "t", engine.open("t", pa.table({"id": [1, 1, 2], "x": [3, 3, 4]}), {})
    )
    engine.answer(question_of(bound_rows(rows, ("id",), 1), "x"))
    engine.close()
    plans = [frame._jdf.queryExecution().executedPlan().toString() for frame in frames]
    (bound,) = {plan for plan in plans if "Window" in plan and "InMemory" not in plan}
    return int(bound.count("Exchange"))


def test_a_bound_sends_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are numbered, and rows are kept, where all rows of an id are."""
    assert shuffles_of_a_bound(monkeypatch) == 1


def test_columns_under_new_names_are_sent_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To Spark they are other columns, and an id is not where it was."""
    monkeypatch.setattr(writer, "_name_value", writer.alias_as)
    assert shuffles_of_a_bound(monkeypatch) == 2
