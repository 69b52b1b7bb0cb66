"""Bounds as SQL: which rows are kept, and which groups.

For any group they depend on its own rows alone: digests and orders see nothing else.
"""

from collections.abc import Sequence
from typing import Final

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
from sordino.query.gathered import Gathered
from sordino.query.nodes import (
    AbstractNode,
    Explode,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
)
from sordino.query.walks import nodes_below


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
        return work.part(
            select_from(first_rows), columns_named(first_rows, node.schema), node.schema
        )
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
    numbered = _keep_in_order(work, node, others)
    clear = work.dialect.anti_join(
        select_from(near), table_named(unclear.name), _keys_agree(work, keys, unclear)
    )
    return work.both(
        work.part(clear, columns_named(near, node.schema), node.schema),
        work.part(
            select_from(numbered), columns_named(numbered, node.schema), node.schema
        ),
    )


_COSTLY: Final = (KeepRows, KeepGroups, KeepUnique, Gathered, Join, Explode)


def _is_costly(node: AbstractNode) -> bool:
    """Tell whether rows are better stored than made a second time."""
    return any(isinstance(below, _COSTLY) for below in nodes_below(node))


def _add_key(work: Writer, node: KeepRows, rows: Subquery) -> Subquery:
    """Return rows, with a hash of their group where it is not one integer.

    Integers are sorted faster. Several groups may share a hash.
    """
    schema, hashed = node.child.schema, work.dialect.key_hash
    if not hashed or [schema[name].type for name in node.per] == ["i64"]:
        return rows
    key = sql.function(hashed, *(rows.columns[name].copy() for name in node.per))
    return work.part(select_from(rows), columns_named(rows, schema), schema, [key])


def _keys(node: KeepRows, rows: Subquery) -> list[exp.Expression]:
    """Return what rows are put together by: the hash of a group, or its columns."""
    return list(rows.further) or [rows.columns[name] for name in node.per]


def _keys_agree(
    work: Writer, keys: Sequence[exp.Expression], other: Subquery
) -> exp.Condition:
    """Return whether keys are those of another subquery."""
    pairs = zip(keys, other.further, strict=True)
    return exp.and_(
        *(work.dialect.same(left.copy(), right.copy()) for left, right in pairs)
    )


def _keep_near(work: Writer, node: KeepRows, below: Subquery) -> Subquery:
    """Return what may be kept; further: keys, and whether these are unclear.

    Each row has the digest of a row numbered 1. Rows that share their keys are unclear
    if two of them have one digest, so that a place and a rank differ, or if they are of
    two groups, so that one is not of the first row's. Of all others the first are kept.
    """
    schema = node.child.schema
    values = [below.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, sql.bigint(1)])
    digested = work.part(
        select_from(below),
        columns_named(below, schema),
        schema,
        [*below.further, digest],
    )
    *keys, by = digested.further
    keys = keys or [digested.columns[name] for name in node.per]

    def over(called: exp.Expression) -> exp.Window:
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
    ranked = work.part(
        select_from(digested),
        columns_named(digested, schema),
        schema,
        [*keys, over(exp.RowNumber()), over(exp.Anonymous(this="RANK")), *odd],
    )
    return _first_or_unclear(work, node, ranked, len(keys))


def _first_or_unclear(
    work: Writer, node: KeepRows, ranked: Subquery, width: int
) -> Subquery:
    """Return the first rows, and those that are unclear; further: keys, and which."""
    keys, (place, rank, *odd) = ranked.further[:width], ranked.further[width:]
    unclear: exp.Expression = place.neq(rank)
    for differs in odd:
        unclear = sql.infix(exp.Or, unclear, differs.copy())
    near = exp.or_(place <= exp.Literal.number(node.limit), unclear.copy())
    return work.part(
        select_from(ranked).where(near, copy=False),
        columns_named(ranked, node.child.schema),
        node.child.schema,
        [*keys, unclear],
    )


def _keep_in_order(work: Writer, node: KeepRows, rows: Subquery) -> Subquery:
    """Keep the first rows, those alike numbered, in the order of digest and columns."""
    digested = number_copies(work, node, rows)
    by = [*digested.further, *(digested.columns[name] for name in node.order)]
    return _keep_within(work, node, digested, exp.RowNumber(), by)


def number_copies(work: Writer, node: KeepRows, rows: Subquery) -> Subquery:
    """Return rows; further: the digest of each with its number among those alike."""
    schema = node.child.schema
    names = [*node.per, *node.order]
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[rows.columns[name] for name in names]
    )
    counted = work.part(select_from(rows), columns_named(rows, schema), schema, [copy])
    values = [*(counted.columns[name] for name in names), *counted.further]
    digest = [work.dialect.digest(values)]
    return work.part(
        select_from(counted), columns_named(counted, schema), schema, digest
    )


def place_in_order(work: Writer, node: KeepRows, rows: Subquery) -> exp.Window:
    """Return the place of a row in the order of digest and columns."""
    by = [*rows.further, *(rows.columns[name] for name in node.order)]
    return _window(work, rows, node, exp.RowNumber(), by)


def keep_groups(work: Writer, node: KeepGroups) -> Subquery:
    """Keep the rows of the first groups in the order of the digest, then of all."""
    names = [*node.per, *(name for name in node.groups if name not in node.per)]
    below, schema = work.rows(node.child), node.child.schema
    digest = work.dialect.digest([below.columns[name] for name in names])
    digested = work.part(
        select_from(below), columns_named(below, schema), schema, [digest]
    )
    by = [*digested.further, *(digested.columns[name] for name in node.groups)]
    first_rows = _keep_within(work, node, digested, exp.DenseRank(), by)
    return work.part(
        select_from(first_rows), columns_named(first_rows, node.schema), node.schema
    )


def _keep_within(
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
