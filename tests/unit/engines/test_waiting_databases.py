"""The database of a session that ended: what the next one gets of it, and what not."""

import gc
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.engines.duckdb import session as instances
from sordino.engines.duckdb.session import Instance
from sordino.errors import EngineFailure
from tests.batches import for_each

ROWS: Final = pa.table({
    "id": [n // 3 for n in range(3_000)],
    "text": [f"a private text {n}" for n in range(3_000)],
})
BUDGET: Final = sd.PureDP(10)
FIVE: Final = sd.table("t").enforce(sd.MaxRowsPerID(5)).agg(n=sd.count())
HELD: Final = "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory()"


@pytest.fixture
def _none_waits() -> None:
    instances._close_waiting()


pytestmark = pytest.mark.usefixtures("_none_waits")


def opened(source: Any = ROWS, **settings: Any) -> sd.Session:
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    limit = sd.Limit.of(sd.ApproxDP(10**9, "0.5"))
    return sd.Session({"t": table}, limit, **settings)


def instance_of(session: sd.Session) -> Instance:
    engine: Any = session._desk.engine
    database: Instance = engine._database._there()
    return database


def asked(session: sd.Session) -> Instance:
    """Return the database of a session after a question, whose rows it keeps."""
    assert session.release(FIVE, BUDGET).table.num_rows == 1
    database = instance_of(session)
    assert number(database, HELD) > 0
    assert number(database, "SELECT count(*) FROM duckdb_tables()") == 1
    return database


def number(database: Instance, text: str) -> int:
    return int(database._home.execute(text).fetchall()[0][0])


def _collected(session: list[sd.Session]) -> None:
    session.clear()
    gc.collect()


ENDS: Final[dict[str, Callable[[list[sd.Session]], None]]] = {
    "closed": lambda sessions: sessions[0].close(),
    "collected": _collected,
}


@for_each("end", ENDS)
def test_the_next_session_gets_it_empty(end: str) -> None:
    gc.collect()  # what other tests left would be collected with ours, and wait
    instances._close_waiting()
    sessions = [opened()]
    first = asked(sessions[0])
    cursor = first._cursors[0]
    cursor.register("beside", ROWS)
    ENDS[end](sessions)
    assert instances._waiting == [first]
    with pytest.raises(duckdb.ConnectionException):
        cursor.execute("SELECT 1")
    second = opened()
    assert instance_of(second) is first
    assert instances._waiting == []
    assert number(first, HELD) == 0
    assert number(first, "SELECT count(*) FROM duckdb_tables()") == 0
    assert number(first, "SELECT count(*) FROM duckdb_views() WHERE NOT internal") == 0
    with pytest.raises(duckdb.CatalogException):
        first.cursor().execute("FROM beside")
    asked(second)


def _table(database: Instance) -> None:
    database.cursor().execute("CREATE TABLE beside AS SELECT 1 AS a LIMIT 0")


def _view(database: Instance) -> None:
    database.cursor().execute("CREATE VIEW beside AS SELECT 'a private text'")


def _temporary_rows(database: Instance) -> None:
    database._home.execute("CREATE TEMP TABLE beside AS FROM range(100000)")


def _file(database: Instance) -> None:
    Path(database.room.path, "spilled").write_bytes(b"a private text")


def _no_folder(database: Instance) -> None:
    Path(database.room.path).rmdir()


def _failure(database: Instance) -> None:
    database.spoiled = True


LEFT: Final = (_table, _view, _temporary_rows, _file, _no_folder, _failure)


@for_each("leave", LEFT)
def test_one_that_is_not_empty_is_closed(leave: Callable[[Instance], None]) -> None:
    """Whatever is left in a database, in memory or on disk, ends with its session."""
    session = opened()
    database = asked(session)
    folder = Path(database.room.path)
    leave(database)
    session.close()
    assert instances._waiting == []
    assert not folder.exists()
    with pytest.raises(duckdb.ConnectionException):
        database._home.execute("SELECT 1")


def test_one_that_failed_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened()
    asked(session)
    engine: Any = session._desk.engine

    def failing(*_: object) -> None:
        raise RuntimeError("a private text")

    monkeypatch.setattr(engine._database, "batches", failing)
    monkeypatch.setattr(engine._database, "table", failing)
    with pytest.raises(EngineFailure):
        session.release(FIVE, BUDGET)
    assert instance_of(session)._cursors == []  # none of them holds rows any longer
    session.close()
    assert instances._waiting == []


def test_one_that_reads_files_is_closed(tmp_path: Path) -> None:
    """It may have pieces of them in memory, and would read them again."""
    pq.write_table(ROWS, tmp_path / "t.parquet")
    with opened(tmp_path / "t.parquet") as session:
        assert instance_of(session).spoiled
        asked(session)
    assert instances._waiting == []


def test_one_of_other_settings_is_not_taken() -> None:
    settings: list[dict[str, Any]] = [
        {"memory_limit": "333MB"},
        {"threads": 1},
        {},
    ]
    seen: list[Instance] = []
    for more in settings:
        with opened(**more) as session:
            database = instance_of(session)
            assert all(database is not other for other in seen)
            asked(session)
        assert instances._waiting == [database]
        seen.append(database)
    for other in seen[:-1]:  # it made room
        with pytest.raises(duckdb.ConnectionException):
            other._home.execute("SELECT 1")


def test_one_that_says_how_far_it_is_is_closed() -> None:
    """Its first connection is set as no cursor can be, and so it is asked itself."""
    with opened(progress=True) as session:
        asked(session)
    assert instances._waiting == []


def test_sessions_at_once_have_their_own() -> None:
    first, second = opened(), opened()
    databases = asked(first), asked(second)
    assert databases[0] is not databases[1]
    first.close()
    assert number(databases[1], HELD) > 0
    asked(second)
    second.close()
    assert instances._waiting == [databases[1]]


def test_threads_that_end_at_once_share_none() -> None:
    """However sessions begin and end, no two of them have one database."""
    taken: list[Instance] = []
    doubled: list[Instance] = []

    def live() -> None:
        for _ in range(3):
            with opened(threads=1) as session:
                database = instance_of(session)
                if any(database is other for other in taken):
                    doubled.append(database)
                taken.append(database)
                asked(session)
                taken.remove(database)

    threads = [threading.Thread(target=live) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not doubled
    assert len(instances._waiting) <= 1


def test_none_is_in_two_processes() -> None:
    """What waits is closed before a fork: the child would have it without threads."""
    with opened() as session:
        first = asked(session)
    assert instances._waiting == [first]
    child = os.fork()
    if child == 0:
        os._exit(len(instances._waiting))
    assert os.waitpid(child, 0)[1] == 0
    assert instances._waiting == []
    assert instances._LOCK.acquire(blocking=False)
    instances._LOCK.release()


def test_one_of_another_disk_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Rows are spilled where temporary files belong by now."""
    with opened() as session:
        first = asked(session)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opened() as session:
        database = asked(session)
        assert database is not first
        assert Path(database.room.path).parent == tmp_path
    instances._close_waiting()


def _cleared(folder: Path) -> None:
    folder.rmdir()


def _made_anew(folder: Path) -> None:
    folder.rmdir()
    folder.mkdir(0o755)


def _opened_to_others(folder: Path) -> None:
    folder.chmod(0o755)


@for_each("change", [_cleared, _made_anew, _opened_to_others])
def test_one_whose_folder_is_another_is_not_taken(
    change: Callable[[Path], None],
) -> None:
    """What clears temporary files comes by while a database waits."""
    with opened() as session:
        first = asked(session)
    change(Path(first.room.path))
    with opened() as session:
        database = asked(session)
        assert database is not first
        assert Path(database.room.path).stat().st_mode & 0o777 == 0o700
    assert instances._waiting == [database]


def test_a_lock_that_nobody_lets_go_stops_no_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An interruption may come between a lock and what would let it go."""
    monkeypatch.setattr(instances, "_LONGEST", 0.01)
    with opened() as session:
        asked(session)
    instances._LOCK.acquire()
    child = os.fork()
    if child == 0:
        os._exit(len(instances._waiting))
    assert os.waitpid(child, 0)[1] == 0
    assert not instances._LOCK.locked()


FORK: Final = """
import os, sys
sys.path.insert(0, {here!r})
from tests.unit.engines.test_waiting_databases import *
session = opened()
first = asked(session)
session.close()
assert instances._waiting == [first]
child = os.fork()
if child == 0:
    assert instances._waiting == []
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert instances._waiting == []
session = opened()
asked(session)
session.close()
assert len(instances._waiting) == 1
print(instances._waiting[0].room.path)
"""


@pytest.mark.slow
def test_a_fork_has_none(tmp_path: Path) -> None:
    """A forked process ends as it wants to, and its parent asks on."""
    ended = subprocess.run(
        [sys.executable, "-c", FORK.format(here=str(Path.cwd()))],
        capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not Path(ended.stdout.strip()).exists()


def test_what_was_rehearsed_there_is_not_rehearsed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What ran on empty tables in a database would run there for another session."""
    with opened() as session:
        asked(session)
        ran = len(instance_of(session).rehearsals)
    assert ran == 2
    with opened() as session:
        asked(session)
        assert len(instance_of(session).rehearsals) == ran
    monkeypatch.setattr(instances, "_MOST", 1)
    with opened() as session:
        asked(session)
    assert not instances._waiting[0].rehearsals
