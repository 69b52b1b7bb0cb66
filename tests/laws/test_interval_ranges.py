"""No interval extends to where the exact answer cannot be, by public facts alone.

Groups of 80 rows, which show, of one row and of none, with noise far larger than those:
without the cut to the public range many intervals would leave it.
"""

import math
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.aggregations import sum as sums
from tests.batches import for_each, sampled

GROUPS: Final = 60
BUDGETS: Final[dict[str, Any]] = {
    "laplace": sd.ApproxDP("0.5", "1e-2"),
    "gaussian": sd.ApproxDP("0.5", "1e-2"),
}
FACTS: Final = {
    "x": sd.Column("f64", nullable=False, nan=False),
    "k": sd.Column("i64", nullable=False),
    "y": sd.Column("f64", nan=False),
}
ROWS: Final = {
    "g": np.arange(GROUPS).repeat([80, 1] * (GROUPS // 2)).tolist(),
    "h": ([1, 2] * 41)[:81] * (GROUPS // 2),
    "x": [4.0] * (81 * GROUPS // 2),
    "k": [4] * (81 * GROUPS // 2),
    "y": ([None, 4.0] * 41)[:81] * (GROUPS // 2),
}
INF: Final = math.inf
RANGES: Final[dict[str, tuple[Any, tuple[float, float], tuple[float, float]]]] = {
    "count": (sd.count(), (0, INF), (1, INF)),
    "distinct": (sd.count_distinct("k"), (0, INF), (1, INF)),
    "distinct, some missing": (sd.count_distinct("y"), (0, INF), (0, INF)),
    "sum": (sd.sum("x", 2, 9), (0, INF), (2, INF)),
    "sum of integers": (sd.sum("k", 2, 9), (0, INF), (2, INF)),
    "sum below zero": (sd.sum("x", -9, -1), (-INF, 0), (-INF, -1)),
    "sum, some missing": (sd.sum("y", 2, 9, nulls="drop"), (0, INF), (0, INF)),
    "sum on both sides": (sd.sum("x", -1, 9), (-INF, INF), (-INF, INF)),
    "mean": (sd.mean("x", 2, 9), (2, 9), (2, 9)),
    "variance": (sd.variance("x", 2, 9), (0, 49 / 4), (0, 49 / 4)),
    "variance of a sample": (
        sd.variance("x", 2, 9, ddof=1),
        (0, 49 / 2),
        (0, 49 / 2),
    ),
    "deviation": (sd.stdev("x", 2, 9), (0, 7 / 2), (0, 7 / 2)),
}
"""Questions, where answers can be, and where if each group has a row."""
KEYS: Final[dict[str, tuple[Any, ...]]] = {
    "known": (sd.KeySet.from_dict({"g": list(range(2 * GROUPS))}),),
    "unknown": ("g",),
    "in part": ("g", sd.KeySet.from_dict({"h": [1, 2, 3]})),
}


def beyond(name: str, keys: str, noise: Any, *beside: str) -> int:
    """Return how many ends of intervals lie where no exact answer can be."""
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow(), columns=FACTS)
    session = sd.Session({"t": table}, sd.ApproxDP(100, "0.9"), engine="memory")
    columns = {other: RANGES[other][0] for other in (name, *beside)}
    request = sd.table("t").group_by(*KEYS[keys]).agg(noise=noise, **columns)
    release = session.release(request, BUDGETS[noise], confidence="0.99")
    assert len(release) > 0
    least, most = RANGES[name][2 if keys == "unknown" else 1]
    low, high = (release.errors[f"{name} {end}"].to_numpy() for end in ("low", "high"))
    slack = 1e-9
    return int(((low < least - slack) | (high > most + slack)).sum())


@sampled(16, 16)
@for_each("noise", BUDGETS)
@for_each("keys", KEYS)
@for_each("name", RANGES)
def test_intervals_stay_where_answers_can_be(name: str, keys: str, noise: str) -> None:
    assert beyond(name, keys, noise) == 0
    if name not in {"count", "mean"}:
        assert beyond(name, keys, noise, "count", "mean") == 0


def test_an_interval_that_leaves_the_range_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The planted mutant: sums of positive values with intervals below zero."""
    monkeypatch.setattr(sums, "_ends_of_sums", lambda *_: (-INF, INF))
    assert beyond("sum", "known", "laplace") > 0
