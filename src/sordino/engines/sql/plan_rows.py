"""The subquery of each kind of node, by one rule for each."""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sordino.engines.sql.buckets import Bucket
from sordino.engines.sql.group_totals import total_of
from sordino.engines.sql.kept_rows import keep_groups, keep_rows
from sordino.engines.sql.stages import FUNCTIONS, Made
from sordino.engines.sql.writer import (
    LeafNode,
    Rule,
    Subquery,
    Writer,
    columns_named,
    select_from,
    select_groups,
    table_named,
)
from sordino.query.by_kind import by_kind
from sordino.query.gathered import Gathered
from sordino.query.kept import Kept
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Memberships,
    Project,
    PublicRows,
    Source,
    Unreadable,
    Without,
)


def _leaf_rows(work: Writer, node: LeafNode) -> Subquery:
    leaf = work.leaf(node)
    select = exp.Select().from_(leaf.item, copy=False)
    if leaf.condition is not None:
        select = select.where(leaf.condition, copy=False)
    return work.part(
        select, [(name, leaf.columns[name]) for name in node.schema], node.schema
    )


def _project(work: Writer, node: Project) -> Subquery:
    below = work.rows(node.child)
    pairs = [
        (name, work.render(expression, below.columns))
        for name, expression in node.columns
    ]
    return work.part(select_from(below), pairs, node.schema)


def _filter(work: Writer, node: Filter) -> Subquery:
    below = work.rows(node.child)
    condition = work.render(node.condition, below.columns)
    return work.part(
        select_from(below).where(condition, copy=False),
        columns_named(below, node.schema),
        node.schema,
    )


def _bucket(work: Writer, node: Bucket) -> Subquery:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    there = work.dialect.in_part(per, node.number, node.count)
    return work.part(
        select_from(below).where(there, copy=False),
        columns_named(below, node.schema),
        node.schema,
    )


def _keep_unique(work: Writer, node: KeepUnique) -> Subquery:
    """Group by the columns: a group of one row has that row's values."""
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    alone = exp.Count(this=exp.Star()).eq(exp.Literal.number(1))
    select = select_groups(below, per).having(alone, copy=False)
    pairs = [
        (name, value)
        if name in node.per
        else (name, work.dialect.first(value, node.schema[name].type))
        for name, value in columns_named(below, node.schema)
    ]
    return work.part(select, pairs, node.schema)


def _crowded_ids(work: Writer, node: Crowded) -> Subquery:
    below = work.rows(node.child)
    if node.groups:
        names = tuple(dict.fromkeys((*node.per, *node.groups)))
        each = select_groups(below, [below.columns[name] for name in names])
        below = work.part(each, columns_named(below, names), node.child.schema)
    many = exp.Count(this=exp.Star()) > exp.Literal.number(node.limit)
    select = select_groups(below, [below.columns[name] for name in node.per])
    return work.part(
        select.having(many, copy=False), columns_named(below, node.schema), node.schema
    )


def _rows_without(work: Writer, node: Without) -> Subquery:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(
        *(
            work.dialect.same(left.columns[name], right.columns[name])
            for name in node.on
        )
    )
    other = table_named(right.name)
    select = work.dialect.anti_join(select_from(left), other, agree)
    return work.part(select, columns_named(left, node.schema), node.schema)


def _memberships(work: Writer, node: Memberships) -> Subquery:
    below = work.rows(node.child)
    names = tuple(dict.fromkeys((*node.per, *node.groups)))
    each = select_groups(below, [below.columns[name] for name in names])
    pairs = work.part(each, columns_named(below, names), node.child.schema)
    size = exp.Window(
        this=exp.Count(this=exp.Star()),
        partition_by=[pairs.columns[name] for name in node.per],
    )
    columns = {**pairs.columns, node.size: size}
    return work.part(
        select_from(pairs), [(name, columns[name]) for name in node.schema], node.schema
    )


def _rows_of_ids(work: Writer, node: Gathered) -> Subquery:
    below, schema = work.rows(node.child), node.child.schema
    columns = {name: below.columns[name] for name in node.per}
    for name, total in node.totals:
        columns[name] = work.dialect.narrow_total(total_of(work, total, below, schema))
    for name, extreme in node.extremes:
        value = work.render(extreme.expression, below.columns)
        columns[name] = (exp.Max if extreme.is_greatest else exp.Min)(this=value)
    select = select_groups(below, [below.columns[name] for name in node.per])
    return work.part(
        select, [(name, columns[name]) for name in node.schema], node.schema
    )


def _join(work: Writer, node: Join) -> Subquery:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(*(left.columns[name].eq(right.columns[name]) for name in node.on))
    kind = "left" if node.outer else "inner"
    select = select_from(left).join(
        table_named(right.name), on=agree, join_type=kind, copy=False
    )
    columns = {**right.columns, **left.columns}
    return work.part(
        select, [(name, columns[name]) for name in node.schema], node.schema
    )


def _explode(work: Writer, node: Explode) -> Subquery:
    below = work.rows(node.child)
    entry = work.dialect.unnest(below.columns[node.column], node.limit)
    pairs = [(name, below.columns[name]) for name in node.child.schema]
    pairs = [(name, entry if name == node.column else column) for name, column in pairs]
    exploded = work.part(select_from(below), pairs)
    return work.part(
        select_from(exploded), columns_named(exploded, node.schema), node.schema
    )


RULES: Final[Mapping[type[AbstractNode], Rule]] = by_kind(
    AbstractNode,
    {
        Source: _leaf_rows,
        Unreadable: _leaf_rows,
        Made: _leaf_rows,
        Project: _project,
        Filter: _filter,
        KeepRows: keep_rows,
        KeepGroups: keep_groups,
        KeepUnique: _keep_unique,
        Crowded: _crowded_ids,
        PublicRows: _leaf_rows,
        Kept: _leaf_rows,
        Without: _rows_without,
        Memberships: _memberships,
        Gathered: _rows_of_ids,
        Join: _join,
        Explode: _explode,
        Bucket: _bucket,
    },
    elsewhere=FUNCTIONS,
)
