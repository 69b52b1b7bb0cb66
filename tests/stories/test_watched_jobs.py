"""A job that machines run and watch: who was charged, what is left, what may mend."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import LedgerUnavailable
from sordino.office.cli.main import command_parser
from sordino.office.job.job import read_job
from sordino.office.job.questions import PlannedRelease
from sordino.office.job.running import AskedRelease, JobDesk, open_to_release, turn_of
from sordino.release.release import Release
from tests.jobs import JOB, charged, folder, logged, ran
from tests.open_metrics import read_gauges

__all__ = ["folder"]

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "jobs"


# --- Numbers -----------------------------------------------------------------------


def test_numbers_stand_beside_sentences(folder: Path) -> None:
    assert folder
    (made,) = logged("wards", "--on", "2026-11-03")
    assert made["loss_numbers"][0]["epsilon"] == 0.25
    assert made["left_numbers"]["exact"] == {"epsilon": "3/4", "delta": "0/1"}
    assert made["limit_numbers"]["epsilon"] == 1
    assert made["confidence_number"] == 0.95
    facts = json.loads(ran("check", "--json")[1])
    assert facts["left_numbers"] == made["left_numbers"]
    assert facts["limit_numbers"] == made["limit_numbers"]
    third = JOB.replace('"1/4"', '"1/3"').replace("clinic.ledger", "other.ledger")
    (folder / "clinic.toml").write_text(third)
    (made,) = logged("wards", "--on", "2026-11-03")
    assert Fraction(made["loss_numbers"][0]["epsilon"]) > Fraction(1, 3)
    assert Fraction(made["left_numbers"]["epsilon"]) < Fraction(2, 3)


def test_metrics_are_those_of_the_ledger(folder: Path) -> None:
    """Every number is where a strict reader finds it; the file is replaced whole."""
    (folder / "clinic.toml").write_text(JOB.replace("epsilon = 1 ", 'epsilon = "3/4" '))
    logged("ages")
    with sd.Ledger.at("clinic.ledger") as ledger:
        ledger.allot('a"\\b', sd.PureDP("1/8"))
    assert ran("check", "--metrics", "sordino.prom")[0] == 0
    read = read_gauges((folder / "sordino.prom").read_text())
    samples = {
        (name.removeprefix("sordino_"), *(value for _, value in sorted(labels))): value
        for (name, labels), value in read.items()
    }
    assert samples["limit", "dataset", "epsilon"] == 0.75
    assert samples["left", "dataset", "epsilon"] == 0.625
    assert samples["left", 'a"\\b', "epsilon"] == 0.125
    assert 0 <= samples["newest_release_age_seconds", "ages"] < 3600
    assert 27 < samples["days_until_empty",] < 63
    assert samples["charged_releases",] == samples["due_releases",] == 1
    (folder / "link.prom").symlink_to("sordino.prom")
    code, _, err = ran("check", "--metrics", "link.prom")
    assert (code, "symbolic link" in err) == (1, True)


# --- Runs at once ------------------------------------------------------------------


def test_one_run_is_charged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run is charged between the look and the charge: this one is not."""
    job = read_job(folder / "clinic.toml")
    (mine, _), (other, _) = open_to_release(job), open_to_release(job)
    answers, others = JobDesk.answers, list[Any]()

    def after_the_other(
        desk: JobDesk, plan: PlannedRelease, asked: AskedRelease, key: str | None
    ) -> dict[str, Release]:
        if not others:
            others.append(None)
            others.append(other.release(plan, "2026-11", folder))
        return answers(desk, plan, asked, key)

    monkeypatch.setattr(JobDesk, "answers", after_the_other)
    made = mine.release(job.release("wards"), "2026-11", folder)
    assert (made.is_new, others[1].is_new) == (False, True)
    assert made.number == others[1].number
    assert charged() == ["wards/2026-11"]


