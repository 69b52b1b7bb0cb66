"""Budgets at their edges, and those that promise little."""

import warnings
from fractions import Fraction
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, WeakBudget
from sordino.losses.budgets.limits import Limit, budget_text, concentrated_filter
from sordino.losses.curves.points import COARSENESS
from sordino.losses.loss import Loss
from sordino.numbers import INFINITE
from tests.batches import for_each

BUDGET = sd.ApproxDP(1, "1e-6")


class Own:
    """A budget that is written in a class of its own."""

    def __repr__(self) -> str:
        return "all of it"


def test_a_budget_of_no_fields_is_written_as_it_shows_itself() -> None:
    assert budget_text(Own()) == "all of it"


def test_a_reserve_needs_a_way_of_counting() -> None:
    with pytest.raises(InvalidParameter, match="reserve is only for"):
        Limit.of(BUDGET, reserve="1e-7")


def test_what_has_no_rho_is_told_by_epsilon() -> None:
    """Once a release without any rho was charged, the sum of epsilons is the loss."""
    rule = concentrated_filter(BUDGET)
    half = sd.ApproxDP("1/2", 0)
    spent = rule.charge_for(BUDGET, half)
    endless = type(spent)(spent.coordinates, (spent.amounts[0], INFINITE, Fraction(0)))
    assert rule.holds(endless)
    assert rule.loss_of(endless) == half


@for_each("delta", ["1e-300", "1e-12", "1e-9"])
def test_the_least_delta_is_a_delta(delta: str) -> None:
    """What may fail, however seldom, has no rho and no mu: such a budget takes none."""
    loss = sd.GaussianDP("0.1") + sd.ApproxDP(0, delta)
    for budget in (sd.ZCDP(1), sd.GaussianDP(1)):
        rule = Limit.of(budget).rule
        with pytest.raises(InvalidParameter, match="cannot be counted"):
            rule.charge_for(loss, loss)


def test_rates_of_blind_guessing_admit_only_nothing() -> None:
    """Whoever may be found as often as by guessing must not be found at all."""
    blind = sd.ErrorRates(fpr="0.1", tpr="0.1")
    assert blind.admits(sd.PureDP(0))
    assert not blind.admits(sd.PureDP("1e-9"))
    with pytest.raises(InvalidParameter):
        blind.times(Fraction(1, 2))


def test_a_lenient_search_decides_on_the_plain_grid() -> None:
    """What a rough grid would allow, and the plain one does not, is searched anew."""

    def loss_at(scale: float) -> Loss:
        # twice as much on the plain grid, which no true bound of a rough one allows
        return sd.PureDP((2 if COARSENESS.get() == 1 else 1) / scale)

    scale = sd.calibrate(loss_at, target=sd.PureDP(1), tolerance="1e-3")
    assert 2 <= scale < 2 * 1.002


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
