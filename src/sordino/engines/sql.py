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
        self._parts: list[tuple[str, exp.Query, bool]] = []

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
        # A subquery without columns is none: one that is never read stands in.
        values = [*(value for _, value in pairs), *further] or [exp.Literal.number(1)]
        listed = [aliased(one, f"c{n}") for n, one in enumerate(values)]
        name = self._added(select.select(*listed, copy=False))
        held = [exp.column(f"c{n}", table=name) for n in range(len(values))]
        columns: dict[str, exp.Expression] = {}
        for (known_as, _), column in zip(pairs, held, strict=False):
            kind = schema[known_as].type if known_as in schema else ""
            columns[known_as] = typed(column, kind)
        return Rows(name, columns, tuple(held[len(pairs) :]))

    def both(self, one: Rows, other: Rows) -> Rows:
        """Add the subquery of the rows of two others, which have the same columns."""
        parts = [over(rows).select(exp.Star()) for rows in (one, other)]
        name = self._added(exp.union(*parts, distinct=False, copy=False))
        columns = {
            known_as: _moved(held, name) for known_as, held in one.columns.items()
        }
        return Rows(name, columns, tuple(_moved(held, name) for held in one.further))

    def stored(self, rows: Rows) -> Rows:
        """Have the last subquery computed once, though several read it."""
        name, select, _ = self._parts.pop()
        self._parts.append((name, select, True))
        return rows

    def _added(self, select: exp.Query) -> str:
        """Add a subquery and return its name."""
        name = f"r{len(self._parts)}"
        self._parts.append((name, select, False))
        return name

    def whole(self, last: exp.Select) -> exp.Select:
        """Return the statement that ends in a select over the subqueries."""
        for name, select, once in self._parts:
            alias = exp.TableAlias(this=exp.to_identifier(name))
            last = last.with_(alias, as_=select, materialized=once, copy=False)
        return last


def over(rows: Rows) -> exp.Select:
    """Return a select over some rows, of no columns yet."""
    return exp.Select().from_(named(rows.name), copy=False)


def named(rows: str) -> exp.Table:
    """Return some rows by their name, which need not be parsed."""
    return exp.Table(this=exp.to_identifier(rows))


def aliased(value: exp.Expression, name: str) -> exp.Alias:
    """Return a value under a name; the value itself stays free for others."""
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name))


def grouped(rows: Rows, by: Iterable[exp.Expression]) -> exp.Select:
    """Return a select over the groups of some rows, of no columns yet."""
    return over(rows).group_by(*(one.copy() for one in by), copy=False)


def _moved(column: exp.Expression, name: str) -> exp.Expression:
    """Return a column of one subquery as that of another."""
    made = column.copy()
    made.set("table", exp.to_identifier(name))
    return made


def _taken(rows: Rows, names: Iterable[str]) -> list[tuple[str, exp.Expression]]:
    return [(name, rows.columns[name]) for name in names]


def _stored(work: Writer, node: Source | Made) -> Rows:
    leaf = work.leaf(node)
    select = exp.Select().from_(leaf.item, copy=False)
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
        over(below).where(condition, copy=False),
        _taken(below, node.schema),
        node.schema,
    )


def _keep_rows(work: Writer, node: KeepRows) -> Rows:
    """Keep the first rows in the order of the digest, then of all columns.

    To sort by many columns is slow. So rows are ranked by the digest alone, and only
    those whose digest is on both sides of the limit are sorted by their columns. Where
    nothing tells the rows of a group apart, any of them will do.
    """
    below = work.rows(node.child)
    rest = [name for name in node.child.schema if name not in node.per]
    if not rest:
        kept = _within(work, node, below, exp.RowNumber(), ())
        return work.part(over(kept), _taken(kept, node.schema), node.schema)
    digested = _digested(work, node, *_alike(work, node, below))
    near = _near(work, node, digested)
    return _sorted_ties(work, node, near, rest)


def _sorted_ties(work: Writer, node: KeepRows, near: Rows, rest: Sequence[str]) -> Rows:
    """Keep ranked rows; those of one rank on both sides of the limit by their columns."""
    rank, place = near.further
    limit = exp.Literal.number(node.limit)
    per = [(name, near.columns[name]) for name in node.per]
    tied = work.part(
        over(near).where(place > limit, copy=False).distinct(), per, further=[rank]
    )
    pairs = [*(name for _, name in per), rank], [*tied.columns.values(), *tied.further]
    same = exp.and_(
        *(
            exp.NullSafeEQ(this=one.copy(), expression=other.copy())
            for one, other in zip(*pairs, strict=True)
        )
    )
    clear = over(near).join(named(tied.name), on=same, join_type="anti", copy=False)
    unclear = over(near).join(
        named(tied.name), on=same.copy(), join_type="semi", copy=False
    )
    place = _window(near, node, exp.RowNumber(), [near.columns[one] for one in rest])
    ordered = work.part(unclear, _taken(near, node.schema), node.schema, [rank, place])
    first = ordered.further[0] + ordered.further[1] <= limit + 1
    return work.both(
        work.part(clear, _taken(near, node.schema), node.schema),
        work.part(
            over(ordered).where(first, copy=False),
            _taken(ordered, node.schema),
            node.schema,
        ),
    )


