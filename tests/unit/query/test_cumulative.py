"""Figures over time as requests: answers, blocks, order and refusals."""

import datetime as dt
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError, UnknownName
from tests.batches import for_each

ENDLESS: Final = sd.PureDP(10**9)
SALES: Final = {
    "person": [i % 40 for i in range(240)],
    "ward": ["AB"[i % 2] for i in range(240)],
    "month": [("Jan", "Feb", "Mar", "Apr")[i % 4] for i in range(240)],
    "week": [i % 6 + 1 for i in range(240)],
    "cost": [1.5] * 240,
    "items": [2] * 240,
}
WEEKS: Final = range(1, 7)


def opened(protects: Any = None, **more: Any) -> sd.Session:
    unit = protects or sd.AddOneRow()
    limit = sd.Limit.of(sd.ApproxDP(10**12, "0.9"))
    return sd.Session({"sales": sd.PrivateTable(SALES, protects=unit)}, limit, **more)


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
@for_each("engine", ["duckdb", "memory"])
def test_figures_of_weeks(engine: Any) -> None:
    request = sd.table("sales").cumulative(
        "week",
        WEEKS,
        last=(2, 3),
        n=sd.count(),
        cost=sd.sum("cost", 0, 2),
        items=sd.sum("items", 0, 5),
    )
    release = opened(engine=engine).release(request, ENDLESS)
    assert release["n"].to_pylist() == pytest.approx([40] * 6, abs=1e-3)
    to_date = [40.0 * week for week in WEEKS]
    assert release["n_to_date"].to_pylist() == pytest.approx(to_date, abs=1e-3)
    twos = [40, *[80] * 5]
    assert release["n_last_2"].to_pylist() == pytest.approx(twos, abs=1e-3)
    assert release["n_last_3"].to_pylist()[-1] == pytest.approx(120, abs=1e-3)
    assert release["cost_to_date"].to_pylist()[-1] == pytest.approx(360, abs=0.1)
    assert release["items_to_date"].to_pylist()[-1] == pytest.approx(480, abs=1e-3)
    assert release.errors.column_names[1:4] == ["n sd", "n low", "n high"]


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_everything_adds_up() -> None:
    """Whatever the noise, figures of one release are consistent to the last digits."""
    request = sd.table("sales").cumulative("week", WEEKS, last=3, n=sd.count())
    table = opened().release(request, sd.ApproxDP(1, "1e-6")).table.to_pydict()
    total = 0.0
    for place, each in enumerate(table["n"]):
        total += each
        assert table["n_to_date"][place] == pytest.approx(total)
    assert sum(table["n"][-3:]) == pytest.approx(table["n_last_3"][-1])


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
@for_each("known", [True, False])
def test_groups_have_figures_of_their_own(known: bool) -> None:  # noqa: FBT001 a case
    wards: Any = sd.KeySet.from_dict({"ward": ["B", "A"]}) if known else "ward"
    months = ["Jan", "Feb", "Mar", "Apr"]
    request = (
        sd.table("sales").group_by(wards).cumulative("month", months, n=sd.count())
    )
    release = opened().release(request, sd.ApproxDP(10**9, "0.5"))
    rows = {
        (row["ward"], row["month"]): row["n_to_date"]
        for row in release.table.to_pylist()
    }
    assert len(rows) == 8
    assert [rows["A", month] for month in months] == pytest.approx(
        [60, 60, 120, 120], abs=0.1
    )
    assert [rows["B", month] for month in months] == pytest.approx(
        [0, 60, 60, 120], abs=0.1
    )


def test_people_in_many_periods_have_each_alone() -> None:
    """What errs less is taken: correlated noise, or each period alone for many."""
    session = opened(sd.AddRowsWithID("person"))
    budget = sd.ApproxDP(1, "1e-6")
    weeks = list(range(1, 53))

    def sd_of(most: int, **more: Any) -> float:
        rows = sd.table("sales").enforce(
            sd.MaxGroupsPerID("week", most), sd.MaxRowsPerGroupPerID("week", 1)
        )
        request = rows.cumulative("week", weeks, n=sd.count(), **more)
        return session.price(request, budget).errors["n"].sd

    one = sd_of(1)
    assert sd_of(1, noise="laplace") > 2 * one / 2.33
    assert sd_of(2) > one
    assert sd_of(52) < 52 * one


def test_a_first_visit_counts_people_once() -> None:
    """People to date are counted by the first week of each, by per_id."""
    first = sd.table("sales").per_id(week=sd.min("week"))
    request = first.cumulative("week", WEEKS, people=sd.count())
    price = opened(sd.AddRowsWithID("person")).price(request, sd.GaussianDP(1))
    assert price.sensitivity["people"].l0 == 6
    with pytest.raises(InvalidQuery, match="per_id"):
        opened(sd.AddRowsWithID("person")).price(
            sd
            .table("sales")
            .enforce(sd.MaxGroupsPerID("week", 2))
            .cumulative("week", WEEKS, people=sd.count_ids()),
            sd.GaussianDP(1),
        )


@for_each(
    "budget",
    [
        sd.PureDP(1),
        sd.ApproxDP(1, "1e-6"),
        sd.ZCDP("0.1"),
        sd.GaussianDP("0.3"),
        sd.ApproxZCDP("0.1", "1e-6"),
    ],
    ids=repr,
)
def test_prices_are_within_their_budgets(budget: Any) -> None:
    request = sd.table("sales").cumulative(
        "week",
        WEEKS,
        n=sd.count(),
        cost=sd.sum("cost", 0, 9),
        coverage=True,
        weights={"n": 3},
    )
    session = opened()
    assert budget.admits(session.price(request, budget).loss)


