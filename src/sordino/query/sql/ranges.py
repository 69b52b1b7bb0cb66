"""Between which numbers an expression of a row lies, whatever the row holds.

For any row the value is missing, NaN or within the range, so to clamp it there changes
nothing. What is not known is unbounded. Every rule here is of a function that rises or
falls in each argument, so the ends are values at ends, in doubles as well; those of
exponentials and logarithms lie a little further out, as their last bits need not rise.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from sordino.expressions import arithmetic, casts, choices, dates, exponentials, logic
from sordino.expressions.language import Expression
from sordino.expressions.tree import AbstractTree, Call, Col, Literal, Operation

Range = tuple[float, float]
_ALL: Final = (-math.inf, math.inf)
_SERIES: Final = 1e-9
"""Far more than engines' exponentials and logarithms differ from those of C."""
_STEEPEST: Final = 100
_WIDEST: Final = 2**50
"""Beyond it doubles no longer tell neighbouring integers apart."""


def range_of(tree: AbstractTree) -> Range | None:
    """Ends of the values that an expression can have; None where one is open.

    >>> from sordino.expressions.language import col, when
    >>> range_of(when(col("x").is_null()).then(0).otherwise(2).tree)
    (0, 2)
    >>> range_of(col("x").tree) is None
    True
    """
    low, high = _range(tree)
    if not max(abs(low), abs(high)) <= _WIDEST:
        return None
    if low == high:  # bounds lie apart, and any that hold it will do
        return (min(low, 0), max(high, 0)) if low else (0, 1)
    return low, high


def hold_within(
    tree: AbstractTree,
    bounds: Mapping[str, tuple[Any, Any]],
    is_truth: Callable[[AbstractTree], bool],
) -> AbstractTree:
    """Expression whose columns are clamped to bounds, where they make its value.

    A column in a condition stays as it is: `CASE WHEN days > 40 THEN days END`. A truth
    that is cast is 0 or 1, and is clamped there.
    """
    if isinstance(tree, Col) and tree.name in bounds:
        return Expression(tree).clip(*bounds[tree.name]).tree
    if not isinstance(tree, Call) or tree.operation not in _RULES:
        return tree
    if tree.operation is casts.CAST and is_truth(tree.arguments[0]):
        return Expression(tree).clip(0, 1).tree
    first = len(tree.options["given"]) - 1 if tree.operation is choices.WHEN else 0
    held = (hold_within(part, bounds, is_truth) for part in tree.arguments[first:])
    return Call(tree.operation, (*tree.arguments[:first], *held), tree.options)


def _range(tree: AbstractTree) -> Range:
    if isinstance(tree, Literal):
        number = tree.constant
        known = isinstance(number, (int, float)) and math.isfinite(number)
        return (number, number) if known else _ALL
    if isinstance(tree, Call):
        rule = _RULES.get(tree.operation)
        return _ALL if rule is None else rule(tree)
    return _ALL


def _ends(*ends: float) -> Range:
    if any(math.isnan(end) for end in ends):
        return _ALL  # infinity less infinity, or times 0: nothing is known
    return min(ends), max(ends)


def _clip(call: Call) -> Range:
    low, high = (bound.constant for bound in call.arguments[1:])
    return low, high


def _when(call: Call) -> Range:
    _, values = choices.split_branches(call.arguments, call.options["given"])
    return _hull([_range(value) for value in values if value is not None])


def _hull(ranges: list[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _any(call: Call) -> Range:
    return _hull([_range(argument) for argument in call.arguments])


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


def _modulo(call: Call) -> Range:
    size = call.arguments[1].constant  # with the sign of the divisor
    return _ALL if size is None else (min(size, 0), max(size, 0))


def _quotient_rule(
    round_: Callable[[float, float], tuple[float, float]],
) -> Callable[[Call], Range]:
    def rule(call: Call) -> Range:
        low, high = _range(call.arguments[0])
        size = call.arguments[1].constant
        if not size or not math.isfinite(low) or not math.isfinite(high):
            return _ALL
        return round_(*_ends(low / size, high / size))

    return rule


def _outward(low: float, high: float) -> Range:
    return math.floor(low), math.ceil(high)


def _whole_ends(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    if not math.isfinite(low) or not math.isfinite(high):
        return _ALL
    step = call.options.get("step", 1)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _root(call: Call) -> Range:
    _, high = _range(call.arguments[0])
    return (0, math.sqrt(high)) if 0 <= high < math.inf else _ALL


def _exponential(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    if high > _STEEPEST:
        return _ALL
    return math.exp(low) * (1 - _SERIES), math.exp(high) * (1 + _SERIES)


def _logarithm(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    if low <= 0 or not math.isfinite(high):
        return _ALL
    return math.log(low) - _SERIES, math.log(high) + _SERIES


def _cast(call: Call) -> Range:
    inner = call.arguments[0]
    if call.options["to"] not in ("i64", "f64"):
        return _ALL
    low, high = _range(inner)
    if not math.isfinite(low) or not math.isfinite(high):
        return _ALL
    return math.floor(low), math.ceil(high)  # outward: a cast to i64 may cut either way


def _fixed(low: int, high: int) -> Callable[[Call], Range]:
    return lambda _: (low, high)


_RULES: Final[Mapping[Operation, Callable[[Call], Range]]] = {
    arithmetic.CLIP: _clip,
    arithmetic.ABS: _abs,
    choices.WHEN: _when,
    logic.COALESCE: _any,
    logic.FILL_NULL: _any,
    choices.GREATEST: _any,
    choices.LEAST: _any,
    arithmetic.ADD: _add,
    arithmetic.SUBTRACT: _subtract,
    arithmetic.MULTIPLY: _multiply,
    arithmetic.NEGATE: _negate,
    arithmetic.REMAINDER: _remainder,
    arithmetic.MODULO: _modulo,
    arithmetic.DIVIDE: _quotient_rule(lambda low, high: (low, high)),
    arithmetic.FLOOR_DIVIDE: _quotient_rule(_outward),
    arithmetic.QUOTIENT: _quotient_rule(_outward),
    arithmetic.ROUND_DOWN: _whole_ends,
    arithmetic.ROUND: _whole_ends,
    arithmetic.FLOOR: _whole_ends,
    arithmetic.CEIL: _whole_ends,
    arithmetic.SQRT: _root,
    exponentials.EXP: _exponential,
    exponentials.LOG: _logarithm,
    casts.CAST: _cast,
    dates.YEAR: _fixed(1, 9999),
    dates.MONTH: _fixed(1, 12),
    dates.DAY: _fixed(1, 31),
    dates.WEEKDAY: _fixed(0, 6),
    dates.HOUR: _fixed(0, 23),
    dates.MINUTE: _fixed(0, 59),
    dates.SECOND: _fixed(0, 59),
}
