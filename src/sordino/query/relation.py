"""An intermediate table as the public knows it: its columns, and whom its rows are of.

A step of a query takes a relation and gives another. The catalog of a session knows
where they begin.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from sordino.contribution import Contribution, Rule, Spread, Versions, Weighed
from sordino.expressions.base import AbstractExpression
from sordino.expressions.tree import Col
from sordino.query.nodes import AbstractNode, Source
from sordino.query.passage import AbstractPassage
from sordino.schema import Schema
from sordino.words import Words

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
        """Return the columns of the rows."""
        return self.node.schema

    def versions(self, columns: tuple[str, ...]) -> Versions:
        """Return the versions of some columns, refusing one that is not there."""
        return frozenset(self.schema[name].version for name in columns)

    def with_node(self, node: AbstractNode) -> "Relation":
        """Return other rows of the same people, each row made of at most one.

        Their number need not be public, and a weighed column may decide about them.
        """
        return replace(self, node=node, size=None, weighed=None)

    def with_each_row(
        self, node: AbstractNode, cells: Iterable[AbstractExpression]
    ) -> "Relation":
        """Return other rows, one made of each by expressions that read it alone.

        A weighed column that stands as it is stays itself, under any name.
        """
        read = (cell.names() for cell in cells if not isinstance(cell, Col))
        weighed = self.weighed_beside(frozenset[str]().union(*read))
        return replace(self, node=node, weighed=weighed)

    def with_some_rows(
        self, node: AbstractNode, condition: AbstractExpression
    ) -> "Relation":
        """Return some of the rows, chosen by an expression that reads each alone."""
        weighed = self.weighed_beside(condition.names())
        return replace(self, node=node, size=None, weighed=weighed)

    def weighed_beside(self, names: Iterable[str]) -> Weighed | None:
        """Return the weighed column, unless what is done depends on it."""
        if self.weighed is None:
            return None
        own = self.weighed.names_in(self.schema)
        return self.weighed if own.isdisjoint(names) else None

    def bound_unit(self, rule: Rule) -> "Relation":
        """Return the rows with what a rule says of the bounds on a unit's rows."""
        spread = None if self.spread is None else self.spread.bound_rows(rule)
        return replace(self, contribution=rule(self.contribution), spread=spread)

    def multiply(self, node: AbstractNode, factor: int | None) -> "Relation":
        """Return rows of which each old row makes at most `factor`, or any number.

        What is made of one row shares its old columns, so those of a unit take no more
        values than it had rows.
        """
        columns = self.versions(self.schema.names)

        def rule(bounds: Contribution) -> Contribution:
            rows = bounds.most_rows()
            if rows is not None and factor != 1:
                bounds = bounds.with_groups(columns, rows)
            return bounds.without_row_bounds() if factor is None else bounds.times(most)

        most = max(factor or 1, 1)
        return self.bound_unit(rule).with_node(node)


class AbstractCatalog(ABC):
    """The tables and views of a session, by name."""

    @abstractmethod
    def relation(self, name: str) -> Relation:
        """Return a private table or a view."""

    @abstractmethod
    def public(self, name: str) -> Source:
        """Return a public table."""

    @abstractmethod
    def public_names(self) -> tuple[str, ...]:
        """Return the names of the public tables."""

    @abstractmethod
    def public_rows(self, name: str) -> "pa.Table":
        """Return the rows of a public table, as they were when it was opened."""

    @abstractmethod
    def words(self, name: str) -> list[Words]:
        """Return what a table is, and the steps that a view or a part stands for."""

    @abstractmethod
    def multiplicity(self, name: str, on: tuple[str, ...]) -> int:
        """Return how many rows of a public table share their values of `on`."""


Step = Callable[[Relation, AbstractCatalog], Relation]
"""What a query does next."""
