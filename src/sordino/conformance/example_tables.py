"""Small tables that hold what engines stumble over, and how answers are compared."""

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from sordino.engines.base import AbstractEngine
from sordino.query.nodes import Source
from sordino.query.question import Question
from sordino.sources.plain_values import sort_values, values_of

NAN: Final = math.nan
ODD: Final = ('a"b;--', "", "a.b", "select", "line\nbreak", "A.B", "$salt", "c0")

VISITS: Final = pa.table({
    "id": pa.array([1, 1, 1, 1, 2, 2, 3, None, None, None, 4, 4], pa.int64()),
    "ward": ["a", "b", "b", "c", "a", None, "é", "a", "a", "b", "e\u0301", "e\u0301"],
    "days": pa.array([
        1.0,
        -0.0,
        0.0,
        NAN,
        -NAN,
        None,
        math.inf,
        2.5,
        2.5,
        -1e300,
        3.0,
        3.0,
    ]),
    "ok": [True, False, None, True, True, True, False, None, True, False, True, True],
    "born": pa.array([
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
        None,
        *[dt.date(2000, 2, 29)] * 9,
    ]),
    "seen": pa.array(
        [*range(11), None],
        pa.timestamp("us"),
    ),
    "codes": [[1, 2, 2], [], None, [3], [4, None], [5], [6], [7], [8], [9], [1], [1]],
})
WARDS: Final = pa.table({
    "ward": ["a", "a", "b", None, "é", "z"],
    "days": pa.array([0.0, NAN, 2.5, 1.0, math.inf, 7.0]),
    "beds": [10, 11, 12, 13, 14, 15],
})
STRANGE: Final = pa.table(
    [pa.array([n, n, None, 7]) for n in range(len(ODD))], names=list(ODD)
)
TABLES: Final[Mapping[str, pa.Table]] = {
    "visits": VISITS,
    "wards": WARDS,
    "beds": WARDS.select(["ward", "beds"]),
    "rates": WARDS.select(["days", "beds"]),
    "strange": STRANGE,
    "empty": VISITS.slice(0, 0),
}

Sources = Mapping[str, Source]


def open_tables(engine: AbstractEngine) -> Sources:
    """Open the tables of the cases."""
    return {
        name: Source(name, engine.open(name, table, {}))
        for name, table in TABLES.items()
    }


def sortable_rows(answer: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of an answer as values that compare as groups do."""
    if not answer.num_columns:
        return [()] * answer.num_rows
    columns = [values_of(column.combine_chunks()) for column in answer.columns]
    return [sort_values(row) for row in zip(*columns, strict=True)]


def comparable_answer(question: Question, answer: pa.Table) -> tuple[Any, ...]:
    """Return an answer as what must be equal for any two engines."""
    rows = sortable_rows(answer)
    return (answer.schema, rows if question.keys is not None else sorted(rows))
