"""Which source an object is: decided by its class and package, never by its rows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sordino.engines.failures import guarded
from sordino.engines.sources import AbstractSource, Opened
from sordino.engines.sources_arrow import FROM_ARROW
from sordino.errors import InvalidParameter
from sordino.schema import Column

_READERS: Final[dict[str, Callable[..., AbstractSource]]] = {
    **FROM_ARROW,
}


def opened(source: Any, declared: Mapping[str, Column]) -> Opened:
    """Return what can be used of a table that a user hands over."""
    kinds = (
        f"{one.__module__.split('.')[0]}.{one.__name__}" for one in type(source).__mro__
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
    return guarded(lambda: Opened.of(reader(source, declared), declared))
