"""Planted errors of what DuckDB may run, and of how its plans are read."""

from __future__ import annotations

from typing import Final

from tests.mutants.planted_views import PLANTED_VIEWS
from tests.mutants.planting import Planted

_PLANS: Final = "src/sordino/engines/duckdb/plans.py"
_DATABASE: Final = "src/sordino/engines/duckdb/session.py"

PLANTED_PLANS: Final[tuple[Planted, ...]] = (
    Planted(
        "plans",
        "src/sordino/engines/duckdb/session.py",
        '"enable_optimizer": "false",',
        '"enable_optimizer": "true",',
        "optimisers that believe what files say of themselves",
    ),
    Planted(
        "plans",
        "src/sordino/engines/duckdb/session.py",
        '    if str(optimises).lower() != _SETTINGS["enable_optimizer"]:\n',
        "    if optimises is None:\n",
        "a switch taken for turned because it was asked for",
    ),
    Planted(
        "plans",
        _DATABASE,
        "if not runs_as_written(self._connect(), written, text, values):",
        "if not written:",
        "another plan run because nobody looked before",
    ),
    Planted(
        "plans",
        _DATABASE,
        "if written is not None and not ran_as_written(self._connect(), written):",
        "if written == ():",
        "filters that joins pushed to files believed",
    ),
    Planted(
        "plans",
        _PLANS,
        "return tuple(_nodes(root())) == written",
        "return sorted(_nodes(root())) == sorted(written)",
        "plans taken for alike whose nodes stand in another order",
    ),
    Planted(
        "plans",
        _PLANS,
        "if not _children(node) and set(details) - _ASKED:",
        'if not _children(node) and "Filters" in details:',
        "filters of another name overlooked at a file",
    ),
    Planted(
        "plans",
        _PLANS,
        'if name == "READ_PARQUET" and details.get("Projections"):',
        'if name == "READ_PARQUET" and details.get("Filters"):',
        "an optimiser overlooked that runs though it was switched off",
    ),
    Planted(
        "plans",
        "src/sordino/engines/duckdb/plans.py",
        'part.args.get("materialized") is not False',
        'part.args.get("materialized") is not None',
        "every step of a plan stored",
    ),
    *PLANTED_VIEWS,
)
