"""Laws: no group is shown whose noisy count is below what a policy says.

What decides is the price; what is held against it are the answers themselves.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.session.session import Session
from tests.batches import for_each, sampled, table_of, ways_of
from tests.policies import HALF, WARDS, clinic, ledger_under

LEAST: Final = "serial = 1\n[groups]\nleast = 20\n"
ONE: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1))
COUNTED: Final = ONE.group_by(WARDS).agg(n=sd.count())
SIZES: Final = range(12, 29)
"""Of groups around the least count."""


IN_A: Final = sd.col("ward") == "A"
OWN: Final = sd.when(IN_A).then(sd.col("days")).otherwise(None)
"""The days of one ward: no other row has a value."""
MADE: Final = ONE.with_columns(z=OWN)


def unknown(budget: Any, **more: Any) -> Callable[[Session], Any]:
    """Ask for groups that are not known, whose threshold follows from the budget."""
    query = sd.table("visits").enforce(
        sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 1)
    )
    request = query.group_by("ward").agg(n=sd.count_ids(), **more)
    return lambda session: session.price(request, budget)


def priced(request: Any) -> Callable[[Session], Any]:
    return lambda session: session.price(request, HALF)


WAYS: Final = table_of("refused/groups")
REFUSED: Final = ways_of(WAYS["refused"], globals())
"""Answers in which a group with a smaller noisy count may show."""
ALLOWED: Final = ways_of(WAYS["allowed"], globals())


def of_some(row: dict[str, Any]) -> dict[str, Any]:
    return {"z": row["days"] if row["ward"] == "A" else None}


def in_sql(cell: str) -> Callable[[Session], Any]:
    text = "SELECT " + cell + " AS m FROM visits"  # noqa: S608 ours
    one = sd.MaxRowsPerID(1)
    return lambda session: session.price(session.sql(text, limits=one), HALF)


def mean_of(rows: Any, **more: Any) -> Callable[[Session], Any]:
    return priced(rows.agg(m=sd.mean("z", 0, 9, nulls="drop"), **more))


ONLY: Final = ways_of(WAYS["values"], globals())
"""Answers about the rows that have a value, where the question says which have one."""


@for_each("way", list(ONLY))
def test_a_value_that_few_rows_have_makes_no_group(way: str) -> None:
    """For any wording: the rows with a value are a group that nothing counts."""
    with pytest.raises(PolicyRefusal, match=r"groups\.least = 20, .* have a value"):
        ONLY[way](clinic(ledger_under(LEAST)))


@sampled(7)
@for_each("way", list(REFUSED))
def test_what_may_show_less_is_refused(way: str) -> None:
    with pytest.raises(PolicyRefusal, match=r"groups\.least = 20"):
        REFUSED[way](clinic(ledger_under(LEAST)))


@for_each("way", list(ALLOWED))
def test_what_shows_no_less_is_allowed(way: str) -> None:
    ALLOWED[way](clinic(ledger_under(LEAST)))


@for_each("is_known", [True, False])
def test_no_smaller_noisy_count_is_shown(*, is_known: bool) -> None:
    """For any draw: what passes the policy shows no count below it."""
    names = [f"g{size}" for size in SIZES]
    wards = [name for name, size in zip(names, SIZES, strict=True) for _ in range(size)]
    table = {"patient": list(range(len(wards))), "ward": wards}
    visits = sd.PrivateTable(table, protects=sd.AddRowsWithID("patient"))
    ledger = ledger_under(LEAST)
    session = sd.Session({"visits": visits}, ledger=ledger, engine="memory")
    query = sd.table("visits").enforce(
        sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 1)
    )
    keys = sd.KeySet.from_dict({"ward": names}) if is_known else "ward"
    request = query.group_by(keys).agg(n=sd.count_ids())
    request = request.suppress_below(20) if is_known else request
    counts = []
    for _ in range(4):
        release = session.release(request, sd.ApproxDP("1", "1e-9"))
        counts += release.table["n"].to_pylist()
    assert counts
    assert min(counts) >= 20
    assert len(counts) < 4 * len(names)
