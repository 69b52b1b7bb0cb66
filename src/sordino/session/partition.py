"""Parts of a table that share no row: one charge for all of them.

Each part has a budget of its own, and one charge of the whole covers them, as often as
one protected unit can lie in different parts (docs/proofs/filters.md, section 7). The
parts may be asked in any order, each after the answers of the others.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import literal
from sordino.expressions.tree import Literal
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.numbers import sqrt
from sordino.query.nodes import Filter
from sordino.query.relation import Relation
from sordino.query.steps import groupable
from sordino.words import Words


def parted(relation: Relation, by: str, values: Any) -> dict[Any, Relation]:
    """Return the rows with each of some values of a column; None stands for no value.

    For any row, at most one part holds it: the values are of the type of the column and
    differ as the engine sees them. A time with and one without a zone may be the same,
    and a float may equal several integers, so neither is left to Python to compare.
    """
    kind = groupable(relation.schema, by).type
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InvalidParameter(
            "values", values, "must list the values of the parts", 'Try ["A", "B"].'
        )
    seen: set[str] = set()
    found: dict[Any, Relation] = {}
    for value in values:
        marked = _marked(value, kind)
        told = repr(marked.constant)
        if told in seen:
            raise InvalidParameter("values", value, "stands twice", "Name it once.")
        seen.add(told)
        found[value] = _part(relation, by, marked)
    return found


def value_words(relation: Relation, by: str, value: Any) -> Words:
    """Return which part a value marks, in a form that lasts."""
    return _marked(value, relation.schema[by].type).words


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
    """Return the budget of so many parts of one unit: what their releases add up to."""
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


def _marked(value: Any, kind: str) -> Literal:
    """Return a value of a part as an engine sees it, refusing one of another type."""
    marked = literal(value, kind if value is None else None)
    if marked.type != kind:
        raise InvalidParameter(
            "values",
            value,
            f"has type {marked.type}, where the column has type {kind}",
            "Write the values as they stand in the column.",
        )
    return marked


def _part(relation: Relation, by: str, marked: Literal) -> Relation:
    """Return the rows with one value of a column, or without one."""
    cell = col(by)
    held = cell.is_null() if marked.constant is None else cell == Expression(marked)
    rows = Filter(relation.node, held.tree, relation.schema)
    # all rows are of one group of the column, so a bound on its rows holds of them all
    one = relation.contribution.with_groups(relation.versions((by,)), 1)
    # what the whole table left out is not of this part
    return replace(relation, node=rows, contribution=one, passed=())
