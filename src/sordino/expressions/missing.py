"""What is missing, what is not a number, and what to put in their place."""

import math
from typing import Any, Final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent, lift
from sordino.expressions.literals import literal
from sordino.expressions.tree import Argument, Literal, Operation
from sordino.schema import Column

_ALIKE: Final = "Write 0.0 for an f64 and 0 for an i64, or cast one of them."
_FLOATS: Final = "Only an f64 can be NaN or infinite; leave this out."


def _is_null_facts(argument: Argument) -> Column:
    """Return the facts of an answer that is always known."""
    del argument
    return Column("bool", nullable=False)


def _is_nan_facts(argument: Argument) -> Column:
    """Return the facts of a question about a double."""
    facts.require_types("is_nan", (argument,), ("f64",), _FLOATS)
    return facts.result("bool", (argument,))


def _is_infinite_facts(argument: Argument) -> Column:
    """Return the facts of a question about a double."""
    facts.require_types("is_infinite", (argument,), ("f64",), _FLOATS)
    return facts.result("bool", (argument,))


def _coalesce_facts(*arguments: Argument) -> Column:
    """Return the facts of the first value: missing only where all are."""
    kind = facts.alike("coalesce", arguments, _ALIKE)
    return facts.first(kind, arguments)


def _fill_null_facts(argument: Argument, default: Argument) -> Column:
    """Return the facts of a value with another in place of a missing one."""
    kind = facts.alike("fill_null", (argument, default), _ALIKE)
    return facts.first(kind, (argument, default))


def _fill_nan_facts(argument: Argument, default: Argument) -> Column:
    """Return the facts of a double with another in place of NaN."""
    facts.require_types("fill_nan", (argument, default), ("f64",), _FLOATS)
    return facts.result("f64", (argument, default), nan=default.column.nan)


def _replace_infinity_facts(
    argument: Argument, low: Argument, high: Argument
) -> Column:
    """Return the facts of a double with finite numbers in place of infinities."""
    facts.require_types("replace_infinity", (argument,), ("f64",), _FLOATS)
    return facts.result("f64", (argument, low, high), nan=argument.column.nan)


def _is_null(value: Value) -> Value:
    """Return whether a value is missing."""
    return value is None


def _first(*values: Value) -> Value:
    """Return the first value that is not missing."""
    return next((value for value in values if value is not None), None)


def _fill_nan(number: Value, default: Value) -> Value:
    """Return a double, or the other for NaN."""
    return default if number is not None and math.isnan(number) else number


def _replace_infinity(number: Value, low: Value, high: Value) -> Value:
    """Return a double, or what stands for an infinity."""
    if not math.isinf(number):
        return number
    return high if number > 0 else low


IS_NULL: Final = Operation("is_null", _is_null_facts, _is_null, strict=False)
IS_NAN: Final = Operation("is_nan", _is_nan_facts, math.isnan)
IS_INFINITE: Final = Operation("is_infinite", _is_infinite_facts, math.isinf)
FILL_NULL: Final = Operation("fill_null", _fill_null_facts, _first, strict=False)
FILL_NAN: Final = Operation(
    "fill_nan", _fill_nan_facts, _fill_nan, strict=False, copies=2
)
COALESCE: Final = Operation("coalesce", _coalesce_facts, _first, strict=False)
REPLACE_INFINITY: Final = Operation(
    "replace_infinity", _replace_infinity_facts, _replace_infinity, copies=3
)

OPERATIONS: Final = (
    IS_NULL,
    IS_NAN,
    IS_INFINITE,
    FILL_NULL,
    FILL_NAN,
    COALESCE,
    REPLACE_INFINITY,
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
    if not others:
        raise InvalidQuery("coalesce needs another value", "Try .coalesce(0).")
    return self.call(COALESCE, self, *others)


def replace_infinity(self: Fluent, low: float, high: float) -> Fluent:
    """Return the value, with `low` for -infinity and `high` for infinity.

    >>> from sordino.expressions.language import col
    >>> col("x").replace_infinity(0, 100).value({"x": math.inf})
    100.0
    """
    return self.call(REPLACE_INFINITY, self, _finite(low=low), _finite(high=high))


def _finite(**argument: Any) -> Literal:
    """Return a finite number as a literal of f64."""
    ((name, value),) = argument.items()
    read = literal(value)
    if read.type not in ("i64", "f64") or not math.isfinite(read.constant):
        raise InvalidParameter(name, value, "must be a finite number", f"Try {name}=0.")
    return Literal("f64", float(read.constant))
