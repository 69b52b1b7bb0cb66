"""Between which numbers an expression lies, whatever the rows hold.

For any row the value is missing, NaN or within the range: so to clamp it there changes
nothing. What is not known is unbounded.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

from sordino.expressions import (
    arithmetic,
    casts,
    conditional,
    dates,
    extreme_values,
    missing,
    numeric,
)
from sordino.expressions.tree import AbstractTree, Call, Literal, Operation

Range = tuple[float, float]
_ALL: Final = (-math.inf, math.inf)
_WIDEST: Final = 2**50
"""Beyond it doubles no longer tell neighbouring integers apart."""


def range_of(tree: AbstractTree) -> Range | None:
    """Return the ends of what an expression can be, or None where one is open.

    >>> from sordino.expressions.language import col, when
    >>> range_of(when(col("x").is_null()).then(0).otherwise(2).tree)
    (0, 2)
    >>> range_of(col("x").tree) is None
    True
    """
    low, high = _range(tree)
    return (low, high) if max(abs(low), abs(high)) <= _WIDEST and low < high else None


def _range(tree: AbstractTree) -> Range:
    """Return the ends of what an expression can be."""
    if isinstance(tree, Literal):
        number = tree.constant
        known = isinstance(number, (int, float)) and math.isfinite(number)
        return (number, number) if known else _ALL
    if isinstance(tree, Call):
        rule = _RULES.get(tree.operation)
        return _ALL if rule is None else rule(tree)
    return _ALL


def _ends(*ends: float) -> Range:
    """Return the least and the greatest of some numbers, open if one is none."""
    if any(math.isnan(end) for end in ends):
        return _ALL
    return min(ends), max(ends)


def _clip(call: Call) -> Range:
    low, high = (bound.constant for bound in call.arguments[1:])
    return low, high


def _when(call: Call) -> Range:
    _, values = conditional.split_branches(call.arguments, call.options["given"])
    return _hull([_range(value) for value in values if value is not None])


def _any(call: Call) -> Range:
    return _hull([_range(argument) for argument in call.arguments])


def _hull(ranges: list[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _greatest(call: Call) -> Range:
    ranges = [_range(argument) for argument in call.arguments]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _add(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a + c, b + d)


def _subtract(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a - d, b - c)


def _multiply(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a * c, a * d, b * c, b * d)


def _negate(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    return -high, -low


def _abs(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(-low, high)


def _remainder(call: Call) -> Range:
    size = call.arguments[1].constant
    return _ALL if size is None else (1 - abs(size), abs(size) - 1)


def _cast(call: Call) -> Range:
    inner = call.arguments[0]
    if call.options["to"] not in ("i64", "f64"):
        return _ALL
    low, high = _range(inner)
    if not math.isfinite(low) or not math.isfinite(high):
        return _ALL
    return math.floor(low), math.ceil(high)


def _fixed(low: int, high: int) -> Callable[[Call], Range]:
    def rule(call: Call) -> Range:
        del call
        return low, high

    return rule


_RULES: Final[Mapping[Operation, Callable[[Call], Range]]] = {
    numeric.CLIP: _clip,
    numeric.ABS: _abs,
    conditional.WHEN: _when,
    missing.COALESCE: _any,
    missing.FILL_NULL: _any,
    extreme_values.GREATEST: _greatest,
    extreme_values.LEAST: _greatest,
    arithmetic.ADD: _add,
    arithmetic.SUBTRACT: _subtract,
    arithmetic.MULTIPLY: _multiply,
    arithmetic.NEGATE: _negate,
    arithmetic.REMAINDER: _remainder,
    casts.CAST: _cast,
    dates.YEAR: _fixed(1, 9999),
    dates.MONTH: _fixed(1, 12),
    dates.DAY: _fixed(1, 31),
    dates.WEEKDAY: _fixed(0, 6),
    dates.HOUR: _fixed(0, 23),
    dates.MINUTE: _fixed(0, 59),
    dates.SECOND: _fixed(0, 59),
}
