"""The command line as a user runs it: every command that is documented, no other."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.office.cli.ledgers import LEDGER_COMMANDS
from sordino.office.cli.main import COMMANDS, Command, command_parser, main
from tests.batches import for_each, table_of
from tests.sessions import LIMIT, QUESTIONS, TENTH, session

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(
        r"^## `sordino ledger (\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
)
EXAMPLES = [
    example
    for example in re.findall(r"^\$ sordino (.*)$", PAGE, re.MULTILINE)
    # a server is in test_team_guide.py, a signed ledger in test_published_heads.py
    if "postgresql://" not in example and "--sign" not in example
]
WHY = "monthly report"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ledger of two releases, and the answers of its keeper."""
    place = tmp_path_factory.mktemp("first")
    opened = session(place / "clinic.ledger", LIMIT, who="Ana")
    opened.ledger.allot("night shift", sd.ApproxDP("0.5", "5e-7"))
    opened.release(QUESTIONS["count"], TENTH, key="2026-11", why=WHY)
    night = session(place / "clinic.ledger", analyst="night shift")
    night.release_all(QUESTIONS, TENTH, why="\x1b[31m[red]two\nlines")
    opened.ledger.allot("ana", sd.ApproxDP("0.1", 0))
    opened.ledger.close()
    night.ledger.close()
    (place / "visits.csv").write_text("patient,days\n1,3\n1,x\n2,8\n")
    given: Any = {"create": True, "witness": place / "wards.seen"}
    with sd.Ledger.at(place / "wards.ledger", LIMIT, **given) as wards:
        wards.backup(place / "wards.backup")
        session(wards).release(QUESTIONS["count"], TENTH)
    (place / "wards.ledger").unlink()
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (place / "clinic.toml").write_text(toml, encoding="utf-8")
    return place


