"""Private queries against the same DuckDB SQL, which protects nobody."""

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import sordino as sd
from benchmarks.data import GROUPS, KEYS_OF_ROWS, parquet, table
from benchmarks.frame import (
    Action,
    Clock,
    Figure,
    Race,
    Row,
    cpu_clock,
    seconds,
)
from benchmarks.start import wait

SIZE: Final = 10_000_000
SMALL: Final = 100_000
ROUNDS: Final = 5
PURE: Final = sd.PureDP(1)
APPROX: Final = sd.ApproxDP(1, "1e-6")
FACTS: Final = {
    "x": sd.Column("f64", nullable=False, nan=False),
    "g": sd.Column("i64", nullable=False),
}
PEOPLE: Final = sd.AddRowsWithID("id")
ANSWERS: Final[dict[str, Any]] = {"n": sd.count(), "m": sd.mean("x", 0, 100)}

ROWS_OF_G: Final = sd.table("t")
PEOPLE_OF_K: Final = (
    sd.table("t").enforce(sd.MaxGroupsPerID("k", 3)).group_by("k").agg(n=sd.count_ids())
)
MEANS_SQL: Final = """
SELECT g, count(*), avg(CASE WHEN x < 0 THEN 0 WHEN x > 100 THEN 100 ELSE x END)
FROM {rows} GROUP BY g"""
KEPT_SQL: Final = """(
    SELECT g, x, row_number() OVER (
        PARTITION BY id ORDER BY hash(hash(id, g, x, 12345)), g, x
    ) AS place FROM {rows}
) WHERE place <= 5"""
PEOPLE_SQL: Final = """
SELECT k, count(DISTINCT id) FROM (
    SELECT id, k, dense_rank() OVER (
        PARTITION BY id ORDER BY hash(hash(id, k, 12345)), k
    ) AS place FROM {rows}
) WHERE place <= 3 GROUP BY k"""


PER_ID: Final = (
    sd
    .table("t")
    .per_id(n=sd.count(), s=sd.sum("x", 0, 100))
    .agg(people=sd.count(), s=sd.sum("s", 0, 1000), n=sd.mean("n", 0, 30))
)
PER_ID_SQL: Final = """
SELECT count(*), sum(least(s, 1000)), avg(least(n, 30)) FROM (
    SELECT id, count(*) AS n,
        sum(CASE WHEN x < 0 THEN 0 WHEN x > 100 THEN 100 ELSE x END) AS s
    FROM {rows} GROUP BY id
)"""


FIVE_OF_ID: Final = ROWS_OF_G.enforce(sd.MaxRowsPerID(5))
THREE_OF_ID: Final = ROWS_OF_G.enforce(
    sd.MaxGroupsPerID("g", 3), sd.MaxRowsPerGroupPerID("g", 2)
).group_by("g")
FEW_OF_G: Final = THREE_OF_ID.agg(**ANSWERS)
_NEW: Final = itertools.count(101)
"""Bounds of means that were not used yet."""


def known(query: Any, answers: Mapping[str, Any] = ANSWERS) -> Any:
    """Return a request for count and mean of known groups."""
    keys = sd.KeySet.from_dict({"g": list(range(GROUPS))})
    return query.group_by(keys).agg(**answers)


