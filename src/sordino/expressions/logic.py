"""Truth with a third value, comparisons, what is missing; as in SQL.

Missing is unknown: `False & missing` is False and `True | missing` is True, for there
the unknown does not matter. All else that is unknown stays unknown, comparisons, too.

NaN equals itself and is greater than every other number, so that any two values of a
type have an order. An i64 beside an f64 is taken as the nearest double: 2**53 + 1
equals 2.0**53. Texts compare code point by code point, and False is less than True.

Kernel: totals.
"""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import tree
from sordino.expressions.literals import Fluent, lift, literal
from sordino.expressions.schema import Column
from sordino.expressions.tree import Argument, Literal, Operation, Value

_ALIKE: Final = "Write 0.0 for an f64 and 0 for an i64, or cast one of them."
_FLOATS: Final = "Only an f64 can be NaN or infinite; leave this out."


def _is_null_facts(argument: Argument) -> Column:
    del argument
    return Column("bool", nullable=False)


def _float_facts(name: str, argument: Argument) -> Column:
    tree.require_types(name, (argument,), ("f64",), _FLOATS)
    return tree.result("bool", (argument,))


def first_facts(name: str, *arguments: Argument) -> Column:
    """Return the facts of one of several values of one type: missing if all are."""
    return tree.first(tree.alike(name, arguments, _ALIKE), arguments)


def _fill_nan_facts(argument: Argument, default: Argument) -> Column:
    tree.require_types("fill_nan", (argument, default), ("f64",), _FLOATS)
    return tree.result("f64", (argument, default), nan=default.column.nan)


def _replace_infinity_facts(
    argument: Argument, low: Argument, high: Argument
) -> Column:
    tree.require_types("replace_infinity", (argument,), ("f64",), _FLOATS)
    return tree.result("f64", (argument, low, high), nan=argument.column.nan)


def _is_null(value: Value) -> Value:
    return value is None


