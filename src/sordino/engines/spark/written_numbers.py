"""How exact the numbers in released files are, as the workers read them there.

It is what `release.exactness` tells of numbers in memory: one question, of files that
are published already.
"""

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa

from sordino.engines.sql.spreads import PartTask
from sordino.release.column_names import error_names
from sordino.release.exactness import ROUGH, Exactness, Reach


def measure_files(session: Any, folder: str, task: PartTask) -> Exactness:
    """Return how exact the numbers are that a task wrote to the files of a folder."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 only where Spark runs

    columns = [sql.count(sql.lit(1))]
    for name in task.names:
        columns += _columns_of(name, is_number=_is_number(task.schema.field(name).type))
    (row,) = session.read.parquet(folder).agg(*columns).collect()
    groups, *figures = row
    pieces = list(_fours(figures))
    return Exactness(
        groups,
        sum(numbers for numbers, *_ in pieces),
        sum(rough for _, rough, *_ in pieces),
        tuple(
            Reach(name, least, most)
            for name, (*_, least, most) in zip(task.names, pieces, strict=True)
        ),
    )


def _is_number(kind: pa.DataType) -> bool:
    """Tell whether a column can have intervals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _columns_of(name: str, *, is_number: bool) -> list[Any]:
    """Return what is asked of a column: numbers, rough ones, least and most reach."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 as above

    value, low, high = (
        sql.col(f"`{each.replace('`', '``')}`")
        for each in (name, *error_names(name)[1:])
    )
    nothing = sql.lit(None).cast("double")
    if not is_number:
        return [sql.count(value), sql.lit(0), sql.max(nothing), sql.max(nothing)]
    doubles = [each.cast("double") for each in (value, low, high)]
    value_, low_, high_ = doubles
    known = reduce(and_, map(_is_finite, doubles))
    reach = sql.when(known, sql.greatest(high_ - value_, value_ - low_))
    rough = sql.when(reach > sql.abs(value_) / ROUGH, 1)
    return [sql.count(value), sql.count(rough), sql.min(reach), sql.max(reach)]


def _is_finite(number: Any) -> Any:
    """Return whether a double is a number, and not without end."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 as above

    endless = sql.abs(number) == float("inf")
    return number.isNotNull() & ~sql.isnan(number) & ~endless


def _fours(figures: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what is told of each column."""
    for place in range(0, len(figures), 4):
        yield tuple(figures[place : place + 4])
