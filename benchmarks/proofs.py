"""The kernel: what deriving a price anew costs before each charge, and in a ledger."""

import math
import time
from typing import Any, Final

import sordino as sd
from benchmarks.frame import Figure, Row
from sordino.kernel import checker

ROUNDS: Final = 20
VISITS: Final = sd.table("visits").enforce(
    sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 3)
)
TEN: Final[dict[str, Any]] = {
    "n": sd.count(),
    "people": sd.count_ids(),
    "days": sd.sum("days", 0, 30),
    "day": sd.mean("days", 0, 30),
    "costs": sd.sum("cost", 0, 9, nulls=0),
    "cost": sd.mean("cost", 0, 9, nulls=0),
    "spread": sd.variance("cost", 0, 9, nulls=0),
    "middle": sd.median("days", 0, 30),
    "longest": sd.max("days", 0, 30),
    "wards": sd.count_distinct("ward"),
}
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
BUDGET: Final = sd.ApproxDP(1, "1e-6")


def session() -> sd.Session:
    """Return a session whose rows are never read."""
    rows = {"person": [1], "ward": ["A"], "days": [2], "cost": [1.5]}
    private = sd.PrivateTable(rows, protects=sd.AddRowsWithID("person"))
    return sd.Session({"visits": private}, BUDGET)


def ten_columns(by: Any) -> float:
    """Return the milliseconds of the proof of ten columns."""
    return least_ms(session().price(VISITS.group_by(by).agg(**TEN), BUDGET).proof)


def composed() -> float:
    """Return the milliseconds of forty questions whose curves are composed."""
    wards = VISITS.group_by(WARDS)
    medians = {f"m{i}": wards.agg(m=sd.median("days", 0, 30 + i)) for i in range(20)}
    sums = {f"s{i}": wards.agg(s=sd.sum("days", 0, 30 + i)) for i in range(20)}
    return least_ms(session().price_all(medians | sums, BUDGET).proof)


def least_ms(proof: str) -> float:
    """Return the milliseconds of the fastest of several checks, nothing kept."""
    best = math.inf
    for _ in range(ROUNDS):
        checker.composed_delta.cache_clear()
        start = time.process_time()
        checker.check.__wrapped__(proof)
        best = min(best, time.process_time() - start)
    return 1_000 * best


ROWS: tuple[Row, ...] = (
    Figure(
        what="kernel: the proof of ten columns",
        figure=lambda: ten_columns(WARDS),
        unit="ms",
        floor=5,
        goal=2,
    ),
    Figure(
        what="kernel: the proof of ten columns of unknown groups",
        figure=lambda: ten_columns("ward"),
        unit="ms",
        floor=5,
        goal=2,
    ),
    Figure(
        what="kernel: forty questions whose curves are composed",
        figure=composed,
        unit="ms",
        floor=1_000,
        goal=200,
    ),
)
