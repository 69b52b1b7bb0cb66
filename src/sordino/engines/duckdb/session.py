"""A DuckDB of our own: its settings, its folder, statements and rows.

Each engine has a database of its own in memory, whose settings are locked and which
opens no file but the sources'. Rows of a DuckDB connection of the user are read through
a cursor of that connection, as Arrow batches: nothing is set or made there. A database
that is shown to be empty waits for the next session: for any session, nothing that it
read, made or kept is in an instance that another one gets (docs/adr/0213).

Kernel: totals.
"""

import atexit
import logging
import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

import duckdb
import pyarrow as pa
from sqlglot import exp

from sordino.data.source import AbstractSource
from sordino.engines.doors import Settings
from sordino.engines.duckdb.bounds import Truncation
from sordino.engines.duckdb.dialect import DUCKDB
from sordino.engines.duckdb.plans import (
    INSERT,
    ran_as_written,
    runs_as_written,
    written_plan,
)
from sordino.engines.duckdb.tables import make_setting
from sordino.engines.engine import watch
from sordino.engines.statements.cached_rows import columns_text
from sordino.engines.statements.database import AbstractDatabase, Room
from sordino.engines.statements.engine import SQLEngine
from sordino.engines.statements.scripts import Recipe
from sordino.engines.statements.statements import Statement, Statements
from sordino.errors import EngineFailure, InvalidParameter
from sordino.expressions.schema import Schema
from sordino.numbers import arguments

_SETTINGS: Final = {
    "preserve_insertion_order": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_optimizer": "false",
}  # without its optimiser DuckDB runs what is written (docs/adr/0225)
PROFILING: Final = "SET enable_profiling = 'no_output'"
"""Has a cursor tell by which plan a statement ran; it is told to nobody else."""
_PROFILES: Final = exp.Array(expressions=[exp.Literal.string("enable_profiling")])
_LAST: Final = (
    ("TimeZone", exp.Literal.string("UTC")),
    ("allowed_configs", _PROFILES),  # it says nothing of how anything runs
    ("enable_external_access", exp.false()),
    ("lock_configuration", exp.true()),  # last: nothing can be set after it
)
"""Settings that are made once the database is there, in this order."""


def locked_connection(
    limits: Mapping[str, Any], room: str, paths: list[str], *, progress: bool
) -> duckdb.DuckDBPyConnection:
    """Return a database of its own that reads these files, and can be set no more."""
    limited = {name: value for name, value in limits.items() if value is not None}
    connection = duckdb.connect(config={**_SETTINGS, "temp_directory": room, **limited})
    _set_progress(connection, progress)
    allowed = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    for name, value in (("allowed_paths", allowed), *_LAST):
        kind = "GLOBAL" if name == "TimeZone" else None  # else a cursor has its own
        make_setting(connection, name, value, kind)
    # read back: a later version may ignore the switch (docs/adr/0225)
    setting = "SELECT current_setting('enable_optimizer')"
    ((optimises,),) = connection.cursor().execute(setting).fetchall()
    if str(optimises).lower() != _SETTINGS["enable_optimizer"]:
        raise EngineFailure
    return connection


def _set_progress(connection: duckdb.DuckDBPyConnection, wanted: bool) -> None:  # noqa: FBT001 passed on
    # a notebook's kernel without widgets refuses any word about bars, and has none
    if not (wanted or draws_bars(connection)):
        return
    with suppress(duckdb.InvalidInputException):
        make_setting(connection, "enable_progress_bar_print", exp.false())
        make_setting(connection, "enable_progress_bar", exp.Boolean(this=wanted))


