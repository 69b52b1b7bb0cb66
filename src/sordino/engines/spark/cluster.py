"""The Spark of this process, our own session in it, and silence while it runs.

| what is there | what is said |
|---|---|
| no PySpark | `MissingDependency`, by the door |
| a PySpark before 4 | `EngineUnavailable` |
| no Java, or one before 17, and no Spark that runs already | `EngineUnavailable` |
| a SPARK_HOME without a Spark, or with another than PySpark's | `EngineUnavailable` |

Sessions of our own share the cluster, the catalogues and what is cached with the
user's, and have no function and no view of anybody else's. A plan has most settings in
it since it was analysed; what it asks later, and what a reader of files asks, must be
as its owner has set it.

| session | settings of belief | of meaning | all others |
|---|---|---|---|
| that analyses our statements | pinned | pinned | Spark's own, but for speed |
| that runs them, and reads the files of frames | pinned | the owner's | the owner's |

Without frames the first one does all. Pins are read back before each question.

Nothing is logged while a question runs, for what Spark says of a failure quotes cells:
PySpark writes it to stderr by itself, as JSON, whatever the level of logs; the driver's
Java writes that of each task that fails.
"""

import atexit
import logging
import os
import re
import shutil
import subprocess  # noqa: S404 to ask Java for its version
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

from sordino.engines.doors import Settings
from sordino.errors import EngineUnavailable, InvalidParameter

_OLDEST: Final = 4
_OLDEST_JAVA: Final = 17
_INSTALL: Final = "Install it, or set JAVA_HOME to one that is"
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_KIBIBYTES: Final = {"": 1 / 1024, "k": 1, "m": 1024, "g": 1024**2, "t": 1024**3}
STOPPED: Final = (
    "its Spark was stopped. Make a new session, over frames of one that runs"
)
_OURS: Final[Mapping[str, str]] = {
    "spark.app.name": "sordino",
    "spark.io.encryption.enabled": "true",  # rows that are kept lie on disks
    "spark.log.level": "OFF",  # a failing task quotes its cell
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.enabled": "false",  # its page shows row counts of stages
    "spark.ui.showConsoleProgress": "false",
}
"""How a Spark is started that nobody else has started."""


def running_session() -> Any:
    """Return a session of the Spark that runs in this process, or None."""
    context, session = _import_pyspark()
    refuse_old_pyspark(_pyspark_version())
    if context._active_spark_context is None:  # noqa: SLF001 nothing public tells
        return None
    running = session.getActiveSession() or session.builder.getOrCreate()
    refuse_other_spark(_pyspark_version(), running.version)
    return running


def started_session(settings: Settings) -> Any:
    """Return a session of a Spark that is started.

    It runs where the environment says (`PYSPARK_SUBMIT_ARGS`, spark-submit, a
    spark-defaults.conf), else on all of this machine.
    """
    refuse_old_java()
    refuse_wrong_home()
    # made by the first table that is named, elsewhere than where the user works
    warehouse = tempfile.mkdtemp(prefix="sordino-")
    atexit.register(shutil.rmtree, warehouse, ignore_errors=True)
    chosen = {"spark.sql.warehouse.dir": Path(warehouse).as_uri()}
    if settings.threads is not None:
        chosen["spark.master"] = f"local[{settings.threads}]"
    if settings.memory_limit is not None:
        chosen["spark.driver.memory"] = memory_of(settings.memory_limit)
    _, session = _import_pyspark()
    started = session.builder.config(map={**_OURS, **chosen}).getOrCreate()
    refuse_other_spark(_pyspark_version(), started.version)
    if "PYSPARK_PYTHON" not in os.environ:  # else the first python3 of the path
        started.sparkContext.pythonExec = sys.executable
    return started


def _import_pyspark() -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of versions of pandas
        from pyspark import SparkContext  # noqa: PLC0415 it takes half a second
        from pyspark.sql import SparkSession  # noqa: PLC0415 it takes half a second
    return SparkContext, SparkSession


