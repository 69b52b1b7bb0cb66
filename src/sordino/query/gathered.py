"""Rows that are gathered to one for each value of some columns."""

from dataclasses import dataclass
from typing import final

from sordino.aggregations.totals import AbstractTotal, Extreme
from sordino.query.nodes import AbstractNode
from sordino.schema import Schema


@final
@dataclass(frozen=True)
class Gathered(AbstractNode):
    """A row for each value of `per`: what the rows with that value come to.

    A missing value is a value. Totals saturate as those of a question do; an extreme of
    no values is missing.
    """

    child: AbstractNode
    per: tuple[str, ...]
    totals: tuple[tuple[str, AbstractTotal], ...]
    extremes: tuple[tuple[str, Extreme], ...]
    schema: Schema
    computes: bool = False
    """Whether any of them is of an expression, and not of a column as it stands."""

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return the child."""
        return (self.child,)

    def describe(self) -> str:
        """Show whose rows become one."""
        return f"one row per {', '.join(self.per)}"
