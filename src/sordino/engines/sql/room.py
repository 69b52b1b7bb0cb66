"""A folder of an engine's own: what is written there goes with the engine."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import final

import pyarrow as pa

from sordino.engines.sql.room_guard import guard_folder
from sordino.schema import Schema
from sordino.sources.freezing import mapped_table


@final
class Room:
    """A folder that its user alone may enter."""

    def __init__(self) -> None:
        """Begin with no folder."""
        self._end: Callable[[], object] | None = None
        self._made: tuple[int, ...] | None = None

    @cached_property
    def path(self) -> str:
        """Make it, when it is first asked for.

        It is removed when nobody holds it, or the process is no more.
        """
        path = tempfile.mkdtemp(prefix="sordino-")
        guard_folder(path)
        self._end = weakref.finalize(self, _remove, path, os.getpid())
        self._made = _identity(path)
        return path

    @property
    def is_as_made(self) -> bool:
        """Tell whether the folder is the one that was made, for one user alone."""
        return self._made is not None and _identity(self.path) == self._made

    def map_rows(self, batches: Iterable[pa.RecordBatch], schema: Schema) -> pa.Table:
        """Return rows as a table that lies in a file here."""
        handle, path = tempfile.mkstemp(dir=self.path, suffix=".arrow")
        os.close(handle)
        return mapped_table(batches, schema, Path(path))

    def close(self) -> None:
        """Remove the folder and what is in it."""
        if self._end is not None:
            self._end()


def _identity(path: str) -> tuple[int, ...] | None:
    """Return which folder it is, whose, and who may enter; None if there is none."""
    with suppress(OSError):
        facts = os.lstat(path)
        return facts.st_dev, facts.st_ino, facts.st_uid, facts.st_mode
    return None


def _remove(path: str, owner: int) -> None:
    """Remove a folder, unless this is a forked child."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
