"""Laws: no group is shown whose noisy count is below what a policy says.

What decides is the price; what is held against it are the answers themselves.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.session.session import Session
from tests.policies import HALF, WARDS, clinic, ledger_under

LEAST: Final = "serial = 1\n[groups]\nleast = 20\n"
ONE: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1))
COUNTED: Final = ONE.group_by(WARDS).agg(n=sd.count())
SIZES: Final = range(12, 29)
"""Of groups around the least count."""


def unknown(budget: Any, **more: Any) -> Callable[[Session], Any]:
    """Ask for groups that are not known, whose threshold follows from the budget."""
    query = sd.table("visits").enforce(
        sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 1)
    )
    request = query.group_by("ward").agg(n=sd.count_ids(), **more)
    return lambda session: session.price(request, budget)


def priced(request: Any) -> Callable[[Session], Any]:
    """Ask for a price."""
    return lambda session: session.price(request, HALF)


REFUSED: Final[dict[str, Callable[[Session], Any]]] = {
    "known groups": priced(COUNTED),
    "a smaller minimum": priced(COUNTED.suppress_below(19)),
    "a low threshold": unknown(sd.ApproxDP(2, "1e-7")),
    "keys known in part": priced(
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID(("ward", "age"), 1), sd.MaxRowsPerID(1))
        .group_by("ward", sd.KeySet.from_dict({"age": [30, 40]}))
        .agg(n=sd.count_ids())
    ),
    "margins": priced(ONE.marginals(WARDS, order=1)),
    "the first few": priced(ONE.group_by(WARDS).top(1, by=sd.count())),
    "figures over time": priced(ONE.cumulative("ward", ["A", "B"], n=sd.count())),
    "a histogram": priced(ONE.agg(h=sd.histogram("age", [0, 40, 99]))),
    "a histogram of groups": priced(
        ONE
        .group_by(WARDS)
        .agg(h=sd.histogram("age", [0, 40, 99]), n=sd.count())
        .suppress_below(20)
    ),
    "a filter": priced(ONE.filter(sd.col("age") == 30).agg(n=sd.count())),
    "a join": priced(ONE.join_public("regions", on="age").agg(n=sd.count())),
    "rows of a list": priced(
        sd
        .table("visits")
        .flat_map(lambda _: [], returns={"x": "i64"}, max_rows=1)
        .enforce(sd.MaxRowsPerID(1))
        .agg(n=sd.count())
    ),
    "one of several": lambda session: session.price_all(
        {"a": COUNTED.suppress_below(20), "b": COUNTED}, HALF
    ),
    "sets of groups": lambda session: session.price_all(
        ONE.group_by_sets(WARDS, ()).agg(n=sd.count()), HALF
    ),
}
"""Answers in which a group with a smaller noisy count may show."""
ALLOWED: Final[dict[str, Callable[[Session], Any]]] = {
    "known groups": priced(COUNTED.suppress_below(20)),
    "a greater minimum": priced(COUNTED.suppress_below(21)),
    "a filter, by groups": priced(
        ONE
        .filter(sd.col("age") > 30)
        .group_by(WARDS)
        .agg(n=sd.count())
        .suppress_below(20)
    ),
    "a high threshold": unknown(sd.ApproxDP("0.25", "1e-9")),
    "all rows": priced(ONE.agg(n=sd.count(), m=sd.median("age", 0, 99))),
    "all rows, by person": priced(
        sd.table("visits").per_id(d=sd.sum("days", 0, 9)).agg(m=sd.mean("d", 0, 9))
    ),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("way", list(REFUSED))
def test_what_may_show_less_is_refused(way: str) -> None:
    """By the price alone."""
    with pytest.raises(PolicyRefusal, match=r"groups\.least = 20"):
        REFUSED[way](clinic(ledger_under(LEAST)))


@pytest.mark.parametrize("way", list(ALLOWED))
def test_what_shows_no_less_is_allowed(way: str) -> None:
    """The rule refuses no more than it says."""
    ALLOWED[way](clinic(ledger_under(LEAST)))


@pytest.mark.parametrize("is_known", [True, False])
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
