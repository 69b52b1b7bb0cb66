"""Expressions that are linear functions of one column."""

import math
from collections.abc import Callable, Mapping
from typing import Final

from sordino.expressions import arithmetic, casts
from sordino.expressions.base import AbstractExpression
from sordino.expressions.tree import Call, Col, Literal, Operation
from sordino.schema import NUMBERS

Slope = tuple[str, float]


def slope(expression: AbstractExpression) -> Slope | None:
    """Return the column and the factor of a linear function of one column.

    >>> from sordino.expressions.language import col
    >>> slope((100 - col("n") / 4).tree), slope((col("n") * col("n")).tree)
    (('n', -0.25), None)
    """
    if isinstance(expression, Col):
        return expression.name, 1.0
    if isinstance(expression, Call) and expression.operation in _RULES:
        slope = _RULES[expression.operation](expression)
        return slope if slope is not None and math.isfinite(slope[1]) else None
    return None


def _number(expression: AbstractExpression) -> float | None:
    """Return the value of a literal number."""
    if isinstance(expression, Literal) and expression.type in NUMBERS:
        number = expression.constant
        return None if number is None else float(number)
    return None


def _sum(call: Call) -> Slope | None:
    """Return the slope of a column plus a number."""
    left, other = call.arguments
    if _number(other) is not None:
        return slope(left)
    return slope(other) if _number(left) is not None else None


def _difference(call: Call) -> Slope | None:
    """Return the slope of a column minus a number, or the other way round."""
    left, other = call.arguments
    if _number(other) is not None:
        return slope(left)
    return _scale(slope(other), -1.0) if _number(left) is not None else None


def _product(call: Call) -> Slope | None:
    """Return the slope of a column times a number."""
    left, other = call.arguments
    factor = _number(other)
    if factor is not None:
        return _scale(slope(left), factor)
    return _scale(slope(other), _number(left))


def _quotient(call: Call) -> Slope | None:
    """Return the slope of a column over a number."""
    divisor = _number(call.arguments[1])
    return _scale(slope(call.arguments[0]), 1 / divisor) if divisor else None


def _negative(call: Call) -> Slope | None:
    """Return the slope of a negative."""
    return _scale(slope(call.arguments[0]), -1.0)


def _cast(call: Call) -> Slope | None:
    """Return the slope of a number as f64."""
    return slope(call.arguments[0]) if call.options["to"] == "f64" else None


def _scale(slope: Slope | None, factor: float | None) -> Slope | None:
    """Return a slope times a factor."""
    return None if slope is None or factor is None else (slope[0], slope[1] * factor)


_RULES: Final[Mapping[Operation, Callable[[Call], Slope | None]]] = {
    arithmetic.ADD: _sum,
    arithmetic.SUBTRACT: _difference,
    arithmetic.MULTIPLY: _product,
    arithmetic.DIVIDE: _quotient,
    arithmetic.NEGATE: _negative,
    casts.CAST: _cast,
}
