"""Plans over rows that are kept: the highest bounds become leaves.

What a bound keeps is a function of the plan below it, whatever is asked above. So two
questions whose plans are the same up to there are about the same rows, which an engine
can make once (docs/proofs/kept-rows.md).
"""

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Final

from sordino.expressions.base import AbstractExpression
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    with_inputs,
)
from sordino.query.pruning import prune

MOST: Final = 8
"""Of how many plans an engine keeps the rows; the ones asked longest ago make room."""


def with_kept_rows(
    node: AbstractNode, is_kept: Callable[[AbstractNode], bool]
) -> AbstractNode:
    """Return a plan with leaves for the rows of its highest bounds, in all columns.

    Who is above a limit is counted of rows that are not bounded, and not kept. Bounds
    of which `is_kept` says no stay in the plan.
    """
    match node:
        case KeepRows() | KeepGroups() | KeepUnique():
            rows = prune(node, node.schema.names)
            return Kept(rows, node.schema) if is_kept(rows) else node
        case Crowded():
            return node
        case _:
            below = (with_kept_rows(one, is_kept) for one in node.inputs)
            return with_inputs(node, tuple(below))


def mark_of(part: Any) -> Hashable:
    """Return what plans share that have the same rows; a plan has to outlive its mark.

    Expressions go by their words, versions of columns do not count, and what has no
    form of its own (a function, a table) is the same if it is that very object.

    >>> from sordino.expressions.language import col
    >>> mark_of(col("x") > 1) == mark_of(col("x") > 1)
    True
    """
    match part:
        case AbstractExpression():
            return repr(part.words)
        case tuple():
            return tuple(mark_of(one) for one in part)
        case None | bool() | int() | str():
            return type(part), part
        case _ if is_dataclass(part) and not callable(part):
            held = (getattr(part, one.name) for one in fields(part) if one.compare)
            return type(part), *(mark_of(one) for one in held)
        case _:
            return id(part)
