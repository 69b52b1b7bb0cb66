"""Bounds as Spark's SQL: one shuffle by the id, and two sorts within it.

The shared form reads what may be kept three times and joins it with itself: Spark would
compute it three times. Here rows that are alike are numbered in the order of the first
digest itself, where they stand side by side, and what may be kept is sorted once more.
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
)
from sordino.query.nodes import KeepRows


def keep_by_two_sorts(work: Writer, node: KeepRows) -> Subquery:
    """Keep the first rows in the order of the digest, then of all columns.

    Of a row that is not like another the digest is that of the row numbered 1, so its
    place in the first order is no later than in the last: after `limit` different rows
    that come before it, it is not kept. What may be kept are the others, and rows that
    are like one before them.
    """
    schema = node.child.schema
    numbered = _number_copies(work, node)
    copy, place = numbered.further
    values = [numbered.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, copy])
    may_be = exp.or_(
        place <= exp.Literal.number(node.limit), copy > exp.Literal.number(1)
    )
    near = work.part(
        select_from(numbered).where(may_be, copy=False),
        columns_named(numbered, schema),
        schema,
        [digest],
    )
    order = [*near.further, *(near.columns[name] for name in node.order)]
    last = _window_place(near, node, exp.RowNumber(), order, work)
    counted = work.part(select_from(near), columns_named(near, schema), schema, [last])
    first = counted.further[0] <= exp.Literal.number(node.limit)
    return work.part(
        select_from(counted).where(first, copy=False),
        columns_named(counted, node.schema),
        node.schema,
    )


def _number_copies(work: Writer, node: KeepRows) -> Subquery:
    """Return the rows; further: the number of each among those alike, and its place.

    The place counts different rows before it, in the order of the rows numbered 1.
    """
    below, schema = work.rows(node.child), node.child.schema
    values = [below.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, sql.bigint(1)])
    digested = work.part(
        select_from(below), columns_named(below, schema), schema, [digest]
    )
    order = [*digested.further, *(digested.columns[name] for name in node.order)]
    each, alike, different = (
        _window_place(digested, node, function, order, work)
        for function in (exp.RowNumber(), exp.Rank(), exp.DenseRank())
    )
    copy = sql.plus(sql.minus(each, alike), sql.whole(1))
    return work.part(
        select_from(digested),
        columns_named(digested, schema),
        schema,
        [sql.as_type(copy, "BIGINT"), different],
    )


def _window_place(
    rows: Subquery,
    node: KeepRows,
    function: exp.Expression,
    by: Sequence[exp.Expression],
    work: Writer,
) -> exp.Window:
    """Return a place among the rows that a node counts together."""
    per = [rows.columns[name].copy() for name in node.per]
    order = order_by_all(work.dialect, by)
    return exp.Window(this=function, partition_by=per, order=order)
