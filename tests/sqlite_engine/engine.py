"""An engine that asks SQLite: the trial of the door for dialects."""

from sordino.engines.doors import Settings
from sordino.engines.statements.database import Room
from sordino.engines.statements.engine import SQLEngine
from tests.sqlite_engine.database import SQLite


def sqlite_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine; it has nothing that could be set."""
    del settings
    return sqlite_engine()


def sqlite_engine(
    *, salt: int | None = None, parts: tuple[int, ...] = (1,)
) -> SQLEngine:
    """Return an engine that answers questions with SQLite."""
    return SQLEngine(SQLite(), Room(), salt=salt, parts=parts)
