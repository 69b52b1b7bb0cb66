"""The steps of a query on one table: each takes a relation and gives the next.

A relation is an intermediate table as the public knows it: its columns, and whom its
rows are of. Each step answers for what becomes of a unit's rows: one that makes at most
one row of each changes no bound, and a column that is written anew is a new version.

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from sordino.data.contribution import Contribution, Rule, Spread, Versions, Weighed
from sordino.data.limits import AbstractConstraint
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.dates import meet_times
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import lift
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression, Col
from sordino.numbers.canonical import Words, call, worded_pairs
from sordino.query.dropped_rows import MOST_KEPT, AbstractPassage, Cut, CutRows
from sordino.query.node_rules import narrow_schema
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Filter,
    KeepGroups,
    KeepRows,
    Project,
    Source,
)

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True)
class Relation:
    """Rows, and how much of them one protected unit can hold.

    Proof obligation: for any two databases that differ by the protected change, the
    rows differ by rows of one unit that satisfy `contribution`: by those with one id,
    or, without ids, by that many rows in all, added or removed.
    """

    node: AbstractNode
    contribution: Contribution
    ids: str | None
    """The column of ids, None where rows are protected."""
    space: str | None
    """What the ids stand for."""
    passed: tuple[AbstractPassage, ...] = ()
    """Where rows and cells may have been left out on the way."""
    spread: Spread | None = None
    """If the rows are of one of several parts of a table, charged once together."""
    size: int | None = None
    """How many rows there are, where all neighbours have as many, which is public."""
    weighed: Weighed | None = None
    """A column whose sum one unit moves by so much and no more, if there is one."""

    @property
    def schema(self) -> Schema:
        """The columns of the rows."""
        return self.node.schema

    def versions(self, columns: tuple[str, ...]) -> Versions:
        """Versions of some columns; one that is not there is refused."""
        return frozenset(self.schema[name].version for name in columns)

    def with_node(self, node: AbstractNode) -> "Relation":
        """Relation of other rows of the same people, each row made of at most one.

        Their number need not be public, and a weighed column may decide about them.
        """
        return replace(self, node=node, size=None, weighed=None)

    def with_each_row(
        self, node: AbstractNode, cells: Iterable[AbstractExpression]
    ) -> "Relation":
        """Relation of rows made one of each, by expressions that read it alone.

        A weighed column that stands as it is stays itself, under any name.
        """
        read = (cell.names() for cell in cells if not isinstance(cell, Col))
        weighed = self.weighed_beside(frozenset[str]().union(*read))
        return replace(self, node=node, weighed=weighed)

    def with_some_rows(
        self, node: AbstractNode, condition: AbstractExpression
    ) -> "Relation":
        """Relation of some of the rows, chosen by an expression of each alone."""
        # choosing by the weighed value itself: a changed weight moves a whole row
        weighed = self.weighed_beside(condition.names())
        return replace(self, node=node, size=None, weighed=weighed)

    def weighed_beside(self, names: Iterable[str]) -> Weighed | None:
        """The weighed column, unless what is done depends on it."""
        if self.weighed is None:
            return None
        own = self.weighed.names_in(self.schema)
        return self.weighed if own.isdisjoint(names) else None

    def bound_unit(self, rule: Rule) -> "Relation":
        """Relation with what a rule says of the bounds on a unit's rows."""
        spread = None if self.spread is None else self.spread.bound_rows(rule)
        return replace(self, contribution=rule(self.contribution), spread=spread)

    def multiply(self, node: AbstractNode, factor: int | None) -> "Relation":
        """Relation of rows of which each old row makes at most `factor`, or any number.

        What is made of one row shares its old columns, so those of a unit take no more
        values than it had rows.
        """
        columns = self.versions(self.schema.names)

        def rule(bounds: Contribution) -> Contribution:
            rows = bounds.most_rows()
            if rows is not None and factor != 1:
                bounds = bounds.with_groups(columns, rows)
            return bounds.without_row_bounds() if factor is None else bounds.times(most)

        most = max(factor or 1, 1)  # of 0, too: a bound may be too large
        return self.bound_unit(rule).with_node(node)


class AbstractCatalog(ABC):
    """The tables and views of a session, by name."""

    @abstractmethod
    def relation(self, name: str) -> Relation:
        """A private table or a view."""

    @abstractmethod
    def public(self, name: str) -> Source:
        """A public table."""

    @abstractmethod
    def public_names(self) -> tuple[str, ...]:
        """Names of the public tables."""

    @abstractmethod
    def public_rows(self, name: str) -> "pa.Table":
        """Rows of a public table, as they were when it was opened."""

    @abstractmethod
    def words(self, name: str) -> list[Words]:
        """Canonical words of a table, with the steps of a view or a part."""

    @abstractmethod
    def multiplicity(self, name: str, on: tuple[str, ...]) -> int:
        """The most rows of a public table that share their values of `on`."""


