"""The Spark of this process: the one that is there, or one that is started.

| what is there | what is said |
|---|---|
| no PySpark | `MissingDependency`, by the door |
| a PySpark before 4 | `EngineUnavailable` |
| no Java, or one before 17, and no Spark that runs already | `EngineUnavailable` |
| a SPARK_HOME without a Spark, or with another than PySpark's | `EngineUnavailable` |
"""

import os
import re
import shutil
import subprocess  # noqa: S404 to ask Java for its version
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sordino.engines.door import Settings
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
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.enabled": "false",
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
    chosen = {}
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
    """Return the classes of contexts and sessions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of versions of pandas
        from pyspark import SparkContext  # noqa: PLC0415 it takes half a second
        from pyspark.sql import SparkSession  # noqa: PLC0415 it takes half a second
    return SparkContext, SparkSession


def _pyspark_version() -> str:
    """Return the version of PySpark; what spark-submit brings has no metadata."""
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
            "pip install 'sordino[spark]'",
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
    """Return the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java" if home is None else str(Path(home, "bin", "java")))


def _java_version(command: str) -> int | None:
    """Return the main version of a Java: 8 for 1.8; None if it does not say."""
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
