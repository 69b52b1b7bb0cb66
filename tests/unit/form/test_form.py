"""From a file to a job on a page: nothing is charged, and no cell is shown."""

import os
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from sordino.errors import InvalidParameter
from sordino.office.cli.main import main
from sordino.office.form.choices import Choices, ChosenFile, list_files
from sordino.office.form.page import first_page, reply_to_form
from sordino.office.job.job import read_job
from sordino.session.executor import Desk
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often

CHOSEN: Final[dict[str, str]] = {
    "file": "visits.csv",
    "of": "visits.csv",
    "id": "patient",
    "group": "ward",
    "count": "yes",
    "people": "yes",
    "answer": "mean",
    "column": "cost",
    "low": "0",
    "high": "2000",
    "epsilon": "1",
    "delta": "1e-6",
    "part": "12",
    "schedule": "monthly",
    "groups": "2",
    "rows": "3",
}
WARDS: Final = ("Xanthippe", "Quokka", "Zamboni")
"""Cells that no page has for another reason."""


def fill(folder: Path) -> Path:
    """Write a German export into a folder; its cells are told from all other words."""
    folder.mkdir(exist_ok=True)
    rows = (
        f"p7733{n % 70};{WARDS[n % 3]};{700 + n % 9},{61 + n % 20}" for n in range(400)
    )
    text = "\n".join(["patient;ward;cost", *rows])
    (folder / "visits.csv").write_text(text, encoding="utf-8")
    return folder


def send(folder: Path, **changes: str) -> Any:
    fields = {name: text for name, text in (CHOSEN | changes).items() if text != "-"}
    return reply_to_form(folder, urlencode(fields).encode())


def problems(page: str) -> list[str]:
    return re.findall(r'<pre class="problem"[^>]*>(.*?)</pre>', page, re.DOTALL)


def pages_of(folder: Path) -> list[str]:
    """Return the page as it is at first, and of some choices."""
    return [
        first_page(folder),
        send(folder, of="").content,
        send(folder).content,
        send(folder, id="rows", people="-").content,
        send(folder, keys="A\nB", answer="median").content,
        send(folder, sample="older/visits.csv", group="").content,
        send(folder, use="5 1").content,
    ]


def test_a_page_charges_nothing_and_shows_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes nothing, either, and opens no ledger."""
    folder = fill(tmp_path)
    fill(folder / "older")
    (folder / "sordino.ledger").write_text("no ledger")
    before = sorted(folder.rglob("*"))

    def charge(*_: object, **__: object) -> None:
        raise AssertionError

    for verb in ("pay", "pay_together"):
        monkeypatch.setattr(Desk, verb, charge)
    pages = pages_of(folder)
    assert [problems(page) for page in pages] == [[]] * len(pages)
    for cell in (*WARDS, "p7733", "70061", "700,61", "700.61"):
        assert not [page for page in pages if cell in page]
    assert "at most 2 different ward of a person cuts " in pages[2]
    assert "from a sample of 400 rows; nothing was charged" in pages[-2]
    assert 'name="groups" size="5" inputmode="numeric" value="5"' in pages[-1]
    assert sorted(folder.rglob("*")) == before


def test_what_is_downloaded_is_what_was_priced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`sordino check` says of it what the page said."""
    page, job = send(fill(tmp_path)).content, send(tmp_path, act="download")
    assert job.is_file
    assert job.content in page.replace("&#34;", '"')
    path = tmp_path / "job.toml"
    path.write_text(job.content, encoding="utf-8")
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    (within,) = re.findall(r"^people .* \u00b1(\S+)", said, re.MULTILINE)
    assert f"<td>\u00b1 {within}</td>" in page
    odds = re.findall(r"All of the budget: .*? at most (\d+)", " ".join(said.split()))
    assert f"names at most {odds[0]}, accusing 5" in page


