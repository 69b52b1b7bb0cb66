"""Which source an object is: decided by its class and package, never by its rows."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final, TypeAlias

from sordino.engines.duckdb.relations import of_pair, of_relation
from sordino.engines.failures import guarded
from sordino.errors import EngineFailure, InvalidParameter
from sordino.schema import Column
from sordino.sources.arrow import FROM_ARROW
from sordino.sources.base import AbstractSource, Opened
from sordino.sources.csv import COMMAS, TABS, of_commas, of_csv, of_tabs
from sordino.sources.parquet import ENDINGS as PARQUET
from sordino.sources.parquet import ParquetSource
from sordino.sources.paths import ending, found
from sordino.sources.python_objects import FROM_OBJECTS

Reader: TypeAlias = Callable[[Any, Mapping[str, Column]], AbstractSource]


def _of_paths(given: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of one path or pattern, or of a list of them."""
    listed = given if isinstance(given, list) else [given]
    for one in listed:
        if not isinstance(one, (str, PurePath)):
            raise InvalidParameter(
                "source",
                "a list",
                f"must be a list of paths, not of {type(one).__name__}",
                'Give rows as columns: {"x": [1, 2]}.',
            )
    paths = tuple(dict.fromkeys(path for one in listed for path in found(one)))
    for endings, form in _FORMS:
        if paths and ending(paths, endings):
            return form(paths, declared)
    raise InvalidParameter(
        "source",
        given,
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
    "builtins.str": _of_paths,
    "builtins.list": _of_paths,
    "pathlib.PurePath": _of_paths,
    "sordino.Csv": of_csv,
    "builtins.tuple": of_pair,
    "duckdb.DuckDBPyRelation": of_relation,
}


def opened(source: Any, declared: Mapping[str, Column]) -> Opened:
    """Return what can be used of a table that a user hands over."""
    kinds = (
        f"{one.__module__.split('.')[0].lstrip('_')}.{one.__name__}"
        for one in type(source).__mro__
    )
    reader = next((_READERS[kind] for kind in kinds if kind in _READERS), None)
    if reader is None:
        raise InvalidParameter(
            "source",
            type(source).__name__,
            "must be a table or the path of one",
            "Give a Parquet or CSV path, an Arrow, pandas or Polars table, or "
            "(connection, name) of DuckDB.",
        )
    try:
        return guarded(lambda: _matched(reader(source, declared), declared))
    except EngineFailure:
        pass
    # Outside of the handler: nothing was charged yet, and no cause is told.
    raise InvalidParameter(
        "source",
        _public_name(source),
        "cannot be opened",
        "Check that it is whole and can be read. In DuckDB, another cursor of the "
        "connection must see the table: hand over others as con.table(name).",
    )


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


def _matched(source: AbstractSource, declared: Mapping[str, Column]) -> Opened:
    """Return a source with all that is declared of it, refusing to hear it twice."""
    for name in declared:
        if name in source.declared:
            raise InvalidParameter(
                "columns",
                name,
                "is declared by sd.Csv and by the table",
                "Declare it once.",
            )
    return Opened.of(source, {**source.declared, **declared})
