"""What budgets say of themselves: what noise may spend, what adds up, how often."""

import math
from fractions import Fraction

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.losses.budgets.charge import Allowance, Family
from tests.batches import for_each

HALF = Fraction(1, 2)
MILLIONTH = Fraction(1, 10**6)

ADDED = [
    (sd.PureDP(1), {"epsilon": 1}),
    (sd.ApproxDP(1, "1e-6"), {"epsilon": 1, "delta": MILLIONTH}),
    (sd.ZCDP(HALF), {"rho": HALF}),
    (sd.ApproxZCDP(HALF, "1e-6"), {"rho": HALF, "delta": MILLIONTH}),
    (sd.GaussianDP("sqrt(2)"), {"mu_squared": 2}),
    (
        sd.GaussianDP(2) + sd.ApproxDP(0, "1e-6"),
        {"mu_squared": 4, "delta": MILLIONTH},
    ),
    (sd.PureDP(1) + sd.GaussianDP(1), {}),
]


@for_each(("loss", "sums"), ADDED)
def test_what_adds_up_is_named(loss: sd.Loss, sums: dict[str, Fraction]) -> None:
    assert loss.sums == sums


@for_each("loss", [loss for loss, _ in ADDED[:5]])
def test_a_budget_is_divided_into_parts_that_add_up(loss: sd.Loss) -> None:
    """Three thirds of a budget are the budget; a part may be of any rational size."""
    assert (loss / 3).times(Fraction(3)) == loss
    assert (loss / "1/2").times(HALF) == loss


@for_each("loss", [loss for loss, _ in ADDED[:5]])
def test_a_budget_is_multiplied_by_what_adds_up(loss: sd.Loss) -> None:
    """Three times a budget is what three releases of it add up to."""
    tripled = loss.times(Fraction(3))
    assert isinstance(tripled, sd.Loss)
    assert tripled.sums == {name: 3 * value for name, value in loss.sums.items()}
    assert tripled.admits(loss * 3)
    assert tripled.times(Fraction(1, 3)) == loss


def test_no_delta_is_multiplied_beyond_one() -> None:
    """A chance is at most certain."""
    assert sd.ApproxDP(1, "0.3").times(Fraction(4)) == sd.ApproxDP(4, 1)
    assert sd.ApproxZCDP(1, "0.3").times(Fraction(4)) == sd.ApproxZCDP(4, 1)


@for_each(
    "budget", [sd.Advantage("0.1"), sd.LaplaceLoss(1), sd.PureDP(1) + sd.GaussianDP(1)]
)
def test_what_does_not_add_up_is_not_multiplied(budget: sd.Budget) -> None:
    """A risk, or a loss without a closed form, has no half."""
    with pytest.raises(InvalidParameter, match="State it as sd"):
        budget.times(HALF)


SPENT = [
    (sd.PureDP(1), "laplace", Allowance("epsilon", Fraction(1))),
    (sd.PureDP(1), "gaussian", None),
    (sd.ApproxDP(1, "1e-6"), "laplace", Allowance("epsilon", Fraction(1), MILLIONTH)),
    (sd.ApproxDP(1, "1e-6"), "gaussian", Allowance("epsilon", Fraction(1), MILLIONTH)),
    (sd.ApproxDP(1, 0), "gaussian", None),
    (sd.ZCDP(HALF), "gaussian", Allowance("rho", HALF)),
    (sd.ApproxZCDP(HALF, "1e-6"), "gaussian", Allowance("rho", HALF, MILLIONTH)),
    (sd.GaussianDP(2), "gaussian", Allowance("mu", Fraction(2))),
    (sd.BoundedRangeLoss(1), "laplace", Allowance("epsilon", HALF)),
    (sd.BoundedRangeLoss(1), "gaussian", None),
]


@for_each(("budget", "family", "spent"), SPENT)
def test_a_budget_says_what_noise_may_spend(
    budget: sd.Loss, family: Family, spent: Allowance | None
) -> None:
    """Each family is told its own parameter, exactly where the budget states it."""
    assert budget.allowance(family) == spent


@for_each("budget", [sd.ZCDP(HALF), sd.GaussianDP(1), sd.Advantage("0.1")])
def test_what_is_searched_for_is_the_most(budget: sd.Budget) -> None:
    """The epsilon for Laplace noise is admitted, and a billionth more is not."""
    spent = budget.allowance("laplace")
    assert spent is not None
    assert spent.parameter == "epsilon"
    assert budget.admits(sd.PureDP(spent.amount))
    assert not budget.admits(sd.PureDP(spent.amount * (1 + Fraction(1, 10**8))))


PIECES = [
    (sd.PureDP(0), {}, {}),
    (sd.ApproxDP(0, 0), {}, {}),
    (sd.ApproxDP(1, 0), {sd.ApproxDP(1, 0): 1}, {}),
    (sd.ApproxDP(1, "0.1"), {sd.PureDP(1): 1}, {Fraction(1, 10): 1}),
    (sd.ApproxDP(0, "0.1"), {}, {Fraction(1, 10): 1}),
    (sd.ApproxZCDP(1, "0.1"), {sd.ZCDP(1): 1}, {Fraction(1, 10): 1}),
    (sd.ApproxDP(1, "0.1") * 3, {sd.PureDP(1): 3}, {Fraction(1, 10): 3}),
    (
        sd.PureDP(1) + sd.LaplaceLoss(2) * 2,
        {sd.PureDP(1): 1, sd.LaplaceLoss(2): 2},
        {},
    ),
]


@for_each(("loss", "parts", "chances"), PIECES)
def test_a_loss_comes_apart_into_what_is_composed(
    loss: sd.Loss, parts: dict[sd.Loss, int], chances: dict[Fraction, int]
) -> None:
    """What costs nothing leaves no piece, and a reserve stands apart."""
    assert loss.pieces() == (parts, chances)


def test_kinds_with_a_closed_sum_fold() -> None:
    both = sd.GaussianDP(3) + sd.ZCDP(1) + sd.PureDP(1) + sd.GaussianDP(4) + sd.ZCDP(2)
    assert both == sd.GaussianDP(5) + sd.ZCDP(3) + sd.PureDP(1)
    assert sd.GaussianDP(math.inf) + sd.GaussianDP(1) == sd.GaussianDP(math.inf)
