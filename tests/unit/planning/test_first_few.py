"""The first few groups as a request: prices, answers, words and refusals."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError
from sordino.losses.loss import Budget
from tests.batches import for_each, sampled
from tests.effort import by_night, often
from tests.planned import planned

PAGES: Final = {
    "person": [person for person in range(400) for _ in range(5)],
    "page": [
        page
        for person in range(400)
        for page in ("home", "news", "help" if person % 2 else "shop", "a", str(person))
    ],
    "time": [3.0] * 2000,
}
LIMITED: Final = sd.table("views").enforce(
    sd.MaxGroupsPerID("page", 5), sd.MaxRowsPerGroupPerID("page", 1)
)
UNKNOWN: Final = LIMITED.group_by("page")
KEYS: Final = sd.KeySet.from_dict({"page": ["home", "news", "help", "shop", "none"]})
KNOWN: Final = LIMITED.group_by(KEYS)
BUDGET: Final = sd.ApproxDP(8, "1e-4")


def opened(protects: Any = None, **more: Any) -> sd.Session:
    unit = protects or sd.AddRowsWithID("person")
    limit = sd.Limit.of(sd.ApproxDP(10**6, "0.5"))
    return sd.Session({"views": sd.PrivateTable(PAGES, protects=unit)}, limit, **more)


@sampled(1, 2)
@for_each("engine", ["duckdb", "memory"])
@for_each("groups", [UNKNOWN, KNOWN], ids=["unknown", "known"])
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_the_first_are_told_in_order(groups: Any, engine: Any) -> None:
    request = groups.top(3, by=sd.count(), n=sd.count(), time=sd.sum("time", 0, 4))
    release = opened(engine=engine).release(request, sd.ApproxDP(10**5, "0.1"))
    assert release["rank"].to_pylist() == [1, 2, 3]
    assert set(release["page"].to_pylist()[:2]) <= {"home", "news", "a"}
    assert release["n"].to_pylist()[0] == 400
    assert release["time"].to_pylist()[0] == pytest.approx(1200, abs=1)
    assert release.errors["rank sd"].null_count == 3
    assert any("comes first" in note for note in release.notes)


@by_night
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_keys_alone_are_ranks() -> None:
    release = opened().release(KNOWN.top(5, by=sd.count()), sd.ApproxDP(10**5, "0.1"))
    assert release.names == ("rank",)
    assert release["page"].to_pylist()[-1] == "none"
    few = sd.table("views").filter(sd.col("page") == "home").enforce(sd.MaxRowsPerID(1))
    request = few.group_by("page").top(4, by=sd.count_ids())
    assert opened().release(request, BUDGET)["page"].to_pylist() == ["home"]
    nobody = sd.table("views").filter(sd.col("page") == "x").enforce(sd.MaxRowsPerID(1))
    request = nobody.group_by("page").top(4, by=sd.count())
    assert len(opened().release(request, BUDGET)) == 0


BUDGETS: Final[list[Budget]] = [
    sd.ApproxDP(1, "1e-6"),
    sd.ApproxZCDP("0.1", "1e-6"),
    sd.PureDP(1),
    sd.ZCDP("0.1"),
    sd.GaussianDP("0.5"),
    sd.Advantage("0.1"),
]
VALUES: Final[list[dict[str, Any]]] = [
    {},
    {"n": sd.count()},
    {"n": sd.count(), "noise": "gaussian"},
    {"n": sd.count(), "coverage": True, "weights": {"rank": 3}},
    {"m": sd.median("time", 0, 10), "n": sd.mean("time", 0, 5)},
]


@sampled(2, 8)
@for_each("budget", BUDGETS, ids=repr)
@for_each("values", VALUES, ids=lambda values: ",".join(values))
def test_prices_are_within_their_budgets(budget: Any, values: dict[str, Any]) -> None:
    if values.get("noise") and budget in {sd.PureDP(1), sd.Advantage("0.1")}:
        return
    price = planned(opened(), KNOWN.top(3, by=sd.count(), **values), budget)
    assert budget.admits(price.loss)


@sampled(1, 3)
@for_each("budget", BUDGETS[:2], ids=repr)
@for_each("values", VALUES, ids=lambda values: ",".join(values))
def test_unknown_keys_need_a_delta(budget: Any, values: dict[str, Any]) -> None:
    session = opened()
    price = planned(session, UNKNOWN.top(3, by=sd.count(), **values), budget)
    assert budget.admits(price.loss)
    assert price.thresholds[0] > 1
    if values.get("noise") is None:
        with pytest.raises(InvalidQuery, match="delta"):
            session.price(UNKNOWN.top(3, by=sd.count(), **values), sd.PureDP(1))


def test_the_price_is_far_below_that_of_all_counts() -> None:
    """Scores err less than counts of all groups, the more so the more groups ids have.

    And for known keys no bound on groups is needed at all.
    """
    wide = sd.table("views").enforce(
        sd.MaxGroupsPerID("page", 50), sd.MaxRowsPerGroupPerID("page", 1)
    )
    session, budget = opened(), sd.ApproxDP(1, "1e-6")
    few = session.price(wide.group_by("page").top(10, by=sd.count()), budget)
    every = session.price(wide.group_by("page").agg(n=sd.count()), budget)
    scale = few._purchase.first
    assert scale is not None
    assert 1.2826 * scale.scale < every.errors["n"].sd / 3
    free = sd.table("views").enforce(sd.MaxRowsPerGroupPerID("page", 1))
    assert session.price(free.group_by(KEYS).top(2, by=sd.count()), sd.PureDP(1))


def test_values_cost_what_few_groups_cost() -> None:
    """An id moves at most as many of the values as there are chosen groups."""
    wide = sd.table("views").enforce(
        sd.MaxGroupsPerID("page", 50), sd.MaxRowsPerGroupPerID("page", 2)
    )
    request = wide.group_by("page").top(3, by=sd.count(), n=sd.count())
    price = opened().price(request, sd.ApproxDP(1, "1e-6"))
    assert price.sensitivity["n"].l0 == 3
    assert price.sensitivity["n"].l1 == 6


def test_coverage_is_of_all_rows() -> None:
    """A count of clamped rows moves by all rows of an id, whatever is told of."""
    request = UNKNOWN.top(1, by=sd.sum("time", 0, 2), coverage=True)
    price = opened().price(request, sd.ApproxDP(1, "1e-6"))
    (counted,) = [
        one for one in price._purchase.plan.coverage.values() if one.kind == "clamped"
    ]
    assert counted.measurement.change.l1 == 5


@pytest.mark.slow
def test_keys_of_a_ledger_hold_it() -> None:
    session = opened()
    first = session.release(UNKNOWN.top(2, by=sd.count()), BUDGET, key="top")
    again = session.release(UNKNOWN.top(2, by=sd.count()), BUDGET, key="top")
    assert first.table == again.table
    with pytest.raises(SordinoError):
        session.release(UNKNOWN.top(3, by=sd.count()), BUDGET, key="top")
    few = UNKNOWN.top(often(1, 2), by=sd.count())
    together = {"few": few, "all": KNOWN.agg(n=sd.count())}
    assert len(session.release_all(together, BUDGET)["few"]) <= 2


@pytest.mark.slow
def test_processing_is_tried_before_the_charge() -> None:
    session = opened()
    request = KNOWN.top(3, by=sd.count(), n=sd.count())
    assert len(session.release(request.filter(sd.col("rank") <= 2), BUDGET)) == 2
    spent = session.spent
    with pytest.raises(SordinoError):
        session.release(request.filter(sd.col("place") <= 2), BUDGET)
    assert session.spent == spent


def test_parts_of_a_table_rank_as_well() -> None:
    """In a part of a table that is charged once, the choice has a price for a unit."""
    session = opened(protects=sd.AddMaxRows(3))
    parts = session.partition("views", "page", ["home", "news"], sd.PureDP(1))
    request = sd.table("views").group_by(KEYS).top(1, by=sd.count())
    assert parts["home"].price(request, sd.PureDP("0.5"))


def test_refusals_name_what_to_do() -> None:
    session = opened()
    mixed = LIMITED.with_columns(half=sd.col("page") == "home").group_by("half", KEYS)
    bad: list[tuple[Any, str]] = [
        (lambda: KNOWN.top(6, by=sd.count()), "5 groups"),
        (lambda: KNOWN.top(0, by=sd.count()), "groups"),
        (lambda: KNOWN.top(True, by=sd.count()), "integer"),
        (lambda: UNKNOWN.top(1001, by=sd.count()), "1000"),
        (lambda: KNOWN.top(1, by="count"), "count or a sum"),
        (lambda: KNOWN.top(1, by=sd.count(), rank=sd.count()), "same name"),
        (lambda: KNOWN.top(1, by=sd.count(), weights={"keys": 1}), "keys"),
        (lambda: KNOWN.top(1, by=sd.count()).suppress_below(3), "leave out"),
        (lambda: KNOWN.top(1, by=sd.mean("time", 0, 9)), "not ranked"),
        (lambda: KNOWN.top(1, by=sd.median("time", 0, 9)), "not ranked"),
        (lambda: KNOWN.top(1, by=sd.sum("time")), "bounds"),
        (lambda: mixed.top(1, by=sd.count()), "all known, or none"),
        (
            lambda: sd.table("views").group_by(KEYS).top(1, by=sd.count()),
            "how many rows",
        ),
        (
            lambda: (
                sd
                .table("views")
                .enforce(sd.MaxRowsPerGroupPerID("page", 1))
                .group_by("page")
                .top(1, by=sd.count())
            ),
            "how many groups",
        ),
    ]
    for ask, words in bad:
        with pytest.raises((InvalidParameter, InvalidQuery, SordinoError), match=words):
            session.price(ask(), sd.ApproxDP(1, "1e-6"))
    assert not session.history()


def test_an_empty_key_set_has_no_first() -> None:
    none = KEYS.filter(sd.col("page") == "nowhere")
    with pytest.raises(SordinoError, match="0 groups"):
        LIMITED.group_by(none).top(1, by=sd.count())