@pytest.fixture
def folder(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a copy of that folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return shutil.copytree(first, tmp_path, dirs_exist_ok=True)


def ran(*words: str, within: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(within),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def process(*words: str, within: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, as a user does."""
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "sordino", *words],
        cwd=within,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow
def test_a_process_says_what_the_function_says(folder: Path) -> None:
    for words in (["ledger", "show", "clinic.ledger"], ["ledger", "show", "x"], ["x"]):
        outer, inner = process(*words, within=folder), ran(*words, within=folder)
        assert (outer.returncode, outer.stdout) == (inner.returncode, inner.stdout)
        assert outer.stderr == inner.stderr


def test_every_command_is_documented() -> None:
    assert list(SECTIONS) == [command.name for command in LEDGER_COMMANDS]
    for command in LEDGER_COMMANDS:
        section = SECTIONS[command.name]
        assert f"$ {command.example}" in section
        with pytest.raises(SystemExit):
            command_parser().parse_args(["ledger", command.name, "--help"])


@for_each("command", LEDGER_COMMANDS, ids=lambda one: one.name)
def test_every_option_is_documented(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["ledger", command.name, "--help"])
    told = capsys.readouterr().out
    assert "example: sordino ledger" in told
    section = SECTIONS[command.name]
    common = PAGE.partition("\n## `sordino ledger`")[2].partition("\n## ")[0]
    common += PAGE.partition("\n## ")[0]
    for option in set(re.findall(r"--[a-z]+", told.partition("example:")[0])):
        assert option in common + section


@for_each("name", sorted(set(COMMANDS) - {"ledger"}))
def test_every_command_beside_the_ledger_is_documented(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    section = re.search(
        rf"^## `sordino {name}`\n(.*?)(?=^## )",
        f"{PAGE}\n## ",
        re.MULTILINE | re.DOTALL,
    )
    assert section is not None
    with pytest.raises(SystemExit):
        main([name, "--help"])
    told = capsys.readouterr().out
    options = set(re.findall(r"--[a-z][a-z-]+", told.partition("example:")[0]))
    common = PAGE.partition("\n## ")[0]
    assert {one for one in options if one not in common + section[1]} == set()
    example = shlex.split(told.partition("example: sordino ")[2])
    command_parser().parse_args(example)


BEFORE = {
    "free": [one for one in EXAMPLES if "earmark" in one],
    "heads": [
        "ledger head clinic.ledger -o 2026-11-28.json",
        "ledger head clinic.ledger --since 2026-11-28.json -o 2026-12-05.json",
    ],
}
"""What is run before the example of a command."""


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.sampled(1)
def test_every_example_runs(
    example: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Examples of the page end well, within 80 columns where people read."""
    assert folder
    for before in BEFORE.get(example.split()[1], ()):
        assert main(before.split()) == 0
    capsys.readouterr()
    assert main(example.split()) == 0
    said = capsys.readouterr()
    assert not said.err
    assert "\x1b" not in said.out
    if "export" not in example:
        assert max(map(len, said.out.splitlines())) <= 80


def test_a_ledger_is_shown(folder: Path) -> None:
    shown = ran("ledger", "show", "clinic.ledger", within=folder)
    text = re.sub(r"\s+", " ", shown.stdout)
    assert (shown.returncode, shown.stderr) == (0, "")
    for told in (
        "for tables 'visits': AddRowsWithID(column='person', id_space='default')",
        "dataset limit epsilon = 1, delta = 1e-06, counted as asked",
        "spent epsilon = 0.2, delta = 2e-07",
        "left epsilon = 0.8, delta = 8e-07",
        "night shift limit epsilon = 0.5, delta = 5e-07, counted as asked",
        "2 releases, 2 shown",
        "UTC, by Ana, key 2026-11, answered",
        "UTC, budget night shift, answered",
        "asked epsilon = 0.1, delta = 1e-07",
        "why monthly report",
        r"why '\x1b[31m[red]two\nlines'",
    ):
        assert told in text
    last = ran("ledger", "show", "clinic.ledger", "--last", "1", within=folder)
    assert WHY not in last.stdout
    none = ran("ledger", "show", "clinic.ledger", "--last", "0", within=folder)
    assert "2 releases, 0 shown" in none.stdout


def test_a_ledger_is_verified(folder: Path) -> None:
    good = ran("ledger", "verify", "clinic.ledger", within=folder)
    assert good.returncode == 0
    assert "8 records, 2 releases, 2 answers" in good.stdout
    assert re.search(r"^[0-9a-f]{64}$", good.stdout, re.MULTILINE)
    damaged = bytearray((folder / "clinic.ledger").read_bytes())
    place = damaged.find(b"monthly report")
    assert place > 0
    damaged[place] ^= 1
    (folder / "clinic.ledger").write_bytes(damaged)
    bad = ran("ledger", "verify", "clinic.ledger", within=folder)
    assert (bad.returncode, bad.stdout) == (5, "")
    assert bad.stderr.startswith("sordino: the ledger ")
    assert len(bad.stderr.splitlines()) == 1


def test_exports_read_back(folder: Path) -> None:
    lines = ran("ledger", "export", "clinic.ledger", within=folder).stdout.splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    first = ["opened", "budget", "budget"]
    assert kinds == [*first, *["charged", "answered"] * 2, "budget"]
    yaml = ran(
        *LEDGER_COMMANDS[-1].example.split()[1:-1],
        "--answers",
        "clinic.toml",
        within=folder,
    ).stdout
    assert yaml.startswith("url_slug: ward-activity-harbour-clinic-")
    assert "    privacy_unit: 'Patient'\n" in yaml
    assert "To be written" not in yaml


def test_an_answer_is_shown_and_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night = session(folder / "clinic.ledger", analyst="night shift")
    given = night.release_all(QUESTIONS, TENTH, key="all of them")
    night.ledger.close()
    words = ["ledger", "answer", "clinic.ledger", "all of them"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert all(f"{name}:\n" in shown for name in QUESTIONS)
    assert main([*words, "--name", "count"]) == 0
    assert "price: epsilon" in capsys.readouterr().out
    given["count"].to_csv(folder / "known.csv")
    assert main([*words, "--name", "count", "--csv", "found.csv"]) == 0
    found = (folder / "found.csv").read_text("utf-8")
    assert found == (folder / "known.csv").read_text("utf-8")
    capsys.readouterr()
    for wrong, told in (("--csv", "several"), ("--name", "there is no answer 'x'")):
        assert main([*words, wrong, "x"]) == 1
        assert told in capsys.readouterr().err


def test_a_ledger_is_copied_restored_and_closed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restored = next(one for one in EXAMPLES if one.startswith("ledger restore"))
    assert main(restored.split()) == 0
    assert "left: ApproxDP(epsilon=0.9, delta=9e-07)" in capsys.readouterr().out
    assert main(["ledger", "close", "clinic.ledger", "ana", "--why", "ended"]) == 0
    assert "ana is closed" in capsys.readouterr().out
    with sd.Ledger.at(folder / "clinic.ledger") as ledger:
        assert ledger.remaining("ana") == sd.ApproxDP(0, 0)
        ledger.earmark("plan", sd.ApproxDP("0.1", 0))
    assert main(["ledger", "show", "clinic.ledger"]) == 0
    assert "set aside" in capsys.readouterr().out


REFUSED = table_of("refused/ledger_commands")


@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.sampled(1)
def test_a_refusal_is_one_sentence(
    refused: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.toml").write_text('[basic]\nnome = "x"\n')
    words, message = REFUSED[refused]
    before = sorted(folder.iterdir())
    code = 2 if refused == "no budget" else 1  # what is left out is not understood
    assert main(["ledger", *words.split()]) == code
    said = capsys.readouterr()
    assert not said.out
    assert said.err.startswith("sordino: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


NOT_UNDERSTOOD = (
    "",
    "ledger",
    "ledger show",
    "ledger mend clinic.ledger",
    "spend",
    "ledger show a b",
    "ledger show a --last -1",
    "ledger export a --format xml",
    "ledger answer a",
    "ledger backup a",
    "ledger restore a",
    "ledger close a",
)


@for_each("words", NOT_UNDERSTOOD)
def test_what_is_not_understood_ends_with_2(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: sordino")


def test_a_reader_may_have_enough(folder: Path) -> None:
    """A pipe that is closed early is no error worth a traceback."""
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    writer = subprocess.Popen(
        [sys.executable, "-m", "sordino", "ledger", "export", "clinic.ledger"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    said = writer.stderr.read()
    writer.stderr.close()
    writer.wait()
    assert said == b""


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("sordino 0.")
