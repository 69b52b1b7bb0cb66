"""A plan as a tree that people read: the answers, their rows and their noise."""

from collections.abc import Iterator

from sordino.display.formatting import format_percent
from sordino.planning.plan import Plan
from sordino.planning.purchase import Purchase
from sordino.query.nodes import AbstractNode


def plan_text(purchase: Purchase) -> str:
    """Return the answers, their noise, their groups and their rows, one line each."""
    plan, request = purchase.plan, purchase.plan.request
    lines = []
    if purchase.selection is not None:
        verb = "keep groups that pass"
        if request.few is not None:
            verb = f"rank by {request.few.by!r}:"
        lines.append(f"{verb} {purchase.selection!r}")
    for place, (name, aggregation) in enumerate(request.columns):
        noise = ", ".join(map(repr, purchase.mechanisms[place]))
        lines.append(f"{name} = {aggregation!r} with {noise}")
    for key, counted in plan.coverage.items():
        lines.append(f"{counted} with {purchase.coverage[key]!r}")
    if request.minimum is not None:
        lines.append(
            f"leave out groups below {float(request.minimum):g}, by noisy count"
        )
    lines.append(group_line(plan))
    return "\n".join([*lines, *node_lines(plan.relation.node, "")])


def rank_lines(purchase: Purchase) -> Iterator[str]:
    """Yield how sharply the first few groups are told apart, if they are chosen."""
    few, first = purchase.plan.request.few, purchase.first
    if few is None or first is None:
        return
    confidence = purchase.plan.request.confidence
    distance = first.distance_apart(float(confidence))
    yield (
        f"rank by {few.by!r}: of two groups {distance:.3g} apart "
        f"the greater comes first with a chance of {format_percent(confidence)}"
    )


def group_line(plan: Plan) -> str:
    """Return which groups there are."""
    request = plan.request
    sorts = {"unknown": request.unknown, "known": request.known_columns}
    groups = [
        f"{', '.join(map(repr, names))} ({sort} keys)"
        for sort, names in sorts.items()
        if names
    ]
    return f"group by {', '.join(groups)}" if groups else "all rows together"


def node_lines(node: AbstractNode, indent: str) -> Iterator[str]:
    """Yield a line for each node, the rows it takes below it."""
    yield f"{indent}└─ {node.describe()}"
    for source in node.inputs:
        yield from node_lines(source, indent + "   ")
