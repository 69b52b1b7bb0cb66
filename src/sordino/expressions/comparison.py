"""Comparisons: with a missing value they are missing, as in SQL.

NaN equals itself and is greater than every other number, so that any two values of a
type have an order. An i64 beside an f64 is taken as the nearest double: 2**53 + 1
equals 2.0**53. Texts compare code point by code point, and False is less than True.
"""

import math
from collections.abc import Callable
from typing import Any, Final

from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_REMEDY: Final = (
    "Cast one of them, or write a date as datetime.date(2026, 1, 31) and a time as "
    "datetime.datetime(...)."
)


def order(left: Value, right: Value) -> int:
    """Return -1, 0 or 1: how two values of a type compare, or two numbers.

    >>> order(math.nan, math.inf), order(2**53 + 1, 2.0**53)
    (1, 0)
    """
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) - math.isnan(right)
    return int(left > right) - int(left < right)


def _comparison(name: str, symbol: str, holds: Callable[[int], bool]) -> Operation:
    """Return the operation that asks something of an order."""

    def known(left: Argument, right: Argument) -> Column:
        facts.comparable(symbol, (left, right), _REMEDY)
        return facts.result("bool", (left, right))

    def meaning(left: Value, right: Value) -> Value:
        return holds(order(left, right))

    return Operation(name, known, meaning, symbol=symbol)


EQUAL: Final = _comparison("equal", "==", lambda sign: sign == 0)
UNEQUAL: Final = _comparison("unequal", "!=", lambda sign: sign != 0)
LESS: Final = _comparison("less", "<", lambda sign: sign < 0)
AT_MOST: Final = _comparison("at_most", "<=", lambda sign: sign <= 0)
GREATER: Final = _comparison("greater", ">", lambda sign: sign > 0)
AT_LEAST: Final = _comparison("at_least", ">=", lambda sign: sign >= 0)

OPERATIONS: Final = (EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST)


def equal(self: Fluent, other: Any) -> Fluent:
    """Return whether the values are equal."""
    return self.call(EQUAL, self, other)


def unequal(self: Fluent, other: Any) -> Fluent:
    """Return whether the values differ."""
    return self.call(UNEQUAL, self, other)


def less(self: Fluent, other: Any) -> Fluent:
    """Return whether this value is the lesser."""
    return self.call(LESS, self, other)


def at_most(self: Fluent, other: Any) -> Fluent:
    """Return whether this value is not the greater."""
    return self.call(AT_MOST, self, other)


def greater(self: Fluent, other: Any) -> Fluent:
    """Return whether this value is the greater."""
    return self.call(GREATER, self, other)


def at_least(self: Fluent, other: Any) -> Fluent:
    """Return whether this value is not the lesser."""
    return self.call(AT_LEAST, self, other)
