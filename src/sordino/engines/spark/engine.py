"""The engine that asks Spark."""

from sordino.engines.door import Settings
from sordino.engines.spark.database import Spark
from sordino.engines.sql.engine import SQLEngine
from sordino.engines.sql.room import Room


def spark_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine; threads and memory are for a Spark that it has to start."""
    return spark_engine(settings)


def spark_engine(
    settings: Settings | None = None,
    *,
    salt: int | None = None,
    parts: tuple[int, ...] = (1,),
) -> SQLEngine:
    """Return an engine that answers questions with the Spark of this process."""
    database = Spark(settings or Settings())
    return SQLEngine(database, Room(), salt=salt, parts=parts)
