"""The greatest and the least of some values; what is missing is left out.

They are compared as `<` compares: NaN is greater than all other numbers. All have one
type.
"""

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from sordino.errors import InvalidQuery
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.comparison import order
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_ALIKE: Final = "Write 0.0 for an f64 and 0 for an i64, or cast one of them."
_ORDER: Final = cmp_to_key(order)


def _facts(what: str) -> Callable[..., Column]:
    """Return the facts of one of some values: missing only where all are."""

    def known(*arguments: Argument) -> Column:
        return facts.first(facts.alike(what, arguments, _ALIKE), arguments)

    return known


def _meaning(choose: Callable[..., Value]) -> Callable[..., Value]:
    """Return what chooses among the values that are there."""

    def chosen(*values: Value) -> Value:
        there = [value for value in values if value is not None]
        return choose(there, key=_ORDER) if there else None

    return chosen


GREATEST: Final = Operation("greatest", _facts("greatest"), _meaning(max), strict=False)
LEAST: Final = Operation("least", _facts("least"), _meaning(min), strict=False)

OPERATIONS: Final = (GREATEST, LEAST)


def greatest(self: Fluent, *others: Any) -> Fluent:
    """Return the greatest of the values that are not missing.

    >>> from sordino.expressions.language import col
    >>> col("x").greatest(col("y"), 0).value({"x": -1, "y": None})
    0
    """
    return self.call(GREATEST, self, *_several("greatest", others))


def least(self: Fluent, *others: Any) -> Fluent:
    """Return the least of the values that are not missing.

    >>> from sordino.expressions.language import col
    >>> col("x").least(col("y"), 0).value({"x": -1, "y": None})
    -1
    """
    return self.call(LEAST, self, *_several("least", others))


def _several(what: str, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a value is compared with, refusing nothing at all."""
    if not others:
        raise InvalidQuery(f"{what} needs another value", f"Try .{what}(0).")
    return others
