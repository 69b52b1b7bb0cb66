"""Whether this DuckDB believes what a file says of itself: asked once a process."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import duckdb

from sordino.engines import canary
from sordino.engines.duckdb.database import DuckDB
from sordino.engines.sql.engine import SQLEngine
from sordino.engines.sql.room import Room
from sordino.errors import EngineUnavailable
from sordino.query.nodes import Source

_LIMITS: Final[Mapping[str, Any]] = {"threads": 1}


@cache
def refuse_belief() -> None:
    """Refuse a DuckDB that believes what a file says of itself.

    No row of a user is read for it, and nothing has been charged.
    """
    engine = SQLEngine(DuckDB(_LIMITS, vetting=lambda: None), Room())
    with canary.canary_path() as path:
        lying = Source("lying", engine.open("lying", str(path), {}))
        far = {
            name: Source(name, engine.open(name, canary.far_values(name), {}))
            for name in canary.FAR
        }
        if canary.believes(engine, lying, far):
            raise EngineUnavailable(
                f"DuckDB {duckdb.__version__} believes what a file says of itself, so "
                "that one row may change an answer without bound. Install another "
                'version of it, or use engine="memory" for a small table'
            )
    engine.close()
