"""A job as a scheduler runs it: what it leaves, and what can go wrong on the way."""

import json
from datetime import timedelta
from operator import itemgetter
from pathlib import Path

import pytest

import sordino as sd
from sordino.office.job import outputs
from sordino.office.job.outputs import SCHEDULES, starts
from sordino.office.job.running import today
from tests.jobs import JOB, PROGRAM, charged, folder, logged, ran

__all__ = ["folder"]


# --- What a release leaves ---------------------------------------------------------


def test_a_release_is_charged_once_a_period(folder: Path) -> None:
    """The same again is the same answer, from the ledger, and its files are whole."""
    (first,) = logged("wards", "--on", "2026-11-03")
    values = Path(first["files"][1]).read_bytes()
    Path(first["files"][1]).unlink()
    (again,) = logged("wards", "--on", "2026-11-30")
    assert (first["charged"], again["charged"]) == (True, False)
    assert first["key"] == again["key"] == "wards/2026-11"
    assert Path(again["files"][1]).read_bytes() == values
    assert charged() == ["wards/2026-11"]
    assert sorted(path.name for path in (folder / "published").iterdir()) == [
        "wards-2026-11.csv",
        "wards-2026-11.csv-metadata.json",
        "wards-2026-11.parquet",
    ]


def test_what_it_was_made_by_is_in_the_ledger(folder: Path) -> None:
    """Each charge names the text of its job, programs included, kept once."""
    logged("wards", "--on", "2026-11-03")
    logged("ages")
    (folder / "clinic.toml").write_text(JOB.replace("1/8", "1/16"))
    logged("wards", "--on", "2026-12-03")
    with sd.Ledger.at("clinic.ledger") as ledger:
        jobs = [entry.job for entry in ledger.entries()]
        first, last = (json.loads(ledger.description(jobs[n])) for n in (0, -1))
        assert jobs[0] == jobs[1] != jobs[2]
        kinds = [record.kind for record in ledger.records()]
    assert kinds.count("described") == 2
    assert first["files"] == {"queries.py": PROGRAM}
    assert first["job"]["releases"]["ages"]["budget"] == {"epsilon": "1/8"}
    assert last["job"]["releases"]["ages"]["budget"] == {"epsilon": "1/16"}


def test_several_answers_are_several_files(folder: Path) -> None:
    (made,) = logged("ages", "--out", "there")
    assert [Path(name).name for name in made["files"]] == [
        *("ages-once.all.parquet", "ages-once.all.csv"),
        *("ages-once.days.parquet", "ages-once.days.csv"),
    ]
    assert all((folder / name).is_file() for name in made["files"])
    assert charged() == ["ages/once"]


def test_a_published_file_is_told_from_any_other(folder: Path) -> None:
    """Untouched, and of which release; one bit more and it is another file."""
    (made,) = logged("wards", "--on", "2026-11-03")
    for name in made["files"]:
        code, out, _ = ran("verify", name, "--ledger", "clinic.ledger", "--json")
        told = json.loads(out)
        assert code == 0
        assert (told["record"], told["key"]) == (made["record"], "wards/2026-11")
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        assert ran("verify", name)[0] == 1
    assert ran("verify", "gone.csv")[0] == 1
    assert ran("verify", "wards.csv")[0] == 1


@pytest.mark.slow
def test_a_job_charges_the_share_of_its_analyst(folder: Path) -> None:
    job = JOB.replace("limit =", 'analyst = "night"\nlimit =')
    (folder / "clinic.toml").write_text(job)
    assert ran("release", "wards")[0] == 1  # nobody gave it a share yet
    with sd.Ledger.at("clinic.ledger") as ledger:
        ledger.allot("night", sd.PureDP("3/8"))
    (made,) = logged("wards", "--key", "a")
    assert made["left"] == "epsilon = 0.125"
    assert json.loads(ran("check", "--json")[1])["left"] == "epsilon = 0.125"
    assert ran("release", "wards", "--key", "b")[0] == 3
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert ledger.remaining() == sd.PureDP("3/4")
        assert [sorted(entry.charges) for entry in ledger.entries()] == [
            ["dataset", "night"]
        ]


# --- Time --------------------------------------------------------------------------


def test_what_is_due_is_made_once_a_period(folder: Path) -> None:
    """Every night the same line; a machine that was off makes the present month."""
    assert folder
    nights = ["2026-11-01", "2026-11-02", "2026-11-30", "2026-12-01"]
    made = [
        [line.get("key", line.get("due")) for line in logged("--due", "--on", night)]
        for night in nights
    ]
    assert made == [["wards/2026-11"], [0], [0], ["wards/2026-12"]]
    told = ran("release", "--due", "--on", "2026-12-02")
    assert told == (0, "nothing is due\n", "")
    job = folder / "clinic.toml"
    job.write_text(JOB.replace('schedule = "monthly"', ""))
    told = ran("release", "--due", "--on", "2026-12-02")
    assert told == (0, "no release here has a schedule\n", "")


