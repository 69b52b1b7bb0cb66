"""Sums, products and quotients of numbers.

Integers stay integers as long as they fit into 64 bits, and are missing beyond. With an
f64 in the operation all is f64: IEEE doubles, an i64 being taken as the nearest one,
and -0.0 as 0.0. `/` always gives f64. Nothing divided by zero has an answer. `//` and
`%` round down, as in Python; `quotient` and `remainder` cut towards zero, as in SQL.
"""

import math
from collections.abc import Callable
from typing import Any, Final

from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import LEAST, MOST
from sordino.expressions.tree import Argument, Operation
from sordino.schema import NUMBERS, Column

_CAST: Final = 'Change the type of one with .cast("f64") or .cast("i64").'
TOO_LARGE: Final = "an integer beyond 64 bits has no answer"
_BY_ZERO: Final = "a division by zero has no answer"


def fit_64_bits(number: int) -> int | None:
    """Return an integer that fits into 64 bits."""
    return number if LEAST <= number <= MOST else None


def _numbers(symbol: str, *arguments: Argument) -> str:
    """Return the type in which numbers meet, or refuse what is no number."""
    remedy = _CAST
    if symbol == "+" and all(argument.type == "text" for argument in arguments):
        remedy = "Join texts by .concat(...)."
    if any(argument.type in ("date", "time") for argument in arguments):
        remedy = "Try .add_days(...), .days_between(...) or .seconds_between(...)."
    facts.require_types(symbol, arguments, NUMBERS, remedy)
    return facts.joint(arguments)


def _sum_facts(symbol: str, *arguments: Argument) -> Column:
    """Return the facts of a sum or a difference: inf - inf is NaN."""
    kind = _numbers(symbol, *arguments)
    nan = facts.any_nan(arguments) or all(map(facts.may_be_infinite, arguments))
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, arguments, nan=nan, lost=lost)


def _add_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a sum."""
    return _sum_facts("+", left, right)


def _subtract_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a difference."""
    return _sum_facts("-", left, right)


def _multiply_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a product: 0 * inf is NaN."""
    kind = _numbers("*", left, right)
    nan = any(
        facts.may_be_infinite(this) and facts.may_be_zero(that)
        for this, that in ((left, right), (right, left))
    )
    nan = nan or facts.any_nan((left, right))
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, (left, right), nan=nan, lost=lost)


def _divide_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a quotient: inf / inf is NaN."""
    _numbers("/", left, right)
    both = facts.may_be_infinite(left) and facts.may_be_infinite(right)
    lost = _BY_ZERO if facts.may_be_zero(right) else None
    nan = both or facts.any_nan((left, right))
    return facts.result("f64", (left, right), nan=nan, lost=lost)


def _floor_divide_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a quotient rounded down: inf // 2 is NaN, as in Python."""
    kind = _numbers("//", left, right)
    lost = _BY_ZERO if facts.may_be_zero(right) else None
    if kind == "i64" and lost is None and right.constant == -1:
        lost = TOO_LARGE
    nan = facts.any_nan((left, right)) or facts.may_be_infinite(left)
    return facts.result(kind, (left, right), nan=nan, lost=lost)


