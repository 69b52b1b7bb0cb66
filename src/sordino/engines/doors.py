"""The engines by their names, each imported when it is first asked for.

A new engine is a folder of this room, its name here, and where it needs a package, an
extra of its name in pyproject.toml. Its `door` says how it is made, and what makes
sources of what lives in it.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias, get_args

from sordino import _validate
from sordino.engines.base import AbstractEngine
from sordino.engines.door import Door, Settings
from sordino.errors import InvalidParameter, MissingDependency
from sordino.schema import Column
from sordino.sources import readers
from sordino.sources.base import Opened
from sordino.sources.readers import Reader

EngineName: TypeAlias = Literal["duckdb", "memory", "postgres", "spark"]
DEFAULT: Final[EngineName] = "duckdb"

DOORS: Final[Mapping[str, Door]] = {
    name: import_module(f"sordino.engines.{name}.door").DOOR
    for name in get_args(EngineName)
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
    kinds = (kind for source in sources for kind in readers.kinds_of(source))
    return next((_CHOOSING[kind] for kind in kinds if kind in _CHOOSING), DEFAULT)


def engine_named(name: str, settings: Settings) -> AbstractEngine:
    """Return a new engine, or refuse a name that is none.

    >>> engine_named("sparc", Settings())
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: engine must be one of "duckdb", ... got ...
    """
    door = DOORS[_validate.choice(tuple(DOORS), engine=name)]
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
        door = DOORS[_validate.choice(tuple(DOORS), engine=scheme)]
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
    """Refuse what needs a package that is not installed, by the extra that has it."""
    if find_spec(door.package) is None:
        extra = next(known for known, listed in DOORS.items() if listed is door)
        raise MissingDependency(what, door.package, extra)


def open_source(source: Any, declared: Mapping[str, Column]) -> Opened:
    """Return what can be used of a table that a user hands over."""
    return readers.open_with_readers(source, declared, _living_reader)


def _living_reader(kind: str) -> Reader | None:
    """Return what makes a source of what lives in an engine."""
    if kind not in _HOMES:
        return None
    _refuse_missing(_HOMES[kind], f"a source of {kind}")
    reader: Reader = _member(_HOMES[kind].reads[kind])
    return reader


def _member(place: str) -> Any:
    """Return what stands in a module under a name."""
    module, name = place.split(":")
    return getattr(import_module(module), name)
