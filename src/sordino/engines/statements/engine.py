"""An engine that asks a database: what all of them do alike.

    question -> script (statements, functions) -> rehearsed on no rows -> run -> totals

The database reads a source by itself where its dialect says so. Should a cell stop it
there, all is asked once more of values that are handed over.

Kernel: totals.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar, final

import pyarrow as pa

from sordino.data.arrow import freeze_source
from sordino.data.source import Opened, lookup
from sordino.engines.doors import open_source
from sordino.engines.engine import (
    AbstractEngine,
    made_rows,
    made_schema,
)
from sordino.engines.failures import CLOSED, run_guarded, run_uncharged
from sordino.engines.statements.cached_rows import KeptTables, NoPlace, rows_in_buckets
from sordino.engines.statements.database import (
    AbstractDatabase,
    MomentPassed,
    Room,
    Trial,
)
from sordino.engines.statements.dialect import AbstractDialect
from sordino.engines.statements.scripts import (
    Recipe,
    Run,
    Script,
    WrittenScripts,
    kept_below,
)
from sordino.engines.statements.spreads import AbstractSpread, PartTask
from sordino.engines.statements.statements import (
    Reading,
    Statement,
    Statements,
    never_in_place,
    try_in_place,
)
from sordino.engines.statements.totals import KEYS, PARTS, answer_table, with_places
from sordino.errors import EngineUnavailable
from sordino.expressions.schema import Column, Schema
from sordino.noise.sampling.bits import Bits
from sordino.query.nodes import Kept, Question, Source
from sordino.release.released_files import AbstractFolders

T = TypeVar("T")


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
        self._kept = KeptTables()
        self._scripts = WrittenScripts()
        self._lock = threading.RLock()
        self._busy = False
        self._closed = False

    @property
    def dialect(self) -> AbstractDialect:
        """Return how the database says what it is asked."""
        return self._database.dialect

    def close(self) -> None:
        with self._lock:
            self._refuse_busy()
            self._closed = True
            self._tables.clear()
            self._frozen.clear()
            self._kept = KeptTables()
            self._scripts = WrittenScripts()
            self._database.close()
            self._room.close()

    def forget(self) -> None:
        with self._lock:
            self._refuse_busy()
            self._scripts = WrittenScripts()
            if self._kept.names:
                self._destroy(self._kept.names)

    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        opened = open_source(source, declared).held_as(self._database.dialect.types)
        with self._lock:
            self.forget()
            self._kept = KeptTables()  # rows and rehearsals are of the old tables
            self._database.admit(opened.source)
            self._tables[table] = opened
            self._scripts = WrittenScripts()  # last: none of old tables is among them
        return opened.schema

    def freeze(self, table: str) -> None:
        opened = lookup(self._tables, table)
        with self._lock:
            rows = run_uncharged(lambda: self._copy(table, opened.schema))
            self._frozen[table] = rows
            self._tables[table] = freeze_source(opened, rows)
            self._scripts = WrittenScripts()

    def as_opened(self, table: str) -> Opened:
        """Return a table as it was opened, for its curator."""
        return lookup(self._tables, table)

    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        opened = lookup(self._tables, table)
        node = Source(table, Schema(tuple((name, opened.schema[name]) for name in on)))
        asked_for = self._statements().multiplicity(node)
        most = run_uncharged(lambda: self._alone(lambda: self._table(asked_for)))
        return int(most.column(0)[0].as_py())

    def answer(self, question: Question) -> pa.Table:
        script = self._script(question)
        return run_guarded(lambda: self._answer_alone(script, self._totals))

    def prepare(self, question: Question) -> Callable[[], pa.Table]:
        script = self._rehearse_alone(question)
        return lambda: run_guarded(lambda: self._answer_alone(script, self._totals))

    def prepare_spread(
        self, question: Question, task: PartTask, folder: str
    ) -> Callable[[], AbstractSpread]:
        workers = self._database.workers()
        script = self._rehearse_alone(question)
        run_uncharged(lambda: self._alone(lambda: workers.admit(task, folder)))

        def spread(attempt: Script) -> AbstractSpread:
            last = attempt.whole_totals
            self._make(attempt.run, question.keys)
            self._database.hand_parts(last)
            return workers.spread(last, self._salt, question)

        return lambda: run_guarded(lambda: self._answer_alone(script, spread))

    def in_folders(self, work: Callable[[AbstractFolders], T]) -> T:
        workers = self._database.workers()
        return run_uncharged(lambda: self._alone(lambda: work(workers)))

    def statement(self, question: Question) -> str:
        if self._closed:
            raise EngineUnavailable(CLOSED)
        return self._script(question).readable_text()

    def digests(self, rows: pa.Table) -> list[Any]:
        """Return the digest of each row, by which a bound of ours would order it."""
        asked_for = self._statements().digests(rows.num_columns)

        def told() -> list[Any]:
            self._database.hand(KEYS, with_places(rows))
            return list(self._table(asked_for).column(0).to_pylist())

        return self._alone(told)

    def _statements(self, reading: Reading | None = None) -> Statements:
        tables = dict(self._tables)  # a copy: a script keeps the tables it was made of
        return Statements(self.dialect, tables, reading or self.dialect.in_place)

    def _script(self, question: Question) -> Script:
        scripts, places = self._scripts, self._kept  # before the tables are read

        def write(known: Script | None) -> Script:
            again = known is not None
            bounded = known.question if known else places.use_kept_rows(question)
            narrow = bounded
            if self.dialect.narrow_types and places.narrows:
                narrow = scripts.narrow.use(bounded, places.narrow_name, again=again)
            if known is not None and narrow is bounded:
                return known
            return Script.of(self._statements(), narrow, question)

        return scripts.script(question, write)

    def _copy(self, table: str, schema: Schema) -> pa.Table:
        if not schema.names:
            return pa.table({})
        node = Source(table, schema)
        return try_in_place(
            self._statements().rows_in_order(node),
            lambda: self._statements(never_in_place).rows_in_order(node),
            lambda statement: self._alone(
                lambda: self._room.map_rows(self._batches(statement), schema)
            ),
            self._database.is_stuck,
        )

    def _rehearse_alone(self, question: Question) -> Script:
        if self._closed:
            raise EngineUnavailable(CLOSED)
        return run_uncharged(
            lambda: self._alone(lambda: self._rehearsed_script(question))
        )

    def _rehearsed_script(self, question: Question) -> Script:
        script = self._script(question)
        script.refuse_changed()  # before the charge: a changed source costs nothing
        recipes = script.recipes(self._kept.rehearsed)
        if self._database.remote:  # a server may log what is bound
            script.refuse_private(recipes, self._frozen)
        self._database.connect()
        for recipe in recipes:
            self._rehearse(recipe.run, None, self._database.try_to_keep)
            self._kept.rehearsed.add(recipe.name)
        self._rehearse(script.run, script.question.keys, self._database.table)
        return script

    def _rehearse(self, run: Run, keys: pa.Table | None, trial: Trial) -> None:
        if run.mark in self._database.rehearsals:
            return
        empty = run.empty_copy()  # of no rows: what is told of a failure is public
        self._make(empty, None if keys is None else keys.slice(0, 0))
        self._database.hand_parts(empty.last)
        trial(empty.last, self._salt)
        self._database.refuse_other_plan(run.last, self._salt)
        self._database.forget()
        self._database.rehearsals.add(run.mark)

    def _answer_alone(self, script: Script, last: Callable[[Script], T]) -> T:
        # where memory does not suffice to keep rows, they are bounded as they are read
        with self._lock:
            self._refuse_busy()
            try:
                return self._try(script, last)
            except NoPlace:
                pass
            except Exception as error:
                if not (script.kept and self._database.is_short(error)):
                    raise
            # outside of the handler: the failure that is given up may quote a cell
            for leaf in script.kept:
                self._kept.give_up(leaf.name)
                self._scripts = WrittenScripts()
                self._destroy([leaf.name])
            if script.is_narrow:  # without them there may be room
                self._kept.narrows = False
                return self._answer_alone(self._script(script.asked_for), last)
            return self._try(script.without_kept(self._statements()), last)

    def _try(self, script: Script, last: Callable[[Script], T]) -> T:
        return try_in_place(
            script,
            lambda: script.rewrite(self._statements(never_in_place)),
            lambda attempt: self._answer(attempt, last),
            self._database.is_stuck,
        )

    def _answer(self, script: Script, last: Callable[[Script], T]) -> T:
        for leaf in script.kept:
            self._hold(script, leaf)
        names = [leaf.name for leaf in script.kept]
        if not all(map(self._kept.holds, names)):
            raise NoPlace  # to keep the last of them, others were given up
        self._destroy(self._kept.excess(names))
        return self._alone(lambda: last(script))

    def _hold(self, script: Script, leaf: Kept) -> None:
        if not self._kept.holds(leaf.name):
            for below in kept_below(leaf.rows):
                self._hold(script, below)
            self._keep(script, script.recipe(leaf))

    def _keep(self, script: Script, recipe: Recipe) -> None:
        name, run = recipe.name, recipe.run
        columns = recipe.schema, recipe.widths

        def filled(statements: Iterable[Statement]) -> None:
            self._make(run, None)
            for statement in statements:
                self._database.hand_parts(statement)
                self._database.keep(name, statement, self._salt)

        def whole() -> None:
            portions = self._database.portions(recipe, script.writes, self._salt)
            with closing(portions):
                filled(portions)

        def kept(count: int) -> None:
            parts = rows_in_buckets(run.rows, (), count) if count > 1 else ()
            self._kept.begin(name)
            may_be = bool(parts) or count == 1
            if not (may_be and self._database.begin_kept(name, *columns)):
                raise NoPlace
            self._alone(
                lambda: filled(map(script.writes.rows, parts)) if parts else whole()
            )

        self._in_parts(kept)
        self._kept.end(name)  # only now: a place that was filled in part is never read

    def _totals(self, script: Script) -> pa.Table:
        """Run the functions of a question one by one, then its totals."""
        self._make(script.run, script.question.keys)
        rows = self._in_parts(lambda count: self._totals_in(count, script))
        return answer_table(script.asked_for, rows)

    def _totals_in(self, count: int, script: Script) -> pa.Table:
        totals, question = [], script.question
        if count == 1:
            return script.totals(self._table)
        for part in rows_in_buckets(script.run.rows, question.totals, count):
            statement = script.writes.part(question, part)
            totals.append(self._table(statement))
        if not totals:  # in parts they would not add up, so that parts are no help
            raise MemoryError
        self._database.hand(PARTS, pa.concat_tables(totals))
        return self._table(script.writes.sum_of_parts(question))

    def _in_parts(self, work: Callable[[int], T]) -> T:
        *first, last = self._parts
        for count in first:
            try:
                return work(count)
            except Exception as error:
                if not self._database.is_short(error):
                    raise
        return work(last)

    def _make(self, run: Run, keys: pa.Table | None) -> None:
        for number, (node, below) in enumerate(run.functions):
            batches = self._batches(below)
            # listed, because Arrow would swallow interruptions
            new_batches = list(made_rows(node, batches))
            rows = pa.Table.from_batches(new_batches, made_schema(node))
            self._database.hand(f"m{number}", rows)
        if keys is not None:
            self._database.hand(KEYS, with_places(keys))

    def _destroy(self, names: Sequence[str]) -> None:
        for name in names:
            self._database.destroy(name)
        self._kept.drop(names)

    def _refuse_busy(self) -> None:
        if self._busy:
            raise EngineUnavailable(
                "a function of a query cannot ask the session that runs it: ask "
                "first, and let the function read the answer"
            )

    def _alone(self, work: Callable[[], T]) -> T:
        """Do work with nothing handed over before or after it.

        Where its moment has passed before a row was read, another is tried, once.
        """
        try:
            return self._at_one_moment(work)
        except MomentPassed:
            return self._at_one_moment(work)

    def _at_one_moment(self, work: Callable[[], T]) -> T:
        with self._lock:
            self._refuse_busy()
            try:
                # the lock lets this thread in again: a function of rows may ask
                self._busy = True
                with self._database.question_context():
                    answer = work()
            except BaseException:  # an interruption, too, leaves half a result
                if not self._database.abandon():
                    self._kept.drop(self._kept.names)
                raise
            finally:
                self._busy = False
            self._database.forget()
            return answer

    def _table(self, statement: Statement) -> pa.Table:
        self._database.hand_parts(statement)
        return self._database.table(statement, self._salt)

    def _batches(self, statement: Statement) -> pa.RecordBatchReader:
        self._database.hand_parts(statement)
        return self._database.batches(statement, self._salt)
