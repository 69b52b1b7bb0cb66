"""Bounds as SQL: which rows are kept, and which groups.

For any group they depend on its own rows alone: digests and orders see nothing else.
"""

from collections.abc import Sequence

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.writer import (
    Subquery,
    Writer,
    columns_named,
    order_by_all,
    select_from,
    table_named,
)
from sordino.query.nodes import KeepGroups, KeepRows


def keep_rows(work: Writer, node: KeepRows) -> Subquery:
    """Keep the first rows in the order of the digest, then of all columns.

    Rows that are alike are numbered, and the number is part of the digest: otherwise
    they would be kept or dropped together, and frequent values would win. To number
    and to sort by many columns is slow, so this is done for those groups alone in which
    two digests of rows numbered 1 agree; elsewhere the order of these is that of all.
    Where nothing tells the rows of a group apart, any will do.
    """
    below, schema = work.rows(node.child), node.child.schema
    rest = node.order
    if not rest:
        kept = _within(work, node, below, exp.RowNumber(), ())
        return work.part(
            select_from(kept), columns_named(kept, node.schema), node.schema
        )
    near = _near(work, node, below, rest)
    per = [(name, near.columns[name]) for name in node.per]
    alike = work.part(
        select_from(near).where(*near.further, copy=False).distinct(), per
    )
    same = exp.and_(
        *(
            work.dialect.same(one.copy(), alike.columns[name].copy())
            for name, one in per
        )
    )
    other = table_named(alike.name)
    clear = work.dialect.unmatched(select_from(near), other, same)
    others = work.dialect.matched(select_from(near), other.copy(), same.copy())
    unclear = _sorted(
        work, node, work.part(others, columns_named(near, schema), schema), rest
    )
    return work.both(
        work.part(clear, columns_named(near, node.schema), node.schema),
        work.part(
            select_from(unclear), columns_named(unclear, node.schema), node.schema
        ),
    )


def _near(
    work: Writer, node: KeepRows, below: Subquery, rest: Sequence[str]
) -> Subquery:
    """Return what may be kept; further: whether a row has the digest of another.

    Each row has the digest of a row numbered 1. Of the rows numbered 1, none is kept
    that comes after as many other digests as rows are kept; so what is left out are
    such rows, and none that have others like them.
    """
    schema = node.child.schema
    numbered = [
        *(below.columns[name] for name in (*node.per, *rest)),
        sql.bigint(1),
    ]
    digest = work.dialect.digest(numbered)
    held = work.part(select_from(below), columns_named(below, schema), schema, [digest])
    beside = [
        _window(work, held, node, called(this=held.further[0].copy()), held.further)
        for called in (exp.Lag, exp.Lead)
    ]
    equal = [held.further[0].eq(one) for one in beside]
    place = _window(work, held, node, exp.DenseRank(), held.further)
    ranked = work.part(
        select_from(held), columns_named(held, schema), schema, [place, *equal]
    )
    first = ranked.further[0] <= exp.Literal.number(node.limit)
    alike = sql.infix(exp.Or, *ranked.further[1:])
    kept = select_from(ranked).where(exp.or_(first, alike.copy()), copy=False)
    return work.shared(work.part(kept, columns_named(ranked, schema), schema, [alike]))


def _sorted(
    work: Writer, node: KeepRows, rows: Subquery, rest: Sequence[str]
) -> Subquery:
    """Keep the first rows, those alike numbered, in the order of digest and columns."""
    schema = node.child.schema
    names = [*node.per, *rest]
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[rows.columns[name] for name in names]
    )
    counted = work.part(select_from(rows), columns_named(rows, schema), schema, [copy])
    values = [*(counted.columns[name] for name in names), *counted.further]
    digest = [work.dialect.digest(values)]
    digested = work.part(
        select_from(counted), columns_named(counted, schema), schema, digest
    )
    by = [*digested.further, *(digested.columns[name] for name in rest)]
    return _within(work, node, digested, exp.RowNumber(), by)


def keep_groups(work: Writer, node: KeepGroups) -> Subquery:
    """Keep the rows of the first groups in the order of the digest, then of all."""
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    below, schema = work.rows(node.child), node.child.schema
    digest = work.dialect.digest([below.columns[name] for name in names])
    digested = work.part(
        select_from(below), columns_named(below, schema), schema, [digest]
    )
    by = [*digested.further, *(digested.columns[name] for name in node.groups)]
    kept = _within(work, node, digested, exp.DenseRank(), by)
    return work.part(select_from(kept), columns_named(kept, node.schema), node.schema)


def _within(
    work: Writer,
    node: KeepRows | KeepGroups,
    rows: Subquery,
    place: exp.Expression,
    by: Sequence[exp.Expression],
) -> Subquery:
    """Keep the rows whose place in an order is within the limit of a node."""
    schema = node.child.schema
    window = _window(work, rows, node, place, by)
    numbered = work.part(
        select_from(rows), columns_named(rows, schema), schema, [window]
    )
    first = numbered.further[0] <= exp.Literal.number(node.limit)
    return work.part(
        select_from(numbered).where(first, copy=False),
        columns_named(numbered, schema),
        schema,
    )


def _window(
    work: Writer,
    rows: Subquery,
    node: KeepRows | KeepGroups,
    place: exp.Expression,
    by: Sequence[exp.Expression],
) -> exp.Window:
    """Return a place among the rows that a node counts together."""
    per = [rows.columns[name] for name in node.per]
    return exp.Window(
        this=place,
        partition_by=per,
        order=order_by_all(work.dialect, by) if by else None,
    )
