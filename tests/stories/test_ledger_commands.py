"""Commands that share the budget of a ledger, and commands that only look at one."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.office.cli.main import main
from tests.sessions import LIMIT, QUESTIONS, TENTH, session

REASONS = ["monthly report", "for the night"]


@pytest.fixture(name="folder")
def folder_of_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    opened = session(tmp_path / "clinic.ledger", LIMIT)
    opened.release(QUESTIONS["count"], TENTH, key="2026-11", why=REASONS[0])
    opened.release(QUESTIONS["count"], TENTH, why=REASONS[1])
    opened.ledger.close()
    (tmp_path / "visits.csv").write_text("patient,days\n1,3\n")
    return tmp_path


def test_shares_of_a_budget(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str) -> dict[str, Any]:
        assert main(["ledger", words[0], "clinic.ledger", *words[1:], "--json"]) == 0
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    allotted = told("allot", "bob", "--epsilon", "0.2", "--delta", "0")
    assert (allotted["schema"], allotted["budget"]) == ("sordino.budget/1", "bob")
    lowered = told("lower", "bob", "--epsilon", "0.1", "--delta", "0", "--why", "less")
    assert "epsilon=1/10" in lowered["limit"]
    aside = told("earmark", "census", "--epsilon", "0.05", "--budget", "bob")
    assert list(aside["set aside"]) == ["census"]
    with sd.Ledger.read("clinic.ledger") as ledger:
        assert ledger.remaining("bob") == sd.ApproxDP("0.05", 0)
        keys = [entry["key"] for entry in told("history")["releases"]]
        assert keys == ["2026-11", None]
        seen = told("history", "--analyst", "bob")["releases"]
        assert [entry["key"] for entry in seen] == [None, None]
    assert main(["ledger", "free", "clinic.ledger", "census"]) == 0
    capsys.readouterr()
    assert main(["ledger", "show", "clinic.ledger"]) == 0
    assert "set aside" not in capsys.readouterr().out
    assert folder


@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
def test_looking_leaves_a_ledger_as_it_is(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    path, more = folder / "clinic.ledger", list[str]()
    if witnessed:
        given: Any = {"create": True, "witness": folder / "clinic.seen"}
        sd.Ledger.at(path, **given).close()
        more = ["--witness", "clinic.seen"]
    with path.open("ab") as file:
        file.write(b'{"number":9,"kind"')  # a line that a crash has cut short
    before = {one: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    written: list[object] = []

    def watch(event: str, values: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(values[0]).startswith(str(path)[:-6]):
            written.extend([values] if values[2] & (os.O_WRONLY | os.O_RDWR) else [])

    watching = True
    sys.addaudithook(watch)
    answers = [
        main([*words.split(), *more])
        for words in (
            "ledger show clinic.ledger",
            "ledger show clinic.ledger --json",
            "ledger history clinic.ledger",
            "ledger verify clinic.ledger",
            "ledger answer clinic.ledger 2026-11",
            "ledger export clinic.ledger",
            "ledger backup clinic.ledger another.backup",
            "report clinic.ledger",
            "risk clinic.ledger",
            "policy show clinic.ledger",
            "verify visits.csv --ledger clinic.ledger",
        )
    ]
    watching = False
    assert answers == [*[0] * 9, answers[9], 1], capsys.readouterr().err
    assert written == []
    assert before == {one: one.read_bytes() for one in before}
