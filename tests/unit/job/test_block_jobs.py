"""Jobs on tables that grow: what the file may say of blocks, and what is due when."""

import json
import re
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.errors import InvalidJob
from sordino.numbers.calendar import CALENDARS
from sordino.office.job.draft import Draft, draft_text, read_schema
from sordino.office.job.job import Job, read_job, undecided_places
from sordino.office.job.questions import BlockReading
from tests.batches import for_each, table_of
from tests.growing import JOB
from tests.jobs import ran

FIRST = date(2026, 1, 1)


def job_of(folder: Path, text: str) -> Job:
    path = folder / "clinic.toml"
    path.write_text(text, encoding="utf-8")
    return read_job(path)


def test_what_is_said_of_blocks_is_read(tmp_path: Path) -> None:
    """The column, the kind, and which blocks a release of a period reads."""
    job = job_of(tmp_path, JOB)
    assert job.ledger.blocks == sd.Blocks(start="2026-01", every="month")
    assert '"blocks":"arrived"' in job.text.replace(" ", "")
    assert job.releases["wards"].reading == BlockReading(
        CALENDARS["month"], CALENDARS["month"], FIRST
    )
    named = JOB.replace('start = "2026-01", every = "month"', 'names = ["A", 7]')
    job = job_of(tmp_path, named)
    assert job.ledger.blocks == sd.Blocks(names=["A", "7"])
    assert job.releases["wards"].reading is None


READS: dict[str, tuple[str, ...]] = {
    'reads = "period"': ("2026-03",),
    'reads = "all"': ("2026-01", "2026-02", "2026-03"),
    "reads = 2": ("2026-02", "2026-03"),
    "reads = 12": ("2026-01", "2026-02", "2026-03"),
}


@for_each("said", READS)
def test_what_a_period_reads_follows_from_its_name(said: str, tmp_path: Path) -> None:
    text = JOB.replace('schedule = "monthly"', f'schedule = "monthly"\n{said}')
    reading = job_of(tmp_path, text).releases["wards"].reading
    assert reading is not None
    assert reading.blocks_of("2026-03") == READS[said]


def test_what_is_due_begins_where_it_is_said(tmp_path: Path) -> None:
    """Periods are due when they are over, from `since` on."""
    text = JOB.replace('"quarterly"', '"quarterly"\nsince = "2026-Q2"')
    plans = job_of(tmp_path, text).releases
    quarter, wards = plans["quarter"].reading, plans["wards"].reading
    assert quarter is not None
    assert wards is not None
    assert quarter.periods_over(date(2026, 9, 30)) == ["2026-Q2"]
    assert quarter.periods_over(date(2026, 6, 30)) == []
    assert wards.periods_over(date(2026, 3, 31)) == ["2026-01", "2026-02"]
    assert plans["wards"].period(date(2026, 3, 31)) == "2026-02"
    with pytest.raises(InvalidJob, match="The first one is over on 2026-07-01"):
        plans["quarter"].period(date(2026, 6, 30))


FINE = {
    "day": ("day", "week", "month", "quarter", "year"),
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}
_ADVERBS = {
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "yearly",
}
STARTS = {
    "day": "2026-01-01",
    "week": "2026-W01",
    "month": "2026-01",
    "quarter": "2026-Q1",
    "year": "2026",
}


@for_each("every", FINE)
@for_each("schedule", FINE)
def test_no_period_cuts_a_block_in_two(
    every: str, schedule: str, tmp_path: Path
) -> None:
    """For any two kinds: refused, or periods are made of whole blocks, all of them."""
    text = JOB.partition("[releases.quarter]")[0]
    text = text.replace(
        '"2026-01", every = "month"', f'"{STARTS[every]}", every = "{every}"'
    )
    text = text.replace('"monthly"', f'"{_ADVERBS[schedule]}"')
    if schedule not in FINE[every]:
        with pytest.raises(InvalidJob, match=rf"cuts blocks in two: each is a {every}"):
            job_of(tmp_path, text)
        return
    reading = job_of(tmp_path, text).releases["wards"].reading
    assert reading is not None
    periods = reading.periods_over(date(2028, 1, 1))
    blocks = [name for period in periods for name in reading.blocks_of(period)]
    last = reading.schedule.next_start(reading.schedule.first_day(periods[-1]))
    assert blocks == reading.blocks.names_over(reading.first, last)


