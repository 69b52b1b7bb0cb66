"""A database: how statements and rows reach it. What is asked it does not know."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias, final

import pyarrow as pa

from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.spreads import AbstractWorkers, NoWorkers
from sordino.engines.sql.statements import Statement, Statements
from sordino.schema import Schema
from sordino.sources.base import AbstractSource

if TYPE_CHECKING:
    from sordino.engines.sql.scripts import Recipe

Trial: TypeAlias = Callable[[Statement, int], object]
"""What runs a statement of no rows, with a salt, as it will run."""


@final
class MomentPassed(Exception):
    """A table was written anew before it was held, or rows that were kept are lost.

    No row was read.
    """


class AbstractDatabase(ABC):
    """One database, of which one question is asked at a time.

    Proof obligation: it writes nothing but what `forget`, `destroy` and `close` remove,
    and nothing outside of the session; rows that are run twice are the same rows.
    """

    dialect: AbstractDialect

    remote: ClassVar[bool] = False
    """Whether what is handed over leaves this machine, and others may log it."""

    @abstractmethod
    def admit(self, source: AbstractSource) -> None:
        """Learn of a source before it is read, or refuse it: no row is looked at."""

    @abstractmethod
    def connect(self) -> None:
        """Be there; what is said of a failure is public, for no row was read."""

    @abstractmethod
    def question_context(self) -> AbstractContextManager[object]:
        """Return what everything stands in that is run for one question.

        All of it sees the rows of one moment. An interruption is a KeyboardInterrupt.
        """

    @abstractmethod
    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Make rows known under a name, instead of others; a reader is read once."""

    @final
    def hand_parts(self, statement: Statement) -> None:
        """Hand over what a statement reads, and check what is read in place."""
        for part in statement.handed:
            if part.in_place:
                part.source.check()
            else:
                self.hand(part.name, part.source.hand_over(part.places))

    @abstractmethod
    def forget(self) -> None:
        """Drop what was handed over."""

    @abstractmethod
    def begin_kept(self, name: str, schema: Schema) -> bool:
        """Make a place for rows of columns c0, c1, ..., and no rows, instead of others.

        Nothing else is being asked. Only what is asked of this database sees them.
        Return whether there is such a place: who asks may have no right to one.
        """

    @abstractmethod
    def keep(self, name: str, statement: Statement, salt: int) -> None:
        """Add the rows of a statement to those in a place; they stay after the asking.

        Statements may read a place as a table of that name.
        """

    def portions(
        self, recipe: "Recipe", writes: Statements, salt: int
    ) -> Generator[Statement]:
        """Yield statements of the rows that a recipe makes, all together.

        Each is handed what it reads, and run, before the next one is asked for.
        """
        del writes, salt
        yield recipe.run.last

    def try_to_keep(self, statement: Statement, salt: int) -> None:
        """Run a statement of no rows in the way in which its rows will be kept."""
        self.table(statement, salt)

    def refuse_other_plan(self, statement: Statement, salt: int) -> None:
        """Refuse a statement that would not run as it is written; no row is read."""
        del statement, salt

    @cached_property
    def rehearsals(self) -> set[int]:
        """What ran on tables without rows in this database, by its mark."""
        return set()

    @abstractmethod
    def destroy(self, name: str) -> None:
        """Destroy a place and its rows, if it is there."""

    @abstractmethod
    def abandon(self) -> bool:
        """Give up what may be unfinished after a failure, and what was handed over.

        Return whether all rows that are kept are still there.
        """

    @abstractmethod
    def table(self, statement: Statement, salt: int) -> pa.Table:
        """Return the rows of a statement, its columns of the types that it states."""

    @abstractmethod
    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        """Return the rows of a statement, read as they are asked for."""

    def workers(self) -> AbstractWorkers:
        """Return who can give totals their noise where they lie; most have nobody."""
        return NoWorkers()

    @abstractmethod
    def is_short(self, error: Exception) -> bool:
        """Tell whether memory was short, so that parts of the ids may do."""

    @abstractmethod
    def is_stuck(self, error: Exception) -> bool:
        """Tell whether a cell may have stopped it that can be handed over."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything, for good."""
