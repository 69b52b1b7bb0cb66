"""Budgets at their edges: risks that allow nothing, sums without a rho, refusals."""

from fractions import Fraction

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
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


def test_only_epsilon_and_delta_are_counted_by_rho() -> None:
    """Of any other budget nothing would be turned into epsilon."""
    with pytest.raises(InvalidParameter, match=r"must be an \(epsilon, delta\) budget"):
        concentrated_filter(sd.PureDP(1))


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
