"""Nothing is logged while a question runs: what Spark says of a failure quotes cells.

PySpark writes the message of a failure to stderr by itself, as JSON, whatever the
level of logs; the driver's Java writes that of each task that fails.
"""

import logging
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Final, final

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
        """Make a filter that denies each line; a name in Java is looked up slowly."""
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
    """Wait for the tasks of a failed question: each of them may have a cell to tell."""
    store = session._jsparkSession.sparkContext().statusStore()  # noqa: SLF001 as above
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        executors = store.executorList(True)
        running = [executors.apply(n).activeTasks() for n in range(executors.size())]
        if not any(running):
            return
        time.sleep(_PAUSE)
