"""What makes two requests the same: all that is asked, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.session.charging import batch_identity, protection_text, request_identity
from tests.batches import for_each

LONG: Final = "a text of which people are only shown the beginning " * 5
VISITS: Final = sd.table("visits")
BUDGET: Final = sd.PureDP(1)
Made = Callable[[str], Any]


def doubled(row: dict[str, Any]) -> dict[str, Any]:
    return {"k": 2 * len(row)}


def halved(row: dict[str, Any]) -> dict[str, Any]:
    return {"k": len(row) // 2}


def _udf(end: str) -> Any:
    return sd.udf(doubled if end == "a" else halved, {"k": "i64"})


def _edges(end: str) -> list[int]:
    return [*range(300), 400 if end == "a" else 500]


def _counted(rows: Any) -> Any:
    return rows.agg(n=sd.count())


PAIRS: Final[dict[str, Made]] = {
    "table": lambda end: _counted(sd.table("visits" if end == "a" else "stays")),
    "equal": lambda end: _counted(VISITS.filter(sd.col("ward") == LONG + end)),
    "number": lambda end: _counted(VISITS.filter(sd.col("days") > ord(end))),
    "type": lambda end: _counted(
        VISITS.filter(sd.col("days") > (1 if end == "a" else 1.0))
    ),
    "in": lambda end: _counted(VISITS.filter(sd.col("ward").is_in([LONG, end]))),
    "contains": lambda end: _counted(
        VISITS.filter(sd.col("ward").contains(LONG + end))
    ),
    "when": lambda end: _counted(
        VISITS.with_columns(
            z=sd.when(sd.col("days") > 1).then(LONG + end).otherwise("k")
        )
    ),
    "fill": lambda end: _counted(VISITS.fill_null(ward=LONG + end)),
    "rename": lambda end: _counted(VISITS.rename({"ward": LONG + end})),
    "bins": lambda end: _counted(VISITS.bin("days", _edges(end))),
    "names of bins": lambda end: _counted(
        VISITS.bin("days", sd.Bins([0, 1, 2], names=[LONG + end, "o"]))
    ),
    "histogram": lambda end: VISITS.histogram("days", _edges(end)),
    "keys": lambda end: VISITS.group_by(sd.KeySet.from_dict({"ward": [LONG, end]})).agg(
        n=sd.count()
    ),
    "function": lambda end: _counted(VISITS.with_columns(_udf(end))),
    "rows made": lambda end: _counted(
        VISITS.flat_map(
            lambda row: [row], {"k": "i64"}, max_rows=2 if end == "a" else 3
        )
    ),
    "weights": lambda end: VISITS.agg(
        weights={"n": ord(end)}, n=sd.count(), m=sd.sum("days", 0, 3)
    ),
    "noise": lambda end: VISITS.agg(
        noise="laplace" if end == "a" else None, n=sd.count()
    ),
    "bounds": lambda end: VISITS.agg(n=sd.sum("days", 0, ord(end))),
    "probabilities": lambda end: VISITS.agg(
        n=sd.quantiles("days", ["0.1", "0.5" if end == "a" else "0.6"], 0, 3)
    ),
    "name": lambda end: (
        VISITS.agg(a=sd.count()) if end == "a" else VISITS.agg(b=sd.count())
    ),
}
"""For each, two requests that differ in one thing."""


def session() -> sd.Session:
    table = sd.PrivateTable(
        {"ward": ["A", "B"], "days": [1, 2]}, protects=sd.AddOneRow()
    )
    return sd.Session({"visits": table, "stays": table}, BUDGET, engine="memory")


def fingerprint(opened: sd.Session, request: Any) -> str:
    return request_identity(request, opened._desk.catalog, BUDGET, "key").fingerprint


def together(opened: sd.Session, requests: dict[str, Any], budget: Any) -> str:
    return batch_identity(requests, opened._desk.catalog, budget, "key").fingerprint


def hashes() -> list[str]:
    opened = session()
    requests = {name: made("a") for name, made in PAIRS.items()}
    alone = [fingerprint(opened, request) for request in requests.values()]
    return [*alone, together(opened, requests, BUDGET)]


@for_each("pair", PAIRS)
def test_what_differs_is_told_apart(pair: str) -> None:
    """To the last letter; and what is the same is the same in another session."""
    one, other, again = (fingerprint(session(), PAIRS[pair](end)) for end in "aba")
    assert one == again != other


@for_each("pair", ["equal", "bins", "function", "rename"])
def test_views_of_one_name_are_told_apart(pair: str) -> None:
    found = set()
    for end in "ab":
        opened = session()
        opened.view("seen", PAIRS[pair](end).rows)
        found.add(fingerprint(opened, _counted(sd.table("seen"))))
    assert len(found) == 2


def test_several_requests_are_another_request() -> None:
    opened, count = session(), _counted(VISITS)
    found = {
        fingerprint(opened, count),
        together(opened, {"n": count}, BUDGET),
        together(opened, {"m": count}, BUDGET),
        together(opened, {"n": count}, sd.PureDP(2)),
        together(opened, {"n": count, "m": count}, sd.PureDP(2)),
    }
    assert len(found) == 5


@pytest.mark.slow
def test_a_request_is_the_same_in_every_process() -> None:
    told = "from tests.unit.session import test_identity as t; print(*t.hashes())"
    made = subprocess.run(
        [sys.executable, "-c", told],
        env=os.environ
        | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="ascii",
        check=True,
    )
    assert made.stdout.split() == hashes()


def test_whom_a_session_protects() -> None:
    rows = sd.PrivateTable({"x": [1]}, protects=sd.AddOneRow())
    public = sd.PublicTable({"y": [1]})
    assert protection_text({"b": rows, "p": public, "a": rows}) == (
        "tables 'a': AddOneRow(); 'b': AddOneRow()"
    )