REFUSED: Final = {
    "another file": (
        {"file": "../secret.csv", "of": "../secret.csv"},
        "not among those",
    ),
    "an absolute path": ({"file": "/etc/passwd", "of": "/etc/passwd"}, "not among"),
    "a column of nobody": ({"group": "<b>"}, "is not used"),
    "an id of nobody": ({"id": "nobody"}, "is not used"),
    "a type that is none": ({"type ward": "object"}, "must be one of i64"),
    "a column without bounds": ({"low": ""}, "could move the answer without limit"),
    "bounds that are text": ({"low": "0) FROM x --"}, "lowest must be a number"),
    "an endless number": ({"epsilon": "1e999999999"}, "epsilon must be a number"),
    "no epsilon": ({"epsilon": "0"}, "epsilon"),
    "a budget that is none": ({"delta": "2"}, "delta"),
    "no limit": ({"rows": "0"}, "must be a number above 0"),
    "a schedule of its own": ({"schedule": "hourly"}, "must be one of once"),
    "another answer": ({"answer": "max"}, "must be one of sum"),
    "several statements": ({"own": "yes", "sql": "SELECT 1; DROP TABLE x"}, "refused"),
    "SQL that leaves its text": (
        {"own": "yes", "sql": '"""\n[ledger]\npath = "x"'},
        "refused",
    ),
    "letters that no file has": ({"own": "yes", "sql": "SELECT \x7f\x00"}, ""),
    "a number that is too long": ({"part": "9" * 4000}, "must be a number above 0"),
    "very many groups": ({"keys": "\n".join(map(str, range(20_000)))}, "10000 at most"),
}


@for_each("case", sorted(REFUSED))
def test_what_cannot_be_is_refused_beside_its_part(case: str, tmp_path: Path) -> None:
    changes, words = REFUSED[case]
    folder = fill(tmp_path)
    for act in ("show", "download"):
        reply = send(folder, act=act, **changes)
        assert not reply.is_file
        (problem,) = problems(reply.content)
        assert words in problem
        assert not [cell for cell in WARDS if cell in reply.content]


def test_any_form_has_an_answer(tmp_path: Path) -> None:
    """Fields are left out, doubled and filled with odd texts: a page, or a job."""
    folder, seen = fill(tmp_path), set()
    odd = [
        "",
        "?",
        "rows",
        "0",
        "-1",
        "1e6",
        "NaN",
        "ward",
        "cost",
        "\u202e",
        "'",
        '"',
        "%s",
    ]
    for seed in range(often(12, 400)):
        dice = rolled(seed)
        fields = [
            (name, text if dice.between(0, 4) else dice.one(odd))
            for name, text in CHOSEN.items()
            if dice.between(0, 20)
        ]
        reply = reply_to_form(folder, urlencode(fields).encode())
        seen.add((reply.status, bool(problems(reply.content))))
        assert reply.content.startswith("<!doctype html>")
    assert len(seen) >= 2
    for body in (b"\xff", b"%FF=1", b"a=1&" * 30_000, b"=&=&", b"file"):
        assert reply_to_form(folder, body).status in {200, 400}


def test_files_of_the_folder_alone_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "old").mkdir(parents=True)
    fill(folder / "old")
    fill(tmp_path)
    (folder / "away.csv").symlink_to(tmp_path / "visits.csv")
    (folder / "up").symlink_to(tmp_path)
    (folder / "folder.csv").mkdir()
    (folder / "notes.md").write_text("x")
    (folder / "odd\nname.csv").write_text("x")
    os.mkfifo(folder / "pipe.csv")
    assert list_files(folder) == ["old/visits.csv"]
    with pytest.raises(InvalidParameter, match="not among those listed"):
        ChosenFile.open(folder, Choices(file="away.csv"))


def test_names_are_text_and_nothing_else(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    lines = [f'id,"{evil}","a"" b"', *(f"{n % 9},{n % 3},{n}" for n in range(60))]
    (tmp_path / "x'&lt;.csv").write_text("\n".join(lines))
    name = {"file": "x'&lt;.csv", "of": "x'&lt;.csv", "id": "id", "group": evil}
    page = send(tmp_path, **name, column='a" b').content
    assert problems(page) == []
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 3
    job = send(tmp_path, **name, column='a" b', act="download")
    (tmp_path / "job.toml").write_text(job.content)
    assert read_job(tmp_path / "job.toml").release("counts").sql is not None
