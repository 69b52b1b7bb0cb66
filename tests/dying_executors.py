"""Releases on two worker processes, of which one is killed where a gate stands.

`python -m tests.dying_executors` prints what became of each release as JSON. A gate is
a function that rows go through. While it is closed the task of a marked row waits there
and tells who it is, and somebody strikes: kills the executor, stops Spark, or waits for
a copy of the task. So each strike comes in the middle of a stage, on any machine.

    files -> frame (a gate) -> bound -> totals (a gate) -> the driver
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

import sordino as sd
from sordino.engines.spark import session as database
from sordino.engines.spark import session as engine
from sordino.engines.spark.cluster import session_beside
from sordino.engines.spark.dialect import SparkDialect
from sordino.engines.statements import templates
from sordino.errors import SordinoError

ROWS: Final = 4000
FILES: Final = 4
SALT: Final = 7
FAILURES: Final = 2
"""How often a task may fail."""
PATIENCE: Final = 300.0
EXECUTOR: Final = "CoarseGrainedExecutorBackend"
EXACT: Final = sd.PureDP(10**6)
"""So much that noise is drawn, and is other than 0 less than once in e^300 draws."""
LIMIT: Final = sd.PureDP(10**9)
WARDS: Final = sd.KeySet.from_dict({"ward": [f"w{n}" for n in range(7)]})
BOUNDED: Final = sd.table("t").enforce(sd.MaxRowsPerID(3))
QUERY: Final = BOUNDED.group_by(WARDS).agg(n=sd.count(), v=sd.sum("v", 0, 1000))
Strike = Callable[[Path], object]
Outcome = dict[str, Any]


def main() -> None:
    def engine_of_one_key(_: object) -> Any:
        return engine.spark_engine(salt=SALT)

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(engine, "spark_of_settings", engine_of_one_key),
    ):
        write_rows(Path(folder))
        for name, outcome in outcomes(Path(folder)):
            sys.stdout.write(json.dumps({"name": name, **outcome}) + "\n")
            sys.stdout.flush()


def write_rows(folder: Path) -> None:
    """Write rows of ten for each id, each file with some of each; one row is marked."""
    table = pa.table({
        "id": [n % (ROWS // 10) for n in range(ROWS)],
        "ward": [f"w{n * n % 7}" for n in range(ROWS)],
        "v": [n * 7919 % 1000 for n in range(ROWS)],
        "marked": [n == ROWS // 2 for n in range(ROWS)],
    })
    each = ROWS // FILES
    for place in range(FILES):
        pq.write_table(table.slice(place * each, each), folder / f"{place}.parquet")


class Cluster:
    """A Spark of two worker processes of this machine."""

    def __init__(self, folder: Path, **settings: str) -> None:
        import pyspark  # noqa: PLC0415 only this program needs it
        from pyspark.sql import SparkSession  # noqa: PLC0415 as above

        os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.folder = folder
        self.spark = SparkSession.builder.config(
            map={
                "spark.master": "local-cluster[2,1,1024]",
                "spark.driver.memory": "800m",
                "spark.executor.memory": "800m",
                "spark.log.level": "OFF",
                "spark.sql.files.maxPartitionBytes": "16k",
                "spark.sql.files.openCostInBytes": "16k",
                "spark.sql.shuffle.partitions": "4",
                "spark.task.maxFailures": str(FAILURES),
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.worker.cleanup.enabled": "true",
                **settings,
            }
        ).getOrCreate()
        self.gate = open_gate(folder)
        self.spark.udf.register("gate", passing(self.gate), "bigint")

    def rows(self, below: Callable[[Any], Any] = lambda frame: frame) -> Any:
        """Return the rows as a frame, behind a gate."""
        frame = below(self.spark.read.parquet(f"{self.folder}/*.parquet"))
        return frame.selectExpr("id", "ward", "gate(v, marked) AS v")

    def released(
        self, strike: Strike | None = None, **options: Callable[[Any], Any]
    ) -> Outcome:
        """Return what becomes of a release of a new session."""
        return released(self.rows(**options), self.gate, strike)


def open_gate(folder: Path) -> Path:
    gate = Path(tempfile.mkdtemp(dir=folder, prefix="gate-"))
    (gate / "open").touch()
    return gate


def passing(gate: Path, *, honest: bool = True) -> Callable[[int, bool], int]:
    """Return the function of a gate: it returns its number, and waits at marked rows.

    One that is not honest adds how many attempts its task had before.
    """
    earlier: dict[int, int] = {}

    def pass_gate(number: int, marked: bool) -> int:  # noqa: FBT001 Spark calls it
        import os  # noqa: PLC0415 it runs in a worker
        import time  # noqa: PLC0415 as above

        from pyspark import TaskContext  # noqa: PLC0415 as above

        task: Any = TaskContext.get()
        attempt = task.taskAttemptId()
        if marked and not (gate / "open").exists():
            (gate / f"task-{attempt}-{os.getpid()}").touch()
            while not (gate / "open").exists():
                time.sleep(0.02)
        if not honest and attempt not in earlier:
            ran = f"ran-{task.stageId()}-{task.partitionId()}"
            (gate / f"{ran}-{attempt}").touch()
            earlier[attempt] = len(list(gate.glob(f"{ran}-*"))) - 1
        return number + earlier.get(attempt, 0)

    return pass_gate


def arrived(gate: Path, count: int = 1) -> list[int]:
    """Wait until so many tasks have come to a gate, and return their processes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        tasks = sorted(gate.glob("task-*"), key=lambda path: path.stat().st_mtime_ns)
        if len(tasks) >= count:
            return [int(path.name.split("-")[2]) for path in tasks]
        time.sleep(0.02)
    raise TimeoutError(gate)


