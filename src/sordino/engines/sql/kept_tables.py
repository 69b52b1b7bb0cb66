"""Tables of rows that are kept: which there are, and what they are called."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

from sordino.engines.sql.dialect import AbstractDialect
from sordino.query.kept_plans import MOST, PlanNames, with_kept_rows
from sordino.query.nodes import AbstractNode
from sordino.query.question import Question
from sordino.schema import Schema


@final
class NoPlace(Exception):
    """Rows cannot be kept: there is no place for them, or too little memory."""


@final
class KeptTables:
    """The tables of one engine: names by plans, and which of them hold their rows."""

    def __init__(self) -> None:
        """Start with none."""
        self._plans = PlanNames()
        self._large: set[str] = set()
        self._there: dict[str, bool] = {}
        """Whether all rows are there, of each place."""
        self.rehearsed: set[str] = set()
        """Plans that ran on tables without rows."""

    def use_kept_rows(self, question: Question) -> Question:
        """Return a question over rows that are kept, unless they are too many."""
        return replace(question, rows=with_kept_rows(question.rows, self._name))

    def _name(self, rows: AbstractNode) -> str | None:
        name = self._plans.name(rows)
        return None if name in self._large else name

    def holds(self, name: str) -> bool:
        """Tell whether a table has its rows; it is then the last to make room."""
        if not self._there.get(name, False):
            return False
        self._there[name] = self._there.pop(name)
        return True

    def begin(self, name: str) -> None:
        """Note that there is a place for rows."""
        self._there[name] = False

    def end(self, name: str) -> None:
        """Note that a place has all its rows."""
        self._there[name] = True

    def give_up(self, name: str) -> None:
        """Note that rows are too many to be kept."""
        self._large.add(name)

    def excess(self, needed: Iterable[str]) -> Sequence[str]:
        """Return the tables that have to make room, never those that are needed."""
        free = [name for name in self._there if name not in frozenset(needed)]
        return free[: max(0, len(self._there) - MOST)]

    def drop(self, names: Sequence[str]) -> None:
        """Note that tables are no more."""
        for name in names:
            self._there.pop(name, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all places."""
        return tuple(self._there)


def columns_text(dialect: AbstractDialect, schema: Schema) -> str:
    """Return the columns of a table for rows of a schema, by their places."""
    kinds = (column.type for _, column in schema.columns)
    return ", ".join(
        f"c{place} {dialect.type_of(kind).sql(dialect.name)}"
        for place, kind in enumerate(kinds)
    )
