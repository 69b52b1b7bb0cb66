"""How long a session keeps bounded rows, of which moment, and where."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.statements.database import guard_folder
from sordino.errors import EngineFailure, EngineUnavailable
from tests.batches import for_each, sampled

ROWS: Final = pa.table({"id": [n % 50 for n in range(400)], "x": [1] * 400})
MORE: Final = pa.table({"id": [n % 90 for n in range(900)], "x": [1] * 900})
FEW: Final = sd.table("t").enforce(sd.MaxRowsPerID(2))
COUNT: Final = FEW.agg(n=sd.count())
LARGE: Final = sd.PureDP(10**6)
"""Noise that is 0, but for a chance below 1e-400000."""


def opened(source: Any, engine: Any = "duckdb", **said: Any) -> sd.Session:
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": table}, sd.PureDP(10**9), engine=engine, **said)


def counted(session: sd.Session, request: Any = COUNT) -> int:
    return int(session.release(request, LARGE).table["n"][0].as_py())


@for_each("engine", ["duckdb", "memory"])
def test_kept_rows_are_of_one_moment(engine: str, tmp_path: Path) -> None:
    """What is written to a source is seen once the session has forgotten."""
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path)
    session = opened(path, engine)
    assert counted(session) == 100
    pq.write_table(MORE, path)
    assert counted(session) == 100
    assert counted(session, FEW.filter(sd.col("x") > 0).agg(n=sd.count())) == 100
    assert (
        counted(session, sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count()))
        == 90
    )
    session.forget()
    assert counted(session) == 180


@for_each(
    "change", [Path.unlink, lambda path: pq.write_table(ROWS.select(["x"]), path)]
)
def test_a_change_that_shows_is_refused(
    change: Callable[[Path], Any], tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path)
    session = opened(path)
    counted(session)
    spent = session.spent
    change(path)
    with pytest.raises(EngineUnavailable, match="not what it was"):
        counted(session)
    assert session.spent == spent


@for_each("engine", ["duckdb", "memory"])
def test_closed_sessions_refuse(engine: str) -> None:
    with opened(ROWS, engine) as session:
        counted(session)
    spent = session.spent
    for act in (lambda: counted(session), lambda: session.statement(COUNT, LARGE)):
        with pytest.raises(EngineUnavailable, match="session is closed"):
            act()
    session.close()
    session.forget()
    assert session.spent == spent == LARGE


def folder_of(session: sd.Session) -> Path:
    engine: Any = session._desk.engine
    return Path(engine._database._there().room.path)


def spilled(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.iterdir())


@pytest.fixture(name="large", scope="module")
def rows_that_are_spilled() -> pa.Table:
    """Return rows of which more are kept than fit into 60 MB."""
    count = 1_500_000
    ids = pa.array(range(count), pa.int64())
    texts = pa.array([f"a private text {n:032}" for n in range(count)])
    return pa.table({"id": ids, "x": ids, "text": texts})


@pytest.mark.slow
def test_what_is_spilled_goes_with_the_session(large: pa.Table) -> None:
    session = opened(large, memory_limit="100MB", threads=1)
    assert counted(session) == 1_500_000
    folder = folder_of(session)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert spilled(folder) > 1_000_000
    session.forget()
    assert spilled(folder) < 100_000
    assert counted(session) == 1_500_000
    assert spilled(folder) > 1_000_000
    session.close()
    assert not folder.exists()


@pytest.mark.slow
def test_the_end_of_a_session_is_the_end_of_its_folder(large: pa.Table) -> None:
    """A session that nobody holds, and one that was closed, leave nothing behind."""
    kept, dropped = (opened(large, memory_limit="100MB", threads=1) for _ in range(2))
    folders = [folder_of(one) for one in (kept, dropped)]
    counted(kept)
    counted(dropped)
    del dropped
    gc.collect()
    assert [one.exists() for one in folders] == [True, False]
    kept.close()
    assert not folders[0].exists()


ENDING: Final = """
import os, sys
sys.path.insert(0, {here!r})
from tests.unit.session.test_kept_rows_of_sessions import *
session = opened(ROWS)
counted(session)
print(folder_of(session), folder_of(session).exists(), flush=True)
{end}
"""


@pytest.mark.slow
@sampled(1, 2)
@for_each(
    "end",
    [
        "",
        "sys.exit(3)",
        "raise ValueError",
        "os._exit(0)",
    ],
)
def test_the_end_of_a_process_is_the_end_of_its_folders(
    end: str, tmp_path: Path
) -> None:
    """However a process ends, what it spilled is removed: by it, or by its helper."""
    text = ENDING.format(here=str(Path.cwd()), end=end)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        env=environment,
        text=True,
        timeout=300,
        check=False,
    )
    folder, there = ended.stdout.split()
    assert there == "True"
    assert folder.startswith(str(tmp_path))
    assert goes(Path(folder))


def goes(folder: Path) -> bool:
    """Tell whether a folder is removed within a minute."""
    waited = time.monotonic() + 60
    while folder.exists() and time.monotonic() < waited:
        time.sleep(0.02)
    return not folder.exists()


def test_who_ends_all_of_a_group_leaves_no_folder(tmp_path: Path) -> None:
    """A signal to a process and all it started passes by what removes folders."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            guard_folder(str(folder))
            os.killpg(0, signal.SIGKILL)
        finally:
            os._exit(1)  # never on with the tests
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert goes(folder)


def test_a_fork_takes_nothing_away() -> None:
    """A forked process neither asks nor forgets, and its end leaves what is kept."""
    session = opened(ROWS)
    first = counted(session)
    folder = folder_of(session)
    child = os.fork()
    if child == 0:
        refused = 0
        for act in (session.forget, lambda: counted(session)):
            try:
                act()
            except sd.errors.SessionMoved:
                refused += 1
        session.close()
        os._exit(0 if refused == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert folder.exists()
    assert counted(session) == first


def test_two_sessions_share_nothing() -> None:
    sessions = [opened(ROWS), opened(MORE), opened(ROWS, "memory")]
    told: list[set[int]] = [set(), set(), set()]

    def ask(place: int) -> None:
        for _ in range(4):
            told[place].add(counted(sessions[place]))
            if place == 1:
                sessions[place].forget()

    threads = [threading.Thread(target=ask, args=(n % 3,)) for n in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert told == [{100}, {180}, {100}]


def test_a_failure_loses_nothing_that_is_kept(tmp_path: Path) -> None:
    """A statement that fails leaves rows kept for others: no row decides a moment."""
    path, other = tmp_path / "t.parquet", tmp_path / "u.parquet"
    pq.write_table(ROWS, path)
    pq.write_table(ROWS, other)
    protects = sd.AddRowsWithID("id")
    session = sd.Session(
        {
            "t": sd.PrivateTable(path, protects=protects),
            "u": sd.PrivateTable(other, protects=protects),
        },
        sd.PureDP(10**9),
    )
    assert counted(session) == 100
    pq.write_table(MORE, path)
    stamp, content = other.stat(), bytearray(other.read_bytes())
    content[4 : len(content) // 2] = b"\x07" * (len(content) // 2 - 4)
    other.write_bytes(content)
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with pytest.raises(EngineFailure):
        counted(session, sd.table("u").enforce(sd.MaxRowsPerID(2)).agg(n=sd.count()))
    assert counted(session) == 100
