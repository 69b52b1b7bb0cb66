"""A clinic for a year: a table that grows by months, one ledger, two people who ask.

python examples/cases/clinic.py

Visits are invented. Each month of rows has a budget of its own; beside it stands what
one budget for the whole year would buy.
"""

import datetime as dt
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import sordino as sd

MONTHLY = sd.GaussianDP("0.24")
FOR_ANA = sd.GaussianDP("0.12")
ROWS_OF_A_PATIENT = 5
WARDS = ("Cardiology", "Emergency", "Oncology", "Surgery")


def invent_visits(patients: int) -> pa.Table:
    """A row for each visit of a year; most patients come in one or two months."""
    draw = np.random.default_rng(6)
    visits = draw.geometric(0.4, patients)
    patient = np.repeat(np.arange(patients), visits)
    first = draw.integers(1, 13, patients)[patient]
    month = (first + draw.poisson(0.4, len(patient)) - 1) % 12 + 1
    days = draw.integers(1, 29, len(patient))
    arrived = [
        dt.date(2025, month, day)
        for month, day in zip(month.tolist(), days.tolist(), strict=True)
    ]
    ward = draw.choice(4, len(patient), p=[0.25, 0.45, 0.1, 0.2])
    return pa.table({
        "patient": patient,
        "arrived": pa.array(arrived),
        "ward": pa.array(WARDS).take(pa.array(ward)),
    })


def open_session(
    visits: pa.Table, ledger: Path, analyst: str | None = None
) -> sd.Session:
    """A session of one person on the ledger that all share."""
    table = sd.PrivateTable(
        visits, protects=sd.AddRowsWithID("patient"), blocks="arrived"
    )
    return sd.Session(
        {"visits": table},
        budget=MONTHLY,
        ledger=str(ledger),
        blocks=sd.Blocks(start="2025-01", every="month"),
        analyst=analyst,
    )


def count_visits() -> sd.Request:
    """Visits by ward."""
    return (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(ROWS_OF_A_PATIENT))
        .group_by(sd.KeySet.from_dict({"ward": WARDS}))
        .agg(visits=sd.count())
    )


def attempt(session: sd.Session, budget: sd.GaussianDP, key: str) -> str:
    """Ask for the visits, and say what came of it."""
    spent = session.spent
    try:
        session.release(count_visits(), budget, key=key)
    except sd.errors.BudgetExceeded as error:
        return type(error).__name__
    return "free" if session.spent == spent else "answered"


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(patients: int = 60_000) -> list[str]:
    """A year of releases by a job and an analyst, in lines of a table."""
    visits = invent_visits(patients)
    months = [f"2025-{month:02}" for month in range(1, 13)]
    monthly = sd.GaussianDP("0.2")
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "clinic.ledger"
        with open_session(visits, ledger) as job:
            price = job.in_blocks(months[0]).price(count_visits(), monthly)
            for month in months:
                attempt(job.in_blocks(month), monthly, f"wards/{month}")
            year = job.ledger.exposure(12).charged
            march = job.in_blocks("2025-03")
            told = {
                "job: March again, under its key": (march, monthly, "wards/2025-03"),
                "job: March under another key": (march, monthly, "once more"),
            }
            job.ledger.allot("ana", FOR_ANA)
            with open_session(visits, ledger, "ana") as ana:
                march = ana.in_blocks("2025-03")
                told["Ana: March, within her budget"] = (march, FOR_ANA, "staffing")
                told["Ana: March, once more"] = (march, FOR_ANA, "staffing, again")
                came = {what: attempt(*asked) for what, asked in told.items()}
    seconds = time.perf_counter() - begun
    alone = sd.Gaussian.for_loss(monthly / 12, ROWS_OF_A_PATIENT)
    once = monthly.advantage()
    return [
        f"{visits.num_rows:,} visits of {patients:,} patients in {len(months)} months",
        row("", "one budget", "by months"),
        row(
            "sd of a count of a month",
            f"{float(alone.scale):.1f}",
            f"{price.errors['visits'].sd:.1f}",
        ),
        row("advantage, a patient of one month", f"{once:.3f}", f"{once:.3f}"),
        row("advantage, of every month", f"{once:.3f}", f"{year.advantage():.3f}"),
        *(row(what, "", outcome) for what, outcome in came.items()),
        row("seconds", "", f"{seconds:.1f}"),
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
