"""Plans as SQL: each node is a named subquery over those below it.

    WITH r0 AS (...), r1 AS (SELECT r0.c0 AS c0, ... FROM r0 WHERE ...), ... SELECT ...

The n-th column of a node is called cn, whatever its user calls it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from sqlglot import exp

from sordino.engines.forms import AbstractForms
from sordino.engines.rendering import Parameters, rendered, typed
from sordino.engines.stages import Made
from sordino.expressions.base import AbstractExpression
from sordino.query.nodes import (
    AbstractNode,
    Explode,
    Filter,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Project,
    Source,
)
from sordino.schema import Schema

NONE: Final = Schema(())
Columns = Mapping[str, exp.Expression]
Pairs = Iterable[tuple[str, exp.Expression]]


@final
@dataclass(frozen=True)
class Rows:
    """A named subquery and where its columns are, by the names that users gave them."""

    name: str
    columns: Columns


@final
@dataclass(frozen=True)
class Leaf:
    """What stands after FROM for some stored rows, and their columns as our types."""

    item: exp.Expression
    columns: Columns


@final
class Writer:
    """Collects the subqueries of one statement."""

    def __init__(
        self,
        forms: AbstractForms,
        leaf: Callable[[Source | Made], Leaf],
        parameters: Parameters,
    ) -> None:
        """Start with no subquery."""
        self.forms = forms
        self.leaf = leaf
        self.parameters = parameters
        self._parts: list[tuple[str, exp.Select]] = []

    def rows(self, node: AbstractNode) -> Rows:
        """Add the subqueries of a node."""
        return _WRITERS[type(node)](self, node)

    def rendered(self, made: AbstractExpression, columns: Columns) -> exp.Expression:
        """Return an expression of the columns of a row."""
        return rendered(made, columns, self.parameters)

    def part(self, select: exp.Select, made: Pairs, schema: Schema = NONE) -> Rows:
        """Add one subquery that selects these columns, typed as in a schema."""
        name = f"r{len(self._parts)}"
        # A subquery without columns is none: one that is never read stands in.
        listed = list(made) or [("", exp.Literal.number(1))]
        columns: dict[str, exp.Expression] = {}
        for place, (known_as, value) in enumerate(listed):
            select = select.select(exp.alias_(value.copy(), f"c{place}"), copy=False)
            column = exp.column(f"c{place}", table=name)
            there = known_as in schema
            columns[known_as] = (
                typed(column, schema[known_as].type) if there else column
            )
        self._parts.append((name, select))
        return Rows(name, columns)

    def whole(self, last: exp.Select) -> exp.Select:
        """Return the statement that ends in a select over the subqueries."""
        for name, select in self._parts:
            last = last.with_(name, as_=select, materialized=False, copy=False)
        return last


def over(rows: Rows) -> exp.Select:
    """Return a select over some rows, of no columns yet."""
    return exp.Select().from_(rows.name)


def _taken(rows: Rows, names: Iterable[str]) -> list[tuple[str, exp.Expression]]:
    return [(name, rows.columns[name]) for name in names]


def _stored(work: Writer, node: Source | Made) -> Rows:
    leaf = work.leaf(node)
    select = exp.Select().from_(leaf.item)
    return work.part(
        select, [(name, leaf.columns[name]) for name in node.schema], node.schema
    )


def _project(work: Writer, node: Project) -> Rows:
    below = work.rows(node.child)
    made = [(name, work.rendered(one, below.columns)) for name, one in node.columns]
    return work.part(over(below), made, node.schema)


def _filter(work: Writer, node: Filter) -> Rows:
    below = work.rows(node.child)
    condition = work.rendered(node.condition, below.columns)
    return work.part(
        over(below).where(condition), _taken(below, node.schema), node.schema
    )


def _keep_rows(work: Writer, node: KeepRows) -> Rows:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    rest = [below.columns[name] for name in node.child.schema if name not in node.per]
    order = ordered([work.forms.digest([*per, *rest]), *rest])
    place = exp.Window(this=exp.RowNumber(), partition_by=per, order=order)
    return _placed(work, node, below, place)


def _keep_groups(work: Writer, node: KeepGroups) -> Rows:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    groups = [below.columns[name] for name in node.groups if name not in node.per]
    order = ordered([work.forms.digest([*per, *groups]), *groups])
    place = exp.Window(this=exp.DenseRank(), partition_by=per, order=order)
    return _placed(work, node, below, place)


def _placed(
    work: Writer, node: KeepRows | KeepGroups, below: Rows, place: exp.Expression
) -> Rows:
    """Keep the rows whose place is within the limit of a node."""
    numbered = work.part(over(below), [*_taken(below, node.schema), ("", place)])
    kept = numbered.columns[""] <= exp.Literal.number(node.limit)
    return work.part(
        over(numbered).where(kept), _taken(numbered, node.schema), node.schema
    )


def ordered(values: Sequence[exp.Expression]) -> exp.Order:
    """Return an order by all values, what is missing first."""
    return exp.Order(
        expressions=[exp.Ordered(this=one.copy(), nulls_first=True) for one in values]
    )


def _keep_unique(work: Writer, node: KeepUnique) -> Rows:
    """Group by the columns: a group of one row has that row's values."""
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    alone = exp.Count(this=exp.Star()).eq(exp.Literal.number(1))
    select = over(below).group_by(*per).having(alone)
    made = [
        (name, value if name in node.per else exp.First(this=value))
        for name, value in _taken(below, node.schema)
    ]
    return work.part(select, made, node.schema)


def _join(work: Writer, node: Join) -> Rows:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(*(left.columns[name].eq(right.columns[name]) for name in node.on))
    kind = "left" if node.outer else "inner"
    select = over(left).join(right.name, on=agree, join_type=kind)
    columns = {**right.columns, **left.columns}
    return work.part(
        select, [(name, columns[name]) for name in node.schema], node.schema
    )


def _explode(work: Writer, node: Explode) -> Rows:
    below = work.rows(node.child)
    entry = work.forms.unnested(below.columns[node.column], node.limit)
    made = [(name, below.columns[name]) for name in node.child.schema]
    made = [(name, entry if name == node.column else one) for name, one in made]
    exploded = work.part(over(below), made)
    return work.part(over(exploded), _taken(exploded, node.schema), node.schema)


_WRITERS: Final[dict[type[AbstractNode], Callable[[Writer, Any], Rows]]] = {
    Source: _stored,
    Made: _stored,
    Project: _project,
    Filter: _filter,
    KeepRows: _keep_rows,
    KeepGroups: _keep_groups,
    KeepUnique: _keep_unique,
    Join: _join,
    Explode: _explode,
}
