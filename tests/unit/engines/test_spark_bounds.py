"""Which rows of an id Spark keeps: as a fair die would choose them."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from sordino.conformance.short_plans import bound_rows, question_of
from sordino.engines.spark.dialect import SparkDialect
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
