"""A DuckDB of the session's own, in memory, which opens no file but the sources'."""

import logging
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, final

import duckdb
import pyarrow as pa

from sordino.engines.duckdb.dialect import DUCKDB
from sordino.engines.duckdb.executed_plans import (
    INSERT,
    ran_as_written,
    runs_as_written,
    written_plan,
)
from sordino.engines.duckdb.instance import Instance, leave_instance, take_instance
from sordino.engines.duckdb.looks import Looks
from sordino.engines.sql.database import AbstractDatabase
from sordino.engines.sql.kept_tables import columns_text
from sordino.engines.sql.scripts import Recipe
from sordino.engines.sql.statements import Statement, Statements
from sordino.engines.watching import watch
from sordino.schema import Schema
from sordino.sources.base import AbstractSource

_LOG: Final = logging.getLogger("sordino")
_BATCH: Final = 10_000
_INTERRUPTED: Final = "Query interrupted"


@final
class OtherPlan(Exception):
    """The plan of a statement that reads files is not the one that was written."""


def _other_plan(text: str) -> OtherPlan:
    """Return the failure, which is told to developers."""
    _LOG.warning(
        "DuckDB %s plans another statement than the one that was written, so the rows "
        "of files are handed over to it: %s",
        duckdb.__version__,
        text,
    )
    return OtherPlan()


@final
class DuckDB(AbstractDatabase):
    """A database in memory, whose settings are locked."""

    dialect = DUCKDB

    def __init__(
        self,
        limits: Mapping[str, Any],
        *,
        progress: bool = False,
    ) -> None:
        """Say how it is set; the database is there when it is asked."""
        self._limits = limits
        self._progress = progress
        self._paths: dict[str, None] = {}
        self._instance: Instance | None = None
        self._leave: Callable[[], object] | None = None
        """Leaves the instance; that is called when nobody holds this, too."""
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._handed: set[str] = set()

    def admit(self, source: AbstractSource) -> None:
        """Let the next connection read the files of a source, too."""
        if source.paths:
            self._paths |= dict.fromkeys(source.paths)
            self.close()

    def connect(self) -> None:
        """Make the database, if it is not there."""
        self._connect()

    def question_context(self) -> AbstractContextManager[object]:
        """Say how far it is, if that is wanted."""
        return self._watch_statement()

    @contextmanager
    def _watch_statement(self) -> Generator[None]:
        with ExitStack() as stack:
            if self._progress:
                stack.enter_context(watch(self._percent))
            try:
                yield
            except (duckdb.InterruptException, RuntimeError) as error:
                if str(error) != _INTERRUPTED:
                    raise
            else:
                return
            raise KeyboardInterrupt

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Register Arrow data.

        DuckDB 2 takes all of a reader, states nothing of it and gives it no filter.
        """
        self._connect().register(name, rows)
        self._handed.add(name)

    def forget(self) -> None:
        """Drop what was registered."""
        while self._handed:
            self._connect().unregister(self._handed.pop())

    def begin_kept(self, name: str, schema: Schema) -> bool:
        """Make a table: it lies in memory, and is spilled to the room."""
        self._there().make_place(name, columns_text(self.dialect, schema))
        return True

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        """Insert the rows."""
        text = f"INSERT INTO {name} {statement.text}"
        values = statement.parameters(salt)
        self._refuse_other_plan(statement, text, values, INSERT)
        self._connect().execute(text, values)
        self._refuse_other_run(text)

    def portions(
        self, recipe: Recipe, writes: Statements, salt: int
    ) -> Generator[Statement]:
        """Look at how many rows ids have, where there are many."""
        return Looks(self, writes, salt).statements(recipe)

    def try_to_keep(self, statement: Statement, salt: int) -> None:
        """Run it as text: for a relation it would be read and bound once more."""
        self._connect().execute(statement.text, statement.parameters(salt)).fetchall()

    @property
    def rehearsals(self) -> set[int]:
        """What ran on tables without rows in this database, by its mark."""
        return self._there().rehearsals

    def destroy(self, name: str) -> None:
        """Drop the table."""
        if self._instance is not None:
            self._instance.drop_place(name)

    def abandon(self) -> bool:
        """Let go of the connection, which may hold an unfinished result."""
        self._connection = None
        self._handed.clear()
        if self._instance is None:
            return False
        self._instance.spoil()
        return True

    def table(self, statement: Statement, salt: int) -> pa.Table:
        """Return the rows of a statement."""
        rows = self._run(statement, salt).to_arrow_table()
        self._refuse_other_run(statement.text)
        return rows

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        """Return the rows of a statement, read as they are asked for."""
        return self._run(statement, salt).to_arrow_reader(_BATCH)

    def is_short(self, error: Exception) -> bool:
        """Tell whether memory was short."""
        return isinstance(error, (duckdb.OutOfMemoryException, MemoryError))

    def is_stuck(self, error: Exception) -> bool:
        """Tell whether DuckDB stopped, as at a text that is not UTF-8, or never ran."""
        stops = (duckdb.Error, OtherPlan)
        return isinstance(error, stops) and not self.is_short(error)

    def close(self) -> None:
        """Leave the database, and what was kept and spilled is no more."""
        leave, self._leave = self._leave, None
        self._instance = self._connection = None
        self._handed.clear()
        if leave is not None:
            leave()

    def _run(self, statement: Statement, salt: int) -> duckdb.DuckDBPyRelation:
        """Return the rows of a statement, not read yet."""
        values = statement.parameters(salt)
        self._refuse_other_plan(statement, statement.text, values)
        return self._connect().sql(statement.text, params=values)

    def _refuse_other_plan(
        self, statement: Statement, text: str, values: list[Any], *last: str
    ) -> None:
        """Refuse to read files by a plan that is not the one that was written.

        Each text is looked at once, before it runs for the first time.
        """
        mark, known = hash(text), self._there().plans
        if statement.reads_files and mark not in known:
            written = (*written_plan(statement.tree), *last)
            if not runs_as_written(self._connect(), written, text, values):
                raise _other_plan(text)
            known[mark] = written

    def _refuse_other_run(self, text: str) -> None:
        """Refuse what was made of files by another plan than the one that was written.

        Rows that are read as they are asked for are not there yet: of them the plan was
        looked at before.
        """
        written = self._there().plans.get(hash(text))
        if written is not None and not ran_as_written(self._connect(), written):
            raise _other_plan(text)

    def _percent(self) -> float:
        """Return how far the running statement is, or less than 0 if none is."""
        return -1.0 if self._connection is None else self._connection.query_progress()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        """Return a connection; the database is another after a file was opened."""
        if self._connection is None:
            self._connection = self._there().cursor()
        return self._connection

    def _there(self) -> Instance:
        """Return the instance, taken when it is first needed."""
        if self._instance is None:
            self._instance = take_instance(
                self._limits, tuple(self._paths), progress=self._progress
            )
            self._leave = weakref.finalize(self, leave_instance, self._instance)
            self._leave.atexit = False
        return self._instance