def _pyspark_version() -> str:
    # what spark-submit brings has no metadata
    from pyspark.version import __version__  # noqa: PLC0415 as above

    return str(__version__)


def memory_of(limit: str) -> str:
    """Return a limit of memory as Java writes it.

    >>> memory_of("1.5GB"), memory_of("512 MiB")
    ('1572864k', '524288k')
    """
    size = _SIZE.fullmatch(limit)
    if size is None:
        raise InvalidParameter(
            "memory_limit", limit, "must be a size of memory", 'Try "4GB".'
        )
    return f"{int(float(size[1]) * _KIBIBYTES[size[2].lower()])}k"


def refuse_old_pyspark(installed: str) -> None:
    """Refuse a PySpark whose SQL lacks what ours is written in.

    >>> refuse_old_pyspark("3.5.9")
    Traceback (most recent call last):
    sordino.errors.EngineUnavailable: ... PySpark 3.5.9 is installed, and 4 or later ...
    """
    if int(installed.partition(".")[0]) < _OLDEST:
        raise EngineUnavailable(
            f"PySpark {installed} is installed, and {_OLDEST} or later is needed: "
            "pip install 'pyspark>=4,<5'",
            lasts=True,
        )


def refuse_other_spark(installed: str, running: str) -> None:
    """Refuse a PySpark that speaks to the JARs of another Spark.

    >>> refuse_other_spark("4.1.0", "4.0.1")
    Traceback (most recent call last):
    sordino.errors.EngineUnavailable: ... PySpark 4.1.0 speaks to Spark 4.0.1. ...
    """
    if installed.split(".")[:2] != running.split(".")[:2]:
        raise EngineUnavailable(
            f"PySpark {installed} speaks to Spark {running}. Install the PySpark of "
            "that version, or unset SPARK_HOME to use the Spark that came with it",
            lasts=True,
        )


def refuse_wrong_home() -> None:
    """Refuse a SPARK_HOME where no Spark is."""
    home = os.environ.get("SPARK_HOME")
    if home is not None and not Path(home, "bin", "spark-submit").exists():
        raise EngineUnavailable(
            f"SPARK_HOME is {home}, where no Spark is. Unset it to use the Spark that "
            "came with PySpark, or set it to the folder of one",
            lasts=True,
        )


def is_stopped(session: Any) -> bool:
    """Tell whether the Spark of a session runs no more: its frames fail when read."""
    try:
        context = session._jsparkSession.sparkContext()  # noqa: SLF001 into Java
        return bool(context.isStopped())
    except Exception:  # noqa: BLE001 of a Java that has ended
        return True


def refuse_old_java() -> None:
    """Refuse to start Spark without a Java that it runs on."""
    command = _java()
    if command is None:
        raise EngineUnavailable(
            f"Spark needs Java {_OLDEST_JAVA} or later, and none is found. {_INSTALL}",
            lasts=True,
        )
    main_version = _java_version(command)
    if main_version is not None and main_version < _OLDEST_JAVA:
        raise EngineUnavailable(
            f"Spark needs Java {_OLDEST_JAVA} or later, and {command} is Java "
            f"{main_version}. {_INSTALL}",
            lasts=True,
        )


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java" if home is None else str(Path(home, "bin", "java")))


