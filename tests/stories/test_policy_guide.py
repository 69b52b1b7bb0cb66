"""The guide to policies, from the officer's key to a refusal: its own commands."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from sordino.office.cli.main import main
from tests.stories.test_ten_minutes import ROOT, printed, shape

PAGE: Final = (ROOT / "docs/guides/policy.md").read_text(encoding="utf-8")
BLOCKS: Final = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ALLOWED: Final = 'suppress_below = 20\nbudget = { epsilon = "1" }'


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the demo's job, which names the policy of the guide."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "clinic"]) == 0
    folder = tmp_path / "clinic"
    monkeypatch.chdir(folder)
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "policy.toml").write_text(toml, encoding="utf-8")
    (named,) = re.findall(
        r"^```text\n\[ledger\]\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    job = (folder / "sordino.toml").read_text(encoding="utf-8")
    job = job.replace('path = "clinic.ledger"\n', named)
    (folder / "sordino.toml").write_text(job, encoding="utf-8")
    return folder


def follow(block: str) -> list[str]:
    """Run the commands of a block, and hold what they print against it."""
    names = []
    for step in re.split(r"^\$ sordino ", block, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        code = re.search(r"^\[(\d+)\]\n", output, re.MULTILINE)
        output = re.sub(r"^\[\d+\]\n", "", output, flags=re.MULTILINE)
        ended, seen = printed(shlex.split(command))
        assert (command, ended) == (command, int(code[1]) if code else 0)
        exact = command.startswith("price") or ended
        as_read = str.strip if exact else shape
        assert as_read(seen) == as_read(output)
        names.append(command)
    return names


@pytest.mark.slow
def test_the_guide_is_followed(clinic: Path) -> None:
    sign, refused, paid = BLOCKS
    assert follow(sign)[0] == "policy key officer.pem"
    assert (clinic / "officer.pem").stat().st_mode & 0o777 == 0o600
    assert follow(refused) == ["price"]
    job = (clinic / "sordino.toml").read_text(encoding="utf-8")
    assert 'budget = { epsilon = "1" }' in job
    job = job.replace('budget = { epsilon = "1" }', ALLOWED)
    (clinic / "sordino.toml").write_text(job, encoding="utf-8")
    assert follow(paid)[-1] == "release --json"
    assert printed(["ledger", "verify", "clinic.ledger"])[0] == 0


def test_commands_refuse_in_a_sentence(clinic: Path) -> None:
    assert clinic
    unsigned = printed(["policy", "check", "policy.toml"])
    assert unsigned[0] == 2
    assert "has no signature policy.toml.sig" in unsigned[1]
    assert printed(["check"])[0] == 2
    assert printed(["policy", "key", "officer.pem"])[0] == 0
    assert printed(["policy", "key", "officer.pem"])[0] == 1
    for wrong in ("visits.parquet", "nowhere.pem"):
        code, said = printed(["policy", "sign", "policy.toml", "--signer", wrong])
        assert (code, "must be a PEM file" in said) == (1, True)
    sign = ["policy", "sign", "policy.toml", "--signer", "officer.pem"]
    assert printed(sign)[0] == 0
    assert printed(["policy", "check", "policy.toml"])[0] == 0
    assert printed(["check"])[0] == 3


@pytest.mark.slow
def test_a_ledger_adopts_and_shows(clinic: Path) -> None:
    job = (clinic / "sordino.toml").read_text(encoding="utf-8")
    plain = job.replace('policy = "policy.toml"\n', "")
    (clinic / "sordino.toml").write_text(plain, encoding="utf-8")
    assert printed(["release"])[0] == 0
    assert "obeys no policy" in printed(["policy", "show", "clinic.ledger"])[1]
    assert printed(["policy", "key", "officer.pem"])[0] == 0
    sign = ["policy", "sign", "policy.toml", "--signer", "officer.pem"]
    assert printed(sign)[0] == 0
    (clinic / "sordino.toml").write_text(job, encoding="utf-8")
    assert printed(["check"])[0] == 0
    assert "obeys no policy" in printed(["policy", "show", "clinic.ledger"])[1]
    adopt = ["policy", "adopt", "clinic.ledger", "policy.toml", "--who", "curator"]
    assert printed(adopt)[0] == 0
    assert printed(["check"])[0] == 3
    text = printed(["policy", "show", "clinic.ledger", "--text"])[1]
    assert text == (clinic / "policy.toml").read_text(encoding="utf-8")
    assert "obeys   serial 1" in printed(["ledger", "show", "clinic.ledger"])[1]
    assert printed(["ledger", "verify", "clinic.ledger"])[0] == 0
