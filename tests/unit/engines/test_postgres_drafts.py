"""A job is begun for a table of a server, and its curator looks at it."""

import os
from pathlib import Path
from typing import Any

import pytest

from sordino.office.cli.main import main
from tests.postgres_server import cluster

MADE = (
    "DROP SCHEMA IF EXISTS drafted CASCADE",
    "CREATE SCHEMA drafted",
    "CREATE TABLE drafted.visits (patient int, ward text, cost float8)",
    "INSERT INTO drafted.visits SELECT k / 2, 'A', k FROM generate_series(0, 9) AS k",
)


def test_a_table_of_a_server_is_inspected_and_drafted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The job has no address: it may have a password, and people review the file."""
    monkeypatch.chdir(tmp_path)
    server = cluster()
    server.run(*MADE)
    address = server.address()
    table = ("--table", "drafted.visits")
    assert main(["inspect", address, *table, "--id", "patient"]) == 0
    assert "ids (patient): 5; rows without one: 0" in capsys.readouterr().out
    words = ("--id", "patient", "--group", "ward", "--epsilon", "1", "--delta", "1e-6")
    assert main(["init", address, *table, *words]) == 0
    text = Path("sordino.toml").read_text(encoding="utf-8")
    assert 'source = [{ env = "SORDINO_SERVER" }, "drafted.visits"]' in text
    assert '"patient" = "i64"\n"ward" = "text"\n"cost" = "f64"\n' in text
    assert address not in text
    assert main(["check"]) != 0
    assert "SORDINO_SERVER" in capsys.readouterr().err
    monkeypatch.setitem(os.environ, "SORDINO_SERVER", address)
    assert main(["check"]) == 0
