"""IN (SELECT ... FROM a public table): a list of values that everybody may know.

The values are read when the text is, from the rows that the session froze, and stand in
the request: a table that has changed since makes another request.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from sqlglot import exp

from sordino.expressions.language import Expression, lit, when
from sordino.expressions.membership import MOST_VALUES
from sordino.query.builder import table
from sordino.query.sql.reading import Clause
from sordino.query.sql.row_scope import RowScope, alias, identifier
from sordino.query.sql.scope import AbstractScope, Value

Meet: TypeAlias = Callable[[Clause, list[Value]], list[Value]]
"""(clause, values) -> the values in one type"""
_ONE_COLUMN = "Write IN (SELECT column FROM a public table WHERE ...)."


def in_public_list(clause: Clause, scope: AbstractScope, meet: Meet) -> Value:
    """Return whether a value is among those that a query of a public table has."""
    this, select = clause.take("this"), _select(clause.take("query"))
    rows = _public_rows(select, scope)
    listed = select.each("expressions")
    if len(listed) != 1 or listed[0].kind is exp.Star:
        raise select.refusal("IN takes a query of one column", _ONE_COLUMN)
    subject, member = meet(clause, [scope.value(this), rows.value(listed[0])])
    where = select.some("where")
    kept = None if where is None else rows.value(where.look().take("this"))
    if member.type.startswith("list"):
        raise listed[0].refusal("a list is not compared", "Select another column.")
    values = _values(rows, member.expression, kept)
    known = sorted((value for value in values if value is not None), key=repr)
    if len(known) > MOST_VALUES:
        raise select.refusal(
            f"this query has more than {MOST_VALUES} values",
            "Join the public table instead.",
        )
    if not values:
        return scope.value_of(lit(False))
    among = subject.expression.is_in(known)
    if None not in values:
        return scope.value_of(among)
    return scope.value_of(when(among).then(True).otherwise(None))


def _select(clause: Clause) -> Clause:
    """Return a query without the brackets around it."""
    inner = clause.bare()
    while inner.kind is exp.Subquery:
        inner = inner.take("this")
    if inner.kind is not exp.Select:
        raise inner.refusal("IN takes one SELECT here", _ONE_COLUMN)
    distinct = inner.some("distinct")
    if distinct is not None:
        distinct.look()
    return inner


def _public_rows(select: Clause, scope: AbstractScope) -> RowScope:
    """Return the rows of the public table that a query asks."""
    start = select.some("from_")
    named = None if start is None else start.look().take("this")
    if named is None or named.kind is not exp.Table:
        raise select.refusal("IN takes a query of a public table", _ONE_COLUMN)
    name, quoted = identifier(named.take("this"))
    catalog = scope.tables_by_name
    names = catalog.public_names()
    close = [known for known in names if known.lower() == name.lower()]
    if name not in names and (len(close) != 1 or quoted):
        raise named.refusal(
            f"{name} is no public table, and IN takes values that everybody may know",
            "Join it, or give the session a sd.PublicTable of the values.",
        )
    spelled = name if name in names else close[0]
    schema = catalog.public(spelled).schema
    columns: dict[str, str | None] = {column: column for column in schema}
    owners = {(alias(named) or name).lower(): columns}
    return RowScope(table(spelled), catalog, schema, columns, owners, scope.rules)


def _values(rows: RowScope, member: Expression, kept: Value | None) -> set[Any]:
    """Return the different values of an expression in the rows that are kept."""
    names = sorted({*member.names(), *(kept.expression.names() if kept else ())})
    read = rows.catalog.public_rows(rows.query.table).select(names).to_pylist()
    return {
        member.value(row)
        for row in read
        if kept is None or kept.expression.value(row) is True
    }
