"""What is said where Spark cannot run, before anything is asked or charged."""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.data.tables import ParquetSource
from sordino.engines import doors
from sordino.engines.doors import Settings
from sordino.engines.spark import cluster
from sordino.engines.spark.session import Spark
from sordino.engines.spark.tables import (
    of_frame,
    of_table_by_name,
    of_table_of_session,
)
from sordino.errors import EngineUnavailable, InvalidParameter, MissingDependency
from tests.batches import for_each


def java_that_says(folder: Path, told: str) -> None:
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    java.chmod(0o755)


@for_each(
    ("told", "version"),
    [('java version "1.8.0_391"', 8), ('openjdk version "11.0.2" 2019-01-15', 11)],
)
def test_an_old_java_is_told(
    told: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java_that_says(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    needed = f"needs Java 17 or later, and .* is Java {version}. Install it, or set"
    with pytest.raises(EngineUnavailable, match=needed) as caught:
        cluster.started_session(Settings())
    assert caught.value.__context__ is None


@for_each("told", ['openjdk version "17.0.15" 2025', "no version"])
def test_a_new_java_or_an_unknown_one_is_tried(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who does not say its version may be new enough."""
    java_that_says(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    cluster.refuse_old_java()


def test_a_missing_java_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=r"none is found\. Install it, or set"):
        cluster.refuse_old_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match="none is found"):
        cluster.refuse_old_java()


def test_a_wrong_home_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SPARK_HOME without a Spark, before anything is started; none is no harm."""
    monkeypatch.delenv("SPARK_HOME", raising=False)
    cluster.refuse_wrong_home()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=r"where no Spark is\. Unset it"):
        cluster.refuse_wrong_home()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    cluster.refuse_wrong_home()


@for_each("running", ["3.5.9", "4.0.2", "5.3.0"])
def test_another_spark_is_told(running: str) -> None:
    with pytest.raises(EngineUnavailable, match=f"speaks to Spark {running}"):
        cluster.refuse_other_spark("4.3.0", running)
    cluster.refuse_other_spark("4.3.0", "4.3.1")


def test_a_missing_pyspark_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match="the extra spark"):
        doors.engine_named("spark", Settings())


class FrameOfSpark:
    """A frame as its class and package tell it."""

    __module__ = "pyspark.sql.classic.dataframe"

    def __repr__(self) -> str:
        return "a frame"


FrameOfSpark.__name__ = "DataFrame"
PEOPLE: Final = {"id": [1]}


@for_each(
    ("sources", "name"),
    [
        ([FrameOfSpark()], "spark"),
        ([PEOPLE, FrameOfSpark()], "spark"),
        ([(FrameOfSpark(), "visits")], "duckdb"),
        ([("postgresql://host/base", "visits")], "duckdb"),
        ([PEOPLE, "visits.parquet", None], "duckdb"),
        ([], "duckdb"),
    ],
    ids=str,
)
def test_private_tables_choose_the_engine(sources: list[Any], name: str) -> None:
    assert doors.engine_of_sources(sources) == name


def test_a_frame_asks_spark_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "find_spec", lambda name: name != "pyspark" or None)
    private = sd.PrivateTable(FrameOfSpark(), protects=sd.AddOneRow())
    with pytest.raises(MissingDependency, match="engine='spark' needs"):
        sd.Session({"t": private}, sd.PureDP(1))
    with pytest.raises(MissingDependency, match=r"a source of pyspark\.DataFrame"):
        sd.Session({"t": private}, sd.PureDP(1), engine="duckdb")
    with pytest.raises(MissingDependency, match=r"a source of pyspark\.DataFrame"):
        sd.Session({"t": sd.PublicTable(FrameOfSpark())}, sd.PureDP(1))


def test_senseless_sizes_are_refused() -> None:
    for limit in ("much", "4 parsecs", "-1GB", ""):
        with pytest.raises(InvalidParameter, match="must be a size of memory"):
            cluster.memory_of(limit)


def test_spark_connect_is_refused() -> None:
    remote: Any = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(InvalidParameter, match="not of Spark Connect"):
        of_frame(remote(), {})
    with pytest.raises(InvalidParameter, match="not of Spark Connect"):
        of_table_of_session((remote(), "visits"), {})
    with pytest.raises(InvalidParameter, match=r"spark:// alone.*PYSPARK_SUBMIT_ARGS"):
        of_table_by_name(("spark://host:7077", "visits"), {})


def test_files_of_this_machine_are_not_for_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1]}), path)

    class Far:
        """A session of a cluster."""

        class sparkContext:  # noqa: N801 Spark calls it so
            """Its context."""

            master = "spark://far:7077"

    database = Spark(Settings())
    monkeypatch.setattr(database, "_session", Far())
    with pytest.raises(InvalidParameter, match="is a file of this machine"):
        database.admit(ParquetSource((str(path),)))