def _first(*values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def _fill_nan(number: Value, default: Value) -> Value:
    return default if number is not None and math.isnan(number) else number


def _replace_infinity(number: Value, low: Value, high: Value) -> Value:
    if not math.isinf(number):
        return number
    return high if number > 0 else low


IS_NULL: Final = Operation("is_null", _is_null_facts, _is_null, strict=False)
IS_NAN: Final = Operation("is_nan", partial(_float_facts, "is_nan"), math.isnan)
IS_INFINITE: Final = Operation(
    "is_infinite", partial(_float_facts, "is_infinite"), math.isinf
)
FILL_NULL: Final = Operation(
    "fill_null", partial(first_facts, "fill_null"), _first, strict=False
)
FILL_NAN: Final = Operation(
    "fill_nan", _fill_nan_facts, _fill_nan, strict=False, copies=2
)
COALESCE: Final = Operation(
    "coalesce", partial(first_facts, "coalesce"), _first, strict=False
)
REPLACE_INFINITY: Final = Operation(
    "replace_infinity", _replace_infinity_facts, _replace_infinity, copies=3
)


def is_null(self: Fluent) -> Fluent:
    """Return whether the value is missing; that itself is never missing.

    >>> from sordino.expressions.language import col
    >>> col("x").is_null().value({"x": None})
    True
    """
    return self.call(IS_NULL, self)


def is_nan(self: Fluent) -> Fluent:
    """Return whether an f64 is NaN; missing stays missing.

    >>> from sordino.expressions.language import col
    >>> col("x").is_nan().value({"x": math.nan})
    True
    """
    return self.call(IS_NAN, self)


def is_infinite(self: Fluent) -> Fluent:
    """Return whether an f64 is an infinity; missing stays missing.

    >>> from sordino.expressions.language import col
    >>> col("x").is_infinite().value({"x": -math.inf})
    True
    """
    return self.call(IS_INFINITE, self)


def fill_null(self: Fluent, value: Any) -> Fluent:
    """Return the value, or another of the same type where it is missing.

    >>> from sordino.expressions.language import col
    >>> col("x").fill_null(0).value({"x": None})
    0
    """
    return self.call(FILL_NULL, self, value)


def fill_nan(self: Fluent, value: Any) -> Fluent:
    """Return the value, or another where it is NaN; None makes NaN missing.

    >>> from sordino.expressions.language import col
    >>> col("x").fill_nan(None).value({"x": math.nan}) is None
    True
    """
    default = literal(None, "f64") if value is None else lift(value)
    if isinstance(default, Literal) and default.type == "i64":
        default = literal(default.constant, "f64")
    return self.call(FILL_NAN, self, default)


def coalesce(self: Fluent, *others: Any) -> Fluent:
    """Return the first value that is not missing; all have one type.

    >>> from sordino.expressions.language import col
    >>> col("x").coalesce(col("y"), 0).value({"x": None, "y": 5})
    5
    """
    return self.call(COALESCE, self, *require_others("coalesce", others))


def require_others(name: str, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a choice among one value alone."""
    if not others:
        raise InvalidQuery(f"{name} needs another value", f"Try .{name}(0).")
    return others


def replace_infinity(self: Fluent, low: float, high: float) -> Fluent:
    """Return the value, with `low` for -infinity and `high` for infinity.

    >>> from sordino.expressions.language import col
    >>> col("x").replace_infinity(0, 100).value({"x": math.inf})
    100.0
    """
    return self.call(REPLACE_INFINITY, self, _finite(low=low), _finite(high=high))


def _finite(**argument: Any) -> Literal:
    ((name, value),) = argument.items()
    read = literal(value)
    if read.type not in ("i64", "f64") or not math.isfinite(read.constant):
        raise InvalidParameter(name, value, "must be a finite number", f"Try {name}=0.")
    return Literal("f64", float(read.constant))


_REMEDY: Final = "Compare first: (col('x') > 0) & (col('y') > 0)."


def _facts(symbol: str, *arguments: Argument) -> Column:
    tree.require_types(symbol, arguments, ("bool",), _REMEDY)
    return tree.result("bool", arguments)


def _and(left: Value, right: Value) -> Value:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: Value, right: Value) -> Value:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


AND: Final = Operation("both", partial(_facts, "&"), _and, strict=False, symbol="&")
OR: Final = Operation("either", partial(_facts, "|"), _or, strict=False, symbol="|")
NOT: Final = Operation("negated", partial(_facts, "~"), operator.not_, symbol="~")


def both(self: Fluent, other: Any) -> Fluent:
    """Return whether both are true."""
    return self.call(AND, self, other)


def both_of(self: Fluent, other: Any) -> Fluent:
    """Return whether both are true, this one last."""
    return self.call(AND, other, self)


def either(self: Fluent, other: Any) -> Fluent:
    """Return whether one is true."""
    return self.call(OR, self, other)


def either_of(self: Fluent, other: Any) -> Fluent:
    """Return whether one is true, this one last."""
    return self.call(OR, other, self)


def is_false(self: Fluent) -> Fluent:
    """True where the value is false; missing where it is missing."""
    return self.call(NOT, self)


_ORDER_REMEDY: Final = (
    "Cast one of them, or write a date as datetime.date(2026, 1, 31) and a time as "
    "datetime.datetime(...)."
)


def order(left: Value, right: Value) -> int:
    """Return -1, 0 or 1: how two values of a type compare, or two numbers.

    >>> order(math.nan, math.inf), order(2**53 + 1, 2.0**53)
    (1, 0)
    """
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)  # an i64 is the nearest double here
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) - math.isnan(right)  # NaN equals itself, above all
    return int(left > right) - int(left < right)


def _comparison(name: str, symbol: str, holds: Callable[[int], bool]) -> Operation:
    def known(left: Argument, right: Argument) -> Column:
        tree.comparable(symbol, (left, right), _ORDER_REMEDY)
        return tree.result("bool", (left, right))

    def meaning(left: Value, right: Value) -> Value:
        return holds(order(left, right))

    return Operation(name, known, meaning, symbol=symbol)


EQUAL: Final = _comparison("equal", "==", lambda sign: sign == 0)
UNEQUAL: Final = _comparison("unequal", "!=", lambda sign: sign != 0)
LESS: Final = _comparison("less", "<", lambda sign: sign < 0)
AT_MOST: Final = _comparison("at_most", "<=", lambda sign: sign <= 0)
GREATER: Final = _comparison("greater", ">", lambda sign: sign > 0)
AT_LEAST: Final = _comparison("at_least", ">=", lambda sign: sign >= 0)

COMPARISONS: Final = (EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST)


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


OPERATIONS: Final = (
    IS_NULL,
    IS_NAN,
    IS_INFINITE,
    FILL_NULL,
    FILL_NAN,
    COALESCE,
    REPLACE_INFINITY,
    AND,
    OR,
    NOT,
)
