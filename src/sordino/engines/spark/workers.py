"""Totals that stay with Spark's workers, get noise there, and are written to files.

totals (one part for a hash of their key) ── held by two workers ── noise ── Parquet

| step | who repeats it |
|---|---|
| totals are computed | Spark, as often as it likes: there is no secret yet |
| noise is drawn from them | Spark, bit for bit: totals and secret are the same |
| a totals' part is lost | nobody: the release ends, charged |

How exact the written numbers are is read from the files, which are published already,
as `release.exactness` tells it of numbers in memory.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import reduce
from operator import and_
from typing import Any, final

import pyarrow as pa

from sordino.aggregations.intervals import error_names
from sordino.engines.failures import run_guarded
from sordino.engines.spark.plans import analysed_plan, frame_of_plan
from sordino.engines.statements.spreads import AbstractSpread, AbstractWorkers, PartTask
from sordino.engines.statements.statements import Statement
from sordino.engines.statements.totals import KEYS, PLACE, answer_schema
from sordino.errors import EngineUnavailable, InvalidParameter
from sordino.query.nodes import Question
from sordino.release.explanation import ROUGH, Exactness, Reach
from sordino.release.released_files import FilesAnswer, WrittenFile


def try_new_folder(session: Any, folder: str, columns: Any) -> None:
    """Refuse a folder that is there, or cannot hold columns; it is not left behind."""
    try:
        problem = _problem(session, folder, columns)
    except Exception:  # noqa: BLE001 what Java says of a path
        problem = "cannot be written to"
    if problem:
        remedy = 'Name a new one, such as folder="hdfs:///statistics/visits-2026-11".'
        raise InvalidParameter("folder", folder, problem, remedy)


def _problem(session: Any, folder: str, columns: Any) -> str:
    """Why workers cannot write to a new folder; "" if they can."""
    files, place = _place(session, folder)
    if files.exists(place):
        return "is there already"
    master = session.sparkContext.master
    if files.getScheme() == "file" and not master.startswith("local"):
        return f"is on this machine, and the workers of {master} are not"
    try:
        _no_rows(session, columns).write.parquet(folder)
    finally:
        files.delete(place, True)
    return ""


def _place(session: Any, path: str) -> tuple[Any, Any]:
    place = session._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001 into Java
    settings = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 as above
    return place.getFileSystem(settings), place


def write_new_file(session: Any, path: str, text: str) -> None:
    """Write a text to a file, unless it is there."""
    files, place = _place(session, path)
    if files.exists(place):
        return
    stream = files.create(place, False)
    try:
        stream.write(text.encode())
    finally:
        stream.close()


def _no_rows(session: Any, columns: Any) -> Any:
    # with rows, a worker would need Python
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    nothing = functions.lit(None)
    return session.range(0).select(
        *(nothing.cast(field.dataType).alias(field.name) for field in columns)
    )


def written_files(session: Any, folder: str) -> tuple[WrittenFile, ...]:
    """Return the files of a folder, whose bytes the workers hash; none if gone."""
    files, place = _place(session, folder)
    if not files.exists(place):
        return ()
    rows = (
        session.read
        .format("binaryFile")
        .load(folder)
        .selectExpr("path", "length", "sha2(content, 256)")
        .collect()
    )
    return tuple(
        sorted(
            WrittenFile(path.rpartition("/")[2], size, digest)
            for path, size, digest in rows
        )
    )


def measure_files(session: Any, folder: str, task: PartTask) -> Exactness:
    """Return how exact the numbers are that a task wrote to the files of a folder."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 only where Spark runs

    columns = [sql.count(sql.lit(1))]
    for name in task.names:
        kind = task.schema.field(name).type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        columns += _columns_of(name, is_number=is_number)
    (row,) = session.read.parquet(folder).agg(*columns).collect()
    groups, *figures = row
    pieces = list(_fours(figures))
    return Exactness(
        groups,
        sum(numbers for numbers, *_ in pieces),
        sum(rough for _, rough, *_ in pieces),
        tuple(
            Reach(name, least, most)
            for name, (*_, least, most) in zip(task.names, pieces, strict=True)
        ),
    )


def _columns_of(name: str, *, is_number: bool) -> list[Any]:
    """Figures of a column: numbers, rough ones, least and most reach."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 as above

    value, low, high = (
        sql.col(f"`{each.replace('`', '``')}`")
        for each in (name, *error_names(name)[1:])
    )
    nothing = sql.lit(None).cast("double")
    if not is_number:
        return [sql.count(value), sql.lit(0), sql.max(nothing), sql.max(nothing)]
    doubles = [each.cast("double") for each in (value, low, high)]
    value_, low_, high_ = doubles
    known = reduce(and_, map(_is_finite, doubles))
    reach = sql.when(known, sql.greatest(high_ - value_, value_ - low_))
    rough = sql.when(reach > sql.abs(value_) / ROUGH, 1)
    return [sql.count(value), sql.count(rough), sql.min(reach), sql.max(reach)]


def _is_finite(number: Any) -> Any:
    from pyspark.sql import functions as sql  # noqa: PLC0415 as above

    endless = sql.abs(number) == float("inf")
    return number.isNotNull() & ~sql.isnan(number) & ~endless


def _fours(figures: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Consecutive groups of four figures, one for each column."""
    for place in range(0, len(figures), 4):
        yield tuple(figures[place : place + 4])


_Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_Context = Callable[[], AbstractContextManager[object]]


