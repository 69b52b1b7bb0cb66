"""What an editor offers after a dot: what the reference names, and nothing else."""

import re
from pathlib import Path
from typing import Any, Final

import sordino as sd
from tests.batches import for_each

REFERENCE: Final = (Path(__file__).parents[3] / "docs" / "reference.md").read_text()
QUERY: Final = sd.table("visits")
REQUEST: Final = QUERY.agg(n=sd.count())
SESSION: Final = sd.Session(
    {"visits": sd.PrivateTable({"ward": ["A"]}, protects=sd.AddOneRow())},
    sd.PureDP(9),
    engine="memory",
)
VALUES: Final[dict[str, Any]] = {
    "session": SESSION,
    "query": QUERY,
    "grouped": QUERY.group_by("ward"),
    "request": REQUEST,
    "price": SESSION.price(REQUEST, sd.PureDP(1)),
    "batch": SESSION.price_all({"n": REQUEST}, sd.PureDP(1)),
    "outlook": SESSION.what_if(REQUEST, sd.PureDP(1)),
    "release": SESSION.release(REQUEST, sd.PureDP(1)),
}


@for_each("name", VALUES)
def test_what_is_offered_is_in_the_reference(name: str) -> None:
    offered = [one for one in dir(VALUES[name]) if not one.startswith("_")]
    assert [one for one in offered if not re.search(rf"\b{one}\b", REFERENCE)] == []
    assert offered
