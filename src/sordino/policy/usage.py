"""What a release uses, as the public knows it: a policy is held against it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final


@final
class TableColumn(NamedTuple):
    """A column of a private table."""

    table: str
    column: str

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.table}.{self.column}"


TableColumns = frozenset[TableColumn]


@final
@dataclass(frozen=True, kw_only=True)
class Usage:
    """Which tables and columns one request reads, what for, and which groups it shows.

    Of a column that is made of others, these.
    """

    tables: frozenset[str]
    keys: TableColumns = frozenset()
    """What marks groups."""
    filters: TableColumns = frozenset()
    """What decides which rows count."""
    values: TableColumns = frozenset()
    """What is aggregated."""
    bounds: TableColumns = frozenset()
    """What a person's rows are bounded or brought together by."""
    covered: TableColumns = frozenset()
    """What is counted of rows that were left out, or of values that were clamped."""
    functions: frozenset[str] = frozenset()
    runs_python: bool = False
    is_answered: bool = True
    """Whether an answer leaves; parts of a table are charged before any."""
    is_grouped: bool = False
    is_chosen: bool = False
    """Whether the rows are some of those there are."""
    is_of_some: bool = False
    """Whether it divides by, or ranks, the rows with a value of a made column."""
    level: Fraction | None = None
    """What the noisy count of each group that is shown has at least, if it has."""