@final
class SparkWorkers(AbstractWorkers):
    """The executors of a Spark session of ours."""

    def __init__(
        self, session: Any, frame_of: Callable[[Statement, int], Any], quiet: _Context
    ) -> None:
        self._session = session
        self._frame_of = frame_of
        self._quiet = quiet

    def admit(self, task: PartTask, folder: str) -> None:
        """Refuse a folder that is there, and workers that draw other noise than we."""
        self._count_parts()
        try_new_folder(self._session, folder, _worker_columns_of(task))
        if self._trials(task) != {task.trial()}:
            raise EngineUnavailable(
                "its workers cannot draw the noise that this process would draw. "
                "Install there what is here: sordino, NumPy, PyArrow and pandas of the "
                "same versions, in the Python that PYSPARK_PYTHON names",
                lasts=True,
            )

    def _trials(self, task: PartTask) -> set[str]:
        from pyspark.cloudpickle import dumps  # noqa: PLC0415 only where Spark runs

        count = self._session.sparkContext.defaultParallelism
        each = self._session.range(0, count, 1, count)
        with suppress(Exception):  # of workers that run no Python of ours
            trials = _map_parts(each, _trial_of(dumps(task)), "trial string")
            return {row.trial for row in trials.collect()}
        return set()

    def spread(
        self, statement: Statement, salt: int, question: Question
    ) -> "SparkSpread":
        # how many parts there are, and which key lies in which, is public: that is
        # `spark.sql.shuffle.partitions`, and a hash of the key
        from pyspark import StorageLevel  # noqa: PLC0415 only where Spark runs

        totals = self._frame_of(statement, salt)
        if question.keys is not None:
            keys = analysed_plan(self._session.table(KEYS))
            totals = _with_every_key(frame_of_plan(totals.sparkSession, keys), totals)
        count = self._count_parts()
        by = totals.columns[: len(question.by)]
        parts = totals.repartition(count, *by)
        # cut off from its plan: totals computed anew could be others, under one noise
        blocks = parts.localCheckpoint(True, StorageLevel.MEMORY_AND_DISK_2)
        settled = frame_of_plan(self._session, analysed_plan(blocks))
        return SparkSpread(settled, answer_schema(question), self._quiet)

    def _count_parts(self) -> int:
        count = self._session.conf.get("spark.sql.shuffle.partitions")
        if not count.isdecimal():
            raise EngineUnavailable(
                f"spark.sql.shuffle.partitions is {count!r}: set it to a number",
                lasts=True,
            )
        return int(count)

    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        return written_files(self._session, folder)

    def write_label(self, folder: str, name: str, text: str) -> None:
        write_new_file(self._session, f"{folder}/{name}", text)


@final
class SparkSpread(AbstractSpread):
    """Exact totals in blocks of two workers each, cut off from what computed them."""

    def __init__(self, frame: Any, schema: pa.Schema, quiet: _Context) -> None:
        self._frame = frame
        self._schema = schema
        self._quiet = quiet

    def write(self, task: PartTask, secret: bytes, folder: str) -> FilesAnswer:
        def work() -> FilesAnswer:
            with self._quiet():
                self._write(task, secret, folder)
                spark = self._frame.sparkSession
                exactness = measure_files(spark, folder, task)
                return FilesAnswer(written_files(spark, folder), exactness)

        return run_guarded(work)

    def close(self) -> None:
        self._frame._jdf.queryExecution().logical().rdd().unpersist(True)  # noqa: SLF001 into Java

    def _write(self, task: PartTask, secret: bytes, folder: str) -> None:
        # each part is written by the one attempt at it that Spark commits
        shared = self._frame.sparkSession.sparkContext.broadcast(secret)
        try:
            work = _work_on_part(task, shared, self._schema)
            noisy = _map_parts(self._frame, work, _worker_columns_of(task))
            noisy.write.mode("error").parquet(folder)
        finally:
            shared.destroy(blocking=True)  # whoever has it can take the noise off


def _with_every_key(keys: Any, totals: Any) -> Any:
    # 0 where nothing was added up
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    place, *names = totals.columns
    joined = keys.join(totals, keys[PLACE] == totals[place], "left")
    counts = [functions.coalesce(totals[name], functions.lit(0)) for name in names]
    return joined.select(
        *(keys[name] for name in keys.columns if name != PLACE),
        *(count.alias(name) for count, name in zip(counts, names, strict=True)),
    )


def _worker_columns_of(task: PartTask) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 as above

    return from_arrow_schema(task.schema, prefer_timestamp_ntz=True)


def _map_parts(frame: Any, work: _Work, columns: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PySpark says of versions of pandas
        return frame.mapInArrow(work, columns)


def _trial_of(pickled: bytes) -> _Work:
    def trial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle  # noqa: PLC0415, S403 it runs in a worker

        import pyarrow as pa  # noqa: PLC0415 as above

        for _ in batches:
            try:
                digest = pickle.loads(pickled).trial()  # noqa: S301 of the driver
            except Exception:  # noqa: BLE001 whatever is missing there
                digest = ""
            yield pa.RecordBatch.from_pydict({"trial": [digest]})

    return trial


def _work_on_part(task: PartTask, secret: Any, schema: pa.Schema) -> _Work:
    # a machine that would draw other bits than the driver draws none
    expected = task.trial()

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415 it runs in a worker

        listed = list(batches)
        if not listed:
            return
        if task.trial() != expected:  # a worker that joined after `admit`
            raise RuntimeError
        columns = pa.Table.from_batches(listed).columns
        cast = [
            column.cast(field.type)
            for column, field in zip(columns, schema, strict=True)
        ]
        yield from task(
            pa.Table.from_arrays(cast, schema=schema), secret.value
        ).to_batches()

    return work
