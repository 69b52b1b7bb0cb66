"""The steps of a query that make several rows of one, or bring two tables together.

Kernel: sensitivity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from sordino.data.contribution import Contribution, Spread
from sordino.data.limits import AbstractTruncation
from sordino.errors import InvalidQuery
from sordino.expressions.schema import Column, Schema, Version
from sordino.expressions.tree import Col
from sordino.numbers.canonical import Words, call
from sordino.query.dropped_rows import Cut
from sordino.query.functions import Udf
from sordino.query.node_rules import narrow_schema
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    FlatMap,
    Join,
    KeepRows,
    KeepUnique,
    MapRows,
    Project,
)
from sordino.query.request import Rows
from sordino.query.steps import AbstractCatalog, AbstractStep, Relation, refuse_ids


@final
@dataclass(frozen=True)
class MapStep(AbstractStep):
    """Add columns that a Python function computes from the row."""

    function: Udf

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call(
            "with_columns",
            function=self.function.words,
            returns=self.function.types,
        )

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        schema = _returned_columns(relation, self.function)
        function, names = self.function.function, self.function.names
        # a row stays one row, whatever the function returns: no bound changes
        return relation.with_node(MapRows(relation.node, function, names, schema))


@final
@dataclass(frozen=True)
class FlatMapStep(AbstractStep):
    """Make rows of each row by a Python function."""

    function: Udf
    limit: int | None

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call(
            "flat_map",
            function=self.function.words,
            returns=self.function.types,
            max_rows=self.limit,
        )

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        refuse_unbounded(relation, self.limit)
        schema = _returned_columns(relation, self.function)
        function, names = self.function.function, self.function.names
        node = FlatMap(relation.node, function, names, self.limit, schema)
        return relation.multiply(node, self.limit)


@final
@dataclass(frozen=True)
class ExplodeStep(AbstractStep):
    """Make a row of each entry of a list."""

    name: str
    limit: int | None

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("flat_map", column=self.name, max_rows=self.limit)

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        refuse_unbounded(relation, self.limit)
        column = relation.schema[self.name]
        if not column.type.startswith("list["):
            raise InvalidQuery(
                f"{self.name!r} has type {column.type}, and only lists can be exploded",
                "Name a list column, or give a function that makes rows.",
            )
        facts = dict(relation.schema.columns)
        # new: no bound speaks of it, but its texts are no shorter for being listed
        facts[self.name] = Column(column.type[5:-1], longer=column.longer)
        schema = Schema(tuple(facts.items()))
        node = Explode(relation.node, self.name, self.limit, schema)
        return relation.multiply(node, self.limit)


@final
@dataclass(frozen=True)
class JoinPublic(AbstractStep):
    """Bring in the columns of a public table."""

    table: str
    on: tuple[str, ...]
    outer: bool
    suffix: str

    def words(self, catalog: AbstractCatalog) -> Words:
        return call(
            "join_public",
            table=catalog.words(self.table),
            on=list(self.on),
            how="left" if self.outer else "inner",
            suffix=self.suffix,
        )

    def apply(self, relation: Relation, catalog: AbstractCatalog) -> Relation:
        """Relation of pairs: at most m of each row, m rows of the table sharing a key.

        A left join keeps a row without a partner, so it makes max(1, m) of each; for
        the inner join the same factor is sound, and differs only where m is 0.
        """
        right = catalog.public(self.table)
        pairs = join_nodes(relation.node, right, self.on, self.suffix, outer=self.outer)
        factor = catalog.multiplicity(self.table, self.on)
        joined = relation.multiply(pairs.node, factor)
        # two pairs of a row would count its weight twice
        weighed = relation.weighed_beside(self.on) if factor <= 1 else None
        return replace(joined, weighed=weighed)


@final
@dataclass(frozen=True)
class JoinPrivate(AbstractStep):
    """Bring together two private tables."""

    other: Rows
    on: tuple[str, ...]
    left: AbstractTruncation | None
    right: AbstractTruncation | None
    suffix: str

    def words(self, catalog: AbstractCatalog) -> Words:
        return call(
            "join_private",
            table=self.other.words(catalog),
            on=list(self.on),
            left=None if self.left is None else self.left.words,
            right=None if self.right is None else self.right.words,
            suffix=self.suffix,
        )

    def apply(self, relation: Relation, catalog: AbstractCatalog) -> Relation:
        other = self.other.resolve(catalog)
        if (relation.ids is None) != (other.ids is None):
            raise InvalidQuery(
                "one of the tables protects ids and the other protects rows",
                "Join two tables that protect ids, or two that protect rows.",
            )
        if relation.ids is None:
            return self._by_rows(relation, other)
        return self._by_ids(relation, other)

    def _by_rows(self, left: Relation, other: Relation) -> Relation:
        """Join truncated sides.

        For any change of d_l and d_r rows the kept rows change by s d on each side, and
        each changed row meets at most tau rows of the other (docs/proofs/queries.md,
        lemma 4): tau_l s_r d_r + tau_r s_l d_l.
        """
        if self.left is None or self.right is None:
            raise InvalidQuery(
                "a join of tables that protect rows needs a bound on each side",
                "Add left=sd.DropExcess(2), right=sd.DropNonUnique().",
            )
        moved = self.left.limit * self.right.change * _rows(
            other
        ) + self.right.limit * self.left.change * _rows(left)
        pairs = join_nodes(
            _truncate(left.node, self.on, self.left),
            _truncate(other.node, self.on, self.right),
            self.on,
            self.suffix,
            outer=False,
        )
        cut = (_cut_of(left, self.on, self.left), _cut_of(other, self.on, self.right))
        return replace(
            left,
            node=pairs.node,
            contribution=Contribution(rows=moved),
            size=None,
            weighed=None,
            passed=(*left.passed, *other.passed, *cut),
            spread=_spread_of_pairs(left),
        )

    def _by_ids(self, left: Relation, other: Relation) -> Relation:
        if self.left is not None or self.right is not None:
            raise InvalidQuery(
                "a join of tables that protect ids takes no truncation",
                "Enforce sd.MaxRowsPerID on each table instead.",
            )
        if left.space != other.space:  # the same id may be another person there
            raise InvalidQuery(
                "the tables have different id spaces, "
                f"{left.space!r} and {other.space!r}",
                "Give both tables the same id_space if they hold the same people.",
            )
        if left.ids != other.ids or left.ids not in self.on:  # rows of two people meet
            raise InvalidQuery(
                "tables that protect ids must be joined on their id column, under one "
                "name",
                f"Join on {left.ids!r}; rename the column of the other table to it.",
            )
        pairs = join_nodes(left.node, other.node, self.on, self.suffix, outer=False)
        theirs = other.contribution.restate(pairs.moved)
        return replace(
            left,
            node=pairs.node,
            contribution=_bound_pairs(left.contribution, theirs),
            passed=(*left.passed, *other.passed),
            spread=_spread_of_pairs(left),
        )


@final
@dataclass(frozen=True)
class Pairs:
    """A join, and which versions of the right side's columns became which.

    What the right side brings is a new version: the same table may stand on both sides,
    and what is known of one side's groups is not known of the other's.
    """

    node: Join
    moved: Mapping[Version, Version]


def join_nodes(
    left: AbstractNode,
    right: AbstractNode,
    on: tuple[str, ...],
    suffix: str,
    *,
    outer: bool,
) -> Pairs:
    """Join, columns of the right that clash with the left renamed."""
    for name in on:
        refuse_unlike(name, left.schema[name].type, right.schema[name].type)
    shared = {name: left.schema[name] for name in on}
    brought = {
        # a new version: the same table may stand on the left, under other bounds
        name: (name + suffix if name in left.schema else name, column.renew())
        for name, column in right.schema.columns
        if name not in on
    }
    if outer:
        brought = {
            name: (new, replace(column, nullable=True))
            for name, (new, column) in brought.items()
        }
    names = {name: (name, column) for name, column in shared.items()} | brought
    cells = tuple((names[name][0], Col(name)) for name in right.schema)
    renamed = Schema.of(names[name] for name in right.schema)
    schema = Schema.of([*left.schema.columns, *brought.values()])
    moved = {
        column.version: names[name][1].version for name, column in right.schema.columns
    }
    return Pairs(Join(left, Project(right, cells, renamed), on, outer, schema), moved)


def refuse_unlike(name: str, left: str, right: str) -> None:
    """Refuse columns to join on that cannot agree without a cast."""
    if left != right:
        raise InvalidQuery(
            f"the join column {name!r} has type {left} on the left and {right} on the "
            "right",
            "Cast one of them first.",
        )
    if left.startswith("list"):
        raise InvalidQuery(
            f"{name!r} is a list column, and lists cannot be compared",
            "Explode it first.",
        )


def refuse_unbounded(relation: Relation, limit: int | None) -> None:
    """Refuse an unlimited number of rows where rows are protected."""
    if limit is None and relation.ids is None:  # of an id, enforce can bound them later
        raise InvalidQuery(
            "a row could become any number of rows, and the table protects rows",
            "Give a limit: max_rows=3.",
        )


def _returned_columns(relation: Relation, function: Udf) -> Schema:
    columns = {name: column.renew() for name, column in function.returns}
    refuse_ids(relation, columns)
    return Schema(tuple((dict(relation.schema.columns) | columns).items()))


def _truncate(
    node: AbstractNode, on: tuple[str, ...], truncation: AbstractTruncation
) -> AbstractNode:
    if truncation.drops_all:
        return KeepUnique(node, on, node.schema)
    order = node.schema.other_names(on)  # all of them: ties would be broken by arrival
    return KeepRows(node, on, order, truncation.limit, node.schema)


def _cut_of(side: Relation, on: tuple[str, ...], truncation: AbstractTruncation) -> Cut:
    keys = narrow_schema(side.schema, on)
    crowded = Crowded(side.node, on, (), truncation.limit, keys)
    return Cut(crowded, repr(truncation), _rows(side), None)


def _rows(relation: Relation) -> int:
    rows = relation.contribution.rows
    assert rows is not None  # noqa: S101 such a table always says so
    return rows


def _spread_of_pairs(relation: Relation) -> Spread | None:
    # rows of a unit meet others of it: a row does not stand alone any more
    if relation.spread is None:
        return None
    return replace(relation.spread, is_alone=False)


def _bound_pairs(first: Contribution, other: Contribution) -> Contribution:
    left, right = first.most_rows(), other.most_rows()
    return Contribution(  # each row of one side may meet all that a unit has there
        rows=None if left is None or right is None else left * right,
        groups=first.groups + other.groups,
        group_rows=(
            *((c, n * right) for c, n in first.group_rows if right is not None),
            *((c, n * left) for c, n in other.group_rows if left is not None),
        ),
    )
