"""The command `sordino conformance`, as a user runs it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from sordino.engines.conformance import verdicts
from sordino.engines.conformance.bounds import CASES
from sordino.engines.conformance.operations import FORMS
from sordino.engines.conformance.plans import TABLES
from sordino.engines.conformance.verdicts import Verdict
from sordino.office.cli import tools
from sordino.office.cli.main import main
from tests.effort import by_night
from tests.postgres_server import cluster
from tests.spark_here import users_session

PAGE: Final = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")


def test_it_is_documented() -> None:
    cases = len(CASES) + len(FORMS) + len(verdicts.MULTIPLICITIES) + len(TABLES)
    assert f"\n{cases} cases: " in PAGE
    for told in ("## `sordino conformance`", "--engine", "--json", "it conforms"):
        assert told in PAGE


@by_night
@pytest.mark.slow
def test_a_server_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    asked = cluster().address()
    assert main(["conformance", "--engine", asked, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["conforms"]
    assert not shown["wrong"]
    assert shown["cases"]["agrees"] > 500
    lacks = ("U+0000", "remainder of doubles", "takes the longest")
    refused = shown["refused"].values()
    assert all(any(lack in reason for lack in lacks) for reason in refused)
    counts = ", ".join(f"{count} {name}" for name, count in shown["cases"].items())
    assert f" cases: {counts}\n" in PAGE


@pytest.mark.slow
def test_spark_conforms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    users_session()
    monkeypatch.setattr(verdicts, "CASES", CASES[::12])
    monkeypatch.setattr(verdicts, "FORMS", FORMS[::40])
    assert main(["conformance", "--engine", "spark", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["conforms"]
    assert shown["cases"]["agrees"] > 20
    assert not shown["wrong"]


def test_what_is_wrong_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = (Verdict("plan: a", "agrees"), Verdict("plan: b", "differs", "3\nwhere 2"))
    made: Any = lambda _: iter(cases)  # noqa: E731 in the place of a function
    monkeypatch.setattr(tools, "verdicts", made)
    assert main(["conformance"]) == tools.DIFFERS
    told = capsys.readouterr().out
    assert "differs: plan: b" in told
    assert "IT DOES NOT CONFORM" in told
    assert main(["conformance", "--json"]) == tools.DIFFERS
    assert not json.loads(capsys.readouterr().out)["conforms"]


def test_no_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("sparc", "memory", "postgres", "http://x", "postgresql://nobody@[:"):
        assert main(["conformance", "--engine", name]) == 1
        assert capsys.readouterr().err.startswith("sordino: ")
