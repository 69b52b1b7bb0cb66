"""Parts of a table that share no row: one charge for all of them.

Each part has a budget of its own, and one charge of the whole covers them, as often as
one protected unit can lie in different parts (docs/proofs/filters.md, section 7). The
parts may be asked in any order, each after the answers of the others.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import col
from sordino.expressions.literals import literal
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.numbers import sqrt
from sordino.query.nodes import Filter
from sordino.query.relation import Relation
from sordino.query.steps import groupable


def values_of(relation: Relation, by: str, values: Any) -> tuple[Any, ...]:
    """Return the public values that mark the parts, each once.

    Two values that mark the same rows would let them be asked twice, so values are
    compared as the engine compares them: as literals of the type of the column.
    """
    kind = groupable(relation.schema, by).type
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InvalidParameter(
            "values", values, "must list the values of the parts", 'Try ["A", "B"].'
        )
    known: set[Any] = set()
    for value in values:
        read = literal(value, kind if value is None else None)
        if read.type != kind:
            raise InvalidParameter(
                "values", value, f"is no {kind}, as {by!r} is", "Write it as one."
            )
        if read.constant in known:
            raise InvalidParameter("values", value, "stands twice", "Name it once.")
        known.add(read.constant)
    return tuple(values)


def part(relation: Relation, by: str, value: Any) -> Relation:
    """Return the rows with one value; None stands for those without one."""
    cell = col(by)
    condition = cell.is_null() if value is None else cell == value
    condition.column(relation.schema)  # refuses a value of another type
    return relation.with_node(Filter(relation.node, condition.tree, relation.schema))


def most_parts(relation: Relation, by: str, count: int) -> int:
    """Return in how many of the parts one protected unit can lie."""
    column = frozenset([relation.schema[by].version])
    touched = relation.contribution.touched(column)
    if touched is None:
        raise InvalidQuery(
            f"nothing bounds in how many values of {by!r} one id lies",
            f"Make a view with .enforce(sd.MaxGroupsPerID({by!r}, 1)) and part that.",
        )
    return min(touched, count)


def times(budget: Any, factor: int) -> Any:
    """Return the budget of so many parts of one unit."""
    many = Fraction(factor)
    match budget:
        case PureDP():
            return PureDP(budget.epsilon * many)
        case ApproxDP():
            return ApproxDP(
                budget.epsilon * many, min(budget.delta * many, Fraction(1))
            )
        case ZCDP():
            return ZCDP(budget.rho * many)
        case ApproxZCDP():
            return ApproxZCDP(budget.rho * many, min(budget.delta * many, Fraction(1)))
        case GaussianDP():
            return GaussianDP(budget.mu * sqrt(many))
        case _:
            raise InvalidParameter(
                "budget",
                budget,
                "cannot be given to parts",
                "State it as sd.PureDP, sd.ApproxDP, sd.ZCDP or sd.GaussianDP.",
            )
