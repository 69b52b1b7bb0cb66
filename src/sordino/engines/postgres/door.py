"""Where PostgreSQL's engine is, and what reads a table of a server."""

from typing import Final

from sordino.engines.door import Door

_TABLES: Final = "sordino.engines.postgres.addresses"
DOOR: Final = Door(
    "sordino.engines.postgres.engine:postgres_of_settings",
    package="psycopg",
    at_address="sordino.engines.postgres.engine:postgres_engine",
    reads={
        **{
            f"({name}://, name)": f"{_TABLES}:of_address"
            for name in ("postgresql", "postgres")
        },
        **{
            f"{name}://": f"{_TABLES}:of_nothing" for name in ("postgresql", "postgres")
        },
    },
)
