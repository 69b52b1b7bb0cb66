"""An engine of settings, and one for an address."""

from sordino.engines.door import Settings
from sordino.engines.postgres.database import Postgres
from sordino.engines.postgres.server import Server
from sordino.engines.sql.engine import SQLEngine
from sordino.engines.sql.room import Room


def postgres_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine for the server in which the tables lie.

    Its memory and its threads are the server's own matter.
    """
    del settings
    return SQLEngine(Postgres(), Room())


def postgres_engine(
    address: str, *, salt: int | None = None, parts: tuple[int, ...] = (1,)
) -> SQLEngine:
    """Return an engine for a server, also for tables that are handed to it."""
    return SQLEngine(Postgres(Server(address)), Room(), salt=salt, parts=parts)
