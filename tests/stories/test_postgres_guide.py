"""The guide to PostgreSQL, run from top to bottom in a server, with its own rights."""

import doctest
import re
from pathlib import Path
from typing import Final

import pytest

from tests.postgres_server import cluster
from tests.test_docs import BLOCK, OPTIONS

PAGE: Final = Path(__file__).parents[2] / "docs/guides/postgresql.md"
RIGHTS: Final = re.compile(r"^```sql\n(CREATE ROLE.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    text, server = PAGE.read_text(encoding="utf-8"), cluster()
    (rights,) = RIGHTS.findall(text)
    server.drop_role("reader")
    server.run(
        "DROP SCHEMA IF EXISTS clinic CASCADE",
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC",
        "CREATE SCHEMA clinic",
        "CREATE TABLE clinic.visits (patient int, ward text, days int, name text)",
        "INSERT INTO clinic.visits VALUES (1, 'A', 3, 'Ada'), (2, 'B', 1, 'Bo')",
        *rights.split(";\n"),
    )
    monkeypatch.setenv("CLINIC", server.address("reader"))
    session = "\n".join(BLOCK.findall(text))
    test = doctest.DocTestParser().get_doctest(session, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0
