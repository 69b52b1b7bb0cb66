"""What names and values mean in some part of a statement."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from sordino.errors import InvalidSQL, SordinoError
from sordino.expressions.language import Expression
from sordino.query.relation import AbstractCatalog
from sordino.query.sql.reading import Clause
from sordino.query.sql.unknown import unknown_part
from sordino.schema import Schema


@final
@dataclass(frozen=True, eq=False)
class Value:
    """An expression, its type, and what SQL would say of it besides."""

    expression: Expression
    type: str
    decimal: bool = False
    """Whether it is an exact decimal in SQL, where ours is a double."""

    @property
    def bare(self) -> bool:
        """Tell whether it is the same for every row."""
        return not self.expression.names()

    @property
    def constant(self) -> Any:
        """Return the value of a literal, None otherwise."""
        return self.expression.tree.constant


class AbstractScope(ABC):
    """Columns by name, and the rules by which expressions of them are understood."""

    rules: "Mapping[type[Any], Rule]"

    @property
    @abstractmethod
    def tables_by_name(self) -> AbstractCatalog:
        """Return the tables of the session."""

    @abstractmethod
    def facts(self) -> Schema:
        """Return the columns that expressions read."""

    @abstractmethod
    def column(self, clause: Clause) -> Value:
        """Return the column that a name stands for, or refuse it."""

    @abstractmethod
    def instead(self, clause: Clause) -> Value | None:
        """Return what a whole expression stands for, if it is known as a whole."""

    @abstractmethod
    def counts(self, clause: Clause) -> bool:
        """Tell whether an expression counts the rows of a group, which has some."""

    def value(self, clause: Clause) -> Value:
        """Return the value of an expression, or refuse what is not understood."""
        known = self.instead(clause)
        if known is not None:
            return known
        rule = self.rules.get(clause.kind)
        if rule is None:
            raise unknown_part(clause)
        try:
            return rule(clause, self)
        except InvalidSQL:
            raise
        except SordinoError as error:
            raise clause.wrap(error) from None

    def value_of(self, expression: Expression, *, decimal: bool = False) -> Value:
        """Return an expression as a value, refusing types that make no sense."""
        return Value(expression, expression.column(self.facts()).type, decimal)


Rule: TypeAlias = Callable[[Clause, AbstractScope], Value]
