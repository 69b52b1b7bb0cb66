"""Requests that share a budget: evenly, by hand, or by the number of cells."""

from fractions import Fraction
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.batches import for_each

BUDGET: Final = sd.ApproxDP(1, "1e-6")
WARDS: Final = sd.KeySet.from_dict({"ward": list("ABCDEFGH"), "month": range(1, 9)})
ROWS: Final = {"ward": ["A", "B", "A"], "month": [1, 2, 3]}
VISITS: Final = sd.table("visits")
TABLES: Final = {
    "cells": VISITS.group_by(WARDS).agg(n=sd.count()),
    "all": VISITS.agg(n=sd.count()),
}


def opened(budget: Any = BUDGET) -> sd.Session:
    rows = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    return sd.Session({"visits": rows}, budget, engine="memory")


@for_each("weights", [None, "cells", {"cells": 3}, {"cells": 1}])
@for_each("budget", [BUDGET, sd.PureDP(1), sd.ZCDP("1/8"), sd.GaussianDP("1/4")])
def test_a_budget_covers_its_shares(weights: Any, budget: Any) -> None:
    batch = opened(budget).price_all(TABLES, budget, weights=weights)
    assert sum(batch.shares.values()) == 1
    assert budget.admits(batch.loss)


def test_even_weights_are_no_weights() -> None:
    session = opened()
    plain = session.price_all(TABLES, BUDGET)
    even = session.price_all(TABLES, BUDGET, weights={"all": 1})
    for name in TABLES:
        assert even.prices[name].noise == plain.prices[name].noise


def test_noise_is_as_large_as_the_weight_is_small() -> None:
    """Pure differential privacy: a third of epsilon is a scale of three."""
    price = opened(sd.PureDP(1)).price_all(TABLES, sd.PureDP(1), weights={"cells": 2})
    (cells,), (whole,) = (price.prices[name].noise["n"] for name in TABLES)
    assert cells == sd.Geometric(Fraction(3, 2))
    assert whole == sd.Geometric(3)


@for_each("budget", [BUDGET, sd.PureDP(1), sd.ZCDP("1/8"), sd.GaussianDP("1/4")])
def test_requests_that_are_priced_alike_have_their_own_weights(budget: Any) -> None:
    """Two counts of other rows: the one of three times the weight has less noise."""
    asked = {
        "some": VISITS.filter(sd.col("month") > 1).agg(n=sd.count()),
        "all": VISITS.agg(n=sd.count()),
    }
    for heavy, light in (("some", "all"), ("all", "some")):
        batch = opened(budget).price_all(asked, budget, weights={heavy: 3})
        small, large = (batch.prices[name].errors["n"].sd for name in (heavy, light))
        assert small < 0.7 * large
        assert budget.admits(batch.loss)


def test_the_rule_is_told_and_counts_cells() -> None:
    """log2(8 + 4 * 64) against log2(8 + 4), in the batch and in the answer."""
    session = opened()
    batch = session.price_all(TABLES, BUDGET, weights="cells")
    assert float(batch.shares["cells"]) == pytest.approx(
        8.0444 / (8.0444 + 3.585), 1e-3
    )
    assert "weight: 69.2 % of the budget, by log2(8 + 4 cells)" in repr(batch)
    releases = session.release_all(TABLES, BUDGET, weights="cells")
    assert "it has 30.8 % of the budget, by log2(8 + 4 cells)" in (
        releases["all"].explain()
    )


def test_weights_are_part_of_what_is_asked() -> None:
    """With a key, other weights are another question; the same are free."""
    session = opened()
    first = session.release_all(TABLES, BUDGET, weights="cells", key="a")
    again = session.release_all(TABLES, BUDGET, weights="cells", key="a")
    assert first["cells"].table.equals(again["cells"].table)
    with pytest.raises(sd.errors.SordinoError, match="key"):
        session.release_all(TABLES, BUDGET, weights={"all": 5}, key="a")
    with pytest.raises(sd.errors.SordinoError, match="key"):
        session.release_all(TABLES, BUDGET, key="a")


@for_each(
    ("weights", "error", "message"),
    [
        ({"others": 1}, UnknownName, "others"),
        ({"all": 0}, InvalidParameter, "weights"),
        ({"all": -1}, InvalidParameter, "weights"),
        ({"all": True}, InvalidParameter, "weights"),
        ({"all": "much"}, InvalidParameter, "weights"),
        ({"all": 2**50}, InvalidParameter, "2\\*\\*40"),
        ({"all": "sqrt(2)"}, InvalidParameter, "rational"),
        ("rows", InvalidParameter, "cells"),
        ([1, 2], InvalidParameter, "dict"),
    ],
)
def test_what_is_no_weight_is_refused(
    weights: Any, error: type[Exception], message: str
) -> None:
    session = opened()
    with pytest.raises(error, match=message):
        session.release_all(TABLES, BUDGET, weights=weights)
    assert session.remaining == BUDGET


def test_cells_of_unknown_keys_are_not_public() -> None:
    tables = {**TABLES, "wards": VISITS.group_by("ward").agg(n=sd.count())}
    with pytest.raises(InvalidQuery, match=r"wards.*known beforehand"):
        opened().price_all(tables, BUDGET, weights="cells")


@for_each("counted", [True, False])
def test_a_minimum_costs_nothing_where_it_is_counted(counted: bool) -> None:  # noqa: FBT001 a case
    """Shares stay as they were where an answer counts ids; else the plan says more."""
    rows = {"p": list(range(100)), "w": ["a", "b"] * 50}
    table = sd.PrivateTable(rows, protects=sd.AddRowsWithID("p"))
    session = sd.Session({"t": table}, sd.PureDP(1))
    limits = sd.MaxGroupsPerID("w", 2), sd.MaxRowsPerGroupPerID("w", 3)
    keys = sd.KeySet.from_dict({"w": ["a", "b"]})
    answers: dict[str, Any] = {"n": sd.count()}
    answers |= {"people": sd.count_ids()} if counted else {}
    asked = sd.table("t").enforce(*limits).group_by(keys).agg(**answers)
    without, beside = (
        session.price(query, sd.PureDP(1))
        for query in (asked, asked.suppress_below(20))
    )
    assert (without.errors["n"] == beside.errors["n"]) is counted
    assert ("which takes 50% of the budget" in beside.plan) is not counted
