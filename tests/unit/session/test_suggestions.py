"""Suggestions: limits and bounds to choose from, and what each costs and loses."""

import io
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import (
    BudgetExceeded,
    InvalidParameter,
    InvalidQuery,
    SordinoError,
    UnknownName,
)

BUDGET: Final = sd.ApproxDP(1, "1e-6")
VISITS: Final[dict[str, list[Any]]] = {
    "patient": [i % 300 for i in range(900)],
    "ward": ["A" if i % 300 < 290 else "ABC"[i // 300] for i in range(900)],
    "days": [40 if i == 0 else i % 10 for i in range(900)],
}
QUERY: Final = (
    sd.table("visits").group_by("ward").agg(n=sd.count(), days=sd.sum("days", 0, 30))
)


def opened(rows: dict[str, list[Any]] = VISITS, protects: Any = None) -> sd.Session:
    unit = protects or sd.AddRowsWithID("patient")
    table = sd.PrivateTable(rows, protects=unit)
    return sd.Session({"visits": table}, sd.ApproxDP(3, "1e-5"))


def test_a_sample_costs_nothing() -> None:
    """Shares are exact, noise is that of the price, and nothing is charged."""
    session = opened()
    limits = {"groups": [1, 3], "rows": [1, 3], "days": [(0, 5), (0, 9)]}
    found = session.suggest(QUERY, BUDGET, sample=VISITS, limits=limits)
    table = found.table.to_pydict()
    assert table["groups per id"] == [1] * 4 + [3] * 4
    assert table["rows per id and group"] == [1, 1, 3, 3] * 2
    cut = [1 - 300 / 900, 1 - 880 / 900, 1 - 320 / 900, 0]
    assert table["rows cut off"] == pytest.approx([one for one in cut for _ in "xx"])
    assert table["days clamped"] == pytest.approx([121 / 300, 1 / 300] * 4)
    assert set(table["days clamped ±"]) == {0.0}
    assert found.best == 3
    price = session.price(found.query(), BUDGET)
    assert table["n noise"][3] == price.errors["n"].sd
    assert "nothing was charged" in repr(found)
    assert not session.history()
    assert found.release is None


@pytest.mark.slow
def test_the_data_is_a_release_of_a_share() -> None:
    """It is charged, in the ledger, kept under a key, and the rest is for the query."""
    session = opened()
    found = session.suggest(QUERY, BUDGET, share="0.2", key="limits")
    (entry,) = session.history()
    assert entry.why == "to suggest limits"
    assert entry.asked == "ApproxDP(epsilon=1/5, delta=1/5000000)"
    assert found.release is not None
    assert found.budget.admits(sd.ApproxDP("0.8", "8e-7"))
    again = session.suggest(QUERY, BUDGET, share="0.2", key="limits")
    assert again.table == found.table
    assert len(session.history()) == 1
    session.release(found.query(), found.budget)
    assert "above these are about" in repr(found)


def test_noise_of_the_data_is_told() -> None:
    """Each share has a deviation, and the widest limits are the measure of cuts."""
    table = opened().suggest(QUERY, BUDGET).table.to_pydict()
    assert table["rows cut off ±"][-1] == 0.0
    assert all(sd > 0 for sd in table["days clamped ±"])
    assert all(0 <= share <= 1 for share in table["rows cut off"])


def test_the_chosen_one_is_a_query() -> None:
    limits = {"rows": [2], "groups": [2], "days": [(0, 7), (0, 9)]}
    found = opened().suggest(QUERY, BUDGET, sample=VISITS, limits=limits)
    assert repr(found.query(1)) == (
        "table('visits').enforce(MaxGroupsPerID(columns=('ward',), limit=2), "
        "MaxRowsPerGroupPerID(columns=('ward',), limit=2)).group_by('ward')"
        ".agg(n=count(), days=sum('days', 0, 9))"
    )
    with pytest.raises(InvalidParameter, match="row"):
        found.query(99)
    with pytest.raises(InvalidParameter, match="row"):
        found.query(-1)


def test_rehearsals_are_samples() -> None:
    session = opened()
    session.view("short", sd.table("visits").filter(sd.col("days") < 20))
    trial = sd.rehearsal(session, rows=400)
    query = sd.table("short").agg(n=sd.count())
    found = session.suggest(query, sd.PureDP(1), sample=trial.tables)
    assert found.table["rows per id"].to_pylist() == [1, 2, 3, 5, 10, 20]
    assert not session.history()


def test_rows_have_bounds_alone() -> None:
    """Where rows are protected, shares are of rows, and limits are refused."""
    session = opened(protects=sd.AddOneRow())
    query = sd.table("visits").agg(days=sd.mean("days", 0, 20))
    found = session.suggest(query, sd.PureDP(1), sample=VISITS)
    assert found.table["days to"].to_pylist() == [10, 20, 40]
    assert found.table["days clamped"].to_pylist() == pytest.approx([1 / 900] * 2 + [0])
    paid = session.suggest(query, sd.PureDP(1))
    assert paid.release is not None
    with pytest.raises(InvalidParameter, match="protects rows"):
        session.suggest(query, sd.PureDP(1), sample=VISITS, limits={"rows": [1]})


def test_people_of_one_row_need_no_limit() -> None:
    """After per_id there is one row of each, and bounds are all there is to choose."""
    query = sd.table("visits").per_id(visits=sd.count())
    session = opened()
    limits = {"visits": [(0, 1), (0, 5)]}
    asked = query.agg(visits=sd.sum("visits"))
    found = session.suggest(asked, sd.PureDP(1), sample=VISITS, limits=limits)
    assert found.table["visits clamped"].to_pylist() == [1.0, 0.0]
    assert found.best == 1


def test_an_id_that_holds_everything() -> None:
    """Nothing gentle is found, and the least loss is said to be one."""
    rows = {**VISITS, "patient": [1] * 900}
    found = opened(rows).suggest(QUERY, BUDGET, sample=rows)
    assert "all lose more than one in twenty" in repr(found)
    shares = found.table["rows cut off"].to_pylist()
    assert shares[found.best] == min(shares)


@pytest.mark.slow
def test_it_shows_itself() -> None:
    found = opened().suggest(QUERY, BUDGET, sample=VISITS)
    assert "*" in repr(found)
    assert "<table>" in found._repr_html_()
    found.plot().savefig(io.BytesIO())


def test_refusals_read_and_charge_nothing() -> None:
    session = opened()
    bad: list[tuple[dict[str, Any], type[SordinoError], str]] = [
        ({"limits": {"rows": [0]}}, InvalidParameter, "rows"),
        ({"limits": {"groups": []}}, InvalidParameter, "groups"),
        ({"limits": {"rows": 3}}, InvalidParameter, "list to try"),
        ({"limits": {"rows": [True]}}, InvalidParameter, "integer"),
        ({"limits": {}}, InvalidParameter, "dict"),
        ({"limits": [3]}, InvalidParameter, "dict"),
        ({"limits": {"people": [3]}}, UnknownName, "people"),
        ({"limits": {"days": [3]}}, InvalidParameter, "pair"),
        ({"limits": {"days": [(3, 1)]}}, SordinoError, "low"),
        ({"limits": {"days": [(None, None)]}}, SordinoError, "None"),
        ({"limits": {"rows": range(1, 300)}}, InvalidParameter, "more choices"),
        ({"share": 0}, InvalidParameter, "share"),
        ({"share": 1}, InvalidParameter, "share"),
        ({"sample": {"visits": {"ward": ["A"]}}}, SordinoError, "patient"),
        ({"sample": 7}, SordinoError, "source"),
    ]
    for given, kind, words in bad:
        with pytest.raises(kind, match=words):
            session.suggest(QUERY, BUDGET, **given)
    with pytest.raises(InvalidParameter, match="budget"):
        session.suggest(QUERY, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="aggregation"):
        session.suggest(sd.table("visits"), BUDGET)  # type: ignore[arg-type]
    with pytest.raises(InvalidQuery, match="no bounds"):
        session.suggest(sd.table("visits").agg(d=sd.sum("days")), BUDGET)
    with pytest.raises(InvalidQuery, match="neither"):
        session.suggest(sd.table("visits").per_id().agg(n=sd.count()), BUDGET)
    with pytest.raises(BudgetExceeded):
        session.suggest(QUERY, sd.ApproxDP(300, "1e-6"))
    assert not session.history()


def test_refusals_say_how_to_choose() -> None:
    session = opened()
    for query in (
        sd.table("visits").agg(n=sd.count()),
        sd.table("visits").group_by("ward").agg(n=sd.count()),
        sd.table("visits").group_by("ward").agg(n=sd.count_ids()),
        sd.table("visits").agg(days=sd.sum("days")),
    ):
        with pytest.raises(InvalidQuery, match=r"session\.suggest"):
            session.price(query, sd.PureDP(1))
