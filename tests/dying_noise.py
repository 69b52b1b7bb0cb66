"""Releases that worker processes write, of which one is killed while it draws noise.

`python -m tests.dying_noise` prints as JSON what became of each, and what each attempt
at each part drew. A task that has drawn waits behind a gate (`tests.dying_executors`),
so a strike comes when there is noise that was not committed.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pyarrow.parquet as pq

import sordino as sd
from sordino.engines.spark import session as engine
from sordino.engines.spark import workers
from sordino.errors import SordinoError
from sordino.session import executor
from tests.dying_executors import (
    PATIENCE,
    QUERY,
    SALT,
    Cluster,
    Outcome,
    Strike,
    kill_executor,
    open_gate,
    session_over,
    struck,
    write_rows,
)

BUDGET: Final = sd.PureDP(1)
SECRET: Final = b"the same for all releases of this test"


def main() -> None:
    def engine_of_one_key(_: object) -> Any:
        return engine.spark_engine(salt=SALT)

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(engine, "spark_of_settings", engine_of_one_key),
        patch.object(executor, "fresh_secret", lambda: SECRET),
    ):
        write_rows(Path(folder))
        for name, outcome in outcomes(Path(folder)):
            sys.stdout.write(json.dumps({"name": name, **outcome}) + "\n")
            sys.stdout.flush()


def outcomes(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """Yield what becomes of each release, under a name."""
    # else a worker remembers for a minute with whom it could hold totals
    cluster = Cluster(folder, **{"spark.storage.cachedPeersTtl": "100"})
    yield "undisturbed", written(cluster)
    yield "killed while rows are read", written(cluster, cluster.gate, kill_executor)
    for honest in (True, False):
        gate = open_gate(folder)
        with drawing(gate, honest=honest):
            name = "noise" if honest else "fresh noise"
            yield f"killed with {name}", written(cluster, gate, kill_executor)
    gate = open_gate(folder)
    with drawing(gate), holding_once():
        yield "killed with all there was", written(cluster, gate, kill_executor)


def written(
    cluster: Cluster, gate: Path | None = None, strike: Strike | None = None
) -> Outcome:
    """Return the rows of a release's files, and what was drawn for each part."""
    wait_for_both(cluster)
    place = Path(tempfile.mkdtemp(dir=cluster.folder, prefix="out-")) / "files"
    with session_over(cluster.rows()) as session:
        waiting = nullcontext() if gate is None else struck(gate, strike)
        with waiting:
            try:
                session.release_files(QUERY, BUDGET, place, key="k")
                rows = pq.read_table(place).sort_by("ward")
                answer: Any = rows.to_pydict()
            except SordinoError as failure:
                answer = type(failure).__name__
        charges = str(session.spent)
    drew: dict[str, list[str]] = {}
    for path in () if gate is None else sorted(gate.glob("drew-*")):
        _, part, _, digest = path.name.split("-")
        drew.setdefault(part, []).append(digest)
    return {"answer": answer, "charges": charges, "drew": drew}


def wait_for_both(cluster: Cluster) -> None:
    """Wait until two workers are there: totals are held by both of them."""
    end = time.monotonic() + PATIENCE
    executors = cluster.spark.sparkContext._jsc.sc().getExecutorMemoryStatus
    while executors().size() < 3 and time.monotonic() < end:  # the driver is one
        time.sleep(0.1)


def drawing(gate: Path, *, honest: bool = True) -> AbstractContextManager[object]:
    """Have each task tell what it drew, and wait at a gate.

    One that is not honest draws other noise each time.
    """
    work_on_part = workers._work_on_part

    def of_part(task: Any, secret: Any, schema: Any) -> Any:
        class Fresh:
            @property
            def value(self) -> bytes:
                return os.urandom(64)

        work = work_on_part(task, secret if honest else Fresh(), schema)

        def behind_a_gate(batches: Any) -> Any:
            import hashlib  # noqa: PLC0415 it runs in a worker
            import time  # noqa: PLC0415 as above

            from pyspark import TaskContext  # noqa: PLC0415 as above

            rows = list(work(batches))
            if not rows:
                return
            context: Any = TaskContext.get()
            part, attempt = context.partitionId(), context.taskAttemptId()
            shown = repr([batch.to_pydict() for batch in rows]).encode()
            digest = hashlib.sha256(shown).hexdigest()
            (gate / f"drew-{part}-{attempt}-{digest}").touch()
            if not (gate / "open").exists():
                (gate / f"task-{attempt}-{os.getpid()}").touch()
            while not (gate / "open").exists():
                time.sleep(0.02)
            yield from rows

        return behind_a_gate

    return patch.object(workers, "_work_on_part", of_part)


def holding_once() -> AbstractContextManager[object]:
    """Have totals held by one worker each, as they may not be."""
    from pyspark import StorageLevel  # noqa: PLC0415 only this program needs it

    once = StorageLevel.MEMORY_AND_DISK
    return patch.object(StorageLevel, "MEMORY_AND_DISK_2", once)


if __name__ == "__main__":
    main()
