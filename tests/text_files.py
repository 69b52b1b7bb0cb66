"""Text files in tests: what both engines read of them."""

from pathlib import Path
from typing import Any, TypeAlias

import sordino as sd
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine

Rows: TypeAlias = list[dict[str, Any]]


def read(source: Any) -> Rows:
    """Return the rows of a source, which both engines agree on, sorted."""
    found: list[Rows] = []
    for engine in (MemoryEngine(), duckdb_engine()):
        engine.open("t", source, {})
        engine.freeze("t")
        found.append(engine.frozen_rows("t").to_pylist())
    assert repr(found[0]) == repr(found[1])
    return found[0]


def column(path: "Path | str", name: str, kind: str, **spelled: Any) -> list[Any]:
    """Return the values of one column of a file, sorted, what is missing first."""
    return [row[name] for row in read(sd.Csv(path, {name: kind}, **spelled))]
