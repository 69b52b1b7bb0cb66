"""What a budget buys: within it, all of it, and the lesser error of what there is."""

from fractions import Fraction
from typing import Any, Final

import pytest

import sordino as sd
from sordino.losses.loss import Budget
from sordino.numbers import total
from sordino.plan.candidates import plans
from sordino.plan.price import Price
from sordino.plan.purchase import purchase_of
from tests.batches import for_each
from tests.planned import planned

VISITS: Final = {"ward": ["A"], "days": [2], "cost": [1.5], "person": ["x"]}
KEYS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
BUDGETS: Final[dict[str, Budget]] = {
    "pure": sd.PureDP(1),
    "approximate": sd.ApproxDP(1, "1e-6"),
    "approximate, large": sd.ApproxDP(5, "1e-5"),
    "concentrated": sd.ZCDP("0.1"),
    "approximately concentrated": sd.ApproxZCDP("0.1", "1e-6"),
    "gaussian": sd.GaussianDP("0.5"),
    "advantage": sd.Advantage("0.2"),
    "error rates": sd.ErrorRates(fpr="0.01", tpr="0.05"),
}
ADDITIVE: Final[dict[str, Any]] = {
    "n": sd.count(),
    "people": sd.count_ids(),
    "days": sd.sum("days", 0, 30),
    "cost": sd.mean("cost", 0, 100),
    "spread": sd.variance("cost", 0, 100),
}
CHOICES: Final[dict[str, Any]] = {"middle": sd.median("cost", 0, 100)}


def session() -> sd.Session:
    """Return a session over one row, in which nothing is released."""
    table = sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("person"))
    return sd.Session({"visits": table}, sd.PureDP(1))


def priced(
    asked: dict[str, Any], budget: Budget, by: Any = KEYS, **given: Any
) -> Price:
    bounds = sd.MaxGroupsPerID("ward", 4), sd.MaxRowsPerGroupPerID("ward", 2)
    query = sd.table("visits").enforce(*bounds).group_by(by)
    return planned(session(), query.agg(**asked, **given), budget)


@for_each("mu", [30, 100, 1000])
def test_large_batches_by_mu_are_proved(mu: int) -> None:
    """Whatever is bought by mu the kernel accepts: no more than what it can prove."""
    table = sd.PrivateTable(VISITS, protects=sd.AddOneRow())
    budget = sd.GaussianDP(mu)
    asked = {
        "by ward": sd.table("visits").group_by(KEYS).agg(n=sd.count()),
        "all": sd.table("visits").agg(n=sd.count(), middle=sd.median("cost", 0, 100)),
    }
    with pytest.warns(sd.errors.WeakBudget):
        sd.Session({"visits": table}, budget).release_all(asked, budget)


@for_each("budget", BUDGETS.values(), ids=list(BUDGETS))
@for_each("choices", [{}, CHOICES], ids=["noise", "noise and choices"])
def test_a_price_is_within_its_budget(budget: Budget, choices: dict[str, Any]) -> None:
    found = priced(ADDITIVE | choices, budget)
    if choices and isinstance(budget, sd.ApproxDP):  # two budgets that add up to it
        spent = total(*(one.guarantees.epsilon for one in found._purchase.losses_apart))
        left = Fraction(str(budget.epsilon)) - Fraction(str(spent))
        budget = sd.ApproxDP(left, budget.delta)
        assert budget.admits(found._purchase.additive_loss)
    else:
        assert budget.admits(found.loss)


@for_each("name", ["approximate", "approximately concentrated"])
@for_each("noise", ["laplace", "gaussian"])
def test_unknown_keys_are_within_the_budget(name: str, noise: Any) -> None:
    found = priced(ADDITIVE, BUDGETS[name], "ward", noise=noise)
    assert BUDGETS[name].admits(found.loss)
    assert found.family == noise
    assert len(found.thresholds) == 1


def test_laplace_spends_all_of_epsilon() -> None:
    found = priced(ADDITIVE | CHOICES, sd.PureDP("0.7"))
    assert found.loss.guarantees.epsilon == Fraction(7, 10)


