"""An example to try by hand: twenty thousand invented visits, and a job about them."""

from pathlib import Path
from typing import Final

from sordino.demo.clinic import write_visits
from sordino.errors import InvalidJob

_VISITS: Final = 20_000
_PATIENTS: Final = 4_000
_JOB: Final = '''\
# What the harbour clinic publishes every month, and at what price.
schema = 1

[tables.visits]
source = "visits.parquet"
protects = { id = "patient" }            # all visits of a patient, however many

[ledger]
path = "clinic.ledger"
limit = { epsilon = "2" }                # for all that is ever published

[releases.ward-activity]
sql = """
SELECT ward, COUNT(*) AS n, COUNT(DISTINCT patient) AS people, SUM(days) AS days
FROM visits
GROUP BY ward
"""
# a patient counts in at most two wards, with at most three visits in each
limits = { max_groups_per_id = { ward = 2 }, max_rows_per_group_per_id = { ward = 3 } }
bounds = { days = [0, 30] }
keys = { ward = ["Cardiology", "Emergency", "Oncology", "Radiology", "Surgery"] }
budget = { epsilon = "1" }
'''


def write_example(folder: Path) -> list[Path]:
    """Write a table and a job file to a folder, in which neither may be."""
    visits, job = folder / "visits.parquet", folder / "sordino.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with job.open("x", encoding="utf-8") as file:
            file.write(_JOB)
    except (OSError, ValueError):
        raise InvalidJob(
            str(job), "is there, or cannot be written", "Name a new folder."
        ) from None
    write_visits(visits, _VISITS, _PATIENTS, lambda _: None)
    return [visits, job]