def kill_executor(gate: Path, *, turn: int = 1) -> None:
    """Kill the process in which a task waits, as if its machine had gone."""
    for parent in psutil.Process(arrived(gate, turn)[turn - 1]).parents():
        if is_executor(parent):
            os.kill(parent.pid, signal.SIGKILL)


def kill_each(gate: Path) -> None:
    """Kill the process of each attempt, until Spark gives up."""
    for turn in range(1, FAILURES + 1):
        kill_executor(gate, turn=turn)


def wait_for_a_copy(gate: Path) -> None:
    """Wait until a second attempt of the task runs beside the first."""
    arrived(gate, 2)


def is_executor(process: psutil.Process) -> bool:
    """Tell whether a process is an executor of Spark."""
    try:
        return EXECUTOR in " ".join(process.cmdline())
    except psutil.Error:
        return False


@contextmanager
def struck(gate: Path, strike: Strike | None) -> Generator[None]:
    """Have a gate closed, and opened again when somebody has struck."""
    if strike is None:
        yield
        return
    for path in gate.iterdir():
        path.unlink()

    def run() -> None:
        try:
            strike(gate)
        finally:
            (gate / "open").touch()

    striking = threading.Thread(target=run)
    striking.start()
    try:
        yield
    finally:
        striking.join()
    assert list(gate.glob("task-*")), "nobody came to the gate"


