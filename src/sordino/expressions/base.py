"""What every expression is: a function of one row, total and deterministic."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeAlias

from sordino.schema import Column, Schema
from sordino.words import Words

Value: TypeAlias = Any
"""None, bool, int, float, str, date, datetime or a list of these."""


class AbstractExpression(ABC):
    """A value computed from the columns of one row.

    Proof obligation: `value` depends on its row alone, never raises for any row of a
    schema that `column` accepted, and every engine gives the same value.
    """

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the columns that are read."""

    @abstractmethod
    def column(self, schema: Schema) -> Column:
        """Return the facts of the result, or refuse types that make no sense."""

    @property
    @abstractmethod
    def words(self) -> Words:
        """Return what was asked for, in a form that lasts."""

    @abstractmethod
    def value(self, row: Mapping[str, Value]) -> Value:
        """Return the value for one row: the meaning that every engine must keep."""
