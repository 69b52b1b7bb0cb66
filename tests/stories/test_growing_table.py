"""A year of monthly releases of a table that grows, and whoever asks old rows again."""

import datetime as dt
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino import kernel
from sordino.errors import BudgetExceeded, ProofRefused
from sordino.office.cli import jobs
from sordino.session import executor
from tests.batches import table_of, ways_of
from tests.growing import A_MONTH, JOB, YEAR, Clock, Visits, months_after, set_clock
from tests.jobs import logged, ran

MONTHS: Final = tuple(f"{YEAR}-{month:02}" for month in range(1, 13))
QUARTERS: Final = ("2026-Q1", "2026-Q2", "2026-Q3", "2026-Q4")
DEVIATIONS: Final = 6.0
"""How many of them normal noise leaves once in five hundred million draws."""


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock of a folder with a job and an empty table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "clinic.toml").write_text(JOB)
    visits = Visits()
    visits.add(0, dt.date(YEAR, 1, 1), 0)
    visits.write(tmp_path)
    clock = set_clock(monkeypatch)
    monkeypatch.setattr(jobs, "today", lambda: clock.day)
    return clock


def told(*words: str) -> Any:
    code, out, err = ran(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def grow(folder: Path, clock: Clock, months: int) -> Visits:
    """Let so many months pass at once, and return the visits."""
    visits = Visits()
    for month, day in months_after(months):
        visits.pass_month(month)
        clock.day = day
    visits.write(folder)
    return visits


# --- A year ------------------------------------------------------------------------


def test_a_year_costs_a_person_what_was_told_beforehand(
    tmp_path: Path, clock: Clock
) -> None:
    """In January `check` says what December will have cost who is present all year.

    Rows arrive late, are corrected and deleted meanwhile; the machine is off in May and
    June, and what was missed is made up for, each month from its own rows.
    """
    year = told("check")["year"]
    assert year["person"] == {"scheduled": "mu = 0.7212", "most": "mu = 0.8314"}
    assert (year["blocks"], year["refused"]) == (list(MONTHS), [])
    visits, made = Visits(), []
    for month, day in months_after(12):
        visits.pass_month(month)
        visits.write(tmp_path)
        clock.day = day
        if month in {5, 6}:
            continue
        prices = {
            name: told("price", name, "--catch-up") for name in ("wards", "quarter")
        }
        lines = logged("--due", "--on", f"{day}", "--catch-up")
        assert all(line["loss"] == [prices[line["release"]]["loss"]] for line in lines)
        assert prices["wards"]["one_person"]["most"] == year["person"]["most"]
        made += [(line["release"], line["period"]) for line in lines]
    assert sorted(made) == sorted(
        [("wards", month) for month in MONTHS]
        + [("quarter", quarter) for quarter in QUARTERS]
    )
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert ledger.verify()
        spent = {block.name: block.spent for block in ledger.blocks()}
        assert set(spent) == set(MONTHS)
        assert {loss.sums["mu_squared"] for loss in spent.values()} == {
            Fraction(5, 100)
        }
        exposure = ledger.exposure(12)
    shown = told("ledger", "show", "clinic.ledger")["persons"][-1]
    assert [shown["charged"], shown["most"]] == list(year["person"].values())
    assert exposure.charged.sums["mu_squared"] == Fraction(52, 100)


def test_it_never_ends(tmp_path: Path, clock: Clock) -> None:
    """Month after month, also in the second year: new rows bring budget of their own.

    What is published of a month is about the rows of this month, as they were.
    """
    visits = grow(tmp_path, clock, 12)
    lines = logged("wards", "--due", "--on", f"{clock.day}")
    assert [line["period"] for line in lines] == list(MONTHS)
    assert (
        ran("release", "wards", "--due", "--on", f"{clock.day}")[1]
        == "nothing is due\n"
    )
    assert ran("release", "--due", "--key", "2026-01")[0] == 2
    with sd.Ledger.at("clinic.ledger") as ledger:
        releases = [ledger.answer(f"wards/{month}") for month in MONTHS]
    for place, release in enumerate(releases):
        total = sum(release["n"].to_pylist())
        deviation = math.hypot(*release.errors.column("n sd").to_pylist())
        assert abs(total - visits.count(place + 1)) < DEVIATIONS * deviation
    visits.add(7, dt.date(YEAR + 1, 1, 9), 1)
    visits.write(tmp_path)
    clock.day = dt.date(YEAR + 1, 2, 2)
    (january,) = logged("wards", "--due", "--on", "2027-02-02")
    assert january["period"] == "2027-01"
    assert told("verify", january["files"][0])["blocks"] == ["2027-01"]
    assert january["charged"]


def test_a_month_whose_files_have_not_come_is_not_spent(
    tmp_path: Path, clock: Clock
) -> None:
    """`check` and `--due` say so; when it comes, or somebody insists, it is made."""
    visits = grow(tmp_path, clock, 2)
    due = ("wards", "--due", "--on", f"{clock.day}")
    visits.write(tmp_path, dt.date(YEAR, 2, 28))
    said = "wards: no file is newer than the end of 2026-02, 2026-03-01"
    assert any(said in why for why in told("check", "--on", f"{clock.day}")["waiting"])
    assert said in " ".join(ran("check", "--on", f"{clock.day}")[1].split())
    code, out, err = ran("release", *due, "--json")
    january, february = map(json.loads, out.splitlines())
    assert (code, january["charged"], february["charged"]) == (4, True, False)
    assert said in err
    assert said in february["waiting"]
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert [entry.key for entry in ledger.entries()] == ["wards/2026-01"]
        assert ledger.verify()
        files = ledger.records()[ledger.entries()[0].number - 1].fields["files"]
    assert files == {"count": 1, "newest": "2026-02-28T00:00:00+00:00"}
    visits.write(tmp_path, dt.date(YEAR, 3, 1))
    assert [line["period"] for line in logged(*due)] == ["2026-02"]


def test_a_month_without_new_files_is_made_by_who_insists(
    tmp_path: Path, clock: Clock
) -> None:
    grow(tmp_path, clock, 1).write(tmp_path, dt.date(YEAR, 1, 9))
    due = ("wards", "--due", "--on", f"{clock.day}")
    assert ran("release", *due)[0] == 4
    assert logged(*due, "--even-without-new-files")[0]["charged"]


def test_what_others_spent_does_not_stop_the_rest(tmp_path: Path, clock: Clock) -> None:
    """A due month whose block is spent is passed over, with code 3; others are made."""
    grow(tmp_path, clock, 3)
    text = "SELECT COUNT(*) AS n FROM visits WHERE arrived = DATE '2026-02-03'"
    words = ("sql", text, "--like", "wards", "--mu", "0.24", "--yes")
    (tmp_path / "clinic.toml").write_text(
        JOB.replace('keys = { ward = ["A", "B"] }', "")
    )
    assert ran(*words)[0] == 0
    (tmp_path / "clinic.toml").write_text(JOB)
    code, out, err = ran("release", "--due", "--on", f"{clock.day}", "--json")
    assert code == 3
    assert "wards: 2026-02 is passed over: this costs" in err
    assert [json.loads(line)["key"] for line in out.splitlines()] == [
        "wards/2026-01",
        "wards/2026-03",
    ]


# --- The naive refresh -------------------------------------------------------------

ONE: Final = sd.MaxRowsPerID(1)
BUDGET: Final = sd.GaussianDP("0.2")
JANUARY: Final = sd.col("arrived") < dt.date(YEAR, 2, 1)
NEWEST: Final = sd.col("arrived") >= dt.date(YEAR, 12, 1)
VISITS: Final = sd.table("visits")


def count(rows: Any) -> sd.Request:
    request: sd.Request = rows.enforce(ONE).agg(n=sd.count())
    return request


WORDINGS: Final = ways_of(table_of("refused/january"), globals())
"""Ways to ask January again; a view is made of one of them below."""


def open_session() -> sd.Session:
    protects = sd.AddRowsWithID("patient")
    visits = sd.PrivateTable("visits.parquet", protects, blocks="arrived")
    blocks = sd.Blocks(start="2026-01", every="month")
    return sd.Session(
        {"visits": visits}, sd.GaussianDP("0.24"), ledger="new.ledger", blocks=blocks
    )


def refresh_for_a_year(
    folder: Path, clock: Clock, ask: Callable[[sd.Session], Any]
) -> list[Any]:
    """Ask the same of each month's refreshed table; return the answers there were."""
    visits, answers = Visits(), []
    for month, day in months_after(12):
        visits.pass_month(month)
        visits.write(folder)
        clock.day = day
        with open_session() as session:
            try:
                answers.append(ask(session))
            except BudgetExceeded:
                continue
    return answers


def test_old_rows_are_not_asked_again_by_any_wording(
    tmp_path: Path, clock: Clock
) -> None:
    """January was asked once, for nearly all it had: in December it is refused."""
    grow(tmp_path, clock, 12)
    with open_session() as session:
        session.release(count(VISITS.filter(JANUARY)), BUDGET)
        session.view("old", VISITS.filter(JANUARY))
        wordings = WORDINGS | {
            "a view": lambda session: session.release(count(sd.table("old")), BUDGET)
        }
        for name, ask in wordings.items():
            with pytest.raises(BudgetExceeded, match="2026-01"):
                pytest.fail(f"{name} was answered: {ask(session)}")
        assert len(session.history()) == 1
        session.release(count(VISITS.filter(NEWEST)), BUDGET)


def test_a_refresh_brings_no_budget_for_old_rows(tmp_path: Path, clock: Clock) -> None:
    """Twelve refreshed tables, and one answer about January."""
    answers = refresh_for_a_year(tmp_path, clock, WORDINGS["the month itself"])
    assert len(answers) == 1


def newest_block(catalog: Any, rows: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    del catalog, rows
    return names[-1:]


def test_the_attack_works_on_a_ledger_that_forgets_the_cover(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: each refresh is charged to its newest block alone.

    Without the kernel January is answered twelve times. The mean of these is off by a
    third of what one answer is off by (false alarm: 2e-9), and who was in January alone
    lost more than the limit of January by far. The kernel refuses the price.
    """
    monkeypatch.setattr(executor, "blocks_of", newest_block)
    with monkeypatch.context() as believing:
        believing.setattr(kernel, "check", lambda _: "believed")
        answers = refresh_for_a_year(tmp_path, clock, WORDINGS["the month itself"])
    assert len(answers) == 12
    deviation = answers[0].errors.column("n sd")[0].as_py()
    mean = sum(answer["n"][0].as_py() for answer in answers) / 12
    changed = 5 + 2  # what arrived late of January, and what was deleted
    assert abs(mean - A_MONTH) < DEVIATIONS * deviation / math.sqrt(12) + changed
    lost = sd.compose([answer.loss for answer in answers])
    assert float(lost.advantage()) > 2.5 * float(sd.GaussianDP("0.24").advantage())
    proved = tmp_path / "proved"
    proved.mkdir()
    with pytest.raises(ProofRefused, match="a block that is read and not charged"):
        refresh_for_a_year(proved, clock, WORDINGS["the month itself"])
