"""Budgets that protect nobody are accepted, with a warning in odds."""

import warnings
from typing import Any, Final

import sordino as sd
from sordino.errors import WeakBudget
from tests.batches import for_each

TABLES: Final = {
    "visits": sd.PrivateTable({"age": [1]}, protects=sd.AddOneRow()),
}
WEAK: Final = (
    (sd.ApproxDP(1, "0.5"), "53 times in 100"),
    (sd.ApproxDP("0.1", "0.0011"), "2 times in 100"),
    (sd.PureDP("10.5"), "100 times in 100"),
    (sd.PureDP(10**6), "100 times in 100"),
    (sd.ApproxDP(10**18, "0.9"), "100 times in 100"),
    (sd.ZCDP(5), "times in 100"),
    (sd.GaussianDP(4), "times in 100"),
    (sd.Advantage("0.5"), "51 times in 100"),
    (sd.Advantage("0.995"), "100 times in 100"),
    (sd.ErrorRates(fpr="0.01", tpr="0.6"), "60 times in 100"),
    (sd.ErrorRates(fpr="0.001", tpr="0.06"), "60 times in 100"),
)
STRONG: Final = (
    *(sd.PureDP(10), sd.ApproxDP(10, "1e-6"), sd.ApproxDP(1, "1e-3"), sd.PureDP("0.1")),
    *(sd.ZCDP(1), sd.GaussianDP(1), sd.Advantage("0.49")),
    *(sd.ErrorRates(fpr="0.01", tpr="0.5"), sd.ErrorRates(fpr="0.1", tpr="0.45")),
)


def opened(budget: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sd.Session(TABLES, budget, engine="memory")
    return told


@for_each(("budget", "odds"), WEAK, ids=lambda one: str(one)[:30])
def test_a_weak_budget_is_told_in_odds(budget: Any, odds: str) -> None:
    (told,) = opened(budget)
    assert told.category is WeakBudget
    assert odds in str(told.message)
    assert told.filename == __file__


@for_each("budget", STRONG, ids=str)
def test_other_budgets_are_not(budget: Any) -> None:
    assert not opened(budget)


@for_each("verb", ["release", "release_all"])
def test_a_release_is_told_the_same(verb: str) -> None:
    limit = sd.Limit.of(sd.Advantage("0.9"), "gaussian")
    session = sd.Session(TABLES, limit, engine="memory")
    asked: Any = sd.table("visits").agg(n=sd.count())
    asked = {"n": asked} if verb == "release_all" else asked
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        getattr(session, verb)(asked, sd.ApproxDP(1, "0.5"))
    (warning,) = told
    assert warning.category is WeakBudget
    assert warning.filename == __file__


@for_each("loss", [sd.PureDP(1), sd.GaussianDP("0.5"), sd.ZCDP("0.1")])
def test_no_loss_within_a_risk_is_beyond_its_bound(loss: Any) -> None:
    """The bound of a risk holds for each loss that it admits, at every rate."""
    rates = [0.001, 0.01, 0.05, 0.2, 0.5, 0.9]
    tight = sd.Advantage(loss.advantage())
    risks: list[Any] = [sd.ErrorRates(fpr=r, tpr=loss.tpr_at(r)) for r in rates]
    for risk in (tight, *risks):
        assert risk.admits(loss)
        for rate in rates:
            assert loss.tpr_at(rate) <= risk.tpr_at(rate) + 1e-12


@for_each(
    ("risk", "odds"),
    [
        (sd.Advantage("0.05"), "at most 6 times in 100."),
        (sd.ErrorRates(fpr="0.01", tpr="0.03"), "at most 3 times in 100."),
    ],
)
def test_a_risk_shows_itself(risk: Any, odds: str) -> None:
    """By its call, in odds, and as a curve of what any attack achieves at most."""
    page = risk._repr_html_()
    assert repr(risk) in page
    assert odds in page
    assert "<svg" in page
    assert "<script" not in page
