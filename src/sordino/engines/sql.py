"""Plans as SQL: each node is a named subquery over those below it.

    WITH r0 AS (...), r1 AS (SELECT r0.c0 AS c0, ... FROM r0 WHERE ...), ... SELECT ...

The n-th column of a node is called cn, whatever its user calls it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from sqlglot import exp

from sordino.engines.buckets import Bucket
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
    further: tuple[exp.Expression, ...] = ()
    """Columns of ours, which have no name that a user's column could have, too."""


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

    def part(
        self,
        select: exp.Select,
        made: Pairs,
        schema: Schema = NONE,
        further: Sequence[exp.Expression] = (),
    ) -> Rows:
        """Add one subquery that selects these columns, typed as in a schema."""
        pairs = list(made)
        name = f"r{len(self._parts)}"
        # A subquery without columns is none: one that is never read stands in.
        values = [*(value for _, value in pairs), *further] or [exp.Literal.number(1)]
        named = [exp.alias_(one.copy(), f"c{n}") for n, one in enumerate(values)]
        self._parts.append((name, select.select(*named, copy=False)))
        held = [exp.column(f"c{n}", table=name) for n in range(len(values))]
        columns: dict[str, exp.Expression] = {}
        for (known_as, _), column in zip(pairs, held, strict=False):
            kind = schema[known_as].type if known_as in schema else ""
            columns[known_as] = typed(column, kind)
        return Rows(name, columns, tuple(held[len(pairs) :]))

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
    """Keep the first rows in the order of the digest, then of all columns.

    Rows that are alike are numbered, and the number is part of the digest: otherwise
    they would be kept or dropped together, and frequent values would win. To sort by
    many columns is slow, so where there are more than one besides `per`, rows are first
    ranked by the digest alone, and only those that may be among the first are sorted
    by the columns too. Where nothing tells the rows of a group apart, any will do.
    """
    below, schema = work.rows(node.child), node.child.schema
    rest = [name for name in schema if name not in node.per]
    if not rest:
        kept = _within(work, node, below, exp.RowNumber(), ())
        return work.part(over(kept), _taken(kept, node.schema), node.schema)
    names = [*node.per, *rest]
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[below.columns[name] for name in names]
    )
    alike = work.part(over(below), _taken(below, schema), schema, [copy])
    values = [*(alike.columns[name] for name in names), *alike.further]
    digest = [work.forms.digest(values)]
    digested = work.part(over(alike), _taken(alike, schema), schema, digest)
    if len(rest) > 1:
        digested = _within(work, node, digested, exp.Rank(), digested.further)
    order = [*digested.further[:1], *(digested.columns[name] for name in rest)]
    kept = _within(work, node, digested, exp.RowNumber(), order)
    return work.part(over(kept), _taken(kept, node.schema), node.schema)


def _keep_groups(work: Writer, node: KeepGroups) -> Rows:
    below = work.rows(node.child)
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    values = [below.columns[name] for name in names]
    taken = _taken(below, node.child.schema)
    digest = [work.forms.digest(values)]
    digested = work.part(over(below), taken, node.child.schema, digest)
    groups = [digested.columns[name] for name in node.groups]
    order = [*digested.further, *groups]
    kept = _within(work, node, digested, exp.DenseRank(), order)
    return work.part(over(kept), _taken(kept, node.schema), node.schema)


def _within(
    work: Writer,
    node: KeepRows | KeepGroups,
    rows: Rows,
    place: exp.Expression,
    order: Sequence[exp.Expression],
) -> Rows:
    """Keep the rows whose place in an order is within the limit of a node."""
    schema = node.child.schema
    per = [rows.columns[name] for name in node.per]
    window = exp.Window(
        this=place, partition_by=per, order=ordered(order) if order else None
    )
    further = [*rows.further[:1], window]
    numbered = work.part(over(rows), _taken(rows, schema), schema, further)
    first = numbered.further[-1] <= exp.Literal.number(node.limit)
    select = over(numbered).where(first)
    return work.part(select, _taken(numbered, schema), schema, numbered.further[:1])


def ordered(values: Sequence[exp.Expression]) -> exp.Order:
    """Return an order by all values, what is missing first."""
    return exp.Order(
        expressions=[exp.Ordered(this=one.copy(), nulls_first=True) for one in values]
    )


def _bucket(work: Writer, node: Bucket) -> Rows:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    there = work.forms.in_part(per, node.number, node.count)
    return work.part(over(below).where(there), _taken(below, node.schema), node.schema)


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
    Bucket: _bucket,
}
