"""A file that lies about itself, and questions that tell whether an engine believes it.

A Parquet file states bounds and null counts of its columns. Honest writers leave NaN
out of the bounds, so an engine that reasons from them moves a count of one row by
thousands (docs/adr/0068). The barrier against that rests on how one version of an
engine plans; the canary asks, through the very leaf that private tables are read by.

`canary.parquet` is made by `python -m tests.liars`: 11 rows, whose footer says that no
x, i or s is above "5", 5 or "e", and that no n is missing.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from math import nan
from pathlib import Path
from typing import Final

import pyarrow as pa

from sordino.engines.base import AbstractEngine
from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import col, lit, when
from sordino.query.nodes import AbstractNode, Filter, Join, Source
from sordino.query.question import Distinct, Question, Total
from sordino.schema import Schema

FAR: Final = {"x": [1e9, nan], "i": [10**9, 7], "s": ["z", "y"]}
"""Values beyond the bounds that the file states, to be joined with."""


@contextmanager
def canary_path() -> Generator[Path]:
    """Give the path of the file."""
    with as_file(files("sordino.engines") / "canary.parquet") as path:
        yield path


def far_values(name: str) -> pa.Table:
    """Return the public rows that a column is joined with."""
    return pa.table({name: pa.array(FAR[name], from_pandas=False)})


def believes(engine: AbstractEngine, lying: Source, far: dict[str, Source]) -> bool:
    """Tell whether an engine answers by what the file says of itself."""
    return any(
        [count.as_py() for (count,) in engine.answer(question).columns] != right
        for question, right in _questions(lying, far)
    )


def _questions(
    lying: Source, far: dict[str, Source]
) -> Iterator[tuple[Question, list[int]]]:
    """Yield questions with the answers that the values themselves give."""
    x, i, n, s = (col(name) for name in "xins")
    kinds = (x <= 9.0, x.is_nan(), x > 100.0, i > 100, n.is_null(), s > "m")
    yield (
        Question(lying, (), (*map(_rows, kinds), Distinct(("x",)), Total(n))),
        [5, 3, 6, 3, 6, 3, 7, 5],
    )
    conditions = ((x < 100.0, 5), (x > 100.0, 6), (i > 100, 3), (s > "m", 3))
    for condition, right in (*conditions, (n.is_null(), 6), (~n.is_null(), 5)):
        yield _count(Filter(lying, condition, lying.schema)), [right]
    for name, right in (("x", 6), ("i", 3), ("s", 3)):
        yield _count(_join(lying, far[name], name)), [right]


def _rows(condition: AbstractExpression) -> Total:
    """Return in how many rows a condition is true."""
    return Total(when(condition).then(1).otherwise(0))


def _count(rows: AbstractNode) -> Question:
    return Question(rows, (), (Total(lit(1)),))


def _join(left: Source, right: Source, name: str) -> Join:
    """Return the rows with a far value, read with a column that nothing needs."""
    return Join(left, right, (name,), False, Schema.of(left.schema.columns))
