"""The first ten minutes of a newcomer: the commands of the guide, one after the other.

What has no noise in it (prices, widths, odds, what is refused) is held to the letter;
of noisy tables and of times the shape.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sordino.office.cli.main import main

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/guides/jobs.md").read_text(encoding="utf-8")
NOISY = ("release", "verify", "ledger", "doctor")


class Step(NamedTuple):
    """A command of the guide, what it printed there, and how it ended."""

    words: list[str]
    output: str
    code: int


def steps() -> Iterator[Step]:
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for step in re.split(r"^\$ ", "".join(blocks), flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        code = re.search(r"^\[(\d+)\]\n", output, re.MULTILINE)
        yield Step(
            shlex.split(command),
            re.sub(r"^\[\d+\]\n", "", output, flags=re.MULTILINE),
            0 if code is None else int(code[1]),
        )


def shape(text: str) -> str:
    """Return a text whose numbers, and the room they take, do not count.

    >>> shape("Surgery  1,042    22  998 to 1,086")
    'Surgery # # # to #'
    """
    numbers = re.sub(r"\b[0-9a-f]{64}\b", "a hash", text)
    numbers = re.sub(r"-?\d[\d,.:]*(dev0)?", "#", numbers)
    numbers = re.sub(r"^(engines +duckdb #).*$", r"\1", numbers, flags=re.MULTILINE)
    return re.sub(r"[-\s]+", " ", numbers).strip()


def printed(words: list[str]) -> tuple[int, str]:
    """Run a command; return how it ended, and all that it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue() + err.getvalue()


def test_the_ten_minutes_of_a_newcomer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    taken = []
    for step in steps():
        command, *words = step.words
        if command == "cd":
            monkeypatch.chdir(tmp_path / words[0])
            continue
        code, output = printed(words)
        assert (words, code) == (words, step.code)
        as_read = shape if words[0] in NOISY and not code else str.strip
        assert as_read(output) == as_read(step.output)
        taken.append(words[0])
    assert {"demo", "check", "price", "release", "verify", "ledger"} <= set(taken)
    assert taken[-1] == "report"
    assert "ward-activity/again" in Path("report.html").read_text(encoding="utf-8")


def test_another_price_would_be_noticed() -> None:
    """What is held to the letter is the page's own, digit by digit."""
    prices = [step for step in steps() if step.words[1:2] == ["price"]]
    assert prices
    assert all("±120" in step.output and "4.74" in step.output for step in prices)
    assert shape("n 12  3") == shape("n 4 567")
    assert shape("n 12 to 3") != shape("n 12 3")


def test_limits_that_nobody_measures_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` says which releases leave out nobody knows how much."""
    assert main(["demo", str(tmp_path / "clinic")]) == 0
    job = tmp_path / "clinic" / "sordino.toml"
    warnings = []
    for text in ("coverage = true", "coverage = false"):
        written = job.read_text(encoding="utf-8").replace("coverage = true", text)
        job.write_text(written, encoding="utf-8")
        capsys.readouterr()
        assert main(["check", "--job", str(job)]) == 0
        warnings.append(capsys.readouterr().out.count("warning: ward-activity"))
    assert warnings == [0, 1]