def _near(work: Writer, node: KeepRows, digested: Rows) -> Rows:
    """Return rows ranked within the limit by the digest; further: rank and place.

    Of rows with one rank only so many are to be kept as have places within the limit.
    """
    schema = node.child.schema
    kinds = (exp.Rank(), exp.RowNumber())
    places = [_window(digested, node, kind, digested.further) for kind in kinds]
    ranked = work.part(over(digested), _taken(digested, schema), schema, places)
    within = over(ranked).where(
        ranked.further[0] <= exp.Literal.number(node.limit), copy=False
    )
    near = work.part(within, _taken(ranked, schema), schema, ranked.further)
    return work.stored(near)


def _keep_groups(work: Writer, node: KeepGroups) -> Rows:
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    below = work.rows(node.child)
    digested = _digested(work, node, below, [below.columns[name] for name in names])
    order = [*digested.further, *(digested.columns[name] for name in node.groups)]
    kept = _within(work, node, digested, exp.DenseRank(), order)
    return work.part(over(kept), _taken(kept, node.schema), node.schema)


def _alike(
    work: Writer, node: KeepRows, below: Rows
) -> tuple[Rows, list[exp.Expression]]:
    """Return rows, and all their columns with a number for each of those alike.

    Without the number they would be kept or dropped together: frequent values would
    win.
    """
    schema = node.child.schema
    values = [below.columns[name] for name in schema]
    copy = exp.Window(this=exp.RowNumber(), partition_by=values)
    numbered = work.part(over(below), _taken(below, schema), schema, [copy])
    rest = [name for name in schema if name not in node.per]
    columns = [numbered.columns[name] for name in (*node.per, *rest)]
    return numbered, [*columns, *numbered.further]


def _digested(
    work: Writer,
    node: KeepRows | KeepGroups,
    below: Rows,
    values: Sequence[exp.Expression],
) -> Rows:
    """Return rows below a node; further: the digest of some values of each."""
    schema, digest = node.child.schema, work.forms.digest(values)
    return work.part(over(below), _taken(below, schema), schema, [digest])


def _within(
    work: Writer,
    node: KeepRows | KeepGroups,
    rows: Rows,
    place: exp.Expression,
    order: Sequence[exp.Expression],
) -> Rows:
    """Keep the rows whose place in an order is within the limit of a node."""
    schema = node.child.schema
    window = _window(rows, node, place, order)
    numbered = work.part(over(rows), _taken(rows, schema), schema, [window])
    first = numbered.further[0] <= exp.Literal.number(node.limit)
    return work.part(
        over(numbered).where(first, copy=False), _taken(numbered, schema), schema
    )


def _window(
    rows: Rows,
    node: KeepRows | KeepGroups,
    place: exp.Expression,
    order: Sequence[exp.Expression],
) -> exp.Window:
    """Return a place among the rows that a node counts together."""
    per = [rows.columns[name] for name in node.per]
    order_by = ordered(order) if order else None
    return exp.Window(this=place, partition_by=per, order=order_by)


def ordered(values: Sequence[exp.Expression]) -> exp.Order:
    """Return an order by all values, what is missing first."""
    return exp.Order(
        expressions=[exp.Ordered(this=one.copy(), nulls_first=True) for one in values]
    )


def _bucket(work: Writer, node: Bucket) -> Rows:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    there = work.forms.in_part(per, node.number, node.count)
    return work.part(
        over(below).where(there, copy=False), _taken(below, node.schema), node.schema
    )


def _keep_unique(work: Writer, node: KeepUnique) -> Rows:
    """Group by the columns: a group of one row has that row's values."""
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    alone = exp.Count(this=exp.Star()).eq(exp.Literal.number(1))
    select = grouped(below, per).having(alone, copy=False)
    made = [
        (name, value if name in node.per else exp.First(this=value))
        for name, value in _taken(below, node.schema)
    ]
    return work.part(select, made, node.schema)


def _join(work: Writer, node: Join) -> Rows:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(*(left.columns[name].eq(right.columns[name]) for name in node.on))
    kind = "left" if node.outer else "inner"
    select = over(left).join(named(right.name), on=agree, join_type=kind, copy=False)
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
