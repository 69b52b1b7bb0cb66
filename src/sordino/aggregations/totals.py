"""What an engine adds up for each group of rows: exact integers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, final

from sordino.expressions.base import AbstractExpression

MOST: Final = 2**53
"""Where exact totals saturate: all of them are doubles without rounding."""


class AbstractTotal(ABC):
    """An exact integer for each group."""

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the columns that are read."""


@final
@dataclass(frozen=True)
class Total(AbstractTotal):
    """The sum of factor * x + shift over the rows of a group in which x is not missing.

    Totals of the same x differ in integers alone, so an engine computes x once. Where
    the facts say that x is never missing and it is, an engine may take it for 0: what
    is promised of a total holds of factor * 0 + shift, too.
    """

    expression: AbstractExpression
    """x, an i64."""
    factor: int = 1
    shift: int = 0

    def names(self) -> frozenset[str]:
        """Return the columns of the expression."""
        return self.expression.names()


@final
@dataclass(frozen=True)
class Distinct(AbstractTotal):
    """How many different values of some columns a group has, none of them missing."""

    columns: tuple[str, ...]

    def names(self) -> frozenset[str]:
        """Return the columns."""
        return frozenset(self.columns)


@final
@dataclass(frozen=True)
class Extreme:
    """The least or the greatest value of some rows: a number, a date or a time.

    No value is NaN: engines disagree on where it stands.
    """

    expression: AbstractExpression
    is_greatest: bool

    def names(self) -> frozenset[str]:
        """Return the columns of the expression."""
        return self.expression.names()
