"""DuckDB: the embedded engine.

Each engine has a database of its own in memory, whose settings are locked and which
opens no file but the sources'. Rows of a DuckDB connection of the user are read through
a cursor of that connection, as Arrow batches: nothing is set or made there.
"""

import re
from typing import Any, Final

from sordino import _validate
from sordino.engines.door import Settings
from sordino.engines.duckdb.database import DuckDB
from sordino.engines.sql.engine import SQLEngine
from sordino.engines.sql.room import Room
from sordino.errors import InvalidParameter

_MOST_THREADS: Final = 4096
_SIZE: Final = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]{1,3})? ?[KMGT]i?B")


def duckdb_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine, refusing settings that DuckDB would not understand later."""
    threads: Any = settings.threads
    size: Any = settings.memory_limit
    if threads is not None:
        threads = _validate.integer(threads=threads, least=1, most=_MOST_THREADS)
    if size is not None and not (isinstance(size, str) and _SIZE.fullmatch(size)):
        raise InvalidParameter(
            "memory_limit",
            size,
            "must be a size such as 2GB or 512MB",
            'Try memory_limit="2GB".',
        )
    return duckdb_engine(memory_limit=size, threads=threads, progress=settings.progress)


def duckdb_engine(
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: bool = False,
    salt: int | None = None,
    parts: tuple[int, ...] = (1, 16, 64),
) -> SQLEngine:
    """Return an engine that answers questions with DuckDB.

    >>> from sordino.expressions.language import lit
    >>> from sordino.query.nodes import Source
    >>> from sordino.query.question import Question, Total
    >>> engine = duckdb_engine(memory_limit="1GB", threads=1)
    >>> schema = engine.open("visits", {"ward": ["a", "b", "a"]}, {})
    >>> counts = Question(Source("visits", schema), ("ward",), (Total(lit(1)),))
    >>> sorted(engine.answer(counts).to_pylist(), key=str)
    [{'ward': 'a', 'total 0': 2}, {'ward': 'b', 'total 0': 1}]
    """
    limits = {"memory_limit": memory_limit, "threads": threads}
    database = DuckDB(limits, progress=progress)
    return SQLEngine(database, Room(), salt=salt, parts=parts)
