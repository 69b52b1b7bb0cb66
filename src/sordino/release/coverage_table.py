"""The counts of what a release leaves out: noisy, with their errors.

| column | what |
|---|---|
| `kind` | "unreadable", "cut off" or "clamped" |
| `what` | the column, the limit, or the values and their bounds |
| `counted` | "ids", "rows" or "keys" |
| `count` | how many, noisy: it may be below 0 |
| `sd`, `low`, `high` | its standard deviation and interval |
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sordino.aggregations.intervals import Bars, additive
from sordino.aggregations.measurements import Numbers, draw
from sordino.planning.coverage import in_order
from sordino.planning.price import CONFIDENCE, Price
from sordino.query.passage import Counted
from sordino.release import formatting

if TYPE_CHECKING:
    import pyarrow as pa


def coverage(price: Price, answers: "Sequence[pa.Table]") -> "pa.Table | None":
    """Return noisy counts of what was left out, None where they were not asked for."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if price.request.coverage is None:
        return None
    counts = price.counts
    made = [
        _noisy(price, one, exact)
        for one, exact in zip(counts, in_order(counts, answers), strict=True)
    ]
    numbers = [values[0] for values, _ in made]
    ends = [np.array([float(bars[part][0]) for _, bars in made]) for part in range(3)]
    return pa.table({
        "kind": pa.array([one.kind for one in counts], pa.string()),
        "what": pa.array([one.what for one in counts], pa.string()),
        "counted": pa.array([one.unit for one in counts], pa.string()),
        "count": pa.array(numbers, pa.int64()),
        **{
            name: pa.array(values, pa.float64())
            for name, values in zip(("sd", "low", "high"), ends, strict=True)
        },
    })


def _noisy(price: Price, one: Counted, exact: int) -> tuple[Numbers, Bars]:
    """Return a count with noise, and its error bars."""
    mechanism = price.purchase.coverage[one.part.key]
    (values,) = draw(one.part, mechanism, [np.array([exact])])
    return values, additive(values, one.part.noise(mechanism), CONFIDENCE, 0)


def lines(covered: "pa.Table | None") -> Iterator[str]:
    """Yield a line for each count: what, about how many, and its interval."""
    for row in [] if covered is None else covered.to_pylist():
        low, high = (formatting.number(row[end]) for end in ("low", "high"))
        name = f"{formatting.key(row['what'])} {row['kind']} ({row['counted']})"
        yield f"{name}: about {row['count']:,} ({low} to {high})"