def _modulo_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a remainder: inf % 2 is NaN."""
    kind = _numbers("%", left, right)
    lost = _BY_ZERO if facts.may_be_zero(right) else None
    nan = facts.any_nan((left, right)) or facts.may_be_infinite(left)
    return facts.result(kind, (left, right), nan=nan, lost=lost)


def _cut_facts(what: str) -> Callable[..., Column]:
    """Return the facts of a division of integers that is cut towards zero."""

    def known(left: Argument, right: Argument) -> Column:
        facts.require_types(what, (left, right), ("i64",), "Write (a / b).floor().")
        lost = _BY_ZERO if facts.may_be_zero(right) else None
        if what == "quotient" and lost is None and right.constant == -1:
            lost = TOO_LARGE
        return facts.result("i64", (left, right), lost=lost)

    return known


def _negate_facts(argument: Argument) -> Column:
    """Return the facts of a negation."""
    kind = _numbers("-", argument)
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, (argument,), nan=argument.column.nan, lost=lost)


def _add(left: Value, right: Value) -> Value:
    """Return one + other."""
    if isinstance(left, int) and isinstance(right, int):
        return fit_64_bits(left + right)
    return float(left) + float(right) + 0.0


def _subtract(left: Value, right: Value) -> Value:
    """Return one - other."""
    if isinstance(left, int) and isinstance(right, int):
        return fit_64_bits(left - right)
    return float(left) - float(right) + 0.0


def _multiply(left: Value, right: Value) -> Value:
    """Return one * other."""
    if isinstance(left, int) and isinstance(right, int):
        return fit_64_bits(left * right)
    return float(left) * float(right) + 0.0


def _divide(left: Value, right: Value) -> Value:
    """Return the quotient of two doubles."""
    return float(left) / float(right) + 0.0 if right else None


def _floor_divide(left: Value, right: Value) -> Value:
    """Return the quotient rounded down."""
    if not right:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return fit_64_bits(left // right)
    dividend, divisor = float(left), float(right)
    if math.isinf(dividend):
        return math.nan
    rest = math.fmod(dividend, divisor)
    down = 1.0 if rest and (rest < 0) != (divisor < 0) else 0.0
    return nearest((dividend - rest) / divisor - down) + 0.0


def _modulo(left: Value, right: Value) -> Value:
    """Return the remainder, with the sign of the divisor."""
    if not right:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return float(left) % float(right) + 0.0


def _quotient(left: Value, right: Value) -> Value:
    """Return the quotient without its fraction."""
    if not right:
        return None
    size = abs(left) // abs(right)
    return fit_64_bits(size if (left < 0) == (right < 0) else -size)


def _remainder(left: Value, right: Value) -> Value:
    """Return the remainder, with the sign of the dividend."""
    if not right:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _negate(number: Value) -> Value:
    """Return 0 - one."""
    return fit_64_bits(-number) if isinstance(number, int) else 0.0 - number


def nearest(number: float) -> float:
    """Return the nearest integer, halves away from zero, as a double."""
    if not math.isfinite(number) or number.is_integer():
        return number
    down = float(math.floor(number))
    half = number - down
    return down + (half > 0.5 or (half == 0.5 and number > 0))


ADD: Final = Operation("add", _add_facts, _add, symbol="+")
SUBTRACT: Final = Operation("subtract", _subtract_facts, _subtract, symbol="-")
MULTIPLY: Final = Operation("multiply", _multiply_facts, _multiply, symbol="*")
DIVIDE: Final = Operation("divide", _divide_facts, _divide, copies=2, symbol="/")
FLOOR_DIVIDE: Final = Operation(
    "floor_divide", _floor_divide_facts, _floor_divide, copies=8, symbol="//"
)
MODULO: Final = Operation("modulo", _modulo_facts, _modulo, copies=6, symbol="%")
QUOTIENT: Final = Operation("quotient", _cut_facts("quotient"), _quotient)
REMAINDER: Final = Operation("remainder", _cut_facts("remainder"), _remainder)
NEGATE: Final = Operation("negate", _negate_facts, _negate, symbol="-")

OPERATIONS: Final = (
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    FLOOR_DIVIDE,
    MODULO,
    QUOTIENT,
    REMAINDER,
    NEGATE,
)


def add(self: Fluent, other: Any) -> Fluent:
    """Return the sum."""
    return self.call(ADD, self, other)


def add_to(self: Fluent, other: Any) -> Fluent:
    """Return the sum, this one last."""
    return self.call(ADD, other, self)


def subtract(self: Fluent, other: Any) -> Fluent:
    """Return the difference."""
    return self.call(SUBTRACT, self, other)


def subtract_from(self: Fluent, other: Any) -> Fluent:
    """Return the difference, this one last."""
    return self.call(SUBTRACT, other, self)


def multiply(self: Fluent, other: Any) -> Fluent:
    """Return the product."""
    return self.call(MULTIPLY, self, other)


def multiply_to(self: Fluent, other: Any) -> Fluent:
    """Return the product, this one last."""
    return self.call(MULTIPLY, other, self)


def divide(self: Fluent, other: Any) -> Fluent:
    """Return the quotient in f64; by zero there is none."""
    return self.call(DIVIDE, self, other)


def divide_into(self: Fluent, other: Any) -> Fluent:
    """Return the quotient, this one last."""
    return self.call(DIVIDE, other, self)


def floor_divide(self: Fluent, other: Any) -> Fluent:
    """Return the quotient rounded down; by zero there is none."""
    return self.call(FLOOR_DIVIDE, self, other)


def floor_divide_into(self: Fluent, other: Any) -> Fluent:
    """Return the quotient rounded down, this one last."""
    return self.call(FLOOR_DIVIDE, other, self)


def modulo(self: Fluent, other: Any) -> Fluent:
    """Return the remainder, with the sign of the divisor; by zero there is none."""
    return self.call(MODULO, self, other)


def modulo_into(self: Fluent, other: Any) -> Fluent:
    """Return the remainder, this one last."""
    return self.call(MODULO, other, self)


def quotient(self: Fluent, other: Any) -> Fluent:
    """Return the quotient of integers cut towards zero, as SQL has it.

    >>> from sordino.expressions.language import col
    >>> col("x").quotient(2).value({"x": -7}), (col("x") // 2).value({"x": -7})
    (-3, -4)
    """
    return self.call(QUOTIENT, self, other)


def remainder(self: Fluent, other: Any) -> Fluent:
    """Return the remainder of integers with the sign of the dividend, as SQL has it.

    >>> from sordino.expressions.language import col
    >>> col("x").remainder(2).value({"x": -7}), (col("x") % 2).value({"x": -7})
    (-1, 1)
    """
    return self.call(REMAINDER, self, other)


def negate(self: Fluent) -> Fluent:
    """Return the negative; that of -2**63 does not exist."""
    return self.call(NEGATE, self)
