"""Statements and rows in a Spark session; an engine of settings."""

import datetime as dt
import itertools
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Final, final

import pyarrow as pa

from sordino.data.source import AbstractSource, internal
from sordino.engines.doors import Settings
from sordino.engines.failures import run_uncharged
from sordino.engines.spark.cluster import (
    BELIEF,
    PINS,
    STOPPED,
    JavaLogs,
    differing_setting,
    hush_logs,
    is_stopped,
    refuse_changed_settings,
    running_session,
    session_beside,
    started_session,
)
from sordino.engines.spark.dialect import SPARK
from sordino.engines.spark.plans import analysed_plan, frame_of_plan, refuse_belief
from sordino.engines.spark.tables import (
    AbstractFrameSource,
    FrameSource,
    frame_of,
    view_read_of,
    without_named_parts,
)
from sordino.engines.spark.workers import SparkWorkers
from sordino.engines.statements.database import AbstractDatabase, Room
from sordino.engines.statements.engine import SQLEngine
from sordino.engines.statements.statements import KEPT, Statement
from sordino.errors import EngineUnavailable, InvalidParameter
from sordino.expressions.schema import Schema

_TAGS: Final = itertools.count()


@final
class Spark(AbstractDatabase):
    """Spark, of which this process is the driver."""

    dialect = SPARK

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session: Any = None
        self._running: Any = None
        """Where statements run that read frames; their owner's settings count there."""
        self._answered_for = False
        """Whether somebody answers for a table that cannot be taken apart."""
        self._logs: Any = None
        self._views: set[str] = set()
        self._settled: set[str] = set()
        """Views of frames, whose plans are what they were: they stay."""
        self._waiting: dict[str, pa.Table | pa.RecordBatchReader] = {}
        self._kept: dict[str, Any] = {}
        self._tag = f"sordino-{next(_TAGS)}"

    def admit(self, source: AbstractSource) -> None:
        if isinstance(source, AbstractFrameSource):
            self._run_beside(source)
            self._answered_for |= bool(source.doubt)
        if not source.paths:
            return
        master = run_uncharged(lambda: self._connect_once().sparkContext.master)
        if not master.startswith("local"):
            raise InvalidParameter(
                "source",
                source.paths[0],
                f"is a file of this machine, which the workers of {master} do not read",
                "Hand over a frame: spark.read.parquet(...), of a path that they read.",
            )

    def connect(self) -> None:
        refuse_changed_settings(self._connect_once(), PINS)
        if self._running is not None:
            refuse_changed_settings(self._running, BELIEF)

    def refuse_other_plan(self, statement: Statement, salt: int) -> None:
        # no row is read
        if any(part.table == KEPT for part in statement.handed):
            return
        try:
            self._frame(statement, salt)
        except EngineUnavailable:
            raise
        except Exception:  # noqa: BLE001, S110 Spark may compute given values to plan
            pass  # what they do is for those to know who have paid

    @contextmanager
    def question_context(self) -> Generator[None]:
        session = self._connect_once()
        if is_stopped(session):
            raise ConnectionError(STOPPED)  # whoever asks knows what was charged
        context = session.sparkContext
        context.addJobTag(self._tag)
        try:
            with hush_logs(session, self._logs):
                yield
        except BaseException:  # a KeyboardInterrupt, too, leaves jobs that run on
            with suppress(Exception):
                context.cancelJobsWithTag(self._tag)
            raise
        finally:
            with suppress(Exception):
                context.removeJobTag(self._tag)

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        # views are made when a statement names them: then rows go to the workers
        self._waiting[name] = rows

    def forget(self) -> None:
        # also views of what may be other rows next time
        self._waiting.clear()
        for name in self._views - self._settled:
            self._views.discard(name)
            self._drop(name)

    def begin_kept(self, name: str, schema: Schema, widths: tuple[int, ...]) -> bool:
        # no room is asked for: it lies on the disks of the workers
        del schema, widths
        self.destroy(name)
        return True

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        # resolved here: what its views are called afterwards does not matter
        statement_frame = self._frame(statement, salt)
        frame = without_named_parts(statement_frame.sparkSession, statement_frame)
        rows = frame.toDF(*internal(range(len(statement.kinds))))
        if name in self._kept:
            rows = self._kept[name].union(rows)
            self.destroy(name)
        self._kept[name] = rows.persist()
        plan = analysed_plan(self._kept[name])
        frame_of_plan(self._connect_once(), plan).createOrReplaceTempView(name)

    def destroy(self, name: str) -> None:
        if name in self._kept:
            self._kept.pop(name).unpersist(blocking=True)
            self._drop(name)

    def abandon(self) -> bool:
        # if Spark is gone, all is, and it is not asked again
        self._settled.clear()
        try:
            self.forget()
        except Exception:  # noqa: BLE001 of a Spark that is gone
            self._views.clear()
            self._kept.clear()
            return False
        return True

    def table(self, statement: Statement, salt: int) -> pa.Table:
        answer = self._frame(statement, salt).toArrow()
        columns = [
            column.cast(kind)
            if column.num_chunks
            else pa.chunked_array([pa.array([], kind)])
            for column, kind in zip(answer.columns, statement.kinds, strict=True)
        ]
        names = [f"a{place}" for place in range(len(columns))]
        return pa.Table.from_arrays(columns, names=names)

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        return self.table(statement, salt).to_reader()

    def workers(self) -> SparkWorkers:
        session = run_uncharged(self._connect_once)
        return SparkWorkers(session, self._frame, self.question_context)

    def is_short(self, error: Exception) -> bool:
        # Spark spills by itself
        del error
        return False

    def is_stuck(self, error: Exception) -> bool:
        # a text that is not UTF-8 is missing where it is read
        del error
        return False

    def close(self) -> None:
        # the cluster is not ours to stop
        with suppress(Exception):
            for name in list(self._kept):
                self.destroy(name)
        self.abandon()
        self._session = self._running = None

    def _frame(self, statement: Statement, salt: int) -> Any:
        session = self._connect_once()
        for name in [name for name in self._waiting if name in statement.text]:
            self._view(name, _frame_of_rows(session, self._waiting.pop(name)))
        for part in statement.handed:
            place = view_read_of(part.source, part.places) if part.in_place else None
            if place is not None and place.name not in self._views:
                self._view(place.name, frame_of(session, part.source))
                if isinstance(part.source, FrameSource):
                    self._settled.add(place.name)
        values = statement.parameters(_as_signed(salt))
        bound = {f"p{n}": as_spark(value) for n, value in enumerate(values, 1)}
        frame = session.sql(statement.text, args=bound or None)
        if self._running is not None:
            frame = frame_of_plan(self._running, analysed_plan(frame))
        refuse_belief(frame, answered_for=self._answered_for)
        return frame

    def _run_beside(self, source: AbstractFrameSource) -> None:
        """Run where a frame means what it means to its owner, or refuse it."""
        if self._running is None:
            self._running = source.running
            return
        # a statement runs in one session, with one meaning for all of its frames
        name = differing_setting(self._running, source.running)
        if name:
            raise InvalidParameter(
                "source",
                "DataFrame",
                f"is of a Spark session in which {name} is not what it is in that of "
                "another table",
                "Make both of one session, or set it alike before they are opened.",
            )

    def _connect_once(self) -> Any:
        if self._session is None:
            users = running_session() or started_session(self._settings)
            ours = session_beside(users)
            self._logs = JavaLogs(ours)
            self._session = ours
        return self._session

    def _view(self, name: str, frame: Any) -> None:
        if name in self._views:
            self._drop(name)
        frame.createOrReplaceTempView(name)
        self._views.add(name)

    def _drop(self, name: str) -> None:
        # to drop it by the public way, or to replace it, would give up what is cached
        # of the rows that it reads: what the user has cached, and what we keep
        state = self._connect_once()._jsparkSession.sessionState()  # noqa: SLF001 into Java
        state.catalog().dropTempView(name)


