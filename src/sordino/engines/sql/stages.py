"""A plan in steps: what a database does, and between that Python functions of rows."""

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from sordino.query.nodes import AbstractNode, FlatMap, MapRows
from sordino.query.walks import with_inputs
from sordino.schema import Schema

Function: TypeAlias = MapRows | FlatMap
FUNCTIONS: Final = (MapRows, FlatMap)
"""The kinds of nodes that no database computes."""


@final
@dataclass(frozen=True)
class Made(AbstractNode):
    """Rows that an earlier step has made, known to the engine by its number."""

    number: int
    schema: Schema

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return nothing."""
        return ()

    def describe(self) -> str:
        """Name the step."""
        return f"rows made by step {self.number}"


@final
@dataclass(frozen=True)
class Staged:
    """Functions in the order in which they run, and the rows after the last of them."""

    functions: tuple[Function, ...]
    rows: AbstractNode


def stages_of(node: AbstractNode) -> Staged:
    """Return a plan whose functions are steps: the n-th makes the rows `Made(n)`."""
    functions: list[Function] = []
    last = _resolve(node, functions)
    return Staged(tuple(functions), last)


def _resolve(node: AbstractNode, functions: list[Function]) -> AbstractNode:
    """Return a node over made rows, adding the functions below it."""
    below = tuple(_resolve(child, functions) for child in node.inputs)
    here = with_inputs(node, below)
    match here:
        case MapRows() | FlatMap():
            functions.append(here)
            return Made(len(functions) - 1, here.schema)
        case _:
            return here
