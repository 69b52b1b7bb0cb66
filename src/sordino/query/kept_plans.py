"""Plans over rows that are kept: the highest bounds become leaves.

What a bound keeps is a function of the plan below it, whatever is asked above. So two
questions whose plans are the same up to there are about the same rows, which an engine
can make once (docs/proofs/kept-rows.md).
"""

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Final, final

from sordino.expressions.base import AbstractExpression
from sordino.query.held import function_words
from sordino.query.kept import Kept
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    KeepGroups,
    KeepRows,
    KeepUnique,
)
from sordino.query.pruning import prune
from sordino.query.walks import with_inputs
from sordino.schema import Schema

MOST: Final = 8
"""Of how many plans an engine keeps the rows; the ones asked longest ago make room."""


def with_kept_rows(
    node: AbstractNode, name_of: Callable[[AbstractNode], str | None]
) -> AbstractNode:
    """Return a plan with leaves for the rows of its highest bounds, in all columns.

    Who is above a limit is counted of rows that are not bounded, and not kept. Bounds
    for which there is no name stay in the plan.
    """
    match node:
        case KeepRows() | KeepGroups() | KeepUnique():
            rows = prune(node, node.schema.names)
            name = name_of(rows)
            return node if name is None else Kept(rows, name, node.schema)
        case Crowded():
            return node
        case _ if node.inputs:
            below = tuple(with_kept_rows(source, name_of) for source in node.inputs)
            changed = any(
                new is not old for new, old in zip(below, node.inputs, strict=True)
            )
            return with_inputs(node, below) if changed else node
        case _:
            return node


@final
class PlanNames:
    """Names for plans: those with the same rows have the same one."""

    def __init__(self) -> None:
        """Start with none."""
        self._plans: dict[Hashable, tuple[str, AbstractNode]] = {}

    def name(self, rows: AbstractNode) -> str:
        """Return the name of a plan, always the same one."""
        mark = mark_of(rows)
        if mark not in self._plans:
            self._plans[mark] = (f"k{len(self._plans)}", rows)
        return self._plans[mark][0]


def mark_of(part: Any) -> Hashable:
    """Return what plans share that have the same rows; a plan has to outlive its mark.

    Expressions go by their words, versions of columns do not count, and what has no
    form of its own (a function, a table) is the same if it is that very object.

    >>> from sordino.expressions.language import col
    >>> mark_of(col("x") > 1) == mark_of(col("x") > 1)
    True
    """
    match part:
        case Schema():
            return part  # equal by names, types and facts
        case AbstractExpression():
            return repr(part.words)
        case tuple():
            return tuple(map(mark_of, part))
        case None | bool() | int() | str():
            return type(part), part
        case _ if is_dataclass(part) and not callable(part):
            values = [
                getattr(part, field.name) for field in fields(part) if field.compare
            ]
            return type(part), *map(mark_of, values)
        case _:
            return id(part), does_now(part) if callable(part) else None


def does_now(function: Callable[..., Any]) -> Hashable:
    """Return what functions share that do the same; one that cannot be read is alone.

    The globals and the closure of one function may change between two questions.
    """
    words = function_words(function)
    return object() if isinstance(words, Exception) else repr(words)
