"""Bounds on what an id contributes: the first question, further ones, many at once.

The shapes are those that decide what a bound costs: rows an id, and what ids are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from benchmarks.data import CHUNK, GROUPS, folder
from benchmarks.frame import Action, Race, Row
from benchmarks.queries import (
    APPROX,
    KEPT_SQL,
    MEANS_SQL,
    answers_and_facts,
    known,
    plain_statement,
    session,
)

SIZE: Final = 10_000_000
ROUNDS: Final = 3
PEOPLE: Final = sd.AddRowsWithID("id")
FEW: Final = sd.table("t").enforce(sd.MaxRowsPerID(5))


@final
@dataclass(frozen=True)
class Shape:
    """Rows of ids: how many an id has, and what ids are."""

    word: str
    drawn: Callable[[np.random.Generator, int, int], Any]
    """(generator, rows of the chunk, of all) -> ids"""
    plain: float
    """The floor over the plain query."""
    goal: float


def _texts(generator: np.random.Generator, count: int, size: int) -> pa.Array:
    ids = generator.integers(0, size // 10, count)
    return pa.array([f"patient-{one:09d}" for one in ids])


SHAPES: Final = (
    Shape("10 rows an id", lambda one, n, size: one.integers(0, size // 10, n), 11, 6),
    Shape("2 rows an id", lambda one, n, size: one.integers(0, size // 2, n), 11, 6),
    Shape("ids by Zipf", lambda one, n, size: one.zipf(1.5, n) % (size // 10), 11, 6),
    Shape("10 rows a text id", _texts, 16, 10),
)


@cache
def parquet(shape: Shape) -> Path:
    """Return a file of rows of a shape."""
    path = Path(folder().name) / f"{shape.word}.parquet"
    generator, writer = np.random.default_rng(11), None
    for _ in range(0, SIZE, CHUNK):
        rows = pa.table({
            "id": shape.drawn(generator, CHUNK, SIZE),
            "g": generator.integers(0, GROUPS, CHUNK),
            "x": generator.uniform(-10, 130, CHUNK),
        })
        writer = writer or pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    assert writer is not None, "there are chunks"  # noqa: S101 sizes are ours
    writer.close()
    return path


def asked(shape: Shape, *, first: bool, declared: bool = True) -> Action:
    """Return a bounded question: the first one of a session, or a further one."""
    answers, facts = answers_and_facts(declared=declared)
    stays, query = session(parquet(shape), PEOPLE, facts), known(FEW, answers)

    def ask() -> object:
        if first:
            stays.forget()
        return stays.release(query, APPROX)

    if not first:
        ask()
    return ask


def ten(shape: Shape) -> Action:
    """Return ten bounded questions of a session at once, the first ones."""
    stays = session(parquet(shape), PEOPLE)
    queries = {f"q{n}": known(FEW.filter(sd.col("x") > n)) for n in range(10)}

    def ask() -> object:
        stays.forget()
        return stays.release_all(queries, APPROX)

    return ask


def by_hand(shape: Shape, kind: Literal["plain", "bounded"]) -> Action:
    """Return the same by hand, without bounds or with them."""
    source = f"read_parquet('{parquet(shape)}')"
    rows = source if kind == "plain" else KEPT_SQL.format(rows=source)
    return plain_statement(MEANS_SQL.format(rows=rows))


def rows(shape: Shape) -> tuple[Row, ...]:
    """Return the rows of a shape."""
    what = f"MaxRowsPerID(5), 1e7 rows, {shape.word}"
    return (
        Race(
            what=f"first question of {what}, over SQL by hand",
            ours=lambda: asked(shape, first=True),
            peer=lambda: by_hand(shape, "bounded"),
            against="DuckDB",
            floor=1.1,
            goal=0.7,
            rounds=ROUNDS,
        ),
        Race(
            what=f"first question of {what}, over the plain query",
            ours=lambda: asked(shape, first=True),
            peer=lambda: by_hand(shape, "plain"),
            against="DuckDB",
            floor=shape.plain,
            goal=shape.goal,
            rounds=ROUNDS,
        ),
        *(
            Race(
                what=f"further question of {what}, over the plain query{word}",
                ours=partial(asked, shape, first=False, declared=not word),
                peer=lambda: by_hand(shape, "plain"),
                against="DuckDB",
                floor=0.5,
                goal=0.25,
            )
            for word in ("", ", nothing declared")
        ),
    )


ROWS: tuple[Row, ...] = (
    *(row for shape in SHAPES for row in rows(shape)),
    Race(
        what="release_all of ten questions of MaxRowsPerID(5), 1e7 rows, over one",
        ours=lambda: ten(SHAPES[0]),
        peer=lambda: asked(SHAPES[0], first=True),
        against="one of them",
        floor=2,
        goal=1.3,
        rounds=ROUNDS,
    ),
)
