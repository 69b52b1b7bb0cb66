"""Which rows of an id a server keeps: as a fair die would choose them."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from sordino.engines.conformance.plans import bound_rows, question_of
from sordino.engines.postgres.dialect import PostgresDialect
from sordino.engines.postgres.session import postgres_engine
from sordino.query.nodes import Source
from tests.postgres_server import cluster

IDS: Final = 20_000
SIDES: Final = 6
MOST: Final = 35.9
"""Chi-square with 5 degrees of freedom is above this once in a million runs."""


def unevenness() -> float:
    """Return the chi-square of keeping one of six rows of each of many ids.

    All ids have the same six rows, so nothing but the hash decides.
    """
    server = cluster()
    server.run(
        "DROP TABLE IF EXISTS dice CASCADE",
        "CREATE TABLE dice AS SELECT id::bigint, side::bigint"  # noqa: S608 ours
        f" FROM generate_series(1, {IDS}) AS id, generate_series(1, {SIDES}) AS side",
    )
    engine = postgres_engine(server.address())
    rows = Source("t", engine.open("t", (server.address(), "dice"), {}))
    question = question_of(bound_rows(rows, ("id",), 1), "side")
    answer: Any = engine.answer(question)
    engine.close()
    (counts,) = [answer[name].to_pylist() for name in answer.column_names[1:2]]
    assert sum(counts) == IDS
    expected = IDS / SIDES
    return float(sum((count - expected) ** 2 for count in counts)) / expected


def test_each_row_is_as_likely_as_another() -> None:
    """False alarms: one in a million runs."""
    assert unevenness() < MOST


def test_a_hash_that_is_not_mixed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner hash alone prefers some rows by far."""
    mixed = PostgresDialect.digest

    def inner_alone(self: PostgresDialect, values: Sequence[Any]) -> Any:
        return mixed(self, values).expressions[0]

    monkeypatch.setattr(PostgresDialect, "digest", inner_alone)
    assert unevenness() > MOST
