"""Exact decimals, which SQL has and expressions have not.

1.5 is the whole number 15 and one digit behind the point. Sums, differences, products,
comparisons and roundings of such numbers are those of whole numbers, so they are exact
on every engine. A decimal whose digits leave 64 bits is missing.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from sordino.expressions.language import Expression, lit, when
from sordino.expressions.literals import MOST
from sordino.query.sql.scope import Scaled, Value

MOST_PLACES: Final = 18
"""Digits behind the point; 10**18 fits into 64 bits."""
_MIRRORED: Final[dict[Any, Any]] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
}


def scaled_of(value: Value) -> Scaled | None:
    """Exact digits of a number; None of a double, or of a decimal that is unknown."""
    return (value.expression, 0) if value.type == "i64" else value.scaled


def are_decimals(values: Sequence[Value]) -> bool:
    """Whether numbers meet as exact decimals in SQL, and are exact here as well."""
    decimal = any(value.decimal for value in values)
    return decimal and all(scaled_of(value) is not None for value in values)


def level(values: Sequence[Value]) -> tuple[list[Expression], int]:
    """Whole numbers of decimals that all have the same number of places."""
    known = list(map(_digits_of, values))
    places = max(scale for _, scale in known)
    return [_with_places(digits, places - scale) for digits, scale in known], places


def _with_places(digits: Expression, places: int) -> Expression:
    if not places:
        return digits
    constant = digits.tree.constant
    if constant is not None and abs(constant) * 10**places <= MOST:
        return lit(constant * 10**places)
    grown: Expression = digits * 10**places
    return grown


def as_decimal(value: Value, digits: Expression, places: int) -> Value:
    """Value with the exact digits of a decimal; too many of them are not known."""
    scaled = (digits, places) if places <= MOST_PLACES else None
    return replace(value, decimal=True, scaled=scaled)


def double_of(value: Value) -> Expression:
    """The double next to a number: of a computed decimal, next to its digits."""
    if isinstance(value.constant, int):
        return lit(float(value.constant))
    if value.scaled is not None and value.constant is None:
        digits, places = value.scaled
        return digits.cast("f64") / 10.0**places
    return value.expression if value.type == "f64" else value.expression.cast("f64")


def constant_of(value: Value) -> Value | None:
    """A number that is the same for every row, as if it had been written."""
    if value.scaled is None:
        number = value.expression.value({})
        return None if number is None else replace(value, expression=lit(number))
    digits, places = value.scaled
    whole = digits.value({})
    if whole is None:
        return None
    # the quotient of Python's integers is the nearest double
    known = lit(whole / 10**places)
    return replace(value, expression=known, scaled=(lit(whole), places))


def combine(
    operation: Callable[[Any, Any], Any], left: Value, right: Value
) -> Scaled | None:
    """Exact digits of a sum, a difference or a product of decimals."""
    if not are_decimals((left, right)):
        return None
    if operation is operator.mul:
        (first, places), (second, others) = map(_digits_of, (left, right))
        total = places + others
        return (first * second, total) if total <= MOST_PLACES else None
    (first, second), places = level((left, right))
    return operation(first, second), places


def _digits_of(value: Value) -> Scaled:
    return value.scaled or (value.expression, 0)


def compare(
    compared: Callable[[Any, Any], Any], left: Value, right: Value
) -> Expression | None:
    """Comparison of exact decimals; None of other numbers."""
    if not are_decimals((left, right)):
        return None
    if left.constant is not None:
        left, right, compared = right, left, _MIRRORED[compared]
    if right.constant is None:
        (first, second), _ = level((left, right))
        result: Expression = compared(first, second)
        return result
    digits, places = _digits_of(left)
    written, others = _digits_of(right)
    return _beside_whole(
        compared, digits, Fraction(written.tree.constant * 10**places, 10**others)
    )


def _beside_whole(
    compared: Callable[[Any, Any], Any], digits: Expression, bound: Fraction
) -> Expression:
    # a whole number is at least 18.5 if it is at least 19: no product can overflow
    if compared in (operator.eq, operator.ne) and bound.denominator > 1:
        return _fixed_truth(digits, compared is operator.ne)
    up = compared in (operator.lt, operator.ge)
    whole = math.ceil(bound) if up else math.floor(bound)
    if abs(whole) > MOST:
        return _fixed_truth(digits, bool(compared(0, whole)))
    result: Expression = compared(digits, whole)
    return result


def _fixed_truth(digits: Expression, truth: bool) -> Expression:  # noqa: FBT001 the answer
    return when(digits.is_null()).then(None).otherwise(truth)


def is_listed(subject: Value, listed: Sequence[Value]) -> Expression:
    """Whether a decimal is one of some that are written."""
    digits, places = _digits_of(subject)
    known = [_digits_of(value) for value in listed]
    bounds = [Fraction(d.tree.constant * 10**places, 10**p) for d, p in known]
    whole = [int(bound) for bound in bounds if bound.denominator == 1]
    return digits.is_in([number for number in whole if abs(number) <= MOST])


def round_decimal(value: Value, places: int) -> Scaled:
    """Digits of a decimal with fewer places, halves away from zero."""
    digits, scale = _digits_of(value)
    if places >= scale:
        return digits, scale
    left = max(places, 0)
    kept = round_whole(digits, 10 ** (scale - places))
    return kept.quotient(10 ** (scale - left)), left


def round_whole(number: Expression, step: int) -> Expression:
    """Nearest multiple of a step, halves away from zero."""
    rest = number.remainder(step)
    # not number + step // 2: that may leave 64 bits where the multiple does not
    up = when(rest >= step // 2).then(step).when(rest <= -(step // 2)).then(-step)
    rounded: Expression = number - rest + up.otherwise(0)
    return rounded


def whole_below(value: Value) -> Expression:
    """The whole number below a decimal."""
    digits, scale = _digits_of(value)
    return digits // 10**scale if scale else digits


def truncate_decimal(value: Value) -> Expression:
    """The whole number between a decimal and zero."""
    digits, scale = _digits_of(value)
    return digits.quotient(10**scale) if scale else digits
