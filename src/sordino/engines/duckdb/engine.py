"""DuckDB: the embedded engine.

Each engine has a database of its own in memory, whose settings are locked and which
opens no file but the sources'. Rows of a DuckDB connection of the user are read through
a cursor of that connection, as Arrow batches: nothing is set or made there.
"""

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, final

import duckdb
import pyarrow as pa

from sordino.engines import canary
from sordino.engines.answer_tables import answered, numbered
from sordino.engines.base import AbstractEngine
from sordino.engines.duckdb.connection import locked
from sordino.engines.duckdb.dialect import DuckDBForms
from sordino.engines.failures import guarded, uncharged
from sordino.engines.readers import opened
from sordino.engines.row_functions import made_rows, made_schema
from sordino.engines.sql.buckets import bucketed
from sordino.engines.sql.group_totals import KEYS, PARTS
from sordino.engines.sql.scripts import Script
from sordino.engines.sql.statements import (
    Statement,
    adding_statement,
    multiplicity_statement,
    question_statement,
    sorted_statement,
)
from sordino.engines.watching import watched
from sordino.errors import EngineFailure, EngineUnavailable
from sordino.query.nodes import Source
from sordino.query.question import Question
from sordino.sampling.bits import Bits
from sordino.schema import Column, Schema
from sordino.sources.base import Opened, by_value, known
from sordino.sources.freezing import frozen, mapped

T = TypeVar("T")
_BATCH: Final = 10_000
_INTERRUPTED: Final = "Query interrupted"


