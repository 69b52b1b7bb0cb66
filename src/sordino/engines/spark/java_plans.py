"""Walking plans and expressions, which live in Java."""

from collections.abc import Iterator
from typing import Any


def members(values: Any) -> Iterator[Any]:
    """Yield the values of a sequence of Java's."""
    return (values.apply(place) for place in range(values.size()))


def class_of(value: Any) -> str:
    """Return what the class of a node is called, without its package."""
    return str(value.getClass().getSimpleName())


def nodes(plan: Any) -> Iterator[Any]:
    """Yield the nodes of a plan, those of subqueries too."""
    yield plan
    for inside in (plan.children(), plan.subqueries()):
        for node in members(inside):
            yield from nodes(node)


def frame_of_plan(session: Any, plan: Any) -> Any:
    """Return a frame of a session over a plan."""
    from pyspark.sql import DataFrame  # noqa: PLC0415 only where Spark runs

    classic = session._jvm.org.apache.spark.sql.classic  # noqa: SLF001 into Java
    rows = classic.Dataset.ofRows(session._jsparkSession, plan)  # noqa: SLF001 as above
    return DataFrame(rows, session)


def analysed_plan(frame: Any) -> Any:
    """Return the plan of a frame as it was analysed when the frame was made."""
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 the way into Java
