"""What the methods of an expression build on: one call made of others."""

from abc import abstractmethod
from typing import Any, Self, TypeVar

from sordino.expressions.base import AbstractExpression
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree, Operation


class AbstractFluent(AbstractExpression):
    """An expression that further ones are built from by operators and methods."""

    tree: AbstractTree
    """What plans hold."""

    @abstractmethod
    def call(self, operation: Operation, *arguments: Any, **options: Any) -> Self:
        """Return a call; an argument is an expression or the value of a literal."""


Fluent = TypeVar("Fluent", bound=AbstractFluent)


def lift(value: Any) -> AbstractTree:
    """Return the tree of an expression, or a value as a literal."""
    match value:
        case AbstractFluent():
            return value.tree
        case AbstractTree():
            return value
        case _:
            return literal(value)