def draws_bars(connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether a connection says how far it is: each has a setting of its own."""
    query = "SELECT current_setting('enable_progress_bar')"
    ((shown,),) = connection.sql(query).fetchall()
    return bool(shown)


_LEFT: Final = """
SELECT tag FROM duckdb_memory()
WHERE memory_usage_bytes > 0 OR temporary_storage_bytes > 0
UNION ALL SELECT table_name FROM duckdb_tables()
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"""
"""What an instance is asked before another session gets it: it has no row."""
_MOST: Final = 10_000  # rehearsals that an instance remembers which waits


@final
class Instance:
    """A database that is set and locked, and the folder that it spills to."""

    def __init__(
        self, limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool
    ) -> None:
        self.mark = _mark(limits, paths, progress=progress)
        self.room = Room()
        self._home = locked_connection(
            limits, self.room.path, list(paths), progress=progress
        )  # holds the database: to close it closes all cursors
        alone = progress or draws_bars(self._home.cursor())
        self._first = self._home if alone else None
        """What is to be asked first, where no cursor says how far it is as wanted."""
        self._cursors: list[duckdb.DuckDBPyConnection] = []
        self._process = os.getpid()
        self._places: set[str] = set()
        self.rehearsals: set[int] = set()
        """What ran here on tables without rows: for whomever, it says no more."""
        self.plans: dict[int, tuple[str, ...]] = {}
        """The plans of texts that read files, by their marks."""
        # not for another session: with paths it keeps pieces of files in memory; where
        # the connection that holds it is asked, that cannot be closed to drop results
        self.spoiled = bool(paths) or alone

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of which questions are asked."""
        cursor, self._first = self._first, None
        if cursor is None:
            cursor = self._home.cursor()
            self._cursors.append(cursor)
        cursor.execute(PROFILING)
        return cursor

    def spoil(self) -> None:
        """Forget the cursors, which may hold what is unfinished: nobody else has it."""
        self.spoiled = True
        self._cursors.clear()

    def make_place(self, name: str, columns: str) -> None:
        """Make a table without rows, instead of another: it is spilled to the room."""
        self._places.add(name)
        self._home.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")

    def drop_place(self, name: str) -> None:
        """Drop a table, if it is there."""
        self._home.execute(f"DROP TABLE IF EXISTS {name}")
        self._places.discard(name)

    @property
    def here(self) -> bool:
        """Tell whether this process made it: a forked child leaves it to its parent."""
        return os.getpid() == self._process

    def empty(self) -> bool:
        """Let go of what was asked and kept, and tell whether nothing of it is left."""
        while self._cursors:
            self._cursors.pop().close()
        for name in tuple(self._places):
            self.drop_place(name)
        if len(self.rehearsals) > _MOST:  # else it would grow with every session
            self.rehearsals.clear()
        # DuckDB is asked what it holds: our own list of it could be wrong
        left = self._home.execute(_LEFT).fetchall()
        spilled = list(Path(self.room.path).iterdir())
        return not (left or spilled)

    def close(self) -> None:
        """Let go of everything."""
        with suppress(duckdb.Error, RuntimeError):
            self._home.close()
        self.room.close()  # after it: what was spilled is no longer in use


def _mark(limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool) -> str:
    return repr((sorted(limits.items()), paths, progress, tempfile.gettempdir()))


_waiting: list[Instance] = []  # the instance that waits, if there is one; it is empty
_LOCK: Final = threading.Lock()
"""Who cannot have it at once does without: it is held throughout a fork."""
_LONGEST: Final = 5.0  # so many seconds a fork waits for it


def take_instance(
    limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool
) -> Instance:
    """Return the instance that waits, if it is set in this way, or a new one."""
    mark = _mark(limits, paths, progress=progress)
    # a folder that was cleared DuckDB would make anew, for others to enter
    if _LOCK.acquire(blocking=False):
        try:
            if _waiting and _waiting[0].mark == mark and _waiting[0].room.is_as_made:
                return _waiting.pop()
        finally:
            _LOCK.release()
    return Instance(limits, paths, progress=progress)


def leave_instance(instance: Instance) -> None:
    """Let an instance wait if it is empty, instead of another, or close it."""
    if not instance.here:  # a forked child has none of its threads
        return
    closing = [instance]
    with suppress(duckdb.Error, RuntimeError, OSError):
        waits = not instance.spoiled and instance.empty()
        if waits and _LOCK.acquire(blocking=False):
            try:
                closing = list(_waiting)
                _waiting[:] = [instance]
            finally:
                _LOCK.release()
    for other in closing:
        other.close()


def _close_waiting() -> None:
    # at the end of the interpreter, while all is there to do it
    while _waiting:
        _waiting.pop().close()


def _close_before_fork() -> None:
    # closed by the parent: its threads are not there in the child. Whoever has the lock
    # has it for a moment, or was interrupted and lets it go never
    _LOCK.acquire(timeout=_LONGEST)
    _close_waiting()


atexit.register(_close_waiting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_close_before_fork,
        after_in_parent=_LOCK.release,
        after_in_child=_LOCK.release,
    )


_LOG: Final = logging.getLogger("sordino")
_BATCH: Final = 10_000
_MANY: Final = 2**16  # rows of a batch that NumPy sorts
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_INTERRUPTED: Final = "Query interrupted"


@final
class OtherPlan(Exception):
    """The plan of a statement that reads files is not the one that was written."""


def _other_plan(text: str) -> OtherPlan:
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

    def __init__(self, limits: Mapping[str, Any], *, progress: bool = False) -> None:
        self._limits = limits
        self._progress = progress
        self._paths: dict[str, None] = {}
        self._instance: Instance | None = None
        self._leave: Callable[[], object] | None = None
        """Leaves the instance; that is called when nobody holds this, too."""
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._handed: set[str] = set()

    def admit(self, source: AbstractSource) -> None:
        if source.paths:  # the files that may be read are locked with the settings
            self._paths |= dict.fromkeys(source.paths)
            self.close()

    def connect(self) -> None:
        self._connect()

    @contextmanager
    def question_context(self) -> Generator[None]:
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
            raise KeyboardInterrupt  # outside of the handler: it carries no context

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        # DuckDB 2 takes all of a reader, states nothing of it and gives it no filter
        self._connect().register(name, rows)
        self._handed.add(name)

    def forget(self) -> None:
        while self._handed:
            self._connect().unregister(self._handed.pop())

    def begin_kept(self, name: str, schema: Schema, widths: tuple[int, ...]) -> bool:
        # the table lies in memory, and is spilled to the room
        self._there().make_place(name, columns_text(self.dialect, schema, widths))
        return True

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        text = f"INSERT INTO {name} {statement.text}"
        values = statement.parameters(salt)
        self._refuse_other_plan(statement, text, values, INSERT)
        self._connect().execute(text, values)
        self._refuse_other_run(text)

    def portions(
        self, recipe: Recipe, writes: Statements, salt: int
    ) -> Generator[Statement]:
        def read(statement: Statement) -> Generator[pa.RecordBatch]:
            self.hand_parts(statement)
            yield from self._run(statement, salt).to_arrow_reader(_MANY)
            self._refuse_other_run(statement.text)

        return Truncation(read, self.hand, writes, self._room() // 2).statements(recipe)

    def _room(self) -> int:
        """Memory that the database may take, in bytes; 0 if it is told otherwise."""
        query = "SELECT current_setting('memory_limit')"
        ((size,),) = self._connect().sql(query).fetchall()
        try:
            number, unit = size.split()
            return int(float(number) * 1024 ** _UNITS.index(unit))
        except (ValueError, OverflowError):  # other words: no reason to fail, when paid
            return 0

    def try_to_keep(self, statement: Statement, salt: int) -> None:
        # as text: for a relation it would be read and bound once more
        self._connect().execute(statement.text, statement.parameters(salt)).fetchall()

    @property
    def rehearsals(self) -> set[int]:
        return self._there().rehearsals

    def destroy(self, name: str) -> None:
        if self._instance is not None:
            self._instance.drop_place(name)

    def abandon(self) -> bool:
        # the connection may hold an unfinished result
        self._connection = None
        self._handed.clear()
        if self._instance is None:
            return False
        self._instance.spoil()
        return True

    def table(self, statement: Statement, salt: int) -> pa.Table:
        rows = self._run(statement, salt).to_arrow_table()
        # before anything of the rows is used
        self._refuse_other_run(statement.text)
        return rows

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        # rows that are not there yet have no executed plan: the one before was read
        return self._run(statement, salt).to_arrow_reader(_BATCH)

    def is_short(self, error: Exception) -> bool:
        return isinstance(error, (duckdb.OutOfMemoryException, MemoryError))

    def is_stuck(self, error: Exception) -> bool:
        stops = (duckdb.Error, OtherPlan)
        return isinstance(error, stops) and not self.is_short(error)

    def close(self) -> None:
        # what was kept and spilled ends with the instance
        leave, self._leave = self._leave, None
        self._instance = self._connection = None
        self._handed.clear()
        if leave is not None:
            leave()

    def _run(self, statement: Statement, salt: int) -> duckdb.DuckDBPyRelation:
        values = statement.parameters(salt)
        self._refuse_other_plan(statement, statement.text, values)
        return self._connect().sql(statement.text, params=values)

    def _refuse_other_plan(
        self, statement: Statement, text: str, values: list[Any], *last: str
    ) -> None:
        # not at the rehearsal, which reads nothing: EXPLAIN opens the files
        mark, known = hash(text), self._there().plans
        if statement.reads_files and mark not in known:
            written = (*written_plan(statement.tree), *last)
            if not runs_as_written(self._connect(), written, text, values):
                raise _other_plan(text)
            known[mark] = written

    def _refuse_other_run(self, text: str) -> None:
        # a join pushes filters to files while it runs, of which no plan speaks before
        written = self._there().plans.get(hash(text))
        if written is not None and not ran_as_written(self._connect(), written):
            raise _other_plan(text)

    def _percent(self) -> float:
        """Progress of the running statement; less than 0 if none runs."""
        return -1.0 if self._connection is None else self._connection.query_progress()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = self._there().cursor()
        return self._connection

    def _there(self) -> Instance:
        if self._instance is None:
            self._instance = take_instance(
                self._limits, tuple(self._paths), progress=self._progress
            )
            self._leave = weakref.finalize(self, leave_instance, self._instance)
            self._leave.atexit = False
        return self._instance


_MOST_THREADS: Final = 4096
_SIZE: Final = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]{1,3})? ?[KMGT]i?B")


