"""Plans written shortly, each node with the schema that follows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from sordino.aggregations.totals import Extreme
from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import col, lit
from sordino.query.gathered import Gathered
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    FlatMap,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Without,
)
from sordino.query.pruning import narrow_schema
from sordino.query.question import AbstractTotal, Distinct, Question, Total
from sordino.schema import Column, Schema, arrow_type


def project_to(child: AbstractNode, **columns: AbstractExpression) -> Project:
    """Return exactly these columns."""
    named = tuple(columns.items())
    schema = Schema.of(
        (name, expression.column(child.schema)) for name, expression in named
    )
    return Project(child, named, schema)


def rename_columns(child: AbstractNode, names: dict[str, str]) -> Project:
    """Return all columns, some under another name."""
    named = [(names.get(name, name), col(name)) for name in child.schema]
    schema = Schema.of(
        (name, expression.column(child.schema)) for name, expression in named
    )
    return Project(child, tuple(named), schema)


def filter_rows(child: AbstractNode, condition: AbstractExpression) -> Filter:
    """Return the rows for which a condition is true."""
    return Filter(child, condition, child.schema)


def bound_rows(child: AbstractNode, per: Iterable[str], limit: int) -> KeepRows:
    """Return at most `limit` rows each."""
    names = tuple(per)
    return KeepRows(child, names, child.schema.other_names(names), limit, child.schema)


def bound_groups(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], limit: int
) -> KeepGroups:
    """Return all rows of at most `limit` groups each."""
    return KeepGroups(child, tuple(per), tuple(groups), limit, child.schema)


def crowded_ids(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], limit: int
) -> Crowded:
    """Return a row for each value with more rows, or groups, than a limit."""
    names = tuple(per)
    return Crowded(
        child, names, tuple(groups), limit, narrow_schema(child.schema, names)
    )


def rows_without(
    left: AbstractNode, right: AbstractNode | pa.Table, on: Iterable[str]
) -> Without:
    """Return the rows that agree with none of others, or of a public table."""
    names = tuple(on)
    if isinstance(right, pa.Table):
        right = PublicRows(right, narrow_schema(left.schema, names))
    return Without(left, right, names, left.schema)


def sized_memberships(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], size: str = "size"
) -> Memberships:
    """Return a row for each value and each of its groups, with their number."""
    sides = tuple(per), tuple(groups)
    narrow = narrow_schema(child.schema, {*sides[0], *sides[1]})
    schema = Schema((*narrow.columns, (size, Column("i64", nullable=False))))
    return Memberships(child, *sides, size, schema)


def gather_rows(
    child: AbstractNode, *per: str, **results: AbstractTotal | Extreme
) -> Gathered:
    """Return a row for each value of some columns, with totals and extremes."""
    extremes = {
        name: result for name, result in results.items() if isinstance(result, Extreme)
    }
    totals = {
        name: result
        for name, result in results.items()
        if not isinstance(result, Extreme)
    }
    facts = [(name, child.schema[name]) for name in per]
    facts += [(name, Column("i64", nullable=False)) for name in totals]
    facts += [
        (name, Column(extreme.expression.column(child.schema).type))
        for name, extreme in extremes.items()
    ]
    schema = Schema.of(facts)
    return Gathered(child, per, (*totals.items(),), (*extremes.items(),), schema)


def bound_unique(child: AbstractNode, per: Iterable[str]) -> KeepUnique:
    """Return the rows that are alone."""
    return KeepUnique(child, tuple(per), child.schema)


def join_rows(
    left: AbstractNode, right: AbstractNode, on: Iterable[str], *, outer: bool = False
) -> Join:
    """Return pairs of rows."""
    names = tuple(on)
    further = [pair for pair in right.schema.columns if pair[0] not in names]
    schema = Schema.of((*left.schema.columns, *further))
    return Join(left, right, names, outer, schema)


def explode_rows(child: AbstractNode, column: str, limit: int | None = None) -> Explode:
    """Return a row for each entry of a list."""
    columns = dict(child.schema.columns)
    columns[column] = Column(child.schema[column].type[5:-1])
    return Explode(child, column, limit, Schema.of(columns.items()))


def call_rows(
    child: AbstractNode, function: Callable[[dict[str, Any]], Any], **returns: str
) -> MapRows:
    """Return rows with further columns."""
    further = [(name, Column(kind)) for name, kind in returns.items()]
    schema = Schema.of((*child.schema.columns, *further))
    return MapRows(child, function, tuple(returns), schema)


def call_flat(
    child: AbstractNode,
    function: Callable[[dict[str, Any]], Any],
    limit: int | None,
    **returns: str,
) -> FlatMap:
    """Return the rows that a function makes of each."""
    columns = dict(child.schema.columns)
    columns.update((name, Column(kind)) for name, kind in returns.items())
    return FlatMap(child, function, tuple(returns), limit, Schema.of(columns.items()))


def question_of(
    rows: AbstractNode,
    *by: str,
    totals: tuple[AbstractTotal, ...] = (),
    keys: Mapping[str, Any] | None = None,
) -> Question:
    """Return a question: how many rows, unless it asks for other totals."""
    table = None
    if keys is not None:
        kinds = [arrow_type(rows.schema[name].type) for name in keys]
        arrays = map(pa.array, keys.values(), kinds)
        table = pa.Table.from_arrays(list(arrays), names=list(keys))
    return Question(rows, by, totals or (Total(lit(1)),), table)


def whole_question(rows: AbstractNode, *by: str) -> Question:
    """Return a question that reads each column, so that none is pruned."""
    columns = (
        Distinct((name,))
        for name in rows.schema
        if "list" not in rows.schema[name].type
    )
    return question_of(rows, *by, totals=(Total(lit(1)), *columns))
