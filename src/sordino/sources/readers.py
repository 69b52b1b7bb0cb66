"""Which source an object is: decided by its class and package, never by its rows.

| what is handed over | its kind |
|---|---|
| an object | "package.Class", of its class or of one that it inherits from |
| a pair of an object and the name of a table | "(package.Class, name)" |
| a pair of an address and the name of a table | "(scheme://, name)" |

Kinds of sources that live in an engine are told by that engine (`engines.doors`).
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final, TypeAlias

from sordino.errors import EngineFailure, InvalidParameter, SordinoError
from sordino.schema import Column
from sordino.sources.arrow import FROM_ARROW
from sordino.sources.base import AbstractSource, Opened
from sordino.sources.csv import COMMAS, TABS, of_commas, of_csv, of_tabs
from sordino.sources.lazy_frames import of_lazy_frame
from sordino.sources.parquet import ENDINGS as PARQUET
from sordino.sources.parquet import ParquetSource
from sordino.sources.paths import find_files, have_endings
from sordino.sources.python_objects import FROM_OBJECTS

Reader: TypeAlias = Callable[[Any, Mapping[str, Column]], AbstractSource]


def _of_paths(source: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of one path or pattern, or of a list of them."""
    listed = source if isinstance(source, list) else [source]
    for path in listed:
        if not isinstance(path, (str, PurePath)):
            raise InvalidParameter(
                "source",
                "a list",
                f"must be a list of paths, not of {type(path).__name__}",
                'Give rows as columns: {"x": [1, 2]}.',
            )
    paths = tuple(dict.fromkeys(path for name in listed for path in find_files(name)))
    for endings, form in _FORMS:
        if paths and have_endings(paths, endings):
            return form(paths, declared)
    raise InvalidParameter(
        "source",
        source,
        "must name Parquet files or CSV files by their endings",
        "Name them *.parquet, *.csv or *.tsv, say sd.Csv(path, ...), or give an Arrow "
        "data set.",
    )


_FORMS: Final[tuple[tuple[tuple[str, ...], Callable[..., AbstractSource]], ...]] = (
    (PARQUET, lambda paths, _: ParquetSource(paths)),
    (COMMAS, of_commas),
    (TABS, of_tabs),
)
_READERS: Final[dict[str, Reader]] = {
    **FROM_ARROW,
    **FROM_OBJECTS,
    "polars.LazyFrame": of_lazy_frame,
    "builtins.str": _of_paths,
    "builtins.list": _of_paths,
    "pathlib.PurePath": _of_paths,
    "sordino.Csv": of_csv,
}


def open_with_readers(
    source: Any,
    declared: Mapping[str, Column],
    living: Callable[[str], Reader | None] = lambda _: None,
) -> Opened:
    """Return what can be used of a table that a user hands over.

    `living` returns how a kind of source is read that lives in an engine.
    """
    readers = (_READERS.get(kind) or living(kind) for kind in kinds_of(source))
    reader = next((choice for choice in readers if choice is not None), None)
    if reader is None and _is_a(source, tuple):
        raise InvalidParameter(
            "source",
            "a tuple",
            "must be (connection, name of a table)",
            "Give the connection itself, not its path, or a list for several paths.",
        )
    if reader is None:
        raise InvalidParameter(
            "source",
            type(source).__name__,
            "must be a table or the path of one",
            "Give a Parquet or CSV path, an Arrow, pandas or Polars table, or "
            "(connection, name) of a table of a database.",
        )
    try:
        return _match(reader(source, declared), declared)
    except EngineFailure:
        pass
    except SordinoError:
        raise
    except Exception:  # noqa: BLE001, S110 what a library says may quote a cell
        pass
    # Outside of the handlers: nothing was charged yet, and no cause is told.
    raise InvalidParameter(
        "source",
        _public_name(source),
        "cannot be opened",
        "Check that it is whole, is there, and can be read. A table of a connection "
        "must be seen by its other cursors, too: hand over others as con.table(name).",
    )


def kinds_of(source: Any) -> Iterator[str]:
    """Yield what an object is, the nearest kind first.

    >>> list(kinds_of(("postgresql://host/base", "visits")))[:2]
    ['(postgresql://, name)', '(builtins.str, name)']
    """
    # no method of an object that inherits from a tuple or a text is called
    pair = tuple.__getitem__(source, slice(3)) if _is_a(source, tuple) else ()
    if len(pair) == 2 and _is_a(pair[1], str):
        yield from (f"({kind}, name)" for kind in _kinds_alone(pair[0]))
    yield from _kinds_alone(source)


def _is_a(source: Any, kind: type) -> bool:
    """Tell whether an object is of a type, whatever it says of itself."""
    return issubclass(type(source), kind)


def _kinds_alone(source: Any) -> Iterator[str]:
    """Yield the names of the types of an object that is not a pair."""
    if _is_a(source, str) and str.__contains__(source, "://"):
        yield f"{str.partition(source, '://')[0]}://"
    for ancestor in type(source).__mro__:
        yield f"{ancestor.__module__.split('.')[0].lstrip('_')}.{ancestor.__name__}"


def _public_name(source: Any) -> str:
    """Return what may be said of a source: its name or its class.

    >>> _public_name("data/visits.parquet"), _public_name((None, "visits"))
    ('visits.parquet', 'visits')
    """
    match source:
        case str() | PurePath():
            return PurePath(source).name
        case tuple((_, str(name))):
            return name
        case _:
            return type(source).__name__


def _match(source: AbstractSource, declared: Mapping[str, Column]) -> Opened:
    """Return a source with all that is declared of it, refusing to hear it twice."""
    for name in declared:
        if name in source.declared:
            raise InvalidParameter(
                "columns",
                name,
                "is declared twice, by sd.Csv and by the table",
                "Declare it once.",
            )
    return Opened.of(source, {**source.declared, **declared})