def answers_and_facts(*, declared: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a count and a mean, and what is declared of their columns."""
    if declared:
        return ANSWERS, FACTS
    return {"n": sd.count(), "m": sd.mean("x", 0, 100, nulls="drop")}, {}


def session(source: Any, protects: Any, facts: Mapping[str, Any] = FACTS) -> sd.Session:
    """Return a session over some rows, with a budget that lasts."""
    rows = sd.PrivateTable(source, protects=protects, columns=facts)
    return sd.Session({"t": rows}, sd.ApproxDP(10**9, "0.5"))


def released(
    size: int,
    protects: Any,
    query: Any,
    budget: Any,
    facts: Mapping[str, Any] = FACTS,
) -> Action:
    """Return a release of a session that stays open, and bounds rows each time."""
    stays = session(parquet(size), protects, facts)

    def ask() -> object:
        stays.forget()
        return stays.release(query, budget)

    return ask


def written(size: int, text: str) -> Action:
    """Return a query by hand over the rows of some size."""
    return plain_statement(text.format(rows=f"read_parquet('{parquet(size)}')"))


def plain_statement(text: str) -> Action:
    """Return a query by hand, without the rewrite that makes windows slow."""
    import duckdb  # noqa: PLC0415 only these rows need it

    connection = duckdb.connect(
        config={
            "preserve_insertion_order": "false",
            "disabled_optimizers": "top_n_window_elimination",
        }
    )
    return lambda: connection.sql(text).to_arrow_table()


def once(protects: Any, request: Callable[[], Any], budget: Any) -> Action:
    """Return a session made, and its first query."""
    return lambda: session(table(SMALL), protects).release(request(), budget)


def milliseconds(
    action: Action, rounds: int = 20, clock: Clock = time.perf_counter
) -> float:
    """Return the least time of an action that was done before."""
    action()
    return min(seconds(action, 1, clock) for _ in range(rounds)) * 1e3


def milliseconds_a_price() -> float:
    """Return the time to price a request for unknown keys, ids protected."""
    stays = session(table(SMALL), PEOPLE)
    return milliseconds(lambda: stays.price(FEW_OF_G, APPROX), clock=cpu_clock)


def milliseconds_again() -> float:
    """Return the CPU time of a bounded question that was asked before."""
    stays, query = session(table(1000), PEOPLE), known(FIVE_OF_ID)
    return milliseconds(lambda: stays.release(query, APPROX), clock=cpu_clock)


def rows(size: int) -> tuple[Row, ...]:
    """Return the rows of queries on a file of some size."""
    million = f"{size:.0e}".replace("+0", "")
    return (
        simple(size, "rows protected", (1.3, 1.1), cpu_clock),
        simple(size, "nothing declared", (1.3, 1.1), cpu_clock, declared=False),
        Race(
            what=f"the same, ids protected, MaxRowsPerID(5), {million} rows",
            ours=lambda: released(size, PEOPLE, known(FIVE_OF_ID), APPROX),
            peer=lambda: written(size, MEANS_SQL.format(rows=KEPT_SQL)),
            against="DuckDB",
            floor=1.2,
            goal=0.8,
            rounds=ROUNDS,
        ),
        Race(
            what=f"people by unknown keys, {million} rows, MaxGroupsPerID(3)",
            ours=lambda: released(size, PEOPLE, PEOPLE_OF_K, APPROX),
            peer=lambda: written(size, PEOPLE_SQL),
            against="DuckDB",
            floor=1.5,
            goal=1.1,
            rounds=ROUNDS,
        ),
        Race(
            what=f"sum and mean per id first, then over ids, {million} rows",
            ours=lambda: released(size, PEOPLE, PER_ID, PURE),
            peer=lambda: written(size, PER_ID_SQL),
            against="DuckDB",
            floor=1.5,
            goal=1.2,
            rounds=ROUNDS,
        ),
    )


def simple(
    size: int,
    word: str,
    floors: tuple[float, float],
    clock: Clock,
    *,
    declared: bool = True,
) -> Race:
    """Return the row of a simple question, with its floor and goal."""
    million = f"{size:.0e}".replace("+0", "")
    answers, facts = answers_and_facts(declared=declared)
    query = known(ROWS_OF_G, answers)
    return Race(
        what=f"count and mean by 1000 known keys, {million} rows, {word}",
        ours=lambda: released(size, sd.AddOneRow(), query, PURE, facts),
        peer=lambda: written(size, MEANS_SQL),
        against="DuckDB",
        floor=floors[0],
        goal=floors[1],
        clock=clock,
    )


def on_the_wall(size: int, floors: tuple[float, float]) -> tuple[Race, Race]:
    """Return its rows in the time that its user waits, with and without facts."""
    word, clock = "on the wall", time.perf_counter
    return (
        simple(size, word, floors, clock),
        simple(size, f"{word}, nothing declared", floors, clock, declared=False),
    )


def many_groups() -> Race:
    """Return the row of a question for as many known groups as answers can hold."""
    keys = sd.KeySet.from_dict({"k": list(range(SIZE * KEYS_OF_ROWS // 1000))})
    request = ROWS_OF_G.group_by(keys).agg(**ANSWERS)
    return Race(
        what="count and mean of 860,000 known groups, 1e7 rows, rows protected",
        ours=lambda: released(SIZE, sd.AddOneRow(), request, PURE),
        peer=lambda: written(SIZE, MEANS_SQL.replace(" g", " k")),
        against="DuckDB",
        floor=1.6,
        goal=1.2,
        rounds=ROUNDS,
    )


def few(word: str, protects: Any, request: Callable[[], Any], budget: Any) -> Figure:
    """Return the row of a session's first query on few rows, in its user's time."""
    return Figure(
        what=f"session and first query, 1e5 rows, {word}",
        figure=lambda: milliseconds(once(protects, request, budget)),
        unit="ms",
        floor=45,
        goal=25,
    )


def fresh_answers() -> dict[str, Any]:
    """Return count and a mean that this process was never asked for."""
    return {"n": sd.count(), "m": sd.mean("x", 0, next(_NEW))}


FRESH: Final = (
    "import sordino as sd, numpy as np;"
    "x = np.random.default_rng(2).uniform(-10, 130, 100_000);"
    "p = sd.PrivateTable({'x': x, 'g': x.astype(int)}, protects=sd.AddOneRow());"
    "s = sd.Session({'t': p}, sd.PureDP(1));"
    "k = sd.KeySet.from_dict({'g': list(range(100))});"
    "q = sd.table('t').group_by(k);"
    "q = q.agg(n=sd.count(), m=sd.mean('x', 0, 100, nulls=0));"
    "s.release(q, sd.PureDP(1))"
)

ROWS: tuple[Row, ...] = (
    *rows(SIZE),
    *on_the_wall(SIZE, (1.3, 1.1)),
    *on_the_wall(3_000_000, (1.5, 1.2)),
    many_groups(),
    few("known keys", sd.AddOneRow(), lambda: known(ROWS_OF_G), PURE),
    few("known keys, MaxRowsPerID(5)", PEOPLE, lambda: known(FIVE_OF_ID), APPROX),
    few("unknown keys of ids", PEOPLE, lambda: FEW_OF_G, APPROX),
    few(
        "known keys, MaxRowsPerID(5), never asked before",
        PEOPLE,
        lambda: known(FIVE_OF_ID, fresh_answers()),
        APPROX,
    ),
    few(
        "unknown keys of ids, never asked before",
        PEOPLE,
        lambda: THREE_OF_ID.agg(**fresh_answers()),
        APPROX,
    ),
    Figure(
        what="import, session and first query, 1e5 rows, in a fresh process",
        figure=lambda: wait(FRESH, "perf_counter") * 1e3,
        unit="ms",
        floor=700,
        goal=450,
    ),
    Figure(
        what="count and mean by 1000 known keys, asked again, 1000 rows kept",
        figure=milliseconds_again,
        unit="ms",
        floor=15,
        goal=5,
    ),
    Figure(
        what="the price of a request for unknown keys, no data read",
        figure=milliseconds_a_price,
        unit="ms",
        floor=10,
    ),
)
