"""Sums, products, quotients, roundings, clamps.

Integers stay integers as long as they fit into 64 bits, and are missing beyond. With an
f64 in the operation all is f64: IEEE doubles, an i64 being taken as the nearest one,
and -0.0 as 0.0. `/` always gives f64. Nothing divided by zero has an answer. `//` and
`%` round down, as in Python; `quotient` and `remainder` cut towards zero, as in SQL.

Kernel: totals.
"""

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions import tree
from sordino.expressions.literals import LEAST, MOST, Fluent, literal
from sordino.expressions.logic import order
from sordino.expressions.schema import NUMBERS, Column
from sordino.expressions.tree import (
    AbstractTree,
    Argument,
    Col,
    Literal,
    Operation,
    Value,
)
from sordino.numbers import arguments as _validate
from sordino.numbers.canonical import Words

_CAST: Final = 'Change the type of one with .cast("f64") or .cast("i64").'
TOO_LARGE: Final = "an integer beyond 64 bits has no answer"
_BY_ZERO: Final = "a division by zero has no answer"


def fit_64_bits(number: int) -> int | None:
    """Return an integer that fits into 64 bits."""
    return number if LEAST <= number <= MOST else None


def _numbers(symbol: str, *arguments: Argument) -> str:
    remedy = _CAST
    if symbol == "+" and all(argument.type == "text" for argument in arguments):
        remedy = "Join texts by .concat(...)."
    if any(argument.type in ("date", "time") for argument in arguments):
        remedy = "Try .add_days(...), .days_between(...) or .seconds_between(...)."
    tree.require_types(symbol, arguments, NUMBERS, remedy)
    return tree.joint(arguments)


def _sum_facts(symbol: str, *arguments: Argument) -> Column:
    kind = _numbers(symbol, *arguments)
    # inf - inf: two infinite values are needed
    nan = tree.any_nan(arguments) or all(map(tree.may_be_infinite, arguments))
    lost = TOO_LARGE if kind == "i64" else None
    return tree.result(kind, arguments, nan=nan, lost=lost)


def _multiply_facts(left: Argument, right: Argument) -> Column:
    kind = _numbers("*", left, right)
    nan = any(
        tree.may_be_infinite(this) and tree.may_be_zero(that)  # 0 * inf is NaN
        for this, that in ((left, right), (right, left))
    )
    nan = nan or tree.any_nan((left, right))
    lost = TOO_LARGE if kind == "i64" else None
    return tree.result(kind, (left, right), nan=nan, lost=lost)


def _divide_facts(left: Argument, right: Argument) -> Column:
    _numbers("/", left, right)
    # inf / inf is NaN
    both = tree.may_be_infinite(left) and tree.may_be_infinite(right)
    lost = _BY_ZERO if tree.may_be_zero(right) else None
    nan = both or tree.any_nan((left, right))
    return tree.result("f64", (left, right), nan=nan, lost=lost)


def _floor_divide_facts(left: Argument, right: Argument) -> Column:
    kind = _numbers("//", left, right)
    lost = _BY_ZERO if tree.may_be_zero(right) else None
    # -2**63 // -1 is 2**63, which does not fit
    if kind == "i64" and lost is None and right.constant == -1:
        lost = TOO_LARGE
    nan = tree.any_nan((left, right)) or tree.may_be_infinite(left)  # inf by 2
    return tree.result(kind, (left, right), nan=nan, lost=lost)


def _modulo_facts(left: Argument, right: Argument) -> Column:
    kind = _numbers("%", left, right)
    lost = _BY_ZERO if tree.may_be_zero(right) else None
    nan = tree.any_nan((left, right)) or tree.may_be_infinite(left)  # inf by 2
    return tree.result(kind, (left, right), nan=nan, lost=lost)


