"""What a look proposes for a text file: it reads what was written, or doubts it."""

import csv
import datetime as dt
import io
import json
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.data.proposals import find_layout, look_at_layout, propose_columns
from sordino.errors import InvalidJob, InvalidParameter
from sordino.office.cli.main import main
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often
from tests.text_files import read

KINDS: Final = {
    "patient": "i64",
    "cost": "f64",
    "smokes": "bool",
    "day": "date",
    "at": "time",
    "zip": "text",
    "note": "text",
}
POINTS: Final = ((".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", "'"))
TRUTHS: Final = (("true", "false"), ("ja", "nein"), ("Yes", "No"), ("vrai", "faux"))
DAYS: Final = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
WORDS: Final = ("", "NA", "-", "k.A.")


def drawn_file(dice: Dice) -> tuple[bytes, list[dict[str, Any]]]:
    """Draw a file as somebody may have exported it, and the rows that are in it."""
    point, by = dice.one(POINTS)
    money, truths = dice.one(("", "", "\u20ac", "USD")), dice.one(TRUTHS)
    day, missing = dice.one(DAYS), dice.one(WORDS)
    delimiter = dice.one([sign for sign in ";\t|," if sign != point])
    rows = []
    for number in range(60):
        lacks = dice.below(4) == 0
        moment = dt.datetime(2025, 1, 1) + dt.timedelta(  # noqa: DTZ001 as all times
            days=dice.below(700), minutes=dice.below(1440)
        )
        cost = (dice.below(9_000_000) + 100_000) / 4
        rows.append({
            "patient": number,
            "cost": None if lacks else cost,
            "smokes": dice.below(2) == 1,
            "day": moment.date(),
            "at": moment,
            "zip": f"0{dice.below(9000) + 1000}",
            "note": dice.one(("a, b", "c;d", 'e "f"', "g|h")),
        })

    def spelled(value: Any) -> str:
        match value:
            case None:
                return missing
            case bool():
                return truths[not value]
            case float():
                signs: Any = {",": by, ".": point}
                text = f"{value:,.2f}".translate(str.maketrans(signs))
                return f"{text} {money}".strip()
            case dt.datetime():
                return value.strftime(f"{day} %H:%M")
            case dt.date():
                return value.strftime(day)
            case _:
                return str(value)

    text = io.StringIO()
    text.write("A report\n\n" * dice.below(3))
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(KINDS)
    writer.writerows([spelled(value) for value in row.values()] for row in rows)
    return text.getvalue().encode(dice.one(("utf-8", "cp1252", "utf-16"))), rows


@pytest.mark.slow
def test_what_is_proposed_reads_what_was_written(tmp_path: Path) -> None:
    """Drawn exports of many dialects: all types, all values."""
    path = tmp_path / "t.csv"
    for seed in range(often(16, 40)):
        content, rows = drawn_file(rolled(seed))
        path.write_bytes(content)
        found = propose_columns(look_at_layout(path))
        assert found.columns == KINDS, seed
        assert found.doubts == (), seed
        told = read(sd.Csv(path, found.columns, **found.arguments))
        assert sorted(told, key=itemgetter("patient")) == rows, seed


@for_each(
    ("text", "doubt"),
    [
        ("n,day\n1,3/4/2025\n2,5/6/2025\n", "date='%d/%m/%Y' or date='%m/%d/%Y'"),
        ("n;x\n1;1.234\n2;5.678\n", "nothing or decimal=',', thousands='.'"),
    ],
    ids=repr,
)
def test_what_cells_do_not_tell_is_said(text: str, doubt: str) -> None:
    (said,) = propose_columns(find_layout(text, "utf-8")).doubts
    assert said == f"{doubt}: cells fit both"


@for_each(
    ("cells", "kind"),
    [
        (["1", "2", "many"], "text"),
        ([*map(str, range(19)), "many"], "i64"),
        ([*map(str, range(18)), "1.5", "2.5"], "f64"),
        (["01", "2"], "text"),
        (["f", "f"], "text"),
        (["f", "t"], "bool"),
        (["0", "1"], "i64"),
        (["-", ""], "text"),
        (["2025-02-30", "x"], "text"),
    ],
    ids=repr,
)
def test_the_type_of_a_column(cells: list[str], kind: str) -> None:
    """Of most cells, but for codes, and for what says nothing."""
    text = "n,x\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells))
    assert propose_columns(find_layout(text, "utf-8")).columns["x"] == kind


@for_each("text", ["", "\n\n", "1,2\n3,4\n", "1,2\na,b\nc,d\n", "a,a\n1,2\n"], ids=repr)
def test_a_row_is_never_told_as_names(text: str) -> None:
    """Below a first line that is no header none is looked for: texts are like names."""
    with pytest.raises(InvalidParameter, match="no line of names"):
        find_layout(text, "utf-8")


def test_what_is_declared_is_not_proposed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,x\n1,2\n")
    assert sd.inspect(path).proposal is not None
    assert sd.inspect(path, columns={"n": "i64"}).proposal is None
    assert sd.inspect(sd.Csv(path, {"n": "i64"})).proposal is None
    assert sd.inspect({"n": [1]}).proposal is None
    whose = sd.inspect(path, protects=sd.AddRowsWithID("n"))
    assert (whose.ids and whose.ids.ids, "PRIVATE" in str(whose)) == (1, True)


def job_text() -> str:
    return Path("j.toml").read_text(encoding="utf-8")


EXPORT: Final = "Visits\n\nid;cost\n1;1,5\n2;2,5\n"


def test_a_proposal_goes_into_the_job_that_names_the_file(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an export with lines of title to a job, without an editor."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(EXPORT, encoding="utf-8")
    assert main(["init", "t.csv", "--to", "j.toml", "--id", "id"]) == 0
    assert 'format = { delimiter = ";", skip = 2 }' in Path("j.toml").read_text(
        encoding="utf-8"
    )
    assert main(["inspect", "t.csv", "--write", "j.toml", "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["proposal"]["format"]["decimal"] == ","
    text = job_text()
    assert 'format = { delimiter = ";", skip = 2, decimal = "," }' in text
    assert '"id" = "i64"\n"cost" = "f64"\n' in text
    Path("j.toml").write_text(
        text.replace('"cost" = "f64"', '"cost" = "text"'), encoding="utf-8"
    )
    assert main(["inspect", "t.csv", "--write", "j.toml"]) == 0
    assert '"cost" = "text"' in Path("j.toml").read_text(
        encoding="utf-8"
    )  # a choice stays


@for_each(
    ("job", "words", "says"),
    [
        ('[tables.t]\nsource = "u.csv"\n', (), "has no table of that file"),
        ("tables = 3\n", (), "has no table of that file"),
        (
            'tables.t.source = "t.csv"\ntables.t.columns.id = "?"\n',
            (),
            "nothing can be put into it",
        ),
        ('[tables.t]\nsource = "t.csv"\n', ("--column", "id=i64"), "of which nothing"),
    ],
    ids=repr,
)
def test_jobs_that_are_not_written(
    job: str, words: Any, says: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(
        EXPORT if not words else "id,cost\n1,2\n", encoding="utf-8"
    )
    Path("j.toml").write_text(job, encoding="utf-8")
    assert main(["inspect", "t.csv", *words, "--write", "j.toml"]) != 0
    assert says in capsys.readouterr().err
    assert job_text() == job
    assert issubclass(InvalidJob, ValueError)
