"""A small file that lies about itself, and questions that tell whether it is believed.

Its footer says that no x, i or s is above "5", 5 or "e", and that no n is missing.
"""

import struct
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from sordino.aggregations.measurement import Distinct, Total
from sordino.auditing.hostile_sources import FooterLie, write_lies
from sordino.engines.engine import AbstractEngine
from sordino.expressions.language import col, lit, when
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression
from sordino.query.nodes import AbstractNode, Filter, Join, Question, Source

FAR: Final = {"x": [1e9, nan], "i": [10**9, 7], "s": ["z", "y"]}
"""Values beyond the bounds that the file states, to be joined with."""


def write_lying_file(path: Path) -> Path:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 1e9, nan, 1e9, nan, 1e9, nan]
    rows = pa.table({
        "x": pa.array(x, pa.float64(), from_pandas=False),
        "i": [1, 2, 3, 4, 5, 10**9, 10**9, 10**9, 5, 5, 5],
        "n": [1, 1, 1, 1, 1, *[None] * 6],
        "s": ["a", "b", "c", "d", "e", "z", "z", "z", "e", "e", "e"],
    })
    pq.write_table(rows, path)
    lies = {
        0: FooterLie(high=struct.pack("<d", 5.0)),
        1: FooterLie(high=struct.pack("<q", 5)),
        2: FooterLie(nulls=0),
        3: FooterLie(high=b"e"),
    }
    assert write_lies(path, lies)
    return path


def far_values(name: str) -> pa.Table:
    """Return the public rows that a column is joined with."""
    return pa.table({name: pa.array(FAR[name], from_pandas=False)})


def believes(engine: AbstractEngine, path: Path) -> bool:
    """Tell whether an engine answers by what the file says of itself."""
    lying = Source("lying", engine.open("lying", path, {}))
    far = {name: Source(name, engine.open(name, far_values(name), {})) for name in FAR}
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
