"""Numbers held within bounds, or made coarser.

Halves, ends and NaN are told with each; an i64 beside an f64 is taken as the nearest
double.
"""

import math
from typing import Any, Final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.arithmetic import TOO_LARGE, fit_64_bits, nearest
from sordino.expressions.base import Value
from sordino.expressions.comparison import order
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import LEAST, literal
from sordino.expressions.tree import Argument, Literal, Operation
from sordino.schema import NUMBERS, Column

LARGEST_STEP: Final = 2**53
_CAST: Final = 'Read a text as a number by .cast("f64").'
_NO_ROOT: Final = "a negative number has no square root"
MOST_DIGITS: Final = 15
_NO_INTEGER: Final = "NaN and numbers beyond 64 bits are no integers"


def _clip_facts(argument: Argument, low: Argument, high: Argument) -> Column:
    """Return the facts of a number within bounds; NaN stays NaN."""
    facts.require_types("clip", (argument,), NUMBERS, _CAST)
    kind = facts.joint((argument, low, high))
    return facts.result(kind, (argument,), nan=argument.column.nan)


def _abs_facts(argument: Argument) -> Column:
    """Return the facts of a size: that of -2**63 does not fit."""
    facts.require_types("abs", (argument,), NUMBERS, _CAST)
    lost = TOO_LARGE if argument.type == "i64" else None
    return facts.result(argument.type, (argument,), nan=argument.column.nan, lost=lost)


def _round_down_facts(argument: Argument, step: Value) -> Column:
    """Return the facts of a multiple."""
    facts.require_types("round_down", (argument,), NUMBERS, _CAST)
    kind = "f64" if isinstance(step, float) else argument.type
    return facts.result(kind, (argument,), nan=argument.column.nan)


def _round_facts(argument: Argument, digits: int) -> Column:
    """Return the facts of a number with fewer digits."""
    del digits
    facts.require_types("round", (argument,), NUMBERS, _CAST)
    return facts.result(argument.type, (argument,), nan=argument.column.nan)


def _sqrt_facts(argument: Argument) -> Column:
    """Return the facts of a root: a negative number has none."""
    facts.require_types("sqrt", (argument,), NUMBERS, _CAST)
    return facts.result("f64", (argument,), nan=argument.column.nan, lost=_NO_ROOT)


def _floor_facts(argument: Argument) -> Column:
    """Return the facts of the integer below."""
    facts.require_types("floor", (argument,), NUMBERS, _CAST)
    return facts.result(
        "i64", (argument,), lost=_NO_INTEGER if argument.type == "f64" else None
    )


def _ceil_facts(argument: Argument) -> Column:
    """Return the facts of the integer above."""
    facts.require_types("ceil", (argument,), NUMBERS, _CAST)
    return facts.result(
        "i64", (argument,), lost=_NO_INTEGER if argument.type == "f64" else None
    )


def _clip(number: Value, low: Value, high: Value) -> Value:
    """Return a end within bounds."""
    if any(isinstance(end, float) for end in (number, low, high)):
        number, low, high = float(number), float(low), float(high)
    if order(number, low) < 0:
        return low
    return high if order(number, high) > 0 and not math.isnan(number) else number


def _abs(number: Value) -> Value:
    """Return the size of a number."""
    return fit_64_bits(abs(number)) if isinstance(number, int) else abs(number)


def _round_down(number: Value, step: Value) -> Value:
    """Return the greatest multiple of the step that is not above a number."""
    if isinstance(number, int) and isinstance(step, int):
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
    """Return the nearest number of so many digits, halves away from zero."""
    if isinstance(number, int):
        return number
    shifted = number * 10.0**digits
    return nearest(shifted) / 10.0**digits + 0.0 if math.isfinite(shifted) else number


def _sqrt(number: Value) -> Value:
    """Return the root of a number that is not negative; that of NaN is NaN."""
    return None if number < 0 else math.sqrt(number)


def _floor(number: Value) -> Value:
    """Return the greatest integer that is not above a number."""
    return fit_64_bits(math.floor(number)) if math.isfinite(number) else None


def _ceil(number: Value) -> Value:
    """Return the least integer that is not below a number."""
    return fit_64_bits(math.ceil(number)) if math.isfinite(number) else None


CLIP: Final = Operation("clip", _clip_facts, _clip, copies=4)
ABS: Final = Operation("abs", _abs_facts, _abs)
ROUND_DOWN: Final = Operation("round_down", _round_down_facts, _round_down, copies=4)
ROUND: Final = Operation("round", _round_facts, _round, copies=3)
SQRT: Final = Operation("sqrt", _sqrt_facts, _sqrt, copies=2)
FLOOR: Final = Operation("floor", _floor_facts, _floor)
CEIL: Final = Operation("ceil", _ceil_facts, _ceil)

OPERATIONS: Final = (CLIP, ABS, ROUND_DOWN, ROUND, SQRT, FLOOR, CEIL)


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
    """Return the nearest number with so many digits after the point, of the same type.

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
    """Return a number that is not NaN as a literal."""
    ((name, value),) = argument.items()
    read = literal(value)
    if read.type not in NUMBERS or math.isnan(read.constant):
        raise InvalidParameter(name, value, "must be a number", f"Try {name}=10.")
    return read
