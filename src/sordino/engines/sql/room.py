"""A folder of an engine's own: what is written there goes with the engine."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
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
        """Make it; it is removed when nobody holds it, or the process is no more."""
        self.path = tempfile.mkdtemp(prefix="sordino-")
        guard_folder(self.path)
        self._end = weakref.finalize(self, _remove, self.path, os.getpid())

    def map_rows(self, batches: Iterable[pa.RecordBatch], schema: Schema) -> pa.Table:
        """Return rows as a table that lies in a file here."""
        handle, path = tempfile.mkstemp(dir=self.path, suffix=".arrow")
        os.close(handle)
        return mapped_table(batches, schema, Path(path))

    def close(self) -> None:
        """Remove the folder and what is in it."""
        self._end()


def _remove(path: str, owner: int) -> None:
    """Remove a folder, unless this is a forked child."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
