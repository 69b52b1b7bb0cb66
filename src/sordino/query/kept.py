"""Rows that are kept: where a plan ends that is about them."""

from dataclasses import dataclass
from typing import final

from sordino.query.nodes import AbstractNode
from sordino.schema import Schema


@final
@dataclass(frozen=True)
class Kept(AbstractNode):
    """Rows of another plan that an engine keeps, in those columns that are needed.

    That plan is no input: what walks over this one ends here.
    """

    rows: AbstractNode
    name: str
    """What the engine calls them: plans with the same rows have the same name."""
    schema: Schema

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return nothing."""
        return ()

    def describe(self) -> str:
        """Say which rows were the last to be kept."""
        return f"rows kept as {self.name}: {self.rows.describe()}"
