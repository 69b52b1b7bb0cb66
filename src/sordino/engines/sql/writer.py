"""Plans as SQL: each node is a named subquery over those below it.

    WITH r0 AS (...), r1 AS (SELECT r0.c0 AS c0, ... FROM r0 WHERE ...), ... SELECT ...

The n-th column of a node is called cn, whatever its user calls it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.rendering import Parameters, render, with_type
from sordino.engines.sql.stages import Made
from sordino.expressions.base import AbstractExpression
from sordino.query.kept import Kept
from sordino.query.nodes import AbstractNode, PublicRows, Source, Unreadable
from sordino.schema import Schema

NONE: Final = Schema(())
LeafNode: TypeAlias = Source | Unreadable | PublicRows | Kept | Made
Columns: TypeAlias = Mapping[str, exp.Expression]
Pairs: TypeAlias = Iterable[tuple[str, exp.Expression]]


@final
@dataclass(frozen=True)
class Subquery:
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
        """Start with no subquery, and no value bound."""
        self.dialect = dialect
        self.leaf = leaf
        self.parameters = Parameters(dialect)
        self._rules = rules
        self._parts: list[tuple[str, exp.Query, bool]] = []

    def rows(self, node: AbstractNode) -> Subquery:
        """Add the subqueries of a node."""
        return self._rules[type(node)](self, node)

    def render(
        self, expression: AbstractExpression, columns: Columns
    ) -> exp.Expression:
        """Return an expression of the columns of a row."""
        return render(expression, columns, self.parameters)

    def part(
        self,
        select: exp.Select,
        pairs: Pairs,
        schema: Schema = NONE,
        further: Sequence[exp.Expression] = (),
    ) -> Subquery:
        """Add one subquery that selects these columns, typed as in a schema."""
        values, types = dict(pairs), dict(schema.columns)
        # A subquery without columns is none: one that is never read stands in.
        listed = [*values.values(), *further] or [exp.Literal.number(1)]
        aliases = [_name_value(value, f"c{n}") for n, value in enumerate(listed)]
        name = self._add(select.select(*aliases, copy=False))
        selected = [exp.column(f"c{n}", table=name) for n in range(len(listed))]
        columns: dict[str, exp.Expression] = {}
        for known_as, column in zip(values, selected, strict=False):
            kind = types[known_as].type if known_as in types else ""
            columns[known_as] = with_type(column, kind)
        return Subquery(name, columns, tuple(selected[len(values) :]))

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
        """Add a subquery and return its name."""
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


def alias_as(value: exp.Expression, name: str) -> exp.Alias:
    """Return a value under a name; the value itself stays free for others."""
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name))


def _name_value(value: exp.Expression, name: str) -> exp.Expression:
    """Return a value under a name, which a column of that name has already.

    A column under another name is another one to Spark, also if the names are the same:
    it copies the column, and sorts and sends it twice.
    """
    if isinstance(value, exp.Column) and value.name == name:
        return value.copy()
    return alias_as(value, name)


def select_groups(rows: Subquery, by: Iterable[exp.Expression]) -> exp.Select:
    """Return a select over the groups of some rows, of no columns yet."""
    return select_from(rows).group_by(*(value.copy() for value in by), copy=False)


def columns_named(
    rows: Subquery, names: Iterable[str]
) -> list[tuple[str, exp.Expression]]:
    """Return some columns, by the names that users gave them."""
    return [(name, rows.columns[name]) for name in names]


def order_by_all(
    dialect: AbstractDialect, values: Iterable[exp.Expression]
) -> exp.Order:
    """Return an order by all values, what is missing first."""
    return exp.Order(expressions=[dialect.order_term(value.copy()) for value in values])


def _column_of(column: exp.Expression, name: str) -> exp.Expression:
    """Return a column of one subquery as that of another."""
    copy = column.copy()
    copy.set("table", exp.to_identifier(name))
    return copy