@pytest.mark.slow
def test_a_later_run_waits_for_its_turn(tmp_path: Path) -> None:
    ledger = tmp_path / "clinic.ledger"
    program = (
        "import sys, pathlib\nfrom sordino.office.job.running import turn_of\n"
        "with turn_of(pathlib.Path(sys.argv[1]), 'a'):\n"
        "    print('in', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(ledger)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        with turn_of(ledger, "b", patience=0):
            pass
        with (
            pytest.raises(LedgerUnavailable, match="by another process"),
            turn_of(ledger, "a", patience=0),
        ):
            pass
        holder.kill()
        with turn_of(ledger, "a", patience=10):
            pass


# --- Files and streams -------------------------------------------------------------


def test_no_output_follows_a_link(folder: Path) -> None:
    victim = folder / "victim.csv"
    victim.write_text("precious")
    (folder / "published").mkdir()
    for name in ("wards-2026-11.csv", "wards-2026-11.csv-metadata.json"):
        link = folder / "published" / name
        link.symlink_to(victim)
        code, _, err = ran("release", "wards", "--on", "2026-11-03")
        assert (code, "symbolic link" in err) == (2, True)
        link.unlink()
    assert (victim.read_text(), charged()) == ("precious", [])


def test_files_for_spreadsheets_hold_no_formula(folder: Path) -> None:
    """A key that would be one has an apostrophe before it; numbers are numbers."""
    job = JOB.replace(
        'keys = { table = "wards" }', 'keys = { ward = ["=A", "A", "-1"] }'
    )
    out = 'schedule = "monthly"\nout = ["csv", "spreadsheet.csv"]'
    (folder / "clinic.toml").write_text(job.replace('schedule = "monthly"', out))
    (made,) = logged("wards", "--on", "2026-11-03")
    plain, defused = (Path(name).read_text("utf-8") for name in made["files"])
    assert made["files"][1].endswith("wards-2026-11.spreadsheet.csv")
    assert '\n"=A",' in plain
    assert sorted(line.split(",")[0] for line in defused.splitlines()[1:]) == [
        *('"\'-1"', '"\'=A"', '"A"'),
    ]
    assert ran("label", made["files"][1], "--ledger", "clinic.ledger")[0] == 0


@pytest.mark.slow
def test_streams_that_are_full_or_closed_are_told_as_such(folder: Path) -> None:
    assert folder
    paths = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    for where, code, told in (
        (">&-", 0, ""),
        (">&- 2>&-", 0, ""),
        (">/dev/full", 4, "standard output cannot be written to"),
    ):
        line = f"{sys.executable} -m sordino risk --epsilon 1 {where}"
        ended = subprocess.run(
            ["/bin/sh", "-c", line],
            env=paths,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == code
        assert told in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "Exception" not in ended.stderr


# --- Questions on the command line -------------------------------------------------


def test_a_question_takes_what_it_needs_of_a_release(folder: Path) -> None:
    """Bounds and keys that it does not need are passed over; who asks is recorded."""
    bounded = JOB.replace(
        'limits = { max_rows_per_id = 3 }\nkeys = { table = "wards" }',
        "limits = { max_rows_per_id = 3 }\nbounds = { days = [0, 9] }\n"
        'keys = { table = "wards" }',
    ).replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(days) AS d")
    (folder / "clinic.toml").write_text(bounded)
    ask = ["--epsilon", "0.1", "--json", "--who", "Ana"]
    count = "SELECT COUNT(*) AS n FROM visits"
    for text in (count, f"{count} GROUP BY ward", count.replace("*", "DISTINCT ward")):
        code, out, err = ran("sql", text, "--like", "wards", *ask)
        assert code == 0, err
        assert json.loads(out)["left_numbers"]["epsilon"] < 1
    with sd.Ledger.at("clinic.ledger") as ledger:
        assert {entry.who for entry in ledger.entries()} == {"Ana"}
    code, _, err = ran("sql", count, *ask)
    assert (code, "--max-rows-per-id" in err) == (1, True)
    assert ran("sql", count, "--max-rows-per-id", "2", *ask)[0] == 0


def test_the_program_that_is_recorded_is_run(folder: Path) -> None:
    job = read_job(folder / "clinic.toml")
    (folder / "queries.py").write_text("def ages(): raise SystemExit")
    desk, _ = open_to_release(job)
    made = desk.release(job.release("ages"), "once", folder)
    assert sorted(made.releases) == ["all", "days"]


# --- Examples ----------------------------------------------------------------------


def test_the_crontab_tries_again_what_may_mend(tmp_path: Path) -> None:
    """Its line, by sh: once, or after code 4 once more; quiet where all is well."""
    line = (EXAMPLES / "crontab").read_text().splitlines()[-1]
    command = line.split(" ", 5)[5].replace("/srv/clinic", str(tmp_path))
    stub = 'echo "$@" >> runs; read code < codes; sed -i 1d codes; exit $code\n'
    for name, text in (("sordino", stub), ("sleep", 'echo "slept $1" >> runs\n')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / name).chmod(0o755)
    again = ["slept 600", "release --due --json"]
    for codes, more, code in (("0", [], 0), ("4 0", again, 0), ("3", [], 1)):
        (tmp_path / "codes").write_text(codes.replace(" ", "\n") + "\n")
        (tmp_path / "runs").unlink(missing_ok=True)
        ended = subprocess.run(
            ["/bin/sh", "-c", command],
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        runs = (tmp_path / "runs").read_text().splitlines()
        assert runs == ["release --due --json", *more]
        assert (ended.returncode, ended.stdout + ended.stderr) == (code, "")
    command_parser().parse_args(runs[0].split())


def test_the_workflow_and_the_container_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = 'source = "visits.parquet"'
    hidden = JOB.replace(source, 'source = { env = "CLINIC_DATABASE" }')
    (folder / "clinic.toml").write_text(hidden)
    lines = (EXAMPLES / "workflow.yml").read_text().splitlines()
    first = lines.index("env:")
    assert lines[first + 1].startswith("  CLINIC_DATABASE: ${{ secrets.")
    monkeypatch.setenv("CLINIC_DATABASE", "visits.parquet")
    steps = [line.split("sordino ")[1] for line in lines if "- run:" in line]
    assert [ran(*step.split())[0] for step in steps] == [0, 0]
    assert len(charged()) == 1

    text = (EXAMPLES / "Dockerfile").read_text()
    orders = dict(line.split(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert "USER" not in orders
    copied, place = orders["COPY"].split()
    assert orders["RUN"] == f"pip install --no-cache-dir {place}{copied}"
    assert json.loads(orders["ENTRYPOINT"]) == ["sordino"]
    assert ran(*json.loads(orders["CMD"]))[0] == 0
    assert len(charged()) == 1


def test_a_release_that_is_named_twice_is_charged_once(folder: Path) -> None:
    assert folder
    lines = logged("wards", "wards", "--key", "x")
    assert [line["charged"] for line in lines] == [True, False]
