"""A clinic whose session many tests ask."""

import datetime as dt

import pyarrow as pa
import pytest

import sordino as sd


@pytest.fixture(scope="module")
def clinic() -> sd.Session:
    """Return a session on visits of patients, on staff, and on public wards."""
    visits = pa.table({
        "patient": pa.array([1, 1, 2], pa.int64()),
        "ward": ["A", "B", None],
        "days": pa.array([3, 1, None], pa.int64()),
        "cost": [1.5, 2.0, None],
        "ill": [True, False, None],
        "day": [dt.date(2026, 1, 31), dt.date(2026, 2, 1), None],
        "seen": pa.array([None, None, None], pa.timestamp("us")),
        "Name": ["x", "y", "z"],
    })
    tests = {"patient": [1, 2], "result": [0.5, 1.5], "ward": ["A", "B"]}
    return sd.Session(
        tables={
            "visits": sd.PrivateTable(visits, protects=sd.AddRowsWithID("patient")),
            "tests": sd.PrivateTable(tests, protects=sd.AddRowsWithID("patient")),
            "staff": sd.PrivateTable(
                {"member": [1]}, protects=sd.AddRowsWithID("member", "staff")
            ),
            "wards": sd.PublicTable({
                "ward": ["A", "B"],
                "beds": [3, 4],
                "days": [1, 2],
            }),
        },
        budget=sd.ApproxDP(10, "1e-3"),
        engine="memory",
    )
