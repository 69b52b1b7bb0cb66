"""An engine that asks a database: what all of them do alike.

    question -> script (statements, functions) -> rehearsed on no rows -> run -> totals

The database reads a source by itself where its dialect says so. Should a cell stop it
there, all is asked once more of values that are handed over.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

import pyarrow as pa

from sordino.engines.base import AbstractEngine
from sordino.engines.doors import open_source
from sordino.engines.failures import run_guarded, run_uncharged
from sordino.engines.row_functions import made_rows, made_schema
from sordino.engines.sql.answer_tables import answer_table, with_places
from sordino.engines.sql.buckets import rows_in_buckets
from sordino.engines.sql.database import AbstractDatabase
from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.group_totals import KEYS, PARTS
from sordino.engines.sql.leaves import Reading, never_in_place
from sordino.engines.sql.room import Room
from sordino.engines.sql.scripts import Script
from sordino.engines.sql.statements import Statement, Statements
from sordino.errors import EngineFailure, EngineUnavailable
from sordino.query.nodes import Source
from sordino.query.question import Question
from sordino.sampling.bits import Bits
from sordino.schema import Column, Schema
from sordino.sources.base import Opened, lookup
from sordino.sources.freezing import freeze_source, mapped_table

T = TypeVar("T")


class Attempt(Protocol):
    """What is run, and may read sources in place."""

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""


P = TypeVar("P", bound=Attempt)


@final
class SQLEngine(AbstractEngine):
    """Answers questions with a database."""

    def __init__(
        self,
        database: AbstractDatabase,
        room: Room,
        *,
        salt: int | None = None,
        parts: tuple[int, ...] = (1,),
    ) -> None:
        """Draw a key for the order of rows; the database is reached when it is asked.

        A given salt is for tests, which compare engines of one key. `parts` is in how
        many parts of the ids an answer is tried, should memory be short.
        """
        self._database = database
        self._room = room
        self._salt = Bits().word(8) if salt is None else salt
        self._parts = parts
        self._tables: dict[str, Opened] = {}
        self._frozen: dict[str, pa.Table] = {}
        self._rehearsals: set[int] = set()
        self._lock = threading.RLock()
        self._busy = False

    @property
    def dialect(self) -> AbstractDialect:
        """Return how the database says what it is asked."""
        return self._database.dialect

    def close(self) -> None:
        """Let go of all tables, and remove what was written."""
        with self._lock:
            self._tables.clear()
            self._frozen.clear()
            self._database.close()
            self._room.close()

    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        """Make a source known under a name and return its public schema."""
        made = open_source(source, declared).held_as(self._database.dialect.types)
        with self._lock:
            self._database.admit(made.source)
            self._tables[table] = made
        return made.schema

    def freeze(self, table: str) -> None:
        """Read the rows of a public table, now and never again."""
        found = lookup(self._tables, table)
        with self._lock:
            self._frozen[table] = run_uncharged(
                lambda: self._copied(table, found.schema)
            )
            self._tables[table] = freeze_source(found, self._frozen[table])

    def frozen(self, table: str) -> pa.Table:
        """Return the rows of a frozen table."""
        return lookup(self._frozen, table)

    def as_opened(self, table: str) -> Opened:
        """Return a table as it was opened, for its curator."""
        return lookup(self._tables, table)

    def lossy(self, table: str) -> frozenset[str]:
        """Return the columns of a table that lie as another type: cells can be lost."""
        return lookup(self._tables, table).lossy

    def unusable(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table that are in no schema, and why."""
        return lookup(self._tables, table).unusable

    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        """Return how many rows of a table share their values of `on`, at most."""
        found = lookup(self._tables, table)
        node = Source(table, Schema(tuple((name, found.schema[name]) for name in on)))
        asked_for = self._statements().multiplicity(node)
        most = run_uncharged(lambda: self._alone(lambda: self._table(asked_for)))
        return int(most.column(0)[0].as_py())

    def answer(self, question: Question) -> pa.Table:
        """Return the exact totals."""
        return run_guarded(lambda: self._answered(self._script(question)))

    def prepared(self, question: Question) -> Callable[[], pa.Table]:
        """Rehearse a question on empty tables, and return what answers it."""
        script = run_uncharged(lambda: self._alone(lambda: self._rehearsed(question)))
        return lambda: run_guarded(lambda: self._answered(script))

    def statement(self, question: Question) -> str:
        """Return the text of what would run, for people to read."""
        return self._script(question).shown()

    def digests(self, rows: pa.Table) -> list[Any]:
        """Return the digest of each row, by which a bound of ours would order it."""
        asked_for = self._statements().digests(rows.num_columns)

        def told() -> list[Any]:
            self._database.hand(KEYS, with_places(rows))
            return list(self._table(asked_for).column(0).to_pylist())

        return self._alone(told)

    def _statements(self, reading: Reading | None = None) -> Statements:
        """Return what writes statements over the tables as they are now."""
        tables = dict(self._tables)
        return Statements(self.dialect, tables, reading or self.dialect.in_place)

    def _script(self, question: Question) -> Script:
        """Return all that would run for a question."""
        return Script.of(self._statements(), question)

    def _copied(self, table: str, schema: Schema) -> pa.Table:
        """Return the rows of a table, sorted by all columns in turn."""
        if not schema.names:
            return pa.table({})
        node = Source(table, schema)

        def copy(statement: Statement) -> pa.Table:
            handle, path = tempfile.mkstemp(dir=self._room.path, suffix=".arrow")
            os.close(handle)
            return mapped_table(self._batches(statement), schema, Path(path))

        return self._tried(
            self._statements().sorted(node),
            lambda: self._statements(never_in_place).sorted(node),
            copy,
        )

    def _rehearsed(self, question: Question) -> Script:
        """Return the script of a question after it ran on empty tables, once."""
        script = self._script(question)
        script.refuse_changed()
        if self._database.remote:
            script.refuse_private(self._frozen)
        self._database.connect()
        if script.mark not in self._rehearsals:
            empty = script.emptied()
            self._make(empty)
            self._table(empty.totals)
            self._database.forget()
            self._rehearsals.add(script.mark)
        return script

    def _answered(self, script: Script) -> pa.Table:
        """Return the answer of a script, its sources read in whichever way they can."""
        question = script.question
        return self._tried(
            script,
            lambda: Script.of(self._statements(never_in_place), question),
            self._answer,
        )

    def _answer(self, script: Script) -> pa.Table:
        """Run the functions of a question one by one, then its totals."""
        self._make(script)
        return answer_table(script.question, self._totals(script))

    def _make(self, script: Script) -> None:
        """Make what the totals of a question read: rows of functions, and keys."""
        for number, (node, below) in enumerate(script.functions):
            batches = self._batches(below)
            made = list(made_rows(node, batches))  # Arrow would swallow interruptions
            rows = pa.Table.from_batches(made, made_schema(node))
            self._database.hand(f"m{number}", rows)
        if script.question.keys is not None:
            self._database.hand(KEYS, with_places(script.question.keys))

    def _totals(self, script: Script) -> pa.Table:
        """Return the totals at once or, when memory does not suffice, in parts."""
        for count in self._parts:
            try:
                return self._totals_in(count, script)
            except Exception as error:
                if not self._database.is_short(error):
                    raise
        raise EngineFailure

    def _totals_in(self, count: int, script: Script) -> pa.Table:
        """Return the totals, added from so many parts."""
        if count == 1:
            return self._table(script.totals)
        found, question = [], script.question
        for part in rows_in_buckets(question, script.rows, count):
            one = script.writes.question(question, part, wide=True)
            found.append(self._table(one))
        if not found:
            raise EngineFailure
        self._database.hand(PARTS, pa.concat_tables(found))
        return self._table(script.writes.adding(question))

    def _tried(self, first: P, again: Callable[[], P], run: Callable[[P], T]) -> T:
        """Return what is run, once more with all rows handed over if a cell stops it.

        A text that is not UTF-8 stops a database; handed over, it is missing.
        """
        try:
            return self._alone(lambda: run(first))
        except Exception as error:
            if not (first.in_place and self._database.is_stuck(error)):
                raise
        return self._alone(lambda: run(again()))

    def _alone(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, with nothing handed over before or after it."""
        with self._lock:
            if self._busy:
                raise EngineUnavailable(
                    "a function of a query cannot ask the session that runs it: ask "
                    "first, and let the function read the answer"
                )
            try:
                self._busy = True
                with self._database.asking():
                    made = work()
            except BaseException:
                self._database.abandon()
                raise
            finally:
                self._busy = False
            self._database.forget()
            return made

    def _table(self, statement: Statement) -> pa.Table:
        """Return the rows of a statement."""
        self._hand(statement)
        return self._database.table(statement, self._salt)

    def _batches(self, statement: Statement) -> pa.RecordBatchReader:
        """Return the rows of a statement, not read yet."""
        self._hand(statement)
        return self._database.batches(statement, self._salt)

    def _hand(self, statement: Statement) -> None:
        """Hand over what a statement reads, and check what is read in place."""
        for one in statement.handed:
            if one.in_place:
                one.source.check()
            else:
                self._database.hand(one.name, one.source.handed(one.places))