def test_gaussian_spends_all_of_rho() -> None:
    found = priced(ADDITIVE | CHOICES, sd.ZCDP("0.7"))
    assert found.loss.guarantees.rho == Fraction(7, 10)


def test_weights_share_the_budget() -> None:
    asked = {"cost": sd.sum("cost", 0, 100), "days": sd.sum("days", 0, 30)}
    found = priced(asked, sd.PureDP(1), weights={"days": 3})
    (few,), (many,) = found.noise["cost"], found.noise["days"]
    assert few.map(found.sensitivity["cost"]).guarantees.epsilon == Fraction(1, 4)
    assert many.map(found.sensitivity["days"]).guarantees.epsilon == Fraction(3, 4)


def test_the_same_number_is_paid_once() -> None:
    """Two columns of one number have the same mechanism, with both their shares."""
    alone = priced({"n": sd.count()}, sd.PureDP(1))
    twice = priced({"n": sd.count(), "again": sd.count()}, sd.PureDP(1))
    assert twice.noise["n"] == twice.noise["again"] == alone.noise["n"]


def test_where_an_id_has_one_row_in_a_group_rows_are_people() -> None:
    bounds = sd.MaxGroupsPerID("ward", 4), sd.MaxRowsPerGroupPerID("ward", 1)
    query = sd.table("visits").enforce(*bounds).group_by("ward")
    asked = query.agg(n=sd.count(), people=sd.count_ids())
    found = planned(session(), asked, sd.ApproxDP(1, "1e-6"))
    assert found.noise["n"] == found.noise["people"]
    assert len(found._purchase.plan.measurements) == 1


def test_an_id_is_in_no_more_groups_than_there_are() -> None:
    """Of two known groups an id that may be in four is counted in two."""
    noise: Any = priced({"people": sd.count_ids()}, sd.PureDP(1)).noise["people"]
    assert noise[0].scale == 2


def test_the_family_with_the_lesser_error_is_taken() -> None:
    wards = sd.KeySet.from_dict({"ward": [f"ward {place}" for place in range(40)]})
    for groups, family in ((1, "laplace"), (40, "gaussian")):
        query = sd.table("visits").enforce(sd.MaxGroupsPerID("ward", groups))
        asked = query.group_by(wards).agg(n=sd.count_ids())
        found = planned(session(), asked, sd.ApproxDP(1, "1e-6"))
        other: Any = {"laplace": "gaussian", "gaussian": "laplace"}[family]
        forced = query.group_by(wards).agg(n=sd.count_ids(), noise=other)
        worse = planned(session(), forced, sd.ApproxDP(1, "1e-6"))
        assert found.family == family
        assert found.errors["n"].sd < worse.errors["n"].sd


def test_a_mean_alone_is_a_pair_and_beside_a_count_what_errs_less() -> None:
    """In the Laplace family the pair of sums errs less than deviations and a count."""
    found = priced({"cost": sd.mean("cost", 0, 100)}, sd.PureDP(1))
    (pair,) = found.noise["cost"]
    # 4 groups of 2 rows, each adding 100 to the two sums together
    assert pair == sd.Laplace(800)


def test_a_mean_beside_an_answer_of_one_form_is_a_pair_all_the_same() -> None:
    """Columns that can be put together in one way only end nobody's choice."""
    asked = {"days": sd.sum("days", 0, 30), "cost": sd.mean("cost", 0, 100)}
    found = priced(asked, sd.PureDP(2))
    assert found.noise["cost"] == (sd.Laplace(800),)


@for_each("groups", [1, 4, 100])
def test_keys_alone_take_the_lower_threshold(groups: int) -> None:
    """Of the ways to show keys the one is bought that shows those of fewer rows."""
    query = sd.table("visits").enforce(sd.MaxGroupsPerID("ward", groups))
    asked, budget = query.group_by("ward").keys(), sd.ApproxDP(1, "1e-6")
    found = planned(session(), asked, budget)
    ways = plans(asked, session()._desk.catalog)
    each = [purchase_of(plan, budget) for plan in ways]
    levels = [one.level or 0 for one in each if one is not None]
    # weights in rounds are a third way where an id may have several groups
    assert len(levels) == 2 + (groups > 1)
    assert found._purchase.level == min(levels)