def session_over(frame: Any) -> sd.Session:
    table = sd.PrivateTable(frame, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": table}, LIMIT)


def release(session: sd.Session, gate: Path, strike: Strike | None = None) -> Outcome:
    """Return what becomes of a release, and how often it is charged."""
    before = _spent(session)
    with struck(gate, strike):
        try:
            answer: Any = session.release(QUERY, EXACT).table.to_pydict()
        except SordinoError as failure:
            causes = (failure.__cause__, failure.__context__)
            answer = [type(failure).__name__, str(failure), causes == (None, None)]
    charges = (_spent(session) - before) / Fraction(10**6)
    return {"answer": answer, "charges": str(charges)}


def released(frame: Any, gate: Path, strike: Strike | None) -> Outcome:
    """Return what becomes of a release of a session of its own.

    It keeps nothing: Spark would find the rows of alike plans, of one key, in what
    another session keeps, and nobody would come to the gate.
    """
    session = session_over(frame)
    try:
        return release(session, gate, strike)
    finally:
        session.close()


def several(cluster: Cluster, strike: Strike | None) -> Outcome:
    """Return what becomes of questions at once, of blocks and of people."""
    dated = "date_add(DATE'2026-01-01', CAST(v % 59 AS INT)) AS day"
    table = sd.PrivateTable(
        cluster.rows().selectExpr("*", dated),
        protects=sd.AddRowsWithID("id"),
        blocks="day",
    )
    people = sd.table("t").per_id(n=sd.count(), most=sd.max("v", 0, 1000, nulls="drop"))
    asked = {
        "wards": QUERY,
        "people": people.agg(
            rows=sd.sum("n", 0, 30, nulls=0), most=sd.sum("most", 0, 1000, nulls=0)
        ),
    }
    blocks = sd.Blocks(start="2026-01", every="month")
    with sd.Session({"t": table}, LIMIT, blocks=blocks) as session:
        months = session.in_blocks("2026-01", "2026-02")
        with struck(cluster.gate, strike):
            told = months.release_all(asked, EXACT)
        answer = {name: told[name].table.to_pydict() for name in asked}
        return {"answer": answer, "charges": str(len(session.history()))}


def _spent(session: sd.Session) -> Fraction:
    loss: Any = session.spent
    return Fraction(loss.epsilon)


def outcomes(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """Yield what becomes of each release, under a name."""
    cluster = Cluster(folder)
    kept = session_over(cluster.rows())
    yield "undisturbed", release(kept, cluster.gate)
    next(filter(is_executor, psutil.Process().children(recursive=True))).kill()
    yield "killed between questions", release(kept, cluster.gate)
    kept.close()
    yield "killed while rows are read", cluster.released(kill_executor)
    yield (
        "killed behind a shuffle",
        cluster.released(kill_executor, below=lambda frame: frame.repartition("ward")),
    )
    for strike in (None, kill_executor):
        done = "killed" if strike else "undisturbed"
        yield f"{done} with several questions", several(cluster, strike)
    yield from _of_other_plans(cluster)
    yield from _of_other_statements(cluster)
    yield "killed each time", cluster.released(kill_each)
    session = session_over(cluster.rows())
    stop = lambda gate: (arrived(gate), cluster.spark.stop())  # noqa: E731 a strike
    yield "stopped", release(session, cluster.gate, stop)
    yield "asked of a Spark that stopped", release(session, cluster.gate)
    copies = {
        "spark.master": "local-cluster[1,1,1024]",
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1",
        "spark.speculation.quantile": "0.1",
    }
    cluster = Cluster(folder, **copies)
    add_worker_elsewhere(cluster.spark.sparkContext)
    yield "a second copy", cluster.released(wait_for_a_copy)


def add_worker_elsewhere(context: Any) -> None:
    """Have one more worker, of another address: no task has two attempts at one."""
    java = context._jvm
    backend = context._jsc.sc().schedulerBackend()
    field = backend.getClass().getDeclaredField("masters")
    field.setAccessible(True)
    java.org.apache.spark.deploy.worker.Worker.startRpcEnvAndEndpoint(
        "127.0.0.2",
        *(0, 0, 1, 1024),
        field.get(backend),
        None,
        java.scala.Option.apply(9),
        context._jsc.sc().conf(),
        java.scala.Option.empty(),
    )


def _of_other_plans(cluster: Cluster) -> Iterator[tuple[str, Outcome]]:
    """Yield releases over the rows in other orders and partitions."""
    settings = cluster.spark.conf
    usual = {"shuffle.partitions": "4", "adaptive.enabled": "true"}
    for name, value in (("shuffle.partitions", "1"), ("adaptive.enabled", "false")):
        settings.set(f"spark.sql.{name}", value)
        yield f"{name} {value}", cluster.released()
        settings.set(f"spark.sql.{name}", usual[name])
    upside_down = cluster.released(
        below=lambda frame: frame.orderBy("v", ascending=False).repartition(3)
    )
    yield "upside down, in three partitions", upside_down


def _of_other_statements(cluster: Cluster) -> Iterator[tuple[str, Outcome]]:
    """Yield releases with a gate in their last stage, and those of two mutants.

    The mutants do what no executor may: one adds to totals what another attempt of its
    task would not add, one orders rows by something that another attempt has not.
    """
    for name, honest in (("in the last stage", True), ("with noise in tasks", False)):
        gate = open_gate(cluster.folder)
        with (
            patch.object(SparkDialect, "brief_sum", _sum_behind_a_gate),
            calling("last_gate", passing(gate, honest=honest)),
        ):
            for strike in (kill_executor,) if honest else (None, kill_executor):
                done = "killed" if strike else "undisturbed"
                yield f"{done} {name}", released(cluster.rows(), gate, strike)
    with (
        patch.object(SparkDialect, "digest", _digest_of_an_attempt),
        calling("attempt_of", passing(cluster.gate, honest=False)),
    ):
        yield "undisturbed with an order of attempts", cluster.released()
        yield "killed with an order of attempts", cluster.released(kill_executor)


def calling(
    name: str, function: Callable[[int, bool], int]
) -> AbstractContextManager[object]:
    """Have sessions of the engine know a function."""

    def beside(users: Any) -> Any:
        ours = session_beside(users)
        ours.udf.register(name, function, "bigint")
        return ours

    return patch.object(database, "session_beside", beside)


_SUM: Final = SparkDialect.brief_sum
_DIGEST: Final = SparkDialect.digest


def _sum_behind_a_gate(self: SparkDialect, value: Any) -> Any:
    return templates.function("last_gate", _SUM(self, value), exp.true())


def _digest_of_an_attempt(self: SparkDialect, values: Any) -> Any:
    attempt = templates.function("attempt_of", templates.bigint(0), exp.false())
    return _DIGEST(self, [*values, attempt])


if __name__ == "__main__":
    main()
