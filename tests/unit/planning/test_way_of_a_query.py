"""How far a release goes through the source: calls, and what is made on the way."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

import sordino as sd
from tests.batches import for_each

SOURCE: Final = str(Path(sd.__file__).parent)
ROWS: Final[dict[str, list[Any]]] = {
    "id": list(range(40)),
    "g": ["a", "b"] * 20,
    "x": [1.5] * 40,
}
BOUNDED: Final = sd.table("t").enforce(sd.MaxRowsPerID(2))
MOST: Final[dict[str, tuple[Any, int]]] = {
    "a count": (BOUNDED.agg(n=sd.count()), 1_600),
    "a count and a mean by unknown group": (
        BOUNDED.group_by("g").agg(n=sd.count(), m=sd.mean("x", 0, 30, nulls="drop")),
        3_430,
    ),
}
"""A question, and a bound above the calls it takes: 1,565 and 3,394.

Some 150 of these came with alarms that a fresh look confirms and with clocks of
ledgers: a transaction more, and each record is read as it will be before it is written.

The second took 6,547 at first, with two ways that competed to answer it; there are
three. Half of that is the mark: whoever passes it computes something twice.
"""


def calls(query: Any) -> Counter[str]:
    """Return how often each function of the library runs in one release."""
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, sd.ApproxDP(3, "1e-6"))
    budget = sd.ApproxDP("0.5", "5e-8")
    session.release(query, budget)  # what is loaded and kept at first use
    seen: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            seen[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        session.release(query, budget)
    finally:
        sys.setprofile(None)
    return seen


@for_each("question", MOST)
def test_a_release_is_a_short_way(question: str) -> None:
    """One release and one choice of a purchase; no detour of thousands of calls."""
    query, most = MOST[question]
    seen = calls(query)
    probes = seen["probe_room"] + seen["_can_be_read_back"]  # only to see that they fit
    assert seen.total() - probes < most
    assert seen["Release.__post_init__"] == 1
    assert seen["best_purchase"] == 1
    assert seen["plan_text"] == 1
