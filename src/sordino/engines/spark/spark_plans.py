"""What Spark is about to run is read: not what it was told, but what it made of it.

| leaf of an executed plan | is let through |
|---|---|
| a scan of files | if it is ours, has no filter, and takes no bucket for a place |
| rows of an RDD | if nothing is told of their places |
| rows that are kept or cached | if they were made so |
| values, ranges | always |
| all others | if the owner answers for the table that they are of |

A filter on folders stays: its rows have the value of the folder, whatever a file says.
"""

from collections.abc import Iterator
from typing import Any, Final

from sordino.engines.spark.java_plans import class_of, members
from sordino.engines.spark.rebuilding import MARK
from sordino.errors import EngineUnavailable

_VALUES: Final = frozenset({
    "EmptyRelationExec",
    "LocalTableScanExec",
    "OneRowRelationExec",
    "RangeExec",
})
_NO_PLACE: Final = frozenset({"SinglePartition$", "UnknownPartitioning"})


def refuse_belief(frame: Any, *, answered_for: bool) -> None:
    """Refuse a frame of ours whose plan is not what we wrote; no row is read."""
    plan = frame._jdf.queryExecution().executedPlan()  # noqa: SLF001 the way into Java
    for leaf in _leaves(plan):
        problem = _problem(leaf, answered_for=answered_for)
        if problem:
            raise EngineUnavailable(
                f"Spark would run another plan than the one that was written: {problem}"
            )


def _leaves(plan: Any) -> Iterator[Any]:
    """Yield what a plan reads, in subqueries and under kept rows too."""
    inside = plan.subqueriesAll()
    for part in (plan, *members(inside)):
        for leaf in members(part.collectLeaves()):
            match class_of(leaf):
                case "AdaptiveSparkPlanExec":
                    yield from _leaves(leaf.initialPlan())
                case "InMemoryTableScanExec":
                    yield from _leaves(leaf.relation().cachedPlan())
                case _:
                    yield leaf


def _problem(leaf: Any, *, answered_for: bool) -> str:
    """Return what a leaf believes, "" if nothing."""
    match class_of(leaf):
        case "FileSourceScanExec":
            return _problem_of_files(leaf)
        case "RDDScanExec":
            if class_of(leaf.outputPartitioning()) in _NO_PLACE:
                return ""
            return "the places of rows are taken for known"
        case name if name in _VALUES or answered_for:
            return ""
        case name:
            return f"it reads by {name}"


def _problem_of_files(scan: Any) -> str:
    """Return what a scan believes of files, "" if nothing."""
    if not scan.relation().options().contains(MARK):
        return "files are read by a session that is not ours"
    if scan.bucketedScan() or scan.relation().bucketSpec().isDefined():
        return "a bucket is taken for a place"
    return "" if scan.pushedDownFilters().isEmpty() else "a filter reaches the files"
