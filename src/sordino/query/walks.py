"""Ways over a plan: the nodes below one, others below it, and the tables it reads."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sordino.query.nodes import AbstractNode, Source, Unreadable


def with_inputs(node: Any, inputs: tuple[AbstractNode, ...]) -> AbstractNode:
    """Return a node that takes its rows from other nodes."""
    names = ("left", "right") if len(inputs) == 2 else ("child",)
    copy: AbstractNode = replace(node, **dict(zip(names, inputs, strict=False)))
    return copy


def nodes_below(node: AbstractNode) -> Iterator[AbstractNode]:
    """Yield a node and all nodes under it, however deep they lie."""
    waiting = [node]
    while waiting:
        below = waiting.pop()
        yield below
        waiting += below.inputs


def tables_of(node: AbstractNode) -> frozenset[str]:
    """Return the names of the tables whose rows a node takes."""
    return frozenset(
        below.table
        for below in nodes_below(node)
        if isinstance(below, (Source, Unreadable))
    )
