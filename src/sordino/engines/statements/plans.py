"""Plans as SQL: each node is a named subquery over those below it.

    WITH r0 AS (...), r1 AS (SELECT r0.c0 AS c0, ... FROM r0 WHERE ...), ... SELECT ...

The n-th column of a node is called cn, whatever its user calls it. The rows and groups
that a bound keeps of an id depend on the rows of that id alone: digests and orders see
nothing else.

Kernel: totals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.engines.statements import templates
from sordino.engines.statements.dialect import (
    AbstractDialect,
    Parameters,
    render,
    with_type,
)
from sordino.engines.statements.templates import Sql
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression
from sordino.query.nodes import (
    AbstractNode,
    Explode,
    FlatMap,
    Gathered,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    MapRows,
    PublicRows,
    Source,
    Unreadable,
    nodes_below,
    with_inputs,
)

Function: TypeAlias = MapRows | FlatMap
FUNCTIONS: Final = (MapRows, FlatMap)  # the kinds of nodes that no database computes


@final
@dataclass(frozen=True)
class Made(AbstractNode):
    """Rows that an earlier step has made, known to the engine by its number."""

    number: int
    schema: Schema

    def describe(self) -> str:
        return f"rows made by step {self.number}"


@final
@dataclass(frozen=True)
class Staged:
    """Functions in the order in which they run, and the rows after the last of them."""

    functions: tuple[Function, ...]
    rows: AbstractNode


def stages_of(node: AbstractNode) -> Staged:
    """Return a plan whose functions are steps: the n-th makes the rows `Made(n)`."""
    functions: list[Function] = []
    last = _resolve(node, functions)
    return Staged(tuple(functions), last)


def _resolve(node: AbstractNode, functions: list[Function]) -> AbstractNode:
    below = tuple(_resolve(child, functions) for child in node.inputs)
    here = with_inputs(node, below)
    match here:
        case MapRows() | FlatMap():
            functions.append(here)
            return Made(len(functions) - 1, here.schema)
        case _:
            return here


NONE: Final = Schema(())
LeafNode: TypeAlias = Source | Unreadable | PublicRows | Kept | Made
Columns: TypeAlias = Mapping[str, Sql]
Pairs: TypeAlias = Iterable[tuple[str, Sql]]


@final
@dataclass(frozen=True)
class Subquery:
    """A named subquery and where its columns are, by the names that users gave them."""

    name: str
    columns: Columns
    further: tuple[Sql, ...] = ()
    """Columns of ours, which have no name that a user's column could have, too."""


@final
@dataclass(frozen=True)
class Leaf:
    """What stands after FROM for some stored rows, and their columns as our types."""

    item: Sql
    columns: Columns
    condition: Sql | None = None  # which of the rows, where not all


Rule: TypeAlias = "Callable[[Writer, Any], Subquery]"
"""Adds the subqueries of a node, those of its inputs first."""


@final
class Writer:
    """Collects the subqueries of one statement."""

    def __init__(
        self,
        dialect: AbstractDialect,
        leaf: Callable[[LeafNode], Leaf],
        rules: Mapping[type[AbstractNode], Rule],
    ) -> None:
        self.dialect = dialect
        self.leaf = leaf
        self.parameters = Parameters(dialect)
        self._rules = rules
        self._parts: list[tuple[str, exp.Query, bool]] = []

    def rows(self, node: AbstractNode) -> Subquery:
        """Add the subqueries of a node."""
        return self._rules[type(node)](self, node)

    def render(self, expression: AbstractExpression, columns: Columns) -> Sql:
        """Return an expression of the columns of a row."""
        return render(expression, columns, self.parameters)

    def part(
        self,
        select: exp.Select,
        pairs: Pairs,
        schema: Schema = NONE,
        further: Sequence[Sql] = (),
    ) -> Subquery:
        """Add one subquery that selects these columns, typed as in a schema."""
        values, types = dict(pairs), dict(schema.columns)
        # A subquery without columns is none: one that is never read stands in.
        listed = [*values.values(), *further] or [exp.Literal.number(1)]
        aliases = [_name_value(value, f"c{n}") for n, value in enumerate(listed)]
        name = self._add(select.select(*aliases, copy=False))
        selected = [exp.column(f"c{n}", table=name) for n in range(len(listed))]
        columns: dict[str, Sql] = {}
        for known_as, column in zip(values, selected, strict=False):
            kind = types[known_as].type if known_as in types else ""
            columns[known_as] = with_type(column, kind)
        return Subquery(name, columns, tuple(selected[len(values) :]))

    def select(
        self,
        rows: Subquery,
        schema: Iterable[str],
        further: Sequence[Sql] = (),
        where: Sql | exp.Condition | None = None,
    ) -> Subquery:
        """Add the columns of a schema of some rows, where a condition is true."""
        selected = select_from(rows)
        if where is not None:
            selected = selected.where(where, copy=False)
        types = schema if isinstance(schema, Schema) else NONE
        return self.part(selected, columns_named(rows, schema), types, further)

    def both(self, left: Subquery, right: Subquery) -> Subquery:
        """Add the subquery of the rows of two others, which have the same columns."""
        parts = [select_from(rows).select(exp.Star()) for rows in (left, right)]
        name = self._add(exp.union(*parts, distinct=False, copy=False))
        columns = {
            known_as: _column_of(column, name)
            for known_as, column in left.columns.items()
        }
        return Subquery(
            name, columns, tuple(_column_of(column, name) for column in left.further)
        )

    def share(self, rows: Subquery) -> Subquery:
        """Have the last subquery computed once, though several read it."""
        name, select, _ = self._parts.pop()
        self._parts.append((name, select, True))
        return rows

    def _add(self, select: exp.Query) -> str:
        name = f"r{len(self._parts)}"
        self._parts.append((name, select, False))
        return name

    def whole(self, last: exp.Select) -> exp.Select:
        """Return the statement that ends in a select over the subqueries."""
        for name, select, shared in self._parts:
            alias = exp.TableAlias(this=exp.to_identifier(name))
            once = self.dialect.stores(shared=shared)
            last = last.with_(alias, as_=select, materialized=once, copy=False)
        return last


