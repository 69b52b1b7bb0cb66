"""A table that grows for a year, and the clock by which its blocks open."""

import datetime as dt
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sordino.ledger import opening
from sordino.ledger.file_format import World

YEAR: Final = 2026
A_MONTH: Final = 300
"""New visits, each by a patient of its own, but for one who comes every month."""
ALWAYS: Final = 0
JOB: Final = """
[tables.visits]
source = "visits.parquet"
protects = { id = "patient" }
blocks = "arrived"
[ledger]
path = "clinic.ledger"
limit = { mu = "0.24" }
blocks = { start = "2026-01", every = "month" }
[releases.wards]
sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
limits = { max_rows_per_id = 1 }
keys = { ward = ["A", "B"] }
budget = { mu = "0.2" }
schedule = "monthly"
[releases.quarter]
sql = "SELECT COUNT(*) AS n, SUM(days) AS days FROM visits"
limits = { max_rows_per_id = 3 }
bounds = { days = [0, 9] }
budget = { mu = "0.1" }
schedule = "quarterly"
"""


@final
@dataclass
class Visits:
    """Visits so far, as dicts; a file is written of all of them."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def pass_month(self, month: int) -> None:
        """Add a month of visits, and what happens to older ones meanwhile.

        Some arrive late, a month after their day; one is corrected, one is deleted.
        """
        first = dt.date(YEAR, month, 1)
        for place in range(A_MONTH):
            patient = ALWAYS if place == 0 else 1000 * month + place
            self.add(patient, first + dt.timedelta(place % 28), place)
        if month > 1:
            for place in range(5):
                self.add(500_000 + 10 * month + place, dt.date(YEAR, month - 1, 20), 1)
            self.rows[-400]["days"] = 9
            del self.rows[-350]

    def add(self, patient: int, day: dt.date, number: int) -> None:
        self.rows.append({
            "patient": patient,
            "arrived": day,
            "ward": "AB"[number % 2],
            "days": number % 10,
        })

    def write(self, folder: Path, day: dt.date = dt.date(YEAR + 4, 1, 1)) -> None:
        """Write the table anew, as a refresh does on a day."""
        path = folder / "visits.parquet"
        pq.write_table(pa.Table.from_pylist(self.rows), path)
        when = dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()
        os.utime(path, (when, when))

    def count(self, month: int) -> int:
        """Return how many visits of a month there are now."""
        return sum(row["arrived"].month == month for row in self.rows)


@final
@dataclass
class Clock:
    """A day that ledgers take for today."""

    day: dt.date = dt.date(YEAR, 1, 15)

    def now(self) -> dt.datetime:
        return dt.datetime.combine(self.day, dt.time(12), dt.UTC)


def set_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock by which every ledger that is opened goes."""
    clock = Clock()
    monkeypatch.setattr(opening, "World", lambda: World(clock=clock.now))
    return clock


def months_after(count: int) -> Iterator[tuple[int, dt.date]]:
    for month in range(1, count + 1):
        yield month, dt.date(YEAR + month // 12, month % 12 + 1, 3)