def test_days_and_months_are_listed_as_dates() -> None:
    day = dt.date(2026, 1, 30)
    table = sd.PrivateTable({"day": [day]}, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.PureDP(1))
    days = [day + dt.timedelta(place) for place in range(365)]
    months = [dt.date(2025 + place // 12, place % 12 + 1, 1) for place in range(15)]
    for periods in (days, months):
        request = sd.table("t").cumulative("day", periods, n=sd.count())
        assert session.price(request, sd.PureDP(1))
    with pytest.raises(InvalidParameter, match="gap after 2026-03-01"):
        sd.table("t").cumulative("day", [*days[:31], *days[32:]], n=sd.count())
    with pytest.raises(InvalidParameter, match="gap"):
        sd.table("t").cumulative("day", [*months[:3], *months[4:]], n=sd.count())


def test_refusals_name_what_to_do() -> None:
    rows = sd.table("sales")
    calls: list[tuple[Any, str]] = [
        (lambda: rows.cumulative("week", [1, 2, 4], n=sd.count()), "gap after 2"),
        (lambda: rows.cumulative("week", [2, 1], n=sd.count()), "stands after"),
        (lambda: rows.cumulative("week", [1, 1], n=sd.count()), "twice"),
        (lambda: rows.cumulative("week", [1], n=sd.count()), "2 to"),
        (lambda: rows.cumulative("week", range(9999), n=sd.count()), "2 to"),
        (lambda: rows.cumulative("week", "1234", n=sd.count()), "2 to"),
        (lambda: rows.cumulative("week", [1, None], n=sd.count()), "whole numbers"),
        (lambda: rows.cumulative("week", [1, "2"], n=sd.count()), "whole numbers"),
        (lambda: rows.cumulative("week", WEEKS, last=7, n=sd.count()), "last"),
        (lambda: rows.cumulative("week", WEEKS, last=1, n=sd.count()), "last"),
        (lambda: rows.cumulative("week", WEEKS, last=(2, 2), n=sd.count()), "twice"),
        (lambda: rows.cumulative("week", WEEKS, last="2", n=sd.count()), "periods"),
        (lambda: rows.cumulative("week", WEEKS), "aggregation"),
        (lambda: rows.cumulative("week", WEEKS, n=3), "aggregation"),
        (lambda: rows.cumulative("day", WEEKS, n=sd.count()), "day"),
        (lambda: rows.cumulative("week", WEEKS, n=sd.sum("items")), "bounds"),
        (lambda: rows.cumulative("week", WEEKS, n=sd.mean("items", 0, 9)), "add up"),
        (lambda: rows.cumulative("week", WEEKS, n=sd.median("items", 0, 9)), "add up"),
        (
            lambda: rows.group_by("week").cumulative("week", WEEKS, n=sd.count()),
            "week",
        ),
        (
            lambda: rows.cumulative("week", WEEKS, n=sd.count()).suppress_below(3),
            "leave out",
        ),
    ]
    session = opened()
    for ask, words in calls:
        with pytest.raises((InvalidParameter, InvalidQuery, UnknownName), match=words):
            session.price(ask(), sd.PureDP(1))
    assert not session.history()


def test_words_tell_requests_apart() -> None:
    session = opened()
    asked = [
        sd.table("sales").cumulative("month", months, last=last, n=sd.count())
        for months in (["Jan", "Feb"], ["Feb", "Jan"])
        for last in ((), (2,))
    ]
    session.release(asked[0], sd.PureDP(1), key="figures")
    for other in asked[1:]:
        with pytest.raises(SordinoError):
            session.release(other, sd.PureDP(1), key="figures")


def test_first_rows_of_people_are_a_join() -> None:
    """Each person counts once, where their first day was, whichever row of it."""
    rows = {"p": [1, 1, 2, 2], "day": [3, 1, 2, 2], "ward": ["A", "B", "A", "A"]}
    table = sd.PrivateTable(rows, protects=sd.AddRowsWithID("p"))
    first_day = sd.table("t").per_id(day=sd.min("day"))
    first = (
        sd
        .table("t")
        .join_private(first_day, on=("p", "day"))
        .enforce(sd.MaxRowsPerID(1))
    )
    keys = sd.KeySet.from_dict({"ward": ["A", "B"]})
    request = first.group_by(keys).agg(n=sd.count())
    for engine in ("memory", "duckdb"):
        session = sd.Session({"t": table}, sd.PureDP(10**9), engine=engine)
        release = session.release(request, sd.PureDP(10**6))
        assert release["n"].to_pylist() == [1, 1]
        assert session.price(request, sd.PureDP(1)).sensitivity["n"].l1 == 1


@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
@for_each(
    "asked", [sd.variance("items", 0, 9), sd.stdev("items", 0, 9), sd.median("items")]
)
def test_what_a_person_has_no_exact_form_of_is_refused(asked: Any) -> None:
    """By its name, with the reason and the way out."""
    session = opened(sd.AddRowsWithID("person"))
    query = sd.table("sales").per_id(x=asked).agg(n=sd.count())
    with pytest.raises(InvalidQuery, match=r"engines .*per_id"):
        session.price(query, sd.PureDP(1))
