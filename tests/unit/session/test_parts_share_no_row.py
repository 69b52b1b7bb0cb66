"""Parts of a table share no row, however their values are written."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from tests.batches import for_each

NOON: Final = datetime.fromisoformat("2024-01-01T12:00:00")
WIDE: Final = 2**53 + 1
TABLE: Final = {
    "when": [NOON] * 5,
    "day": [date(2024, 1, 1)] * 5,
    "many": [WIDE] * 5,
    "ward": ["A"] * 5,
    "ill": [True] * 5,
}
BUDGET: Final = sd.PureDP(1)


def session() -> sd.Session:
    table = sd.PrivateTable(TABLE, protects=sd.AddOneRow())
    return sd.Session({"rows": table}, sd.PureDP(10))


@for_each(
    ("by", "values"),
    [
        ("when", [NOON, NOON.replace(tzinfo=UTC)]),
        ("when", [NOON, NOON.replace(hour=14, tzinfo=timezone(timedelta(hours=2)))]),
        ("when", [NOON, np.datetime64(NOON)]),
        ("day", [date(2024, 1, 1), np.datetime64("2024-01-01", "D")]),
        ("many", [WIDE, np.int64(WIDE)]),
        ("many", [WIDE, 2.0**53]),
        ("many", [1, 1.0]),
        ("many", [1, True]),
        ("ill", [True, np.True_]),
        ("ward", ["A", np.str_("A")]),
        ("ward", [None, None]),
    ],
    ids=str,
)
def test_one_value_in_two_forms_is_refused(by: str, values: list[Any]) -> None:
    """Both parts would hold the same rows, each with the budget that is paid once."""
    held = session()
    with pytest.raises(InvalidParameter, match=r"^values "):
        held.partition("rows", by, values, BUDGET)
    assert held.spent == sd.PureDP(0)


@for_each(
    ("by", "values"),
    [
        ("when", [NOON, NOON.replace(hour=13), None]),
        ("many", [WIDE, 2**53, None]),
        ("ward", ["A", "a", "A ", "", None]),
        ("ill", [True, False, None]),
    ],
    ids=str,
)
def test_the_parts_have_every_row_at_most_once(by: str, values: list[Any]) -> None:
    """With hardly any noise the counts of all parts add up to the five rows."""
    table = sd.PrivateTable(TABLE, protects=sd.AddOneRow())
    held = sd.Session({"rows": table}, sd.PureDP(1000))
    found = held.partition("rows", by, values, sd.PureDP(1000))
    counts = [
        part.release(sd.table("rows").agg(n=sd.count()), sd.PureDP(1000))["n"][0]
        for part in found.values()
    ]
    assert [one.as_py() for one in counts] == [5] + [0] * (len(values) - 1)


def test_a_unit_has_in_a_part_what_it_has_in_one_group() -> None:
    """Of 4 groups of 2 rows a part holds 2 rows, and as many parts are charged."""
    unit = sd.AddMaxRowsInMaxGroups("ward", 4, 2)
    held = sd.Session({"rows": sd.PrivateTable(TABLE, protects=unit)}, sd.PureDP(10))
    found = held.partition("rows", "ward", ["A", "B", None], BUDGET)
    assert held.spent == sd.PureDP(3)
    price = found["B"].price(sd.table("rows").agg(n=sd.count()), BUDGET)
    assert price.sensitivity["n"] == sd.Sensitivity(l0=1, l1=2)
