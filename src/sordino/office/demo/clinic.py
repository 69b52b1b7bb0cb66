"""An invented hospital with a million visits, the same on every machine; a job to try.

Nothing here is secret, so nothing is random: every cell is a fixed scramble of its
place. Each patient has up to three wards and one age; a few wards are so rare that
their name alone would betray who was there.
"""

from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from sordino.errors import InvalidJob

COMMON: Final = (
    *("Emergency", "Cardiology", "Radiology", "Surgery", "Rehabilitation"),
    *("Oncology", "Orthopaedics", "Neurology", "Gastroenterology", "Pulmonology"),
    *("Urology", "Gynaecology", "Psychiatry", "Dermatology", "Nephrology"),
    *("Ophthalmology", "Hepatology", "Haematology", "Endocrinology", "Rheumatology"),
    *("Ear, nose and throat", "Intensive care", "Infectious diseases"),
    *("Vascular surgery", "Neurosurgery", "Day surgery", "Plastic surgery", "Burns"),
    *("Palliative care", "Allergy", "Sleep medicine", "Transplants", "Toxicology"),
    "Dentistry",
)
"""Wards, the largest first."""
RARE: Final = {"Leprosy": 1, "Rabies": 2, "Botulism": 3, "Malaria": 6, "Tetanus": 12}
"""Wards, and how many patients each has."""
CLOSED: Final = "Tuberculosis"
"""A ward of the public list without any patient."""
WARDS: Final = (*COMMON, *RARE, CLOSED)
PATIENTS: Final = 100_000
VISITS: Final = 1_000_000
_PIECE: Final = 100_000
_SKEW: Final = 1.3
_FIRST_DAY: Final = (date(2025, 1, 1) - date(1970, 1, 1)).days
_SHARES: Final = np.cumsum(1 / np.arange(2, len(COMMON) + 2) ** 1.6)

Places = NDArray[np.uint64]
Uniform = NDArray[np.float64]


def scramble(places: Places, stream: int) -> Uniform:
    """Numbers in [0, 1) that look random: splitmix64 of the places."""
    # products wrap around: they are meant modulo 2**64
    with np.errstate(over="ignore"):
        z = places + np.uint64((stream + 1) * 0x9E3779B97F4A7C15 % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    digits = (z ^ (z >> np.uint64(31))) >> np.uint64(11)
    return digits.astype(np.float64) * 2.0**-53


def visits_table(first: int, last: int, patients: int) -> pa.Table:
    """Visits from one number to another."""
    visit = np.arange(first, last, dtype=np.uint64)
    patient = (patients * scramble(visit, 0) ** _SKEW).astype(np.int64)
    ward = _wards(patient, np.searchsorted([0.6, 0.9], scramble(visit, 1)), patients)
    days = 1 - np.log1p(-scramble(visit, 2)) * (1 + ward % 7)
    age = 100 * scramble(patient.astype(np.uint64), 3)
    cost = 180 + days * (150 + 400 * scramble(visit, 4))
    day = _FIRST_DAY + (365 * scramble(visit, 5)).astype(np.int32)
    return pa.table({
        "patient": patient,
        "ward": pa.array(WARDS).take(pa.array(ward)),
        "age": age.astype(np.int64),
        "day": pa.array(day, pa.int32()).cast(pa.date32()),
        "days": days.astype(np.int64),
        "cost": np.round(cost, 2),
    })


def write_visits(
    path: Path, visits: int, patients: int, tick: Callable[[int], object]
) -> pa.Table:
    """Write all visits as Parquet and return them; `tick` hears of each piece."""
    pieces = []
    for first in range(0, visits, _PIECE):
        pieces.append(visits_table(first, min(visits, first + _PIECE), patients))
        tick(pieces[-1].num_rows)
    table = pa.concat_tables(pieces)
    parquet.write_table(table, path)
    return table


def _wards(
    patient: NDArray[np.int64], slot: NDArray[np.int64], patients: int
) -> NDArray[np.int64]:
    """Ward of each visit: one of three wards of its patient."""
    place = (3 * patient + slot).astype(np.uint64)
    drawn = scramble(place, 6) * _SHARES[-1]
    ward: NDArray[np.int64] = np.searchsorted(_SHARES, drawn, "right").astype(np.int64)
    ends = patients // 2 - np.cumsum([0, *RARE.values()])
    for number, (high, low) in enumerate(pairwise(ends)):
        theirs = (low <= patient) & (patient < high)
        ward[theirs & (slot == 0)] = len(COMMON) + number
    return ward


_VISITS: Final = 40_000
_PATIENTS: Final = 24_000
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
# no patient comes more than 15 times a year, so nothing is cut off: with this promise,
# at_most, intervals are of the table, not only of the visits that count
limits = { max_rows_per_id = { limit = 15, at_most = 15 } }
bounds = { days = [0, 30] }
keys = { ward = ["Cardiology", "Emergency", "Oncology", "Radiology", "Surgery"] }
coverage = true                          # count what is cut off: is the promise kept?
budget = { epsilon = "1" }
'''


def write_example(folder: Path) -> list[Path]:
    """Write a table and a job file to a folder, in which neither may be."""
    visits, job = folder / "visits.parquet", folder / "sordino.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # "x": a job file of somebody's own is never written over
        with job.open("x", encoding="utf-8") as file:
            file.write(_JOB)
    except (OSError, ValueError):
        raise InvalidJob(
            str(job), "is there, or cannot be written", "Name a new folder."
        ) from None
    write_visits(visits, _VISITS, _PATIENTS, lambda _: None)
    return [visits, job]