def _java_version(command: str) -> int | None:
    """Main version of a Java: 8 for 1.8; None if it does not say."""
    try:
        answer = subprocess.run(  # noqa: S603 the program that Spark would run
            [command, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    main_version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return None if main_version is None else int(main_version[1])


_KEPT: Final = (
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.catalog.",
    "spark.sql.defaultCatalog",
    "spark.sql.files.",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.shuffle.partitions",
    "spark.sql.warehouse.dir",
)  # how settings begin that change no answer

MEANING: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}  # what our statements are written for; the plan of a frame has these settled
BELIEF: Final[Mapping[str, str]] = {
    # nothing that a file, a table, a bucket or a cache says of its rows is believed:
    # the least and the greatest of cached rows leave NaN out
    "spark.sql.cbo.enabled": "false",
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.sources.bucketing.enabled": "false",
    "spark.sql.sources.useV1SourceList": "avro,csv,json,kafka,orc,parquet,text",
    "spark.sql.sources.v2.bucketing.enabled": "false",
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
    "spark.databricks.delta.stats.skipping": "false",
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
    # speed: a bound whose order has ties among all columns is slower to cut early
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
}
PINS: Final[Mapping[str, str]] = {**MEANING, **BELIEF}


def session_beside(users: Any) -> Any:
    """Return a session of our own in the Spark of a user's session."""
    ours = users.newSession()
    for name in ours.conf.getAll:
        if name.startswith("spark.sql.") and ours.conf.isModifiable(name):
            ours.conf.unset(name)
    for name, value in users.conf.getAll.items():
        if name.startswith(_KEPT) and ours.conf.isModifiable(name):
            ours.conf.set(name, value)
    for name, value in PINS.items():
        ours.conf.set(name, value)
    return ours


def reading_session(owners: Any) -> Any:
    """Return a session in which files mean what they mean to the owner of a frame."""
    ours = owners.newSession()
    _settings(ours).putAll(_settings(owners))
    for name, value in BELIEF.items():
        ours.conf.set(name, value)
    return ours


def differing_setting(session: Any, other: Any) -> str:
    """Name of a setting by which frames differ in meaning; "" if none does."""
    first, second = (dict(_settings(session)) for session in (session, other))
    names = (name for name in {*first, *second} if not name.startswith(_KEPT))
    return min((n for n in names if first.get(n) != second.get(n)), default="")


def _settings(session: Any) -> Any:
    return session._jsparkSession.sessionState().conf().settings()  # noqa: SLF001 into Java


def refuse_changed_settings(session: Any, pins: Mapping[str, str]) -> None:
    """Refuse a session whose settings are not what they were."""
    settings = session.conf  # asked one by one: to list all takes ten times as long
    changed = [
        name for name, value in pins.items() if settings.get(name, None) != value
    ]
    if changed:
        raise EngineUnavailable(
            f"the setting {changed[0]} of its Spark session was changed. Make a new "
            "session"
        )


_TALKERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.05


@contextmanager
def hush_logs(session: Any, java: "JavaLogs") -> Generator[None]:
    """Have nothing logged of what this thread asks of Spark."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 only where Spark runs

    here = threading.get_ident()

    def from_elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != here

    talkers = [PySparkLogger.getLogger(name) for name in _TALKERS]
    for talker in talkers:
        talker.addFilter(from_elsewhere)
    with java.silence():
        try:
            yield
        except BaseException:
            with suppress(Exception):  # of a Spark that is gone
                _wait_for_tasks(session)
            raise
        finally:
            for talker in talkers:
                talker.removeFilter(from_elsewhere)


@final
class JavaLogs:
    """The logs of the driver's Java."""

    def __init__(self, session: Any) -> None:
        # a name in Java is looked up slowly
        log4j = session._jvm.org.apache.logging.log4j  # noqa: SLF001 the way into Java
        deny = log4j.core.Filter.Result.DENY
        self._manager = log4j.LogManager
        self._filter = log4j.core.filter.ThresholdFilter.createFilter(
            log4j.Level.OFF, deny, deny
        )

    @contextmanager
    def silence(self) -> Generator[None]:
        """Filter whatever is configured now; one filter twice is no harm."""
        configured = self._manager.getContext(False).getConfiguration()
        configured.addFilter(self._filter)
        try:
            yield
        finally:
            configured.removeFilter(self._filter)


def _wait_for_tasks(session: Any) -> None:
    # each of them may have a cell to tell
    store = session._jsparkSession.sparkContext().statusStore()  # noqa: SLF001 as above
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        executors = store.executorList(True)
        running = [executors.apply(n).activeTasks() for n in range(executors.size())]
        if not any(running):
            return
        time.sleep(_PAUSE)
