"""Where DuckDB's engine is, and what reads what lives in a connection of the user."""

from typing import Final

from sordino.engines.door import Door

DOOR: Final = Door(
    "sordino.engines.duckdb.engine:duckdb_of_settings",
    reads={
        "(duckdb.DuckDBPyConnection, name)": (
            "sordino.engines.duckdb.relations:of_table"
        ),
        "duckdb.DuckDBPyRelation": "sordino.engines.duckdb.relations:of_relation",
    },
)
