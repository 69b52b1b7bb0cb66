"""Public keys that are all the integers of a box: a place among them is a number.

keys (2, 0), (2, 1), (3, 0), (3, 1)    ->    place of (g, h) = 2 (g - 2) + (h - 0)
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import pyarrow as pa

from sordino.arrays import as_numpy


@final
@dataclass(frozen=True)
class Side:
    """The integers of one column from the least to the greatest."""

    least: int
    greatest: int
    step: int
    """By how many places a key is further whose integer is greater by one."""


def box_of(keys: pa.Table) -> tuple[Side, ...] | None:
    """Return the sides of the box that keys fill one after the other, or None.

    >>> box_of(pa.table({"g": [2, 3], "h": [0, 0]}))
    (Side(least=2, greatest=3, step=1), Side(least=0, greatest=0, step=1))
    >>> box_of(pa.table({"g": [2, 3, 5]}))
    """
    if not keys.num_rows or not all(map(_is_whole, keys.columns)):
        return None
    columns = list(map(as_numpy, keys.columns))
    ends = [(int(column.min()), int(column.max())) for column in columns]
    sizes = [greatest - least + 1 for least, greatest in ends]
    if math.prod(sizes) != keys.num_rows:
        return None
    sides = tuple(
        Side(*both, math.prod(sizes[place + 1 :])) for place, both in enumerate(ends)
    )
    places = sum(
        side.step * (column - side.least)
        for side, column in zip(sides, columns, strict=True)
    )
    return sides if np.array_equal(places, np.arange(keys.num_rows)) else None


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Tell whether a column is of integers, none of them missing."""
    return pa.types.is_int64(column.type) and not column.null_count
