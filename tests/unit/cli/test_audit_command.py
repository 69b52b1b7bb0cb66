"""The command that audits: what it writes, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from sordino.auditing.suite import Finding, SuiteTally
from sordino.office.cli import audits
from sordino.office.cli.main import main
from tests import assurance


@pytest.mark.slow
def test_a_short_audit_finds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its page, its facts and the published page are made of the same figures."""
    page, facts = tmp_path / "a.html", tmp_path / "a.json"
    line = ["audit", "--minutes", "0.02", "--seed", "5", "--out", str(page)]
    assert main([*line, "--facts", str(facts)]) == 0
    assert "nothing was found" in capsys.readouterr().out
    assert "Nothing was found" in page.read_text("utf-8")
    figures = json.loads(facts.read_text("utf-8"))
    assert figures["command"] == "sordino audit --minutes 0.02 --seed 5"
    assert "accused" in assurance.page(figures | {"commit": "abc"})


def test_what_is_found_ends_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tally = SuiteTally()
    tally.note("plan", 1.25, 3)
    tally.findings.append(Finding(7, "plan", "<b>1.25</b> of the charge"))
    facts: dict[str, Any] = {
        "seed": 1,
        "minutes": 0.1,
        "meter": tally.facts,
        "audits": [],
        "smallest_error": "",
        "is_clean": False,
    }
    monkeypatch.setattr(audits, "run_suite", lambda *_: facts)
    page = tmp_path / "a.html"
    assert main(["audit", "--out", str(page)]) == 1
    assert "FOUND seed 7" in capsys.readouterr().out
    assert "SOMETHING WAS FOUND" in page.read_text("utf-8")
    assert "<b>1.25" not in page.read_text("utf-8")
    assert main(["audit", "--minutes", "0"]) == 1


def test_the_published_page_is_that_of_its_figures() -> None:
    """What is counted in the tree may have grown since; what was measured stands."""
    facts = json.loads(assurance.FACTS.read_text("utf-8"))
    written = assurance.PAGE.read_text("utf-8").splitlines()
    counted = {name for name, *_ in assurance.counted()}
    rows = [
        line for line in assurance.page(facts).splitlines() if line.startswith("| ")
    ]
    measured = {row for row in rows if row.split(" | ")[0][2:] not in counted}
    assert measured <= set(written)
    assert facts["is_clean"]
