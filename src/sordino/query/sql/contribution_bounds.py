"""Bounds in the style of BigQuery: `SUM(x, contribution_bounds_per_row => (0, 30))`."""

from typing import Any, Final

from sqlglot import exp

from sordino.expressions.language import Expression
from sordino.expressions.tree import Col
from sordino.query.sql.function_rules import check_order, written_number
from sordino.query.sql.reading import BOUNDS, Clause
from sordino.query.sql.scope import AbstractScope, Value

PER_ROW: Final = "contribution_bounds_per_row"
PER_GROUP: Final = "contribution_bounds_per_group"


def column_or_tree(tree: Any) -> Any:
    """Return a column by its name, an expression as it is."""
    return tree.name if isinstance(tree, Col) else Expression(tree)


def rows_per_group(clause: Clause, this: Clause, rows: AbstractScope) -> int:
    """Return how many rows of a person count in a group: BigQuery's own meaning."""
    word, (low, high) = named_bounds(clause, rows)
    if word != PER_GROUP or this.kind is not exp.Star or low:
        raise clause.refusal(
            "these bounds clamp each person's count",
            f"Write COUNT(*, {PER_GROUP} => (0, 3)).",
        )
    if not isinstance(high, int) or high < 1:
        raise clause.refusal(
            "the upper bound of COUNT must be a whole number of 1 or more",
            "Write (0, 3).",
        )
    return high


def row_ends(clause: Clause, value: Value, rows: AbstractScope) -> tuple[Any, Any, Any]:
    """Return what is aggregated, and the bounds by which each row is clamped."""
    word, ends = named_bounds(clause, rows)
    if word != PER_ROW:
        raise clause.refusal(
            f"{word} is not understood in this aggregate",
            "Write CLAMP(x, low, high), which clamps each row.",
        )
    return (column_or_tree(value.expression.tree), *check_order(clause, *ends))


def is_per_group(node: exp.Expr) -> bool:
    """Tell whether an aggregate has bounds per group."""
    bounds = node.args.get(BOUNDS)
    return isinstance(bounds, exp.Expr) and bounds.name.lower() == PER_GROUP


def named_bounds(clause: Clause, rows: AbstractScope) -> tuple[str, tuple[Any, Any]]:
    """Return the name and the ends of bounds."""
    named = clause.take(BOUNDS)
    named.look()
    word = named.take("this")
    word.look()
    pair = named.take("expression")
    if pair.kind is not exp.Tuple or len(pair.node.expressions) != 2:
        raise pair.refusal(
            "contribution bounds are a pair of numbers", "Write => (0, 30)."
        )
    low, high = (written_number(end, rows) for end in pair.each("expressions"))
    return str(word.scalar("this")).lower(), (low, high)
