"""Columns of Arrow as our types: the vectorised rule is the plain one, cell by cell."""

import random
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from sordino.data.arrow import column_of, column_type, value_batches
from sordino.data.python_rows import column_of_cells
from sordino.data.source import kind_of, sort_values, values_of
from tests.batches import for_each, sampled
from tests.odd_cells import ARROW, raw

TRIES = 150


def _same(one: list[Any], other: list[Any]) -> bool:
    """Tell whether values are the same; NaN is, and a zero has no sign."""
    return sort_values(one) == sort_values(other)


@sampled(6)
@for_each("name", ARROW)
def test_a_column_is_what_its_cells_are(name: str) -> None:
    """For any cells, sliced or not: as a whole, one by one, and in plain Python."""
    form, dice = ARROW[name], random.Random(1)
    for _ in range(TRIES):
        cells = [dice.choice(form.pool) for _ in range(dice.randrange(1, 7))]
        array = form.make(cells)
        start = dice.randrange(len(cells))
        made = column_of(array)
        assert made.type == column_type(kind_of(array.type) or "")
        whole = made.to_pylist()
        assert _same(whole, values_of(array))
        assert _same(whole[start:], column_of(array.slice(start)).to_pylist())
        alone = [column_of(form.make([one])).to_pylist()[0] for one in cells]
        assert _same(whole, alone)


def test_zeros_have_no_sign() -> None:
    for array in (
        pa.array([-0.0]),
        pa.array([-0.0], pa.float32()),
        pa.array([Decimal("-0.0")]),
    ):
        assert str(column_of(array)[0].as_py()) == "0.0"


def test_every_decimal_is_the_nearest_double() -> None:
    """For any digits and scale: as Python reads the number that is written."""
    dice = random.Random(2)
    for kind in (pa.decimal32(9, 4), pa.decimal64(18, 3), pa.decimal128(38, 20)):
        digits = [
            dice.randrange(-(10**kind.precision), 10**kind.precision) for _ in "x" * 300
        ]
        numbers = [Decimal(one).scaleb(-kind.scale) for one in digits]
        made = column_of(pa.array(numbers, kind)).to_pylist()
        assert made == [float(one) for one in numbers]


def test_a_database_reads_what_is_handed_over() -> None:
    batches = [pa.record_batch({"x": pa.array([2**63, 5], pa.uint64())})] * 3
    connection = duckdb.connect()
    connection.register("t", value_batches(batches, [("x", pa.uint64())]))
    rows = connection.execute("SELECT count(*), sum(x) FROM t WHERE x < 7").fetchall()
    assert rows == [(3, 15)]
    plan = connection.execute("EXPLAIN SELECT x FROM t WHERE x < 7").fetchall()[0][1]
    assert "Filter" in plan


def test_long_texts_are_missing_alone() -> None:
    texts = pa.array(["a", "x" * (1 << 20), "x" * ((1 << 20) + 1), "é" * (1 << 19)])
    lengths = [one and len(one) for one in column_of(texts).to_pylist()]
    assert lengths == [1, 1 << 20, None, 1 << 19]
    assert column_of_cells(texts.to_pylist(), "text").null_count == 1


def test_bits_under_missing_values_mean_nothing() -> None:
    there = pa.array([False, True]).buffers()[1]
    far = pa.py_buffer(np.array([2**63 - 1, 0]).tobytes())
    moments = pa.Array.from_buffers(pa.timestamp("s"), 2, [there, far])
    assert column_of(moments).to_pylist()[0] is None
    assert column_of(raw(pa.date32())([None, 0])).null_count == 1
