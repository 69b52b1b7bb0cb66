"""The plan of a statement, read before it runs: each table is read, from first to last.

EXPLAIN tells by which steps a server would come to the rows. A step that is not known
here, and a setting that is not as we set it, are refused: neither is believed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sordino.data.postgres_connection import ServerRefusal
from sordino.engines.postgres.server import PINS, Server

_EXPLAIN: Final = "EXPLAIN (FORMAT JSON, COSTS OFF, SETTINGS) "
_SCANS: Final = frozenset({"Seq Scan", "Sample Scan"})
"""Steps that read a table from its first page to its last."""
_STEPS: Final = frozenset({
    *("Result", "ProjectSet", "Values Scan", "Function Scan", "Table Function Scan"),
    *_SCANS,
    *("Subquery Scan", "CTE Scan", "WorkTable Scan"),
    *("Append", "Merge Append", "Recursive Union", "SetOp", "Unique", "Limit"),
    *("Nested Loop", "Merge Join", "Hash Join", "Hash", "Materialize", "Memoize"),
    *("Sort", "Incremental Sort", "Group", "Aggregate", "WindowAgg"),
    *("Gather", "Gather Merge", "LockRows", "ModifyTable"),
})
"""Steps that make all rows of those below them, as a statement says."""
_LEFT_OUT: Final = "Subplans Removed"


def scanned_tables(
    server: Server, text: str, values: Sequence[Any] = ()
) -> Counter[str]:
    """Return how often each table is read from its first row to its last.

    A plan that reads in another way, by settings of others or by steps that are not
    known here, is refused.
    """
    server.pin()
    ((explained,),) = server.rows(_EXPLAIN + text, values)
    settings = explained[0].get("Settings", {})  # those that are not the default
    steps = list(_steps(explained[0]["Plan"]))
    known = all(step["Node Type"] in _STEPS for step in steps)
    whole = not any(step.get(_LEFT_OUT) for step in steps)
    if not (known and whole and _are_pinned(settings)):
        raise other_plan()
    return Counter(
        step["Relation Name"] for step in steps if step["Node Type"] in _SCANS
    )


def other_plan() -> ServerRefusal:
    """Return the refusal of a plan that is not the one that was written."""
    return ServerRefusal(
        "it would not read all rows of each table from the first to the last, so its "
        "answer would rest on what is declared of them (a constraint, an index, a "
        "partition)"
    )


def reads_whole(scanned: Counter[str], named: Iterable[Counter[str]]) -> bool:
    """Tell whether each table that is named is read with all its parts, or not at all.

    >>> parts = [Counter("ab"), Counter("c")]
    >>> reads_whole(Counter("ab"), parts), reads_whole(Counter("ac"), parts)
    (True, False)
    """
    rest = +scanned
    for parts in named:
        while parts <= rest:
            rest -= parts
    return not rest


def _are_pinned(settings: Mapping[str, str]) -> bool:
    # EXPLAIN lists what is not at its default: of our pins only enable_seqscan is
    return all(settings.get(name, "on") == value for name, value in PINS.items())


def _steps(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _steps(below)