def select_from(rows: Subquery) -> exp.Select:
    """Return a select over some rows, of no columns yet."""
    return exp.Select().from_(table_named(rows.name), copy=False)


def table_named(rows: str) -> exp.Table:
    """Return some rows by their name, which need not be parsed."""
    return exp.Table(this=exp.to_identifier(rows))


def alias_as(value: Sql, name: str) -> exp.Alias:
    """Return a value under a name; the value itself stays free for others."""
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name))


def _name_value(value: Sql, name: str) -> Sql:
    # a column under another name is another one to Spark, also if the names are the
    # same: it copies the column, and sorts and sends it twice
    if isinstance(value, exp.Column) and value.name == name:
        return value.copy()
    return alias_as(value, name)


def select_groups(rows: Subquery, by: Iterable[Sql]) -> exp.Select:
    """Return a select over the groups of some rows, of no columns yet."""
    return select_from(rows).group_by(*(value.copy() for value in by), copy=False)


def columns_named(rows: Subquery, names: Iterable[str]) -> list[tuple[str, Sql]]:
    """Return some columns, by the names that users gave them."""
    return [(name, rows.columns[name]) for name in names]


def order_by_all(dialect: AbstractDialect, values: Iterable[Sql]) -> exp.Order:
    """Return an order by all values, what is missing first."""
    return exp.Order(expressions=[dialect.order_term(value.copy()) for value in values])


def _column_of(column: Sql, name: str) -> Sql:
    copy = column.copy()
    copy.set("table", exp.to_identifier(name))
    return copy


def keep_rows(work: Writer, node: KeepRows) -> Subquery:
    """Keep the first rows in the order of the digest, then of all columns.

    Rows that are alike are numbered, and the number is part of the digest: otherwise
    they would be kept or dropped together, and frequent values would win. To number
    and to sort by many columns is slow, so this is done for those groups alone in which
    two digests of rows numbered 1 agree; elsewhere the order of these is that of all.
    Where nothing tells the rows of a group apart, any will do.
    """
    schema = node.child.schema
    below = _add_key(work, node, work.rows(node.child))
    if not node.order:
        first_rows = _keep_within(work, node, below, exp.RowNumber(), ())
        return work.select(first_rows, node.schema)
    if _is_costly(node.child):
        work.share(below)
    near = work.share(_keep_near(work, node, below))
    *keys, odd = near.further
    unclear = work.part(
        select_from(near).where(odd.copy(), copy=False).distinct(), (), further=keys
    )
    again = below
    if not _is_costly(node.child):
        again = _add_key(work, node, work.rows(node.child))
    rows = work.dialect.semi_join(
        select_from(again),
        table_named(unclear.name),
        _keys_agree(work, _keys(node, again), unclear),
    )
    others = work.part(rows, columns_named(again, schema), schema)
    numbered = keep_numbered(work, node, others)
    clear = work.dialect.anti_join(
        select_from(near), table_named(unclear.name), _keys_agree(work, keys, unclear)
    )
    return work.both(
        work.part(clear, columns_named(near, node.schema), node.schema),
        numbered,
    )


_COSTLY: Final = (KeepRows, KeepGroups, KeepUnique, Gathered, Join, Explode)


def _is_costly(node: AbstractNode) -> bool:
    return any(isinstance(below, _COSTLY) for below in nodes_below(node))