def duckdb_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine, refusing settings that DuckDB would not understand later."""
    threads: Any = settings.threads
    size: Any = settings.memory_limit
    if threads is not None:
        threads = arguments.integer(threads=threads, least=1, most=_MOST_THREADS)
    if size is not None and not (isinstance(size, str) and _SIZE.fullmatch(size)):
        raise InvalidParameter(
            "memory_limit",
            size,
            "must be a size such as 2GB or 512MB",
            'Try memory_limit="2GB".',
        )
    return duckdb_engine(memory_limit=size, threads=threads, progress=settings.progress)


def duckdb_engine(
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: bool = False,
    salt: int | None = None,
    parts: tuple[int, ...] = (1, 16, 64),
) -> SQLEngine:
    """Return an engine that answers questions with DuckDB.

    >>> from sordino.expressions.language import lit
    >>> from sordino.query.nodes import Source
    >>> from sordino.query.nodes import Question, Total
    >>> engine = duckdb_engine(memory_limit="1GB", threads=1)
    >>> schema = engine.open("visits", {"ward": ["a", "b", "a"]}, {})
    >>> counts = Question(Source("visits", schema), ("ward",), (Total(lit(1)),))
    >>> sorted(engine.answer(counts).to_pylist(), key=str)
    [{'ward': 'a', 'total 0': 2}, {'ward': 'b', 'total 0': 1}]
    """
    limits = {"memory_limit": memory_limit, "threads": threads}
    database = DuckDB(limits, progress=progress)
    return SQLEngine(database, Room(), salt=salt, parts=parts)
