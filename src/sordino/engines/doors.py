"""Engines by name, imported when asked for.

A new engine is a folder of this room, its `Door` here, and where it needs a package, an
extra of its name in pyproject.toml. The door says how it is made, and what makes
sources of what lives in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias, final

from sordino.data import tables
from sordino.data.source import Opened
from sordino.data.tables import Reader
from sordino.engines.engine import AbstractEngine
from sordino.errors import InvalidParameter, MissingDependency
from sordino.expressions.schema import Column
from sordino.numbers import arguments


@final
@dataclass(frozen=True)
class Settings:
    """Options of an engine; one that has no such thing ignores them."""

    memory_limit: str | None = None
    threads: int | None = None
    progress: bool = False


@final
@dataclass(frozen=True)
class Door:
    """Where an engine is, and what it needs; places are written module:name."""

    engine: str  # a function that makes an engine of settings
    package: str = "sordino"
    """What has to be installed for it, by the extra of the engine's name."""
    at_address: str = ""
    """What makes one for the server at an address, where there are servers."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """What makes sources of what lives in the engine, by its kind (`readers`)."""
    chosen: bool = False
    """Whether private tables that live in it choose it, where no engine is named."""


EngineName: TypeAlias = Literal["duckdb", "memory", "postgres", "spark"]
DEFAULT: Final[EngineName] = "duckdb"

_TABLES: Final = "sordino.engines.postgres.tables"
POSTGRES_DOOR: Final = Door(
    "sordino.engines.postgres.session:postgres_of_settings",
    package="psycopg",
    at_address="sordino.engines.postgres.session:postgres_engine",
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


_FRAMES: Final = "sordino.engines.spark.tables"
SPARK_DOOR: Final = Door(
    "sordino.engines.spark.session:spark_of_settings",
    package="pyspark",
    reads={
        "(pyspark.SparkSession, name)": f"{_FRAMES}:of_table_of_session",
        "(spark://, name)": f"{_FRAMES}:of_table_by_name",
        "pyspark.DataFrame": f"{_FRAMES}:of_frame",
    },
    chosen=True,
)


DUCKDB_DOOR: Final = Door(
    "sordino.engines.duckdb.session:duckdb_of_settings",
    reads={
        "(duckdb.DuckDBPyConnection, name)": ("sordino.engines.duckdb.tables:of_table"),
        "duckdb.DuckDBPyRelation": "sordino.engines.duckdb.tables:of_relation",
    },
)


MEMORY_DOOR: Final = Door("sordino.engines.memory:memory_of_settings")

DOORS: Final[Mapping[str, Door]] = {
    "duckdb": DUCKDB_DOOR,
    "memory": MEMORY_DOOR,
    "postgres": POSTGRES_DOOR,
    "spark": SPARK_DOOR,
}
_HOMES: Final = {kind: door for door in DOORS.values() for kind in door.reads}
_CHOOSING: Final = {
    kind: name for name, door in DOORS.items() if door.chosen for kind in door.reads
}


def engine_of_sources(sources: Iterable[Any]) -> str:
    """Return the name of the engine that a source chooses, else the default.

    >>> engine_of_sources([{"age": [34, 51]}, "visits.parquet"])
    'duckdb'
    """
    kinds = (kind for source in sources for kind in tables.kinds_of(source))
    return next((_CHOOSING[kind] for kind in kinds if kind in _CHOOSING), DEFAULT)


def engine_named(name: str, settings: Settings) -> AbstractEngine:
    """Make an engine by its name; an unknown name is refused.

    >>> engine_named("sparc", Settings())
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: engine must be one of "duckdb", ... got ...
    """
    door = DOORS[arguments.choice(tuple(DOORS), engine=name)]
    _refuse_missing(door, f"engine={name!r}")
    engine: AbstractEngine = _member(door.engine)(settings)
    return engine


def engine_to_try(text: str) -> AbstractEngine:
    """Return an engine by its name, or by the address of a server.

    >>> engine_to_try("postgres")
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: engine must be the address of a server, got ...
    """
    scheme, sign, _ = text.partition("://")
    home = _HOMES.get(f"{scheme}://") if sign else None
    if home is None:
        door = DOORS[arguments.choice(tuple(DOORS), engine=scheme)]
        if not door.at_address:
            return engine_named(text, Settings())
        raise InvalidParameter(
            "engine",
            text,
            "must be the address of a server",
            f"Try {text}://host/base.",
        )
    _refuse_missing(home, f"an engine at {scheme}://")
    engine: AbstractEngine = _member(home.at_address)(text)
    return engine


def _refuse_missing(door: Door, what: str) -> None:
    if find_spec(door.package) is None:
        extra = next(known for known, listed in DOORS.items() if listed is door)
        raise MissingDependency(what, door.package, extra)


def open_source(source: Any, declared: Mapping[str, Column]) -> Opened:
    """Open a source by the reader of its class or of its file's ending."""
    return tables.open_with_readers(source, declared, _living_reader)


def _living_reader(kind: str) -> Reader | None:
    if kind not in _HOMES:
        return None
    _refuse_missing(_HOMES[kind], f"a source of {kind}")
    reader: Reader = _member(_HOMES[kind].reads[kind])
    return reader


def _member(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)
