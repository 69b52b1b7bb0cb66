"""Which steps DuckDB names in the plans of our statements, and of those which are new.

    python -m tests.plan_names

A new name is a question to a person: does a plan with such a step still read all rows,
and ask a file for columns alone? Until executed_plans.py knows it, statements that have
it are not run over files: their rows are handed over.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from sordino.engines.duckdb import plans
from sordino.engines.duckdb.session import duckdb_engine
from tests.footers import lying_rows, write_honest
from tests.laws.test_footer_laws import PUBLIC, opened, questions


def names_seen() -> dict[str, bool]:
    """Return each name of a step in any shape of statement, and whether it is known."""
    seen: dict[str, bool] = {}
    kind_of_node = plans._kind

    def told(node: Mapping[str, Any]) -> str:
        kind, details = kind_of_node(node), node["extra_info"]
        name = str(details.get("Function") or node.get("name") or node["type"]).strip()
        seen[name] = seen.get(name, True) and not kind.startswith(name)
        return kind

    plans._kind = told
    with tempfile.TemporaryDirectory() as folder:
        path = write_honest(lying_rows(600), Path(folder) / "t.parquet", group=100)
        engine = duckdb_engine()
        tables = opened(engine, {"t": path, "p": PUBLIC})
        for question in questions(tables):
            engine.answer(question)
        engine.close()
    plans._kind = kind_of_node
    return seen


if __name__ == "__main__":
    seen = names_seen()
    lines = [f"DuckDB {duckdb.__version__} plans with {', '.join(sorted(seen))}"]
    lines += [
        f"NEW: {name}: does it leave every row as it is (docs/adr/0225)?"
        for name, is_known in sorted(seen.items())
        if not is_known
    ]
    sys.stdout.write("\n".join(lines) + "\n")
