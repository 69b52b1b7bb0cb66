"""How far a release goes through the source: calls, and what is made on the way."""

import sys
from collections import Counter
from collections.abc import Callable
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
    "a count": (BOUNDED.agg(n=sd.count()), 1_760),
    "a count and a mean by unknown group": (
        BOUNDED.group_by("g").agg(n=sd.count(), m=sd.mean("x", 0, 30, nulls="drop")),
        3_730,
    ),
}
"""A question, and a bound above the calls it takes: 1,388 and 3,174.

Some 150 of these came with alarms that a fresh look confirms and with clocks of
ledgers: a transaction more, and each record is read as it will be before it is written.

The second took 6,547 at first, with two ways that competed to answer it; there are
three. Half of that is the mark: whoever passes it computes something twice.
"""


def calls(release: Callable[[], object]) -> tuple[Counter[str], set[str]]:
    """How often each function of the library runs in a second release; its files."""
    release()  # what is loaded and kept at first use
    seen: Counter[str] = Counter()
    files: set[str] = set()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            seen[frame.f_code.co_qualname] += 1
            files.add(frame.f_code.co_filename)

    sys.setprofile(count)
    try:
        release()
    finally:
        sys.setprofile(None)
    probes = ("probe_room", "_can_be_read_back")  # they only see that calls fit
    return Counter({name: seen[name] for name in seen if name not in probes}), files


@for_each("question", MOST)
def test_a_release_is_a_short_way(question: str) -> None:
    """One release and one choice of a purchase; no detour of thousands of calls."""
    query, most = MOST[question]
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, sd.ApproxDP(3, "1e-6"))

    def release() -> None:
        session._desk.earlier._known.clear()  # else the second buys nothing
        session.release(query, sd.ApproxDP("0.5", "5e-8"))

    seen, _ = calls(release)
    assert seen.total() < most
    assert seen["Release.__post_init__"] == 1
    assert seen["best_purchase"] == 1
    assert seen["Purchase.plan_text"] == 1


def test_a_durable_count_by_known_groups_is_a_short_way(tmp_path: Path) -> None:
    """The way of the first page: a ledger in a file, rows protected singly."""
    rows = {"ward": ["a", "b", "c"] * 400, "id": list(range(1200))}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    session = sd.Session({"visits": table}, sd.PureDP(10), ledger=tmp_path / "l.ledger")

    def release() -> None:
        keys = sd.KeySet.from_dict({"ward": ["a", "b", "c"]})
        query = sd.table("visits").group_by(keys).agg(n=sd.count())
        session.release(query, sd.PureDP(1))

    seen, files = calls(release)
    assert seen.total() < 1_880  # 1,859, of which 277 prove the charge
    assert len(files) < 87  # 86, of which one finishes intervals of the table
    assert seen["FileStore.transact"] == 3  # a policy asked for, a charge, an answer