def test_missed_periods_are_told_and_not_made_up_for(folder: Path) -> None:
    """Off for two months: those two are named, and one release is made."""
    assert folder
    logged("wards")
    with sd.Ledger.at("clinic.ledger") as ledger:
        (entry,) = ledger.entries()
    day = entry.when.date()
    following = starts(SCHEDULES["monthly"], day, day + timedelta(100))
    _, *months = (day for day, _ in zip(following, range(4), strict=False))
    code, out, err = ran("release", "--due", "--on", f"{months[-1]}")
    assert (code, "catch_up must be said" in err) == (1, True)
    assert len(charged()) == 1
    code, out, err = ran(*(
        "release",
        "--due",
        "--on",
        f"{months[-1]}",
        "--catch-up",
        "--json",
    ))
    assert code == 0, err
    assert [json.loads(line)["period"] for line in out.splitlines()] == [
        f"{months[-1]:%Y-%m}"
    ]
    assert [line for line in err.splitlines() if "never made" in line] == [
        f"wards: {month:%Y-%m} was never made, and is not made up for"
        for month in months[:-1]
    ]


def test_an_edited_job_does_not_charge_a_period_twice(folder: Path) -> None:
    (made,) = logged("wards", "--on", "2026-11-03")
    before = Path(made["files"][1]).read_bytes()
    (folder / "clinic.toml").write_text(JOB.replace('"1/4"', '"1/5"'))
    code, _, err = ran("release", "wards", "--on", "2026-11-04")
    assert code == 1
    assert "belongs to another request" in err
    assert Path(made["files"][1]).read_bytes() == before
    assert charged() == ["wards/2026-11"]


@pytest.mark.slow
def test_a_year_ends_where_it_was_told(folder: Path) -> None:
    """`check` says which release the budget would not allow, and it does not."""
    assert folder
    code, out, _ = ran("check", "--json")
    year = json.loads(out)["year"]
    assert (code, year["releases"]) == (0, 4)
    name, period = year["refused"]
    assert name == "wards"
    ran("release", "ages", "--yes")
    months = starts(SCHEDULES["monthly"], today(), today() + timedelta(100))
    days = [day for day, _ in zip(months, range(4), strict=False)]
    codes = [ran("release", "wards", "--on", f"{day}")[0] for day in days]
    assert codes == [0, 0, 0, 3]
    assert period == f"{days[3]:%Y-%m}"


# --- What goes wrong ---------------------------------------------------------------


def broken_disk(*arguments: object) -> None:
    del arguments
    raise OSError(28, "No space left on device", "/secret/path")


def test_a_full_disk_is_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code 4, one charge; with room the same command writes what was paid for."""
    assert folder
    with monkeypatch.context() as full:
        full.setattr(outputs, "FORMATS", {**outputs.FORMATS, "parquet": broken_disk})
        code, _, err = ran("release", "wards", "--on", "2026-11-03")
    assert code == 4
    assert "The answer is paid for and kept" in err
    assert "secret" not in err
    (made,) = logged("wards", "--on", "2026-11-03")
    assert not made["charged"]
    assert len(made["files"]) == 2
    assert charged() == ["wards/2026-11"]


def test_a_folder_that_cannot_be_written_costs_nothing(folder: Path) -> None:
    (folder / "taken").write_text("a file")
    code, _, err = ran("release", "wards", "--out", "taken/there")
    assert code == 2
    assert "cannot be written to" in err
    assert charged() == []


def test_a_ledger_that_is_lost_is_not_begun_anew(folder: Path) -> None:
    logged("wards", "--on", "2026-11-03")
    text = JOB.replace("limit =", "create = false\nlimit =")
    (folder / "clinic.toml").write_text(text)
    content = bytearray((folder / "clinic.ledger").read_bytes())
    content[content.find(b"wards/2026-11")] ^= 1
    (folder / "clinic.ledger").write_bytes(content)
    assert ran("release", "wards", "--on", "2026-12-03")[0] == 5
    (folder / "clinic.ledger").unlink()
    code, _, err = ran("release", "wards", "--on", "2026-12-03")
    assert code == 2
    assert "not there, and ledger.create is false" in err
    assert not (folder / "clinic.ledger").exists()


def test_prices_and_checks_make_nothing(folder: Path) -> None:
    before = sorted(folder.iterdir())
    (folder / "visits.parquet").chmod(0o644)
    for words in (["check"], ["price", "wards"], ["price", "--json"]):
        assert ran(*words)[0] == 0
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    code, out, _ = ran("sql", text, "--like", "wards")
    assert code == 0
    assert out.startswith("table('visits').enforce(MaxRowsPerID(limit=3)).group_by(")
    bought = "--epsilon", "0.1", "--delta", "1e-7"
    assert ran("sql", text, "--like", "wards", "--price", *bought)[0] == 0
    assert sorted(folder.iterdir()) == before


def test_a_file_of_another_release_is_not_written_over(folder: Path) -> None:
    second = JOB.partition("[releases.wards]")[2].partition("[releases.ages]")[0]
    (folder / "clinic.toml").write_text(f"{JOB}\n[releases.wards-a]{second}")
    logged("wards", "--key", "a-b")
    code, _, err = ran("release", "wards-a", "--key", "b")
    assert code == 2
    assert "is the file of another release, record" in err
    assert charged() == ["wards/a-b"]


NAMES = ["by/age", "x" * 300, "a\0b", "..", ""]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_answers_are_checked_before_the_charge(
    name: str, folder: Path
) -> None:
    (folder / "queries.py").write_text(PROGRAM.replace('"all"', repr(name)))
    code, _, err = ran("release", "ages")
    assert code == 2
    assert "releases.ages.query must be letters, digits" in err
    assert charged() == []


def test_addresses_are_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC", "https://bob:hunter2@host/visits.parquet")
    said = JOB.replace('"visits.parquet"', '{ env = "CLINIC" }')
    (folder / "clinic.toml").write_text(said)
    code, out, err = ran("check")
    assert code == 1
    assert "hunter2" not in out + err


def test_a_first_line_without_names_is_not_taken_for_one(folder: Path) -> None:
    """It may be a person's row: nothing of it is written or shown."""
    (folder / "raw.csv").write_text("17,SECRET\n18,OTHER\n")
    code, out, err = ran("init", "raw.csv", "--to", "new.toml")
    assert code == 2
    assert "SECRET" not in out + err
    assert not (folder / "new.toml").exists()


