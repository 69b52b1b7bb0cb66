"""Frames whose rows are the same each time they are computed.

A bound reads its rows more than once, and a task that is run again computes them anew.
Were they others each time, more rows of an id could be kept than the bound allows. So
what is known to change is refused: it can be written to a table first.
"""

from collections.abc import Iterator
from typing import Any, Final

from sordino.errors import InvalidParameter

_CHOOSE: Final = frozenset({
    "GlobalLimit",
    "LimitAll",
    "LocalLimit",
    "Offset",
    "Sample",
    "Tail",
})
"""Nodes of a plan that take rows by where they happen to lie."""
_PICK: Final = frozenset({"AnyValue", "First", "Last"})
"""Totals of a group that are the value of whichever row comes first."""
_REMEDY: Final = (
    "Write it to a table or to Parquet and hand over that, or use "
    "frame.localCheckpoint()."
)


def refuse_unsteady(frame: Any) -> None:
    """Refuse a frame whose rows may be others when they are computed again."""
    if frame.isStreaming:
        raise _unsteady_refusal("is a stream")
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 the way into Java
    if not plan.deterministic():
        raise _unsteady_refusal("is computed with rand(), uuid() or the like")
    for node in _nodes(plan):
        name = node.nodeName()
        if name in _CHOOSE or (name == "Deduplicate" and _is_partial(node)):
            raise _choice_refusal(name)
        if name == "Aggregate":
            _refuse_picks(node.aggregateExpressions())


def _refuse_picks(expressions: Any) -> None:
    """Refuse totals that are the value of one row of many."""
    for expression in _members(expressions):
        if expression.getClass().getSimpleName() in _PICK:
            raise _choice_refusal(f"{expression.prettyName()}()")
        _refuse_picks(expression.children())


def _nodes(plan: Any) -> Iterator[Any]:
    """Yield the nodes of a plan, those of subqueries too."""
    yield plan
    for inside in (plan.children(), plan.subqueriesAll()):
        for node in _members(inside):
            yield from _nodes(node)


def _members(values: Any) -> Iterator[Any]:
    """Yield the values of a sequence of Java's."""
    return (values.apply(place) for place in range(values.size()))


def _is_partial(node: Any) -> bool:
    """Tell whether rows count as the same that differ in some column."""
    return bool(node.keys().size() < node.child().output().size())


def _choice_refusal(name: str) -> InvalidParameter:
    """Return the refusal of a frame that takes one row and might take another."""
    return _unsteady_refusal(f"takes some rows of many by where they lie ({name})")


def _unsteady_refusal(problem: str) -> InvalidParameter:
    """Return the refusal of a frame."""
    return InvalidParameter(
        "source",
        "DataFrame",
        f"{problem}, so its rows are not always the same",
        _REMEDY,
    )