def _add_key(work: Writer, node: KeepRows, rows: Subquery) -> Subquery:
    # integers are sorted faster than texts or several columns
    schema, hashed = node.child.schema, work.dialect.key_hash
    if not hashed or [schema[name].type for name in node.per] == ["i64"]:
        return rows
    key = templates.function(hashed, *(rows.columns[name].copy() for name in node.per))
    # groups may share a hash: `_keep_near` finds those that do
    return work.select(rows, schema, [key])


def _keys(node: KeepRows, rows: Subquery) -> list[Sql]:
    # rows are put together by the hash of a group, or by its columns
    return list(rows.further) or [rows.columns[name] for name in node.per]


def _keys_agree(work: Writer, keys: Sequence[Sql], other: Subquery) -> exp.Condition:
    pairs = zip(keys, other.further, strict=True)
    return exp.and_(
        *(work.dialect.same(left.copy(), right.copy()) for left, right in pairs)
    )


def _keep_near(work: Writer, node: KeepRows, below: Subquery) -> Subquery:
    """Add the rows that may be kept; further: keys, and whether these are unclear.

    Each row has the digest of a row numbered 1. Rows that share their keys are unclear
    if two of them have one digest, so that a place and a rank differ, or if they are of
    two groups, so that one is not of the first row's. Of all others the first are kept.
    """
    schema = node.child.schema
    values = [below.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, templates.bigint(1)])
    digested = work.select(below, schema, [*below.further, digest])
    *keys, by = digested.further
    keys = keys or [digested.columns[name] for name in node.per]

    def over(called: Sql) -> exp.Window:
        return exp.Window(
            this=called,
            partition_by=[value.copy() for value in keys],
            order=order_by_all(work.dialect, [by]),
        )

    per = [digested.columns[name] for name in node.per] if below.further else []
    firsts = [over(exp.FirstValue(this=value.copy())) for value in per]
    odd = [
        exp.not_(work.dialect.same(value.copy(), first))
        for value, first in zip(per, firsts, strict=True)
    ]
    places = [over(exp.RowNumber()), over(exp.Anonymous(this="RANK"))]
    ranked = work.select(digested, schema, [*keys, *places, *odd])
    return _first_or_unclear(work, node, ranked, len(keys))


def _first_or_unclear(
    work: Writer, node: KeepRows, ranked: Subquery, width: int
) -> Subquery:
    keys, (place, rank, *odd) = ranked.further[:width], ranked.further[width:]
    unclear: Sql = place.neq(rank)
    for differs in odd:
        unclear = templates.infix(exp.Or, unclear, differs.copy())
    near = exp.or_(place <= exp.Literal.number(node.limit), unclear.copy())
    return work.select(ranked, node.child.schema, [*keys, unclear], near)


def keep_numbered(work: Writer, node: KeepRows, rows: Subquery) -> Subquery:
    """Keep the first of rows by digests with their numbers among those alike."""
    schema = node.child.schema
    names = [*node.per, *node.order]
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[rows.columns[name] for name in names]
    )
    counted = work.select(rows, schema, [copy])
    values = [*(counted.columns[name] for name in names), *counted.further]
    copies = work.select(counted, schema, [work.dialect.digest(values)])
    by = [*copies.further, *(copies.columns[name] for name in node.order)]
    numbered = _keep_within(work, node, copies, exp.RowNumber(), by)
    return work.select(numbered, node.schema)


def keep_groups(work: Writer, node: KeepGroups) -> Subquery:
    """Keep the rows of the first groups in the order of the digest, then of all."""
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    below, schema = work.rows(node.child), node.child.schema
    digest = work.dialect.digest([below.columns[name] for name in names])
    digested = work.select(below, schema, [digest])
    # two groups of one digest have one place by it: their columns part them
    by = [*digested.further, *(digested.columns[name] for name in node.groups)]
    first_rows = _keep_within(work, node, digested, exp.DenseRank(), by)
    return work.select(first_rows, node.schema)


def _keep_within(
    work: Writer,
    node: KeepRows | KeepGroups,
    rows: Subquery,
    place: Sql,
    by: Sequence[Sql],
) -> Subquery:
    schema = node.child.schema
    window = _window(work, rows, node, place, by)
    numbered = work.select(rows, schema, [window])
    first = numbered.further[0] <= exp.Literal.number(node.limit)
    return work.select(numbered, schema, where=first)


def _window(
    work: Writer,
    rows: Subquery,
    node: KeepRows | KeepGroups,
    place: Sql,
    by: Sequence[Sql],
) -> exp.Window:
    per = [rows.columns[name] for name in node.per]
    return exp.Window(
        this=place,
        partition_by=per,
        order=order_by_all(work.dialect, by) if by else None,
    )
