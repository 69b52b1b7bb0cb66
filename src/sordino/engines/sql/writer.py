"""Plans as SQL: each node is a named subquery over those below it.

    WITH r0 AS (...), r1 AS (SELECT r0.c0 AS c0, ... FROM r0 WHERE ...), ... SELECT ...

The n-th column of a node is called cn, whatever its user calls it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.buckets import Bucket
from sordino.engines.sql.dialect import AbstractForms
from sordino.engines.sql.rendering import Parameters, rendered, typed
from sordino.engines.sql.stages import Made
from sordino.expressions.base import AbstractExpression
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Project,
    Source,
    Unreadable,
)
from sordino.schema import Schema

NONE: Final = Schema(())
LeafNode: TypeAlias = Source | Unreadable | Made
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
    condition: exp.Expression | None = None
    """Which of the rows, where not all."""


@final
class Writer:
    """Collects the subqueries of one statement."""

    def __init__(
        self,
        forms: AbstractForms,
        leaf: Callable[[LeafNode], Leaf],
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


def _stored(work: Writer, node: LeafNode) -> Rows:
    leaf = work.leaf(node)
    select = exp.Select().from_(leaf.item, copy=False)
    if leaf.condition is not None:
        select = select.where(leaf.condition, copy=False)
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

    Rows that are alike are numbered, and the number is part of the digest: otherwise
    they would be kept or dropped together, and frequent values would win. To number
    and to sort by many columns is slow, so this is done for those groups alone in which
    two digests of rows numbered 1 agree; elsewhere the order of these is that of all.
    Where nothing tells the rows of a group apart, any will do.
    """
    below, schema = work.rows(node.child), node.child.schema
    rest = [name for name in schema if name not in node.per]
    if not rest:
        kept = _within(work, node, below, exp.RowNumber(), ())
        return work.part(over(kept), _taken(kept, node.schema), node.schema)
    near = _near(work, node, below, rest)
    per = [(name, near.columns[name]) for name in node.per]
    alike = work.part(over(near).where(*near.further, copy=False).distinct(), per)
    same = exp.and_(
        *(
            exp.NullSafeEQ(this=one.copy(), expression=alike.columns[name].copy())
            for name, one in per
        )
    )
    clear = over(near).join(named(alike.name), on=same, join_type="anti", copy=False)
    others = over(near).join(
        named(alike.name), on=same.copy(), join_type="semi", copy=False
    )
    unclear = _sorted(work, node, work.part(others, _taken(near, schema), schema), rest)
    return work.both(
        work.part(clear, _taken(near, node.schema), node.schema),
        work.part(over(unclear), _taken(unclear, node.schema), node.schema),
    )


def _near(work: Writer, node: KeepRows, below: Rows, rest: Sequence[str]) -> Rows:
    """Return what may be kept; further: whether a row has the digest of another.

    Each row has the digest of a row numbered 1. Of the rows numbered 1, none is kept
    that comes after as many other digests as rows are kept; so what is left out are
    such rows, and none that have others like them.
    """
    schema = node.child.schema
    numbered = [*(below.columns[name] for name in (*node.per, *rest)), sql.bigint(1)]
    digest = work.forms.digest(numbered)
    held = work.part(over(below), _taken(below, schema), schema, [digest])
    beside = [
        _window(held, node, called(this=held.further[0].copy()), held.further)
        for called in (exp.Lag, exp.Lead)
    ]
    equal = [held.further[0].eq(one) for one in beside]
    place = _window(held, node, exp.DenseRank(), held.further)
    ranked = work.part(over(held), _taken(held, schema), schema, [place, *equal])
    first = ranked.further[0] <= exp.Literal.number(node.limit)
    alike = sql.infix(exp.Or, *ranked.further[1:])
    kept = over(ranked).where(exp.or_(first, alike.copy()), copy=False)
    return work.stored(work.part(kept, _taken(ranked, schema), schema, [alike]))


def _sorted(work: Writer, node: KeepRows, rows: Rows, rest: Sequence[str]) -> Rows:
    """Keep the first rows, those alike numbered, in the order of digest and columns."""
    schema = node.child.schema
    names = [*node.per, *rest]
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[rows.columns[name] for name in names]
    )
    counted = work.part(over(rows), _taken(rows, schema), schema, [copy])
    values = [*(counted.columns[name] for name in names), *counted.further]
    digest = [work.forms.digest(values)]
    digested = work.part(over(counted), _taken(counted, schema), schema, digest)
    order = [*digested.further, *(digested.columns[name] for name in rest)]
    return _within(work, node, digested, exp.RowNumber(), order)


def _keep_groups(work: Writer, node: KeepGroups) -> Rows:
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    below, schema = work.rows(node.child), node.child.schema
    digest = work.forms.digest([below.columns[name] for name in names])
    digested = work.part(over(below), _taken(below, schema), schema, [digest])
    order = [*digested.further, *(digested.columns[name] for name in node.groups)]
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
    return exp.Window(
        this=place, partition_by=per, order=ordered(order) if order else None
    )


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


def _crowded(work: Writer, node: Crowded) -> Rows:
    below = work.rows(node.child)
    if node.groups:
        names = tuple(dict.fromkeys((*node.per, *node.groups)))
        each = grouped(below, [below.columns[name] for name in names])
        below = work.part(each, _taken(below, names), node.child.schema)
    many = exp.Count(this=exp.Star()) > exp.Literal.number(node.limit)
    select = grouped(below, [below.columns[name] for name in node.per])
    return work.part(
        select.having(many, copy=False), _taken(below, node.schema), node.schema
    )


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
    Unreadable: _stored,
    Made: _stored,
    Project: _project,
    Filter: _filter,
    KeepRows: _keep_rows,
    KeepGroups: _keep_groups,
    KeepUnique: _keep_unique,
    Crowded: _crowded,
    Join: _join,
    Explode: _explode,
    Bucket: _bucket,
}