def _frame_of_rows(session: Any, rows: pa.Table | pa.RecordBatchReader) -> Any:
    # Spark reads no further than to an empty batch
    reader = rows.to_reader() if isinstance(rows, pa.Table) else rows
    batches = [batch for batch in reader if batch.num_rows]
    table = pa.Table.from_batches(batches or [_none(reader.schema)])
    return session.createDataFrame(table)


def _none(schema: pa.Schema) -> pa.RecordBatch:
    # Spark takes no table without batches
    return pa.RecordBatch.from_arrays(
        [pa.array([], kind) for kind in schema.types], schema=schema
    )


def _as_signed(salt: int) -> int:
    return salt - 2**64 if salt >= 2**63 else salt


def as_spark(value: Any) -> Any:
    """Return a bound value as Spark takes it: days and moments as text, in no zone."""
    return value.isoformat() if isinstance(value, dt.date) else value


def spark_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine; threads and memory are for a Spark that it has to start."""
    return spark_engine(settings)


def spark_engine(
    settings: Settings | None = None,
    *,
    salt: int | None = None,
    parts: tuple[int, ...] = (1,),
) -> SQLEngine:
    """Return an engine that answers questions with the Spark of this process."""
    database = Spark(settings or Settings())
    return SQLEngine(database, Room(), salt=salt, parts=parts)
