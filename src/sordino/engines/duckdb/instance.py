"""A DuckDB in memory with its folder; an empty one waits for the next session.

For any session, nothing that it read, made or kept is in an instance that another one
gets (docs/adr/0213).
"""

import atexit
import os
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

import duckdb

from sordino.engines.duckdb.connection import PROFILING, draws_bars, locked_connection
from sordino.engines.sql.room import Room

_LEFT: Final = """
SELECT tag FROM duckdb_memory()
WHERE memory_usage_bytes > 0 OR temporary_storage_bytes > 0
UNION ALL SELECT table_name FROM duckdb_tables()
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"""
"""What an instance is asked before another session gets it: it has no row."""
_MOST: Final = 10_000
"""Rehearsals that an instance remembers which waits."""


@final
class Instance:
    """A database that is set and locked, and the folder that it spills to."""

    def __init__(
        self, limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool
    ) -> None:
        """Make both: it reads these files, and no others."""
        self.mark = _mark(limits, paths, progress=progress)
        self.room = Room()
        self._home = locked_connection(
            limits, self.room.path, list(paths), progress=progress
        )
        """Holds the database: to close it closes all cursors."""
        alone = progress or draws_bars(self._home.cursor())
        self._first = self._home if alone else None
        """What is to be asked first, where no cursor says how far it is as wanted."""
        self._cursors: list[duckdb.DuckDBPyConnection] = []
        self._process = os.getpid()
        self._places: set[str] = set()
        self.rehearsals: set[int] = set()
        """What ran here on tables without rows: for whomever, it says no more."""
        self.plans: dict[int, tuple[str, ...]] = {}
        """The plans of texts that read files, by their marks."""
        self.spoiled = bool(paths) or alone
        """Whether another session may not have it: something may be left in it that
        nobody can see, or the connection that holds it was asked.
        """

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of which questions are asked."""
        cursor, self._first = self._first, None
        if cursor is None:
            cursor = self._home.cursor()
            self._cursors.append(cursor)
        cursor.execute(PROFILING)
        return cursor

    def spoil(self) -> None:
        """Forget the cursors, which may hold what is unfinished: nobody else has it."""
        self.spoiled = True
        self._cursors.clear()

    def make_place(self, name: str, columns: str) -> None:
        """Make a table without rows, instead of another: it is spilled to the room."""
        self._places.add(name)
        self._home.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")

    def drop_place(self, name: str) -> None:
        """Drop a table, if it is there."""
        self._home.execute(f"DROP TABLE IF EXISTS {name}")
        self._places.discard(name)

    @property
    def here(self) -> bool:
        """Tell whether this process made it: a forked child leaves it to its parent."""
        return os.getpid() == self._process

    def empty(self) -> bool:
        """Let go of what was asked and kept, and tell whether nothing of it is left."""
        while self._cursors:
            self._cursors.pop().close()
        for name in tuple(self._places):
            self.drop_place(name)
        if len(self.rehearsals) > _MOST:
            self.rehearsals.clear()
        left = self._home.execute(_LEFT).fetchall()
        spilled = list(Path(self.room.path).iterdir())
        return not (left or spilled)

    def close(self) -> None:
        """Let go of everything."""
        with suppress(duckdb.Error, RuntimeError):
            self._home.close()
        self.room.close()


def _mark(limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool) -> str:
    """Return what instances share that are set alike, and spill to one disk."""
    return repr((sorted(limits.items()), paths, progress, tempfile.gettempdir()))


_waiting: list[Instance] = []
"""The instance that waits, if there is one; it is empty."""
_LOCK: Final = threading.Lock()
"""Who cannot have it at once does without: it is held throughout a fork."""
_LONGEST: Final = 5.0
"""So many seconds a fork waits for it."""


def take_instance(
    limits: Mapping[str, Any], paths: tuple[str, ...], *, progress: bool
) -> Instance:
    """Return the instance that waits, if it is set in this way, or a new one.

    Of a folder that was cleared DuckDB would make another that others may enter.
    """
    mark = _mark(limits, paths, progress=progress)
    if _LOCK.acquire(blocking=False):
        try:
            if _waiting and _waiting[0].mark == mark and _waiting[0].room.is_as_made:
                return _waiting.pop()
        finally:
            _LOCK.release()
    return Instance(limits, paths, progress=progress)


def leave_instance(instance: Instance) -> None:
    """Let an instance wait if it is empty, instead of another, or close it."""
    if not instance.here:
        return
    closing = [instance]
    with suppress(duckdb.Error, RuntimeError, OSError):
        waits = not instance.spoiled and instance.empty()
        if waits and _LOCK.acquire(blocking=False):
            try:
                closing = list(_waiting)
                _waiting[:] = [instance]
            finally:
                _LOCK.release()
    for other in closing:
        other.close()


def _close_waiting() -> None:
    """Close what waits, at the end of the interpreter: while all is there to do it."""
    while _waiting:
        _waiting.pop().close()


def _close_before_fork() -> None:
    """Close what waits: its threads are not there in the child.

    Whoever has the lock has it for a moment, or was interrupted and lets it go never.
    """
    _LOCK.acquire(timeout=_LONGEST)
    _close_waiting()


atexit.register(_close_waiting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_close_before_fork,
        after_in_parent=_LOCK.release,
        after_in_child=_LOCK.release,
    )