def _cut_facts(what: str) -> Callable[..., Column]:
    def known(left: Argument, right: Argument) -> Column:
        tree.require_types(what, (left, right), ("i64",), "Write (a / b).floor().")
        lost = _BY_ZERO if tree.may_be_zero(right) else None
        # -2**63 by -1 is 2**63, which does not fit
        if what == "quotient" and lost is None and right.constant == -1:
            lost = TOO_LARGE
        return tree.result("i64", (left, right), lost=lost)

    return known


def _negate_facts(argument: Argument) -> Column:
    kind = _numbers("-", argument)
    lost = TOO_LARGE if kind == "i64" else None
    return tree.result(kind, (argument,), nan=argument.column.nan, lost=lost)


def _meet(operate: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value]:
    def meaning(left: Value, right: Value) -> Value:
        if isinstance(left, int) and isinstance(right, int):
            return fit_64_bits(operate(left, right))
        return operate(float(left), float(right)) + 0.0  # + 0.0: never -0.0

    return meaning


def _divide(left: Value, right: Value) -> Value:
    return float(left) / float(right) + 0.0 if right else None


def _floor_divide(left: Value, right: Value) -> Value:
    if not right:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return fit_64_bits(left // right)
    dividend, divisor = float(left), float(right)
    if math.isinf(dividend):
        return math.nan
    # exact, as the quotient of doubles is not: the floor of that can be one off
    rest = math.fmod(dividend, divisor)
    down = 1.0 if rest and (rest < 0) != (divisor < 0) else 0.0
    return nearest((dividend - rest) / divisor - down) + 0.0


def _modulo(left: Value, right: Value) -> Value:
    if not right:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return float(left) % float(right) + 0.0


def _quotient(left: Value, right: Value) -> Value:
    if not right:
        return None
    size = abs(left) // abs(right)  # Python's // rounds down, and SQL cuts towards zero
    return fit_64_bits(size if (left < 0) == (right < 0) else -size)


def _remainder(left: Value, right: Value) -> Value:
    if not right:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _negate(number: Value) -> Value:
    # 0.0 - 0.0 is 0.0, and -(0.0) is -0.0
    return fit_64_bits(-number) if isinstance(number, int) else 0.0 - number


def nearest(number: float) -> float:
    """Return the nearest integer, halves away from zero, as a double."""
    if not math.isfinite(number) or number.is_integer():
        return number
    down = float(math.floor(number))
    half = number - down  # exact: number + 0.5 could round up to the next integer
    return down + (half > 0.5 or (half == 0.5 and number > 0))


ADD: Final = Operation("add", partial(_sum_facts, "+"), _meet(operator.add), symbol="+")
SUBTRACT: Final = Operation(
    "subtract", partial(_sum_facts, "-"), _meet(operator.sub), symbol="-"
)


def _product_cell(of: Sequence[AbstractTree]) -> Words:
    """Return a product of integers, or the square of one: it is never below zero."""
    left, right = of
    if left.same(right):
        return {"square": left.cell}
    return {"product": [left.cell, right.cell]}


MULTIPLY: Final = Operation(
    "multiply", _multiply_facts, _meet(operator.mul), symbol="*", cell=_product_cell
)
DIVIDE: Final = Operation("divide", _divide_facts, _divide, copies=2, symbol="/")
FLOOR_DIVIDE: Final = Operation(
    "floor_divide", _floor_divide_facts, _floor_divide, copies=8, symbol="//"
)
MODULO: Final = Operation("modulo", _modulo_facts, _modulo, copies=6, symbol="%")
QUOTIENT: Final = Operation("quotient", _cut_facts("quotient"), _quotient)
REMAINDER: Final = Operation("remainder", _cut_facts("remainder"), _remainder)
NEGATE: Final = Operation("negate", _negate_facts, _negate, symbol="-")


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
    """Quotient as f64; missing where the divisor is zero."""
    return self.call(DIVIDE, self, other)


def divide_into(self: Fluent, other: Any) -> Fluent:
    """Return the quotient, this one last."""
    return self.call(DIVIDE, other, self)


def floor_divide(self: Fluent, other: Any) -> Fluent:
    """Quotient rounded down; missing where the divisor is zero."""
    return self.call(FLOOR_DIVIDE, self, other)


def floor_divide_into(self: Fluent, other: Any) -> Fluent:
    """Return the quotient rounded down, this one last."""
    return self.call(FLOOR_DIVIDE, other, self)


def modulo(self: Fluent, other: Any) -> Fluent:
    """Remainder with the sign of the divisor; missing where that is zero."""
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


LARGEST_STEP: Final = 2**53
_NUMBER_CAST: Final = 'Read a text as a number by .cast("f64").'
_NO_ROOT: Final = "a negative number has no square root"
MOST_DIGITS: Final = 15
_NO_INTEGER: Final = "NaN and numbers beyond 64 bits are no integers"


def _clip_facts(argument: Argument, low: Argument, high: Argument) -> Column:
    tree.require_types("clip", (argument,), NUMBERS, _NUMBER_CAST)
    kind = tree.joint((argument, low, high))
    return tree.result(kind, (argument,), nan=argument.column.nan)


def _abs_facts(argument: Argument) -> Column:
    tree.require_types("abs", (argument,), NUMBERS, _NUMBER_CAST)
    lost = TOO_LARGE if argument.type == "i64" else None  # that of -2**63 does not fit
    return tree.result(argument.type, (argument,), nan=argument.column.nan, lost=lost)


def _round_down_facts(argument: Argument, step: Value) -> Column:
    tree.require_types("round_down", (argument,), NUMBERS, _NUMBER_CAST)
    kind = "f64" if isinstance(step, float) else argument.type
    return tree.result(kind, (argument,), nan=argument.column.nan)


def _round_facts(argument: Argument, digits: int) -> Column:
    del digits
    tree.require_types("round", (argument,), NUMBERS, _NUMBER_CAST)
    return tree.result(argument.type, (argument,), nan=argument.column.nan)


def _sqrt_facts(argument: Argument) -> Column:
    tree.require_types("sqrt", (argument,), NUMBERS, _NUMBER_CAST)
    return tree.result("f64", (argument,), nan=argument.column.nan, lost=_NO_ROOT)


def _whole_facts(name: str, argument: Argument) -> Column:
    tree.require_types(name, (argument,), NUMBERS, _NUMBER_CAST)
    return tree.result(
        "i64", (argument,), lost=_NO_INTEGER if argument.type == "f64" else None
    )


def _clip(number: Value, low: Value, high: Value) -> Value:
    if any(isinstance(end, float) for end in (number, low, high)):
        number, low, high = float(number), float(low), float(high)
    if order(number, low) < 0:
        return low
    # NaN is above every number in our order, and is no value to be clamped
    return high if order(number, high) > 0 and not math.isnan(number) else number


def _abs(number: Value) -> Value:
    return fit_64_bits(abs(number)) if isinstance(number, int) else abs(number)


def _round_down(number: Value, step: Value) -> Value:
    if isinstance(number, int) and isinstance(step, int):
        # near -2**63 the multiple below would not fit: the least one stands for it
        return max(number - number % step, least_multiple(step))
    steps = float(number) / float(step)
    whole = float(math.floor(steps)) if math.isfinite(steps) else steps
    return whole * float(step) + 0.0


def least_multiple(step: int) -> int:
    """Return the least multiple of a step that fits into 64 bits.

    >>> least_multiple(10)
    -9223372036854775800
    """
    return -(-LEAST // step) * step


def _round(number: Value, digits: int) -> Value:
    if isinstance(number, int):
        return number
    shifted = number * 10.0**digits
    return nearest(shifted) / 10.0**digits + 0.0 if math.isfinite(shifted) else number


def _sqrt(number: Value) -> Value:
    return None if number < 0 else math.sqrt(number)


def _floor(number: Value) -> Value:
    return fit_64_bits(math.floor(number)) if math.isfinite(number) else None


def _ceil(number: Value) -> Value:
    return fit_64_bits(math.ceil(number)) if math.isfinite(number) else None


def _clip_cell(of: Sequence[AbstractTree]) -> Words:
    match of:
        case [Col(name=name), Literal(constant=int(low)), Literal(constant=int(high))]:
            return {"clip": [name, low, high]}
        case _:
            return None


CLIP: Final = Operation("clip", _clip_facts, _clip, copies=4, cell=_clip_cell)
ABS: Final = Operation("abs", _abs_facts, _abs)
ROUND_DOWN: Final = Operation("round_down", _round_down_facts, _round_down, copies=4)
ROUND: Final = Operation("round", _round_facts, _round, copies=3)
SQRT: Final = Operation("sqrt", _sqrt_facts, _sqrt, copies=2)
FLOOR: Final = Operation("floor", partial(_whole_facts, "floor"), _floor)
CEIL: Final = Operation("ceil", partial(_whole_facts, "ceil"), _ceil)


def clip(self: Fluent, low: float, high: float) -> Fluent:
    """Return the number held within bounds; missing and NaN stay what they are.

    >>> from sordino.expressions.language import col
    >>> col("x").clip(0, 10).value({"x": 12})
    10
    """
    first, last = _number(low=low), _number(high=high)
    if order(first.constant, last.constant) > 0:
        raise InvalidParameter("low", low, "must be at most high", "Swap the bounds.")
    return self.call(CLIP, self, first, last)


def absolute(self: Fluent) -> Fluent:
    """Return the size of the number; that of -2**63 does not exist.

    >>> from sordino.expressions.language import col
    >>> col("x").abs().value({"x": -3})
    3
    """
    return self.call(ABS, self)


def round_down(self: Fluent, step: float) -> Fluent:
    """Return the greatest multiple of a step that is not above the number.

    For an f64, floor(x / step) * step in doubles. The few i64 that lie below the least
    multiple give that one.

    >>> from sordino.expressions.language import col
    >>> col("age").round_down(10).value({"age": 47})
    40
    """
    read = _number(step=step)
    if not 0 < read.constant <= LARGEST_STEP:
        raise InvalidParameter(
            "step", step, "must be positive, at most 2**53", "Try step=10."
        )
    return self.call(ROUND_DOWN, self, step=read.constant)


def round_(self: Fluent, digits: int = 0) -> Fluent:
    """Nearest number with `digits` digits after the point, of the same type.

    Halves go away from zero. For an f64 it is round(x * 10**digits) / 10**digits in
    doubles; numbers that this would take out of range, and all i64, stay.

    >>> from sordino.expressions.language import col
    >>> col("x").round().value({"x": -2.5}), col("x").round(2).value({"x": 1.125})
    (-3.0, 1.13)
    """
    read = _validate.integer(digits=digits, least=0, most=MOST_DIGITS)
    return self.call(ROUND, self, digits=int(read))


def sqrt(self: Fluent) -> Fluent:
    """Return the square root in f64; a negative number has none.

    >>> from sordino.expressions.language import col
    >>> col("x").sqrt().value({"x": 2}), col("x").sqrt().value({"x": -2})
    (1.4142135623730951, None)
    """
    return self.call(SQRT, self)


def floor(self: Fluent) -> Fluent:
    """Return the greatest i64 that is not above the number, if there is one.

    >>> from sordino.expressions.language import col
    >>> col("x").floor().value({"x": -0.5}), col("x").floor().value({"x": 1e300})
    (-1, None)
    """
    return self.call(FLOOR, self)


def ceil(self: Fluent) -> Fluent:
    """Return the least i64 that is not below the number, if there is one.

    >>> from sordino.expressions.language import col
    >>> col("x").ceil().value({"x": -0.5})
    0
    """
    return self.call(CEIL, self)


def _number(**argument: Any) -> Literal:
    ((name, value),) = argument.items()
    read = literal(value)
    if read.type not in NUMBERS or math.isnan(read.constant):
        raise InvalidParameter(name, value, "must be a number", f"Try {name}=10.")
    return read


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
    CLIP,
    ABS,
    ROUND_DOWN,
    ROUND,
    SQRT,
    FLOOR,
    CEIL,
)
