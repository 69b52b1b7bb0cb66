"""Any statement is refused with its reason, or means what DuckDB says it means."""

import datetime as dt
import math
import random
from collections import Counter
from typing import Any, Final

import duckdb
import pytest

import sordino as sd
from sordino.errors import InvalidSQL, SordinoError
from tests.drawn_sql import PLACES, Grammar, oracle, visits

EXACT: Final = sd.ApproxDP(10**12, "1e-6")
"""So much that no noise is left."""


FINE: Final = 1e-5
COARSE: Final = 3e-3
"""Squares are added on a lattice of 2**-13 of the range."""


def opened(table: Any, engine: Any = "memory") -> sd.Session:
    """Return a session on some rows."""
    return sd.Session(
        tables={
            "v": sd.PrivateTable(table, protects=sd.AddOneRow()),
            "places": sd.PublicTable(PLACES),
        },
        budget=sd.ApproxDP(10**18, "0.9"),
        engine=engine,
    )


def as_read(value: Any) -> Any:
    """Return a value of DuckDB as a release has it."""
    if hasattr(value, "as_tuple"):
        return float(value)
    return value


def alike(ours: Any, theirs: Any, apart: float) -> bool:
    """Tell whether two cells agree; a number stands for NULL of nothing."""
    if theirs is None:
        return ours is None or isinstance(ours, (int, float))
    if ours is None:
        return False
    if isinstance(theirs, dt.datetime) != isinstance(ours, dt.datetime):
        return False
    if isinstance(theirs, bool) or not isinstance(theirs, (int, float)):
        return bool(ours == theirs)
    return math.isclose(ours, theirs, rel_tol=apart, abs_tol=10 * apart)


def ordered(rows: list[dict[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    """Return rows in the order of their keys."""
    return sorted(
        rows, key=lambda row: [(row[k] is not None, str(row[k])) for k in keys]
    )


def outcome(
    text: str,
    keys: list[str],
    session: sd.Session,
    database: duckdb.DuckDBPyConnection,
) -> str:
    """Return what becomes of a statement: refused, equal, or what differs."""
    try:
        release = session.sql(text, EXACT)
    except InvalidSQL as error:
        told = str(error)
        assert f"line {error.line}, column {error.column}" in told
        assert "^" in told
        return "refused"
    except SordinoError as error:
        return f"refused without a place: {error}"
    assert isinstance(release, sd.Release)
    try:
        asked = database.execute(text)
        names = [one[0] for one in asked.description or ()]
        rows = [
            dict(zip(names, map(as_read, row), strict=True)) for row in asked.fetchall()
        ]
    except duckdb.Error:
        return "fails in DuckDB"
    ours = release.table.to_pylist()
    apart = COARSE if any(word in text for word in ("VAR_", "STDDEV")) else FINE
    if set(names) != set(release.table.column_names):
        return f"columns {release.table.column_names}, not {names}"
    if len(ours) != len(rows):
        return f"{len(ours)} rows, not {len(rows)}"
    for one, other in zip(ordered(ours, keys), ordered(rows, keys), strict=True):
        for name in names:
            if not alike(one[name], other[name], apart):
                return f"{name} is {one[name]!r}, not {other[name]!r} in {other}"
    return "equal"


def tried(seed: int, count: int, engine: str = "memory") -> Counter[str]:
    """Try statements, and return how many came out how."""
    table = visits(seed)
    session, database = opened(table, engine), oracle(table)
    grammar, found = Grammar(random.Random(seed)), Counter[str]()
    for _ in range(count):
        text = grammar.statement()
        got = outcome(text, grammar.keys, session, database)
        assert got in {"equal", "refused", "fails in DuckDB"}, (text, got)
        found[got] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_statement_is_refused_or_means_what_it_says(seed: int) -> None:
    """For any drawn statement: DuckDB's own answer, or a refusal with its place."""
    found = tried(seed, 60)
    assert found["equal"] >= 15
    assert found["refused"] >= 5
