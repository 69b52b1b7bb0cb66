"""The guide from a file to a server, run from top to bottom with its own rights."""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.postgres_server import MEMORY, SUPERUSER, Cluster, start_cluster
from tests.serving import Server, start_serving
from tests.test_docs import OPTIONS

PAGE: Final = Path(__file__).parents[2] / "docs/guides/team.md"
STEP: Final = re.compile(r"^```(python|sql|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def give_rights(server: Cluster, text: str) -> None:
    """Run statements as who may: a superuser makes roles, the owner gives rights."""
    role, base = SUPERUSER, "postgres"
    if "CREATE ROLE" not in text:
        role, base = "keeper_of_budget", "clinic"
    with server.asking(role, base) as connection:
        for statement in text.strip().split(";\n"):
            connection.execute(statement.rstrip(";").encode())


def sordino(line: str) -> str:
    """Return the last line that a command prints."""
    words = [sys.executable, "-m", *line.split()]
    return subprocess.run(
        words, capture_output=True, check=True, text=True
    ).stdout.split()[-1]


def serve_analysts(text: str, patch: pytest.MonkeyPatch) -> Server | None:
    """Make a token and start a server, if a block says so; others are of elsewhere."""
    if not text.startswith("sordino token"):
        return None
    token, serve = text.splitlines()
    patch.setenv("TOKEN", sordino(token))
    served = start_serving(serve)
    patch.setenv("SERVER", served.address)
    return served


def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of SQL are run by who may, between those of Python."""
    monkeypatch.chdir(tmp_path)
    server = start_cluster(MEMORY if MEMORY.is_dir() else None, fsync="on")
    roles = {
        "KEEPER": "keeper_of_budget",
        "SCHEDULER": "scheduler",
        "AUDITOR": "auditor",
    }
    for name, role in roles.items():
        monkeypatch.setenv(name, server.address(role, "clinic"))
    names: dict[str, object] = {}
    served: Server | None = None
    parser, tried = doctest.DocTestParser(), 0
    for kind, text in STEP.findall(PAGE.read_text("utf-8")):
        if kind == "sql":
            give_rights(server, text)
            continue
        if kind == "sh":
            served = serve_analysts(text, monkeypatch) or served
            continue
        # each has its own name: a traceback looks for its line by that
        test = parser.get_doctest(text, names, f"team {tried}", str(PAGE), 0)
        tried += len(test.examples)
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        assert runner.run(test, clear_globs=False).failed == 0
        names = test.globs
    assert tried > 20
    assert served is not None
    served.stop()
    server.stop()
