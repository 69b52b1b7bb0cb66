"""Which blocks a condition admits: those of which some row can pass it.

>>> from datetime import date
>>> from sordino.expressions.language import col
>>> months = {"1": (date(2026, 1, 1), date(2026, 1, 31)),
...           "2": (date(2026, 2, 1), date(2026, 2, 28))}
>>> sorted(admissible_blocks((col("day") < date(2026, 2, 1)).tree, "day", months))
['1']

Kernel: sensitivity.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sordino.expressions.choices import IS_IN
from sordino.expressions.dates import TRUNCATE
from sordino.expressions.logic import (
    AND,
    AT_LEAST,
    AT_MOST,
    EQUAL,
    GREATER,
    LESS,
    OR,
    order,
)
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Call,
    Col,
    Literal,
    Operation,
)

Ends: TypeAlias = Mapping[str, tuple[Any, Any]]
"""The least and the greatest value of a column in each block."""


def admissible_blocks(
    condition: AbstractExpression, mark: str, blocks: Ends
) -> frozenset[str]:
    """Return the blocks of which a row may pass, by what its marked column is.

    For any row whose marked column has a value of a block, the condition is true only
    if the block is among these. What is not understood admits all.
    """
    every = frozenset(blocks)
    match condition:
        case Call(operation=operation, arguments=(left, right)) if operation is AND:
            return admissible_blocks(left, mark, blocks) & admissible_blocks(
                right, mark, blocks
            )
        case Call(operation=operation, arguments=(left, right)) if operation is OR:
            return admissible_blocks(left, mark, blocks) | admissible_blocks(
                right, mark, blocks
            )
        case Call(operation=operation, arguments=(tree, *others)):
            passes = _PASSES.get(operation)
            if passes is None or not _grows(tree, mark):
                return every  # what is not understood may pass anywhere
            constants = [_constant(other) for other in others]
            if None in constants:  # another column, or NULL: no value to compare
                return every
            return frozenset(
                name
                for name, (least, greatest) in blocks.items()
                if passes(
                    tree.value({mark: least}), tree.value({mark: greatest}), constants
                )
            )
        case _:
            return every


def _grows(tree: AbstractTree, mark: str) -> bool:
    # the column, or the start of its period: neither falls where the column grows, so
    # the ends of a block bound all its values
    match tree:
        case Col(name=name):
            return name == mark
        case Call(operation=operation, arguments=(inner,)) if operation is TRUNCATE:
            return _grows(inner, mark)
        case _:
            return False


def _constant(tree: AbstractTree) -> Any:
    match tree:
        case Literal(constant=constant):
            return constant
        case _:
            return None


_Passes: TypeAlias = Callable[[Any, Any, list[Any]], bool]
_PASSES: Final[Mapping[Operation, _Passes]] = {
    EQUAL: lambda low, high, values: _lies_in(low, values[0], high),
    IS_IN: lambda low, high, values: (
        any(isinstance(each, float) for each in values)  # then all are rounded
        or any(_lies_in(low, each, high) for each in values)
    ),
    LESS: lambda low, _, values: order(low, values[0]) < 0,
    AT_MOST: lambda low, _, values: order(low, values[0]) <= 0,
    GREATER: lambda _, high, values: order(high, values[0]) > 0,
    AT_LEAST: lambda _, high, values: order(high, values[0]) >= 0,
}
"""Whether a value between a least and a greatest one may pass a comparison."""


def _lies_in(low: Any, value: Any, high: Any) -> bool:
    return order(low, value) <= 0 <= order(high, value)
