"""Parts of a table that share no row: one charge for all of them.

Each part has a budget of its own, and one charge of the whole covers them, as often as
one protected unit can lie in different parts, or fill one (docs/proofs/filters.md,
section 7). The
parts may be asked in any order, each after the answers of the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from sordino.contribution import Contribution, Spread, Versions
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import literal
from sordino.expressions.tree import Literal
from sordino.query.nodes import Filter
from sordino.query.relation import Relation
from sordino.query.steps import group_column
from sordino.words import Words


@final
@dataclass(frozen=True)
class Partition:
    """The rows of each part, and how many times the budget of one is charged."""

    parts: dict[Any, Relation]
    times: Fraction


def partition_of(relation: Relation, by: str, values: Any) -> Partition:
    """Return the parts that some values of a column mark; None stands for no value.

    For any row, at most one part holds it: the values are of the type of the column and
    differ as the engine sees them. A time with and one without a zone may be the same,
    and a float may equal several integers, so neither is left to Python to compare.
    """
    kind = group_column(relation.schema, by).type
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InvalidParameter(
            "values",
            values,
            "must be a list of the values of the parts",
            'Try ["A", "B"].',
        )
    marks: dict[str, Any] = {}
    for value in values:
        mark = repr(_part_value(value, kind).constant)
        if mark in marks:
            raise InvalidParameter(
                "values", value, "contains a value twice", "Name it once."
            )
        marks[mark] = value
    times, spread = _charge(relation, by, len(marks))
    parts = {
        value: replace(_part(relation, by, _part_value(value, kind)), spread=spread)
        for value in marks.values()
    }
    return Partition(parts, times)


def value_words(relation: Relation, by: str, value: Any) -> Words:
    """Return which part a value marks, in a form that lasts."""
    return _part_value(value, relation.schema[by].type).words


def _charge(relation: Relation, by: str, count: int) -> tuple[Fraction, Spread | None]:
    """Return how many budgets of one part are charged, and what parts then are.

    For any unit: as many as there are parts that it can lie in; or as often as its rows
    fill the most that it can have in one part, where the parts are charged by the row.
    """
    column, spread = relation.versions((by,)), relation.spread
    most = min(_values_touched(relation.contribution, by, column), count)
    if spread is not None and spread.is_alone:
        each = min(_values_touched(spread.row, by, column), count)
        return Fraction(each), spread.bound_rows(
            lambda contribution: contribution.with_groups(column, 1)
        )
    if spread is not None:
        return Fraction(most * spread.rows), None
    rows = relation.contribution.most_rows()
    inside = relation.contribution.with_groups(column, 1).most_rows()
    if rows is None or inside is None or rows >= most * inside:
        return Fraction(most), None
    return Fraction(rows, inside), Spread(inside, Contribution(rows=1))


def _values_touched(contribution: Contribution, by: str, column: Versions) -> int:
    """Return in how many values of a column the rows of one unit can lie."""
    touched = contribution.groups_touched(column)
    if touched is None:
        raise InvalidQuery(
            f"nothing limits how many values of {by!r} one id can have",
            f"Make a view with .enforce(sd.MaxGroupsPerID({by!r}, 1)), and partition "
            "that.",
        )
    return touched


def _part_value(value: Any, kind: str) -> Literal:
    """Return a value of a part as an engine sees it, refusing one of another type."""
    marked = literal(value, kind if value is None else None)
    if marked.type != kind:
        raise InvalidParameter(
            "values",
            value,
            f"contains a value of type {marked.type}, and the column has type {kind}",
            "Write the values as they stand in the column.",
        )
    return marked


def _part(relation: Relation, by: str, marked: Literal) -> Relation:
    """Return the rows with one value of a column, or without one."""
    cell = col(by)
    condition = (
        cell.is_null() if marked.constant is None else cell == Expression(marked)
    )
    rows = Filter(relation.node, condition.tree, relation.schema)
    # all rows are of one group of the column, so a bound on its rows holds of them all
    column = relation.versions((by,))
    divided = relation.bound_unit(lambda condition: condition.with_groups(column, 1))
    # what the whole table left out is not of this part
    return replace(divided.with_node(rows), passed=())