class AbstractStep(ABC):
    """One step of a query.

    Proof obligation: the relation it gives keeps the obligation of `Relation`.
    """

    @abstractmethod
    def words(self, catalog: AbstractCatalog) -> Words:
        """Canonical words of the step."""

    @abstractmethod
    def apply(self, relation: Relation, catalog: AbstractCatalog) -> Relation:
        """Relation after the step, or a refusal."""


@final
@dataclass(frozen=True)
class Select(AbstractStep):
    """Keep some columns; the column of ids is kept in any case."""

    names: tuple[str, ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("select", columns=list(self.names))

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        names = dict.fromkeys(self.names)
        if relation.ids is not None:
            names.setdefault(
                relation.ids
            )  # without it no later step could bound a person
        return project(relation, ((name, Col(name)) for name in names))


@final
@dataclass(frozen=True)
class Rename(AbstractStep):
    """Give columns other names; what is in them stays the same version."""

    names: tuple[tuple[str, str], ...]
    """(old, new)"""

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("rename", columns=worded_pairs(self.names))

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        renamed = dict(self.names)
        for old in renamed:
            relation.schema[old]  # refuses a name that is not there
        columns = ((renamed.get(name, name), Col(name)) for name in relation.schema)
        projected = project(relation, columns)
        ids = relation.ids
        return replace(projected, ids=None if ids is None else renamed.get(ids, ids))


@final
@dataclass(frozen=True)
class Where(AbstractStep):
    """Keep the rows for which a condition is true."""

    condition: AbstractExpression

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("filter", condition=self.condition.words)

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        condition = meet_times(self.condition, relation.schema)
        column = condition.column(relation.schema)
        if column.type != "bool":
            raise InvalidQuery(
                f"a filter needs a condition, and {self.condition} has type "
                f"{column.type}",
                'Compare it with something: sd.col("age") >= 18.',
            )
        rows = Filter(relation.node, condition, relation.schema)
        return relation.with_some_rows(rows, condition)


@final
@dataclass(frozen=True)
class WithColumns(AbstractStep):
    """Add columns, or write columns anew, each from its row alone."""

    columns: tuple[tuple[str, AbstractExpression], ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call(
            "with_columns",
            columns=worded_pairs(
                (name, expression.words) for name, expression in self.columns
            ),
        )

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        new = dict(self.columns)
        refuse_ids(relation, new)  # other ids would give one person's rows to many
        old = ((name, new.pop(name, Col(name))) for name in relation.schema)
        columns = list(old)
        return project(relation, [*columns, *new.items()])


@final
@dataclass(frozen=True)
class DropNulls(AbstractStep):
    """Drop the rows in which a value is missing, in some columns or in any."""

    names: tuple[str, ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("drop_nulls", columns=list(self.names))

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        schema = relation.schema
        for name in self.names or schema.names:
            if schema[name].nullable:
                known = replace(schema[name], nullable=False, unsettled=None)
                relation = _drop_rows(relation, name, ~col(name).is_null(), known)
        return relation


@final
@dataclass(frozen=True)
class DropNaN(AbstractStep):
    """Drop the rows in which a number is NaN, in some columns or in any."""

    names: tuple[str, ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call("drop_nan", columns=list(self.names))

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        schema = relation.schema
        for name in self.names or schema.names:
            cell, column = col(name), schema[name]
            if column.type != "f64" and self.names:
                raise InvalidQuery(
                    f"only f64 columns can hold NaN, and {name!r} has type "
                    f"{column.type}",
                    "Name float columns, or use drop_nulls.",
                )
            if column.nan:
                condition = ~cell.is_nan() | cell.is_null()
                relation = _drop_rows(
                    relation, name, condition, replace(column, nan=False)
                )
        return relation


@final
@dataclass(frozen=True)
class FillNull(AbstractStep):
    """Put values where some are missing; an integer fills a column of floats too."""

    values: tuple[tuple[str, Any], ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call(
            "fill_null",
            values=worded_pairs(
                (name, lift(value).words) for name, value in self.values
            ),
        )

    def apply(self, relation: Relation, catalog: AbstractCatalog) -> Relation:
        filled = []
        for name, value in self.values:
            whole = isinstance(value, int) and not isinstance(value, bool)
            real = whole and relation.schema[name].type == "f64"
            cell = col(name).fill_null(float(value) if real else value)
            filled.append((name, cell.tree))
        return WithColumns(tuple(filled)).apply(relation, catalog)


@final
@dataclass(frozen=True)
class Enforce(AbstractStep):
    """Bound what each id contributes."""

    constraints: tuple[AbstractConstraint, ...]

    def words(self, _catalog: AbstractCatalog) -> Words:
        return call(
            "enforce", constraints=[constraint.words for constraint in self.constraints]
        )

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        if relation.ids is None:
            raise InvalidQuery(
                "constraints limit the rows of an id, and this table protects rows",
                "Leave enforce out, or protect ids: "
                'protects=sd.AddRowsWithID("person").',
            )
        limited = relation
        for constraint in self.constraints:
            limited = _enforce(limited, relation.ids, constraint)
        most = limited.contribution.most_rows()
        if limited.node is relation.node or most is None or most > MOST_KEPT:
            return limited
        cuts = limited.passed[len(relation.passed) :]
        rows, lost = (relation.node, limited.node), self._most_lost()
        cut = CutRows(*rows, most, relation.ids, cuts, lost)
        return replace(limited, passed=(*limited.passed, cut))

    def _most_lost(self) -> int | None:
        """Return how many rows of an id are left out at most, if that is promised.

        An id keeps all of its rows, or as many as the least of the limits: where a
        limit cuts off it keeps so many, and each later one no fewer than its own.
        """
        promises = [each.promised_rows for each in self.constraints]
        most = min((each for each in promises if each is not None), default=None)
        least = min(constraint.limit for constraint in self.constraints)
        return None if most is None else max(0, most - least)


def _enforce(relation: Relation, ids: str, constraint: AbstractConstraint) -> Relation:
    contribution = constraint.tighten(relation.contribution, relation.versions)
    if contribution == relation.contribution:
        return relation  # known to hold already: it would cut nothing
    per = tuple(dict.fromkeys((ids, *constraint.marks)))  # the id may be named again
    counted = constraint.values
    for name in counted or constraint.marks:
        group_column(relation.schema, name)
    below, schema, limit = relation.node, relation.schema, constraint.limit
    crowded = Crowded(below, per, counted, limit, narrow_schema(schema, per))
    bounded = relation.bound_unit(
        lambda contribution: constraint.tighten(contribution, relation.versions)
    )
    passed = (*relation.passed, Cut(crowded, repr(constraint), 1, ids))
    limited = replace(bounded, passed=passed)
    if counted:
        return limited.with_node(KeepGroups(below, per, counted, limit, schema))
    order = schema.other_names(per)  # all of them: ties would be broken by arrival
    return limited.with_node(KeepRows(below, per, order, limit, schema))


def _drop_rows(
    relation: Relation, name: str, condition: Expression, known: Column
) -> Relation:
    # the same version: its values are some of those it had, so bounds on them hold
    facts = dict(relation.schema.columns) | {name: known}
    rows = Filter(relation.node, condition.tree, Schema(tuple(facts.items())))
    return relation.with_some_rows(rows, condition.tree)


def project(
    relation: Relation, columns: Iterable[tuple[str, AbstractExpression]]
) -> Relation:
    """Relation with exactly these columns."""
    listed = tuple(
        (name, meet_times(expression, relation.schema)) for name, expression in columns
    )
    facts = [(name, expression.column(relation.schema)) for name, expression in listed]
    rows = Project(relation.node, listed, Schema.of(facts))
    return relation.with_each_row(rows, (expression for _, expression in listed))


def refuse_ids(relation: Relation, names: Iterable[str]) -> None:
    """Refuse to write the column of ids anew: it says who is protected."""
    if relation.ids in set(names):
        raise InvalidQuery(
            f"the id column {relation.ids!r} cannot be overwritten",
            "Give the new column another name.",
        )


def group_column(schema: Schema, name: str) -> Column:
    """A column whose values can mark groups; others are refused."""
    column = schema[name]
    if column.type == "f64" or column.type.startswith("list"):
        raise InvalidQuery(
            f"cannot group by {name!r}, which has type {column.type}",
            "Bin it first, or cast it to i64 or text.",
        )
    return column


def literal_pairs(columns: Mapping[str, Any], what: str) -> tuple[tuple[str, Any], ...]:
    """Arguments for named columns; an empty mapping is refused."""
    if not columns:
        raise InvalidParameter(
            what, dict(columns), "must name at least one column", f"Try {what}(age=0)."
        )
    return tuple(columns.items())