LONG = "x" * 5000
COMMANDS = [
    ["ledger", "show", LONG],
    ["verify", "wards.csv", "--ledger", LONG],
    ["inspect", LONG],
    ["risk", LONG],
]


@pytest.mark.parametrize("words", COMMANDS, ids=itemgetter(0))
def test_paths_beyond_the_system_are_refused(words: list[str], folder: Path) -> None:
    assert folder
    code, out, err = ran(*words)
    assert (code in {1, 4}, out) == (True, "")
    assert err.startswith("sordino: ")
    assert "Traceback" not in err


WRONG: dict[str, tuple[list[str], int, str]] = {
    "an unknown command": (["relase"], 2, "invalid choice: 'relase'"),
    "an unknown flag": (["release", "--fast"], 2, "--fast"),
    "an unknown release": (["release", "ward"], 1, "Did you mean 'wards'"),
    "no release named": (["release"], 2, "several releases (wards, ages)"),
    "a key that leaves the folder": (["release", "wards", "--key", "../x"], 2, "--key"),
    "a day that is none": (["release", "--due", "--on", "2026-13-01"], 2, "--on"),
    "a job that is not there": (["check", "--job", "gone.toml"], 2, "gone.toml"),
    "a width that is none": (["price", "wards", "--within", "n=0"], 2, "--within"),
    "a column that is none": (["price", "wards", "--within", "m=3"], 1, "column 'm'"),
    "half a budget": (["sql", "SELECT 1", "--delta", "1e-6"], 2, "make no budget"),
    "a width beyond all": (
        ["price", "wards", "--within", "n=1e400"],
        2,
        "--within",
    ),
    "a folder that is none": (["release", "wards", "--out", "a\0b"], 2, "cannot be"),
    "no statement": (["sql", "--epsilon", "1"], 2, "needs one statement"),
    "a statement that is none": (["sql", "SELEKT"], 1, "SELEKT"),
    "no budget": (["risk"], 2, "needs a budget or a ledger"),
    "a budget with a ledger": (["risk", "x", "--epsilon", "1"], 2, "needs a budget or"),
    "a confidence of no sense": (
        ["check", "odd/tiny.toml"],
        2,
        "releases.wards.confidence",
    ),
    "odds at no share": (["risk", "--epsilon", "1", "--at", "1e-99999999"], 2, "--at"),
    "a name of 200,000 parts": (["check", "odd/dots.toml"], 2, "more than 64 parts"),
    "60,000 tables": (["check", "odd/wide.toml"], 2, "more than 4000 tables"),
    "a negative budget": (["risk", "--epsilon", "-1"], 2, "epsilon"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_understood_is_told(what: str, folder: Path) -> None:
    words, code, told = WRONG[what]
    tiny = JOB.replace("keys =", "confidence = 1e-99999999\nkeys =")
    (folder / "odd").mkdir()
    (folder / "odd" / "tiny.toml").write_text(tiny)
    (folder / "odd" / "dots.toml").write_text(".".join("a" * 200_000) + " = 1\n")
    wide = "".join(f"[a{place}.b.c]\n" for place in range(60_000))
    (folder / "odd" / "wide.toml").write_text(wide)
    ended, out, err = ran(*words)
    assert (ended, out) == (code, "")
    assert told in err
    assert "Traceback" not in err
    assert not (folder / "published").exists()


def test_programs_that_fail_are_refused(folder: Path) -> None:
    for program, told in (
        ("def ages(): return 1 / 0", "fails: ZeroDivisionError"),
        ("def ages(): return 3", "returns no request"),
        ("def other(): ...", "names ages, which queries.py lacks"),
        ("def ages(:", "fails: SyntaxError"),
        ("raise SystemExit(0)", "fails: SystemExit"),
    ):
        (folder / "queries.py").write_text(program)
        code, _, err = ran("price", "ages")
        assert (code, told in err) == (2, True), err
