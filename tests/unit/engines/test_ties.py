"""Rows whose digests agree are kept in the order of their columns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import comparable_answer, question_of
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.query.nodes import Source
from tests.batches import for_each, sampled

LEVELS = 3
"""Of digests: with as many ids as values all of them are met by several rows."""


def rows() -> pa.Table:
    """Return rows of which many agree in some columns, some in all, some missing."""
    draw = np.random.default_rng(11)
    days = draw.integers(-2, 4, 900)
    return pa.table({
        "id": pa.array(days * 0 + draw.integers(0, 40, 900)),
        "ward": pa.array(draw.integers(0, 3, 900), mask=draw.integers(0, 9, 900) == 0),
        "days": pa.array(days / 2, mask=draw.integers(0, 9, 900) == 0),
    })


def few_digests(
    self: DuckDBDialect, values: Sequence[exp.Expression]
) -> exp.Expression:
    """Return a digest that knows of a row only what its third column is."""
    del self  # (id, ward, days, number among rows alike)
    level = exp.Coalesce(this=values[-2].copy(), expressions=[exp.Literal.number(0)])
    return exp.cast(exp.Mod(this=exp.Paren(this=level), expression=levels()), "BIGINT")


def levels() -> exp.Expression:
    return exp.cast(exp.Literal.number(LEVELS), "DOUBLE")


def same_digests(given: list[tuple[int, ...]], kinds: tuple[str, ...]) -> list[int]:
    """Return the digests of rows, as DuckDB computes them above."""
    del kinds
    found = (np.fmod(row[-2] or 0, LEVELS) for row in given)
    return [int(np.rint(one)) for one in found]


@sampled(5)
@for_each("limit", [1, 2, 3, 7, 20, 40])
@for_each("per", [("id",), ("id", "ward"), ("ward",)])
def test_ties(
    per: tuple[str, ...], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBDialect, "digest", few_digests)
    answers = []
    for engine in (duckdb_engine(threads=2), MemoryEngine(order=same_digests)):
        held = Source("t", engine.open("t", rows(), {}))
        asked = question_of(plans.bound_rows(held, per, limit), "id", "ward", "days")
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]
