"""A folder with a job in it, and what runs its commands."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.office.cli.main import main

JOB = """
[tables.visits]
source = "visits.parquet"
protects = { id = "patient" }
[public.wards]
source = "wards.csv"
columns = { ward = "text" }
[ledger]
path = "clinic.ledger"
limit = { epsilon = 1 }
[releases.wards]
sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
limits = { max_rows_per_id = 3 }
keys = { table = "wards" }
budget = { epsilon = "1/4" }
schedule = "monthly"
[releases.ages]
query = "queries.py:ages"
budget = { epsilon = "1/8" }
"""
PROGRAM = """
import sordino as sd

def ages():
    visits = sd.table("visits").enforce(sd.MaxRowsPerID(3))
    return {"all": visits.agg(n=sd.count()), "days": visits.agg(d=sd.sum("days", 0, 9))}
"""


def fill_folder(folder: Path) -> Path:
    """Write a job, its tables and its program."""
    rows = range(900)
    visits = {
        "patient": [place % 300 for place in rows],
        "ward": ["AB"[place % 2] for place in rows],
        "days": [place % 10 for place in rows],
    }
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    (folder / "wards.csv").write_text("ward\nA\nB\n")
    (folder / "clinic.toml").write_text(JOB)
    (folder / "queries.py").write_text(PROGRAM)
    return folder


def ran(*words: str) -> tuple[int, str, str]:
    """Run a command in this process: how it ended, and what it wrote to whom."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, out.getvalue(), err.getvalue()


def logged(*words: str) -> list[dict[str, Any]]:
    """Return the lines of JSON that a release wrote."""
    code, out, err = ran("release", "clinic.toml", *words, "--json")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def charged() -> list[str | None]:
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert ledger.verify()
        return [entry.key for entry in ledger.entries()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a job, its tables and its program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return fill_folder(tmp_path)