REFUSED = table_of("refused/block_jobs")


@for_each("what", REFUSED)
def test_what_cannot_be_meant_is_refused_at_its_place(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, match = REFUSED[what]
    assert old in JOB
    monkeypatch.chdir(tmp_path)
    table = {"patient": [1], "arrived": [FIRST], "ward": ["A"], "days": [1]}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    (tmp_path / "clinic.toml").write_text(JOB.replace(old, new, 1))
    code, _, err = ran("price")
    assert code in {1, 2}
    assert re.search(match, err), err
    assert not (tmp_path / "clinic.ledger").exists()


KEYS = {
    "2025-12": "before the first block, 2026-01",
    "again": "period must be a month",
    "2026-1": "period must be a month",
    "2999-01": "must be an open block",
}


@for_each("key", KEYS)
def test_a_key_is_a_period(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which rows are read, so it is no free text; nothing is charged."""
    monkeypatch.chdir(tmp_path)
    table = {"patient": [1], "arrived": [FIRST], "ward": ["A"], "days": [1]}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    (tmp_path / "clinic.toml").write_text(JOB)
    code, _, err = ran("release", "wards", "--key", key)
    assert code in {1, 2}
    assert KEYS[key] in err
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert ledger.entries() == ()


def test_before_the_first_month_is_over_all_has_its_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is due, and `check` says what it will cost: also beside a new ledger."""
    monkeypatch.chdir(tmp_path)
    table = {"patient": [1], "arrived": [FIRST], "ward": ["A"], "days": [1]}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    (tmp_path / "clinic.toml").write_text(JOB.replace("2026-01", "2999-01"))
    for _ in range(2):
        code, out, err = ran("check", "--json")
        assert code == 0, err
        facts = json.loads(out)["releases"]
        assert list(facts["quarter"]["left_in_blocks"]) == [
            "2999-01",
            "2999-02",
            "2999-03",
        ]
        assert ran("release", "--all", "--due")[1] == "nothing is due\n"


def test_a_draft_offers_blocks_where_there_is_a_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a hint, or with all that is needed: then `check` asks for the first month."""
    monkeypatch.chdir(tmp_path)
    table = {"patient": [1], "arrived": [FIRST], "ward": ["A"]}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    columns, _ = read_schema(tmp_path, "visits.parquet")
    choices = ("patient", "1", "1e-6", "?")
    assert '# blocks = "arrived"' in draft_text(
        Draft("visits.parquet", columns, *choices)
    )
    assert "blocks" not in draft_text(
        Draft("visits.parquet", {"patient": "i64"}, *choices)
    )
    words = ("--id", "patient", "--epsilon", "1", "--delta", "1e-6")
    assert ran("init", "visits.parquet", *words, "--blocks", "arrived")[0] == 0
    path = tmp_path / "sordino.toml"
    assert undecided_places(path) == ["ledger.blocks.start"]
    text = path.read_text()
    assert 'limit = { mu = "0.2367" }' in text
    path.write_text(text.replace('"?"', '"2026-01"'))
    code, out, err = ran("check", "--json")
    assert code == 0, err
    assert json.loads(out)["year"]["person"]["most"] == "mu = 0.82"
    assert json.loads(out)["year"]["refused"] == []


EXHAUSTED = 'reads = "all"'


def test_what_asks_for_every_block_is_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest block is spent after one release: `check` says which is refused."""
    monkeypatch.chdir(tmp_path)
    table = {"patient": [1], "arrived": [FIRST], "ward": ["A"], "days": [1]}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    text = JOB.partition("[releases.quarter]")[0]
    (tmp_path / "clinic.toml").write_text(f"{text}{EXHAUSTED}\n")
    code, out, _ = ran("check", "--json")
    refused = json.loads(out)["year"]["refused"]
    assert code == 0
    assert refused[0][:2] == ["wards", "2026-02"]
    assert "sordino" not in refused[0][2]
    assert "would be refused" in ran("check")[1]
