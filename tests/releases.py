"""Hand-made releases, one for each shape a release can have."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sordino.aggregations.intervals import error_names
from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.loss import Loss, PureDP
from sordino.release.release import Release

CONFIDENCE = Fraction(95, 100)
PLAN = "noise: geometric of scale 2\n  count by group\n    table visits"
HOSTILE = (
    "<script>alert(1)</script>",
    "$\\frac{1$ of 5",
    "two\nlines",
    "\x1b[31mred",
    "a very long name of a group that nobody can read to its very end",
    "",
    None,
)


def made(
    keys: dict[str, Any], figures: dict[str, tuple[Any, Any]], loss: Loss | None = None
) -> Release:
    """Return a release of values with standard deviations; intervals are 2 sd wide."""
    groups = {name: pa.array(values) for name, values in keys.items()}
    values = {name: pa.array(given) for name, (given, _) in figures.items()}
    errors: dict[str, pa.Array] = {}
    for name, (given, sd) in figures.items():
        noisy = np.array(given, np.float64)
        wide = np.broadcast_to(np.array(sd, np.float64), noisy.shape)
        shown = np.where(np.isnan(noisy), np.nan, wide)
        bars = (shown, noisy - 2 * wide, noisy + 2 * wide)
        columns = (pa.array(bar, pa.float64(), from_pandas=True) for bar in bars)
        errors |= dict(zip(error_names(name), columns, strict=True))
    return Release(
        table=pa.table({**groups, **values}),
        errors=pa.table({**groups, **errors}),
        keys=tuple(keys),
        confidence=CONFIDENCE,
        loss=loss or ApproxDP("0.5", "5e-7"),
        plan=PLAN,
        notes=("days is clamped to 0 to 30",),
    )


def many(count: int) -> Release:
    """Return a release of many groups with three aggregates."""
    places = np.arange(count)
    sizes = 12_000 / (1 + places) + 40
    return made(
        {"street": [f"street {place:04d}" for place in places]},
        {
            "n": (np.rint(sizes).astype(np.int64).tolist(), 2.8),
            "days": ((sizes * 3.3 + np.sin(places) * 50).tolist(), 31.5),
            "mean days": ((3.3 + np.sin(places)).tolist(), (300 / sizes).tolist()),
        },
        PureDP("1/3"),
    )


def few() -> Release:
    return made(
        {"ward": ["Cardiology", "Maternity", "Oncology"]},
        {"n": ([1340, 120, 77], 2.8), "mean days": ([3.41, 12.2, 8.0], [0.01, 0.4, 1])},
    )


def single() -> Release:
    figures: dict[str, tuple[Any, Any]] = {
        "n": ([1_234_567], 2.8),
        "days": ([4_012_345.678], 42.4),
        "mean days": ([3.25], [0.0003]),
    }
    return made({}, figures, GaussianDP("0.25"))


def hostile() -> Release:
    """Return groups whose names attack the page, the terminal and the picture."""
    count = len(HOSTILE)
    return made(
        {"<b>place</b>": list(HOSTILE)},
        {"$n_{$": ([*range(count - 2), None, -5], 1.5), "<i>&": ([0.5] * count, None)},
    )


def empty() -> Release:
    """Return a release in which no group was large enough."""
    none = pa.array([], pa.string())
    return made({"ward": none}, {"n": (pa.array([], pa.int64()), 1.0)})


def wide() -> Release:
    """Return more columns than fit, under long names, and two keys."""
    figures = {f"a rather long name, number {i}": ([i, 10**i], 2.0) for i in range(9)}
    keys = {"year": [2024, 2025], "a key of a long name": ["x" * 90, None]}
    return made(keys, figures)


RELEASES = {
    "few": few(),
    "thirty": many(30),
    "many": many(1000),
    "single": single(),
    "hostile": hostile(),
    "empty": empty(),
    "wide": wide(),
}
