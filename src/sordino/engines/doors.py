"""The engines by their names, each imported when it is first asked for.

A new engine is a folder of this room, and its line here (and, where it needs a package,
an extra of its name in pyproject.toml). The line says which function of it makes an
engine of `Settings`, and which make sources of what lives in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias, final

from sordino import _validate
from sordino.engines.base import AbstractEngine
from sordino.errors import MissingDependency
from sordino.schema import Column
from sordino.sources import readers
from sordino.sources.base import Opened
from sordino.sources.readers import Reader

EngineName: TypeAlias = Literal["duckdb", "memory"]


@final
@dataclass(frozen=True)
class Settings:
    """What a user may say of an engine; one that has no such thing takes no notice."""

    memory_limit: str | None = None
    threads: int | None = None
    progress: bool = False


@final
@dataclass(frozen=True)
class Door:
    """Where an engine is, and what it needs; places are written module:name."""

    engine: str
    """A function that makes an engine of settings."""
    package: str = "sordino"
    """What has to be installed for it, by the extra of the engine's name."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """What makes sources of what lives in the engine, by its kind (`readers`)."""


_DUCKDB: Final = "sordino.engines.duckdb"
DOORS: Final[Mapping[str, Door]] = {
    "duckdb": Door(
        f"{_DUCKDB}.engine:duckdb_of_settings",
        reads={
            "(duckdb.DuckDBPyConnection, name)": f"{_DUCKDB}.relations:of_table",
            "duckdb.DuckDBPyRelation": f"{_DUCKDB}.relations:of_relation",
        },
    ),
    "memory": Door("sordino.engines.memory:memory_of_settings"),
}
_HOMES: Final = {kind: door for door in DOORS.values() for kind in door.reads}


def engine_named(name: str, settings: Settings) -> AbstractEngine:
    """Return a new engine, or refuse a name that is none.

    >>> engine_named("sparc", Settings())
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: engine must be one of "duckdb", "memory", got 'sparc'. ...
    """  # noqa: E501 a sentence
    door = DOORS[_validate.choice(tuple(DOORS), engine=name)]
    if find_spec(door.package) is None:
        raise MissingDependency(f"engine={name!r}", door.package, name)
    made: AbstractEngine = _found(door.engine)(settings)
    return made


def open_source(source: Any, declared: Mapping[str, Column]) -> Opened:
    """Return what can be used of a table that a user hands over."""
    return readers.open_with_readers(source, declared, _living)


def _living(kind: str) -> Reader | None:
    """Return what makes a source of what lives in an engine."""
    if kind not in _HOMES:
        return None
    reader: Reader = _found(_HOMES[kind].reads[kind])
    return reader


def _found(place: str) -> Any:
    """Return what stands in a module under a name."""
    module, name = place.split(":")
    return getattr(import_module(module), name)
