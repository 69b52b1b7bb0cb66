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
    if symbol == "+" and all(one.type == "text" for one in arguments):
        remedy = "Join texts by .concat(...)."
    if any(one.type in ("date", "time") for one in arguments):
        remedy = "Try .add_days(...), .days_between(...) or .seconds_between(...)."
    facts.require_types(symbol, arguments, NUMBERS, remedy)
    return facts.joint(arguments)


def _sum_facts(symbol: str, *arguments: Argument) -> Column:
    """Return the facts of a sum or a difference: inf - inf is NaN."""
    kind = _numbers(symbol, *arguments)
    nan = facts.any_nan(arguments) or all(map(facts.may_be_infinite, arguments))
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, arguments, nan=nan, lost=lost)


def _add_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a sum."""
    return _sum_facts("+", one, other)


def _subtract_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a difference."""
    return _sum_facts("-", one, other)


def _multiply_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a product: 0 * inf is NaN."""
    kind = _numbers("*", one, other)
    nan = any(
        facts.may_be_infinite(this) and facts.may_be_zero(that)
        for this, that in ((one, other), (other, one))
    )
    nan = nan or facts.any_nan((one, other))
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, (one, other), nan=nan, lost=lost)


def _divide_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a quotient: inf / inf is NaN."""
    _numbers("/", one, other)
    both = facts.may_be_infinite(one) and facts.may_be_infinite(other)
    lost = _BY_ZERO if facts.may_be_zero(other) else None
    nan = both or facts.any_nan((one, other))
    return facts.result("f64", (one, other), nan=nan, lost=lost)


def _floor_divide_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a quotient rounded down: inf // 2 is NaN, as in Python."""
    kind = _numbers("//", one, other)
    lost = _BY_ZERO if facts.may_be_zero(other) else None
    if kind == "i64" and lost is None and other.constant == -1:
        lost = TOO_LARGE
    nan = facts.any_nan((one, other)) or facts.may_be_infinite(one)
    return facts.result(kind, (one, other), nan=nan, lost=lost)


def _modulo_facts(one: Argument, other: Argument) -> Column:
    """Return the facts of a remainder: inf % 2 is NaN."""
    kind = _numbers("%", one, other)
    lost = _BY_ZERO if facts.may_be_zero(other) else None
    nan = facts.any_nan((one, other)) or facts.may_be_infinite(one)
    return facts.result(kind, (one, other), nan=nan, lost=lost)


def _cut_facts(what: str) -> Callable[..., Column]:
    """Return the facts of a division of integers that is cut towards zero."""

    def known(one: Argument, other: Argument) -> Column:
        facts.require_types(what, (one, other), ("i64",), "Write (a / b).floor().")
        lost = _BY_ZERO if facts.may_be_zero(other) else None
        if what == "quotient" and lost is None and other.constant == -1:
            lost = TOO_LARGE
        return facts.result("i64", (one, other), lost=lost)

    return known


def _negate_facts(one: Argument) -> Column:
    """Return the facts of a negation."""
    kind = _numbers("-", one)
    lost = TOO_LARGE if kind == "i64" else None
    return facts.result(kind, (one,), nan=one.column.nan, lost=lost)


def _add(one: Value, other: Value) -> Value:
    """Return one + other."""
    if isinstance(one, int) and isinstance(other, int):
        return fit_64_bits(one + other)
    return float(one) + float(other) + 0.0


def _subtract(one: Value, other: Value) -> Value:
    """Return one - other."""
    if isinstance(one, int) and isinstance(other, int):
        return fit_64_bits(one - other)
    return float(one) - float(other) + 0.0


def _multiply(one: Value, other: Value) -> Value:
    """Return one * other."""
    if isinstance(one, int) and isinstance(other, int):
        return fit_64_bits(one * other)
    return float(one) * float(other) + 0.0


def _divide(one: Value, other: Value) -> Value:
    """Return the quotient of two doubles."""
    return float(one) / float(other) + 0.0 if other else None


def _floor_divide(one: Value, other: Value) -> Value:
    """Return the quotient rounded down."""
    if not other:
        return None
    if isinstance(one, int) and isinstance(other, int):
        return fit_64_bits(one // other)
    dividend, divisor = float(one), float(other)
    if math.isinf(dividend):
        return math.nan
    rest = math.fmod(dividend, divisor)
    down = 1.0 if rest and (rest < 0) != (divisor < 0) else 0.0
    return nearest((dividend - rest) / divisor - down) + 0.0


def _modulo(one: Value, other: Value) -> Value:
    """Return the remainder, with the sign of the divisor."""
    if not other:
        return None
    if isinstance(one, int) and isinstance(other, int):
        return one % other
    return float(one) % float(other) + 0.0


def _quotient(one: Value, other: Value) -> Value:
    """Return the quotient without its fraction."""
    if not other:
        return None
    size = abs(one) // abs(other)
    return fit_64_bits(size if (one < 0) == (other < 0) else -size)


def _remainder(one: Value, other: Value) -> Value:
    """Return the remainder, with the sign of the dividend."""
    if not other:
        return None
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _negate(one: Value) -> Value:
    """Return 0 - one."""
    return fit_64_bits(-one) if isinstance(one, int) else 0.0 - one


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