@final
class DuckDBEngine(AbstractEngine):
    """Answers questions with DuckDB.

    >>> from sordino.expressions.language import lit
    >>> from sordino.query.question import Total
    >>> engine = DuckDBEngine(memory_limit="1GB", threads=1)
    >>> schema = engine.open("visits", {"ward": ["a", "b", "a"]}, {})
    >>> counts = Question(Source("visits", schema), ("ward",), (Total(lit(1)),))
    >>> sorted(engine.answer(counts).to_pylist(), key=str)
    [{'ward': 'a', 'total 0': 2}, {'ward': 'b', 'total 0': 1}]
    """

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        progress: bool = False,
        _salt: int | None = None,
        _parts: tuple[int, ...] = (1, 16, 64),
    ) -> None:
        """Draw a key for the order of rows; the database is made when it is asked.

        `_salt` is for tests, which compare two engines of one key; so are `_parts`, in
        how many parts of the ids an answer is tried one after the other.
        """
        self._limits = {"memory_limit": memory_limit, "threads": threads}
        self._progress = progress
        self._salt = Bits().word(8) if _salt is None else _salt
        self._parts = _parts
        self._forms = DuckDBForms()
        self._tables: dict[str, Opened] = {}
        self._frozen: dict[str, pa.Table] = {}
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._registered: set[str] = set()
        self._rehearsals: set[int] = set()
        self._lock = threading.RLock()
        self._busy = False
        self._room = tempfile.mkdtemp(prefix="sordino-")
        self._end = weakref.finalize(self, _removed, self._room, os.getpid())

    def close(self) -> None:
        """Let go of all tables, and remove what was spilled to disk."""
        with self._lock:
            self._tables.clear()
            self._frozen.clear()
            self._connection = None
            self._end()

    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        """Make a source known under a name and return its public schema."""
        made = opened(source, declared)
        if made.source.paths:
            _refuse_belief()
        self._hold(table, made)
        return made.schema

    def _hold(self, table: str, made: Opened) -> None:
        """Keep an opened table; the next connection may read its files, too."""
        with self._lock:
            self._tables[table] = made
            if made.source.paths:
                self._connection = None

    def freeze(self, table: str) -> None:
        """Read the rows of a public table, now and never again."""
        found = known(self._tables, table)
        with self._lock:
            copy = uncharged(
                lambda: self._read(
                    {table: found}, lambda held: self._copied(table, held)
                )
            )
            self._frozen[table] = copy
            self._tables[table] = frozen(found, copy)

    def frozen(self, table: str) -> pa.Table:
        """Return the rows of a frozen table."""
        return known(self._frozen, table)

    def as_opened(self, table: str) -> Opened:
        """Return a table as it was opened, for its curator."""
        return known(self._tables, table)

    def lossy(self, table: str) -> frozenset[str]:
        """Return the columns of a table that lie as another type: cells can be lost."""
        return known(self._tables, table).lossy

    def unusable(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table that are in no schema, and why."""
        return known(self._tables, table).unusable

    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        """Return how many rows of a table share their values of `on`, at most."""
        found = known(self._tables, table)
        node = Source(table, Schema(tuple((name, found.schema[name]) for name in on)))
        asked_for = multiplicity_statement(self._forms, self._tables, node)
        most = uncharged(lambda: self._alone(lambda: self._run(asked_for).fetchall()))
        return int(most[0][0])

    def answer(self, question: Question) -> pa.Table:
        """Return the exact totals."""
        return guarded(lambda: self._answered(self._script(question)))

    def prepared(self, question: Question) -> Callable[[], pa.Table]:
        """Rehearse a question on empty tables, and return what answers it."""
        script = uncharged(lambda: self._alone(lambda: self._rehearsed(question)))
        return lambda: guarded(lambda: self._answered(script))

    def statement(self, question: Question) -> str:
        """Return the text of what would run, for people to read."""
        return self._script(question).shown()

    def _script(self, question: Question) -> Script:
        """Return all that would run for a question."""
        return Script.of(self._forms, self._tables, question)

    def _copied(self, table: str, tables: Mapping[str, Opened]) -> pa.Table:
        """Return the rows of a table, sorted by all columns in turn."""
        found = tables[table]
        if not found.schema.names:
            return pa.table({})
        rows = Source(table, found.schema)
        asked_for = sorted_statement(self._forms, tables, rows)
        batches = self._run(asked_for).to_arrow_reader(_BATCH)
        handle, path = tempfile.mkstemp(dir=self._room, suffix=".arrow")
        os.close(handle)
        return mapped(batches, found.schema, Path(path))

    def _rehearsed(self, question: Question) -> Script:
        """Return the script of a question after it ran on empty tables, once."""
        script = self._script(question)
        script.refuse_changed()
        self._connected()
        if script.mark not in self._rehearsals:
            empty = script.emptied()
            self._make(empty)
            self._run(empty.totals).to_arrow_table()
            self._forget()
            self._rehearsals.add(script.mark)
        return script

    def _answered(self, script: Script) -> pa.Table:
        """Return the answer of a script, read in whichever way its tables can be."""

        def answer(tables: Mapping[str, Opened]) -> pa.Table:
            same = tables is script.tables
            return self._answer(
                script if same else Script.of(self._forms, tables, script.question)
            )

        return self._read(script.tables, answer)

    def _answer(self, script: Script) -> pa.Table:
        """Run the functions of a question one by one, then its totals."""
        self._make(script)
        return answered(script.question, self._totals(script))

    def _make(self, script: Script) -> None:
        """Make what the totals of a question read: rows of functions, and keys."""
        for number, (node, below) in enumerate(script.functions):
            batches = self._run(below).to_arrow_reader(_BATCH)
            made = list(made_rows(node, batches))  # Arrow would swallow interruptions
            self._register(f"m{number}", pa.Table.from_batches(made, made_schema(node)))
        if script.question.keys is not None:
            self._register(KEYS, numbered(script.question.keys))

    def _totals(self, script: Script) -> pa.Table:
        """Return the totals at once or, when memory does not suffice, in parts."""
        for count in self._parts:
            try:
                return self._totals_in(count, script)
            except (duckdb.OutOfMemoryException, MemoryError):
                continue
        raise EngineFailure

    def _totals_in(self, count: int, script: Script) -> pa.Table:
        """Return the totals, added from so many parts."""
        if count == 1:
            return self._run(script.totals).to_arrow_table()
        found, question = [], script.question
        for part in bucketed(question, script.rows, count):
            one = question_statement(
                self._forms, script.tables, question, part, wide=True
            )
            found.append(self._run(one).to_arrow_table())
        if not found:
            raise EngineFailure
        self._register(PARTS, pa.concat_tables(found))
        return self._run(adding_statement(self._forms, question)).to_arrow_table()

    def _alone(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, with nothing registered before or after it."""
        with self._lock:
            if self._busy:
                raise EngineUnavailable(
                    "a function of a query cannot ask the session that runs it: ask "
                    "first, and let the function read the answer"
                )
            try:
                self._busy = True
                with watched(self._percent) if self._progress else nullcontext():
                    made = _uninterrupted(work)
            except BaseException:
                self._connection = None  # it may be left with an unfinished result
                self._registered.clear()
                raise
            finally:
                self._busy = False
            self._forget()
            return made

    def _read(
        self, tables: Mapping[str, Opened], work: Callable[[Mapping[str, Opened]], T]
    ) -> T:
        """Return what `work` makes of tables, or of their values handed over.

        A text that is not UTF-8 stops the database; handed over, it is missing.
        """
        try:
            return self._alone(lambda: work(tables))
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error:
            values = by_value(tables)
            if values == tables:
                raise
        return self._alone(lambda: work(values))

    def _percent(self) -> float:
        """Return how far the running statement is, or less than 0 if none is."""
        return -1.0 if self._connection is None else self._connection.query_progress()

    def _run(self, statement: Statement) -> duckdb.DuckDBPyRelation:
        """Return the rows of a statement, not read yet."""
        for one in statement.handed:
            data = one.source.handed(one.places)
            if data is not None:
                self._register(one.name, data)
        values = statement.bound(self._salt)
        return self._connected().sql(statement.text, params=values)

    def _register(self, name: str, data: Any) -> None:
        """Make Arrow data known to the database."""
        self._connected().register(name, data)
        self._registered.add(name)

    def _forget(self) -> None:
        """Drop what was registered."""
        while self._registered:
            self._connected().unregister(self._registered.pop())

    def _connected(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, made anew after a source was opened."""
        if self._connection is None:
            paths = [path for one in self._tables.values() for path in one.source.paths]
            self._connection = locked(
                self._limits, self._room, paths, progress=self._progress
            )
        return self._connection


@cache
def _refuse_belief() -> None:
    """Refuse a DuckDB that believes what a file says of itself; asked once a process.

    No row of a user is read for it, and nothing has been charged.
    """
    engine = DuckDBEngine(threads=1)
    with canary.planted() as path:
        sources: dict[str, Any] = {"lying": str(path)}
        sources |= {name: canary.far_values(name) for name in canary.FAR}
        rows = {}
        for name, source in sources.items():
            made = opened(source, {})
            engine._hold(name, made)  # noqa: SLF001 to open it would ask for the canary
            rows[name] = Source(name, made.schema)
        if canary.believes(engine, rows.pop("lying"), rows):
            raise EngineUnavailable(
                f"DuckDB {duckdb.__version__} believes what a file says of itself, so "
                "that one row may change an answer without bound. Install another "
                'version of it, or use engine="memory" for a small table'
            )
    engine.close()


def _uninterrupted(work: Callable[[], T]) -> T:
    """Return what `work` returns; an interrupted query is a KeyboardInterrupt again."""
    try:
        return work()
    except (duckdb.InterruptException, RuntimeError) as error:
        if str(error) != _INTERRUPTED:
            raise
    raise KeyboardInterrupt


def _removed(room: str, owner: int) -> None:
    """Remove the room for spilled rows, unless this is a forked child."""
    if os.getpid() == owner:
        shutil.rmtree(room, ignore_errors=True)
