"""Which rows of an id Spark keeps: as a fair die would choose them."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from sordino.engines.conformance.plans import bound_rows, filter_rows, question_of
from sordino.engines.spark import cluster
from sordino.engines.spark.dialect import SparkDialect
from sordino.engines.spark.session import Spark
from sordino.engines.statements import plans as writer
from sordino.expressions.language import col
from sordino.query.nodes import Source
from tests.spark_here import engine_beside
from tests.statistics import MOST_UNEVEN, unevenness_of

pytestmark = pytest.mark.slow
IDS: Final = 6_000
SIDES: Final = 6

CACHED: Final = "spark.sql.inMemoryColumnarStorage.partitionPruning"


def unevenness() -> float:
    engine = engine_beside(salt=7)
    dice = pa.table({
        "id": np.repeat(np.arange(IDS), SIDES),
        "side": np.tile(np.arange(SIDES), IDS),
    })
    found = unevenness_of(engine, dice, IDS)
    engine.close()
    return found


def test_each_row_is_as_likely_as_another() -> None:
    assert unevenness() < MOST_UNEVEN


def test_an_order_by_what_rows_hold_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest that is one of the values keeps the same row of every id."""

    def held(self: SparkDialect, values: Sequence[Any]) -> Any:
        del self
        return values[-1].copy()

    monkeypatch.setattr(SparkDialect, "digest", held)
    assert unevenness() > MOST_UNEVEN


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


def count_above(least: float) -> int:
    """Return how many of many NaN in kept rows are above a number: to us all are."""
    engine = engine_beside(salt=7)
    rows = pa.table({"id": np.arange(IDS), "x": np.full(IDS, np.nan)})
    kept = bound_rows(Source("t", engine.open("t", rows, {})), ("id",), 1)
    answer: Any = engine.answer(question_of(filter_rows(kept, col("x") > least)))
    engine.close()
    (count,) = answer.column(0).to_pylist()
    return int(count)


def test_nothing_that_a_cache_says_of_its_rows_is_believed() -> None:
    """Else one row above the number would bring NaN of others along, by thousands."""
    assert count_above(-1.0) == IDS


def test_caches_leave_nan_out_of_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Spark's own setting rows are skipped for which the condition is true."""
    monkeypatch.setattr(cluster, "PINS", {**cluster.PINS, CACHED: "true"})
    assert count_above(-1.0) == 0
