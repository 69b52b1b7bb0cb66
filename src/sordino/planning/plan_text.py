"""A plan as a tree that people read: what is asked, of which rows, with which noise."""

from typing import TYPE_CHECKING

from sordino.query.nodes import AbstractNode

if TYPE_CHECKING:
    from sordino.planning.price import Price


def tree(price: "Price") -> str:
    """Return the answers, their noise, their groups and their rows, one line each."""
    lines = []
    if price.purchase.selection is not None:
        lines.append(f"keep groups that pass {price.purchase.selection!r}")
    for place, (name, asked) in enumerate(price.request.columns):
        noise = ", ".join(map(repr, price.purchase.mechanisms(place)))
        lines.append(f"{name} = {asked!r} with {noise}")
    for key, (one, _) in price.purchase.plan.coverage.items():
        noise = repr(price.purchase.coverage[key])
        lines.append(f"{one} with {noise}")
    by = ", ".join(map(repr, price.request.by))
    known = "known" if price.request.keyset is not None else "unknown"
    lines.append(f"group by {by} ({known} keys)" if by else "all rows together")
    return "\n".join([*lines, *_nodes(price.relation.node, "")])


def _nodes(node: AbstractNode, indent: str) -> list[str]:
    """Return a line for each node, the rows it takes below it."""
    lines = [f"{indent}└─ {node.describe()}"]
    for one in node.inputs:
        lines += _nodes(one, indent + "   ")
    return lines
