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
from sordino.display import formatting
from sordino.planning.coverage import exact_counts
from sordino.planning.purchase import Purchase
from sordino.query.passage import Counted
from sordino.sampling.bits import Bits

if TYPE_CHECKING:
    import pyarrow as pa


def coverage_table(
    purchase: Purchase, answers: "Sequence[pa.Table]"
) -> "pa.Table | None":
    """Return noisy counts of what was left out, None where they were not asked for."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if purchase.plan.request.coverage is None:
        return None
    counts = tuple(purchase.plan.coverage.values())
    noisy = [
        _noisy(purchase, count, exact)
        for count, exact in zip(counts, exact_counts(counts, answers), strict=True)
    ]
    numbers = [values[0] for values, _ in noisy]
    ends = [np.array([float(bars[end][0]) for _, bars in noisy]) for end in range(3)]
    return pa.table({
        "kind": pa.array([count.kind for count in counts], pa.string()),
        "what": pa.array([count.what for count in counts], pa.string()),
        "counted": pa.array([count.unit for count in counts], pa.string()),
        "count": pa.array(numbers, pa.int64()),
        **{
            name: pa.array(values, pa.float64())
            for name, values in zip(("sd", "low", "high"), ends, strict=True)
        },
    })


def _noisy(purchase: Purchase, count: Counted, exact: int) -> tuple[Numbers, Bars]:
    """Return a count with noise, and its error bars."""
    measurement = count.measurement
    mechanism = purchase.coverage[measurement.key]
    (values,) = draw(measurement, mechanism, [np.array([exact])], Bits())
    noise, confidence = measurement.noise(mechanism), purchase.plan.request.confidence
    return values, additive(values, noise, confidence, 0)


def coverage_lines(coverage: "pa.Table | None") -> Iterator[str]:
    """Yield a line for each count: what, about how many, and its interval."""
    for row in [] if coverage is None else coverage.to_pylist():
        low, high = (formatting.format_number(row[end]) for end in ("low", "high"))
        name = f"{formatting.format_key(row['what'])} {row['kind']} ({row['counted']})"
        yield f"{name}: about {row['count']:,} ({low} to {high})"
