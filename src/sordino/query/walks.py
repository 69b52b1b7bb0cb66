"""Ways over a plan: the nodes below one, and the tables that it reads."""

from collections.abc import Iterator

from sordino.query.nodes import AbstractNode, Source, Unreadable


def nodes_below(node: AbstractNode) -> Iterator[AbstractNode]:
    """Yield a node and all nodes under it, however deep they lie."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.inputs


def tables_of(node: AbstractNode) -> frozenset[str]:
    """Return the names of the tables whose rows a node takes."""
    return frozenset(
        one.table for one in nodes_below(node) if isinstance(one, (Source, Unreadable))
    )
