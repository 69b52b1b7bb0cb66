"""What holds for `for_loss` of every mechanism that adds noise to numbers."""

import random
from fractions import Fraction
from typing import Any

import pytest

import sordino as sd
from tests.batches import for_each, sampled
from tests.cases import THRESHOLDS

BUDGETS: dict[str, Any] = {
    "pure": sd.PureDP("0.7"),
    "approximate": sd.ApproxDP("0.7", "1e-6"),
    "concentrated": sd.ZCDP("0.03"),
    "approximately concentrated": sd.ApproxZCDP("0.03", "1e-6"),
    "gaussian": sd.GaussianDP("0.3"),
    "advantage": sd.Advantage("0.1"),
    "error rates": sd.ErrorRates(fpr="0.01", tpr="0.03"),
}
PAIRS = [
    (kind, name)
    for kind in (sd.Laplace, sd.Geometric, sd.Gaussian, sd.DiscreteGaussian)
    for name in BUDGETS
    if not (kind in {sd.Gaussian, sd.DiscreteGaussian} and name == "pure")
    if not (kind is sd.DiscreteGaussian and name == "gaussian")
]


@sampled(14)
@for_each(
    ("kind", "name"), PAIRS, ids=[f"{kind.__name__} {name}" for kind, name in PAIRS]
)
@for_each("d_in", [1, Fraction(7, 2)], ids=str)
def test_the_least_noise_within_a_loss(kind: Any, name: str, d_in: Any) -> None:
    """The answer's own map is within the loss, and with 0.1 % less noise it is not."""
    budget = BUDGETS[name]
    fitted = kind.for_loss(budget, d_in)
    assert fitted.check(d_in, budget)
    less = fitted.scale * Fraction(999, 1000)
    thinner = kind(less) if kind in {sd.Laplace, sd.Geometric} else kind(scale=less)
    assert not thinner.check(d_in, budget)


def test_closed_forms_are_exact() -> None:
    """Where the headline decides, the scale is the exact quotient."""
    assert sd.Laplace.for_loss(sd.PureDP("1/3"), 2).scale == 6
    assert sd.Geometric.for_loss(sd.PureDP("1/3"), 2).scale == 6
    assert sd.Gaussian.for_loss(sd.ZCDP("1/3"), 2).variance == 6
    assert sd.Gaussian.for_loss(sd.GaussianDP("1/3"), 2).variance == 36
    assert sd.DiscreteGaussian.for_loss(sd.ZCDP("1/3"), 2).variance == 6


def test_a_delta_lowers_the_scale() -> None:
    """Within (1, 1e-6) the analytic Gaussian scale is 4.2247, not the textbook 5.3."""
    fitted = sd.Gaussian.for_loss(sd.ApproxDP(1, "1e-6"), 1)
    assert float(fitted.scale) == pytest.approx(4.224679, rel=1e-6)
    many = sd.Laplace.for_loss(sd.ApproxDP(1, "1e-6"), sd.Sensitivity(l0=100, linf=1))
    assert float(many.scale) < 42


def test_options_are_kept() -> None:
    fitted = sd.Laplace.for_loss(sd.PureDP(1), 1, dtype="f32", granularity=-2)
    assert (fitted.dtype, fitted.granularity) == ("f32", -2)
    assert fitted.scale == Fraction(5, 4)
    assert sd.Geometric.for_loss(sd.PureDP(1), 1, dtype="u8").dtype == "u8"


def fits(case: int) -> tuple[sd.ApproxDP, tuple[int, Any, int]]:
    """Return a budget and a distance between maps, drawn from a seed."""
    rng = random.Random(f"fits {case}")
    epsilon = Fraction(round(10 ** rng.uniform(-2, 0.7), 4)).limit_denominator(10**4)
    delta = Fraction(1, 10 ** rng.randint(3, 15))
    keys, each = rng.choice([1, 2, 7, 40, 100]), rng.randint(1, 3)
    return sd.ApproxDP(epsilon, delta), (keys, rng.randint(each, keys * each), each)


@sampled(5)
@for_each("case", range(5))
@for_each("name", THRESHOLDS)
def test_a_fitted_threshold_is_within_its_loss(name: str, case: int) -> None:
    """For any budget and distance the map of what was fitted is within the budget.

    Asked of the joint curve that is published, not of the one that was searched.
    """
    budget, distance = fits(case)
    model: Any = THRESHOLDS[name](1, 9)
    options = {"dtype": model.dtype, "granularity": model.granularity}
    fitted = type(model).for_loss(budget, distance, **options)
    loss = fitted.map(distance)
    assert budget.admits(loss)
    assert Fraction(loss.delta_at(budget.epsilon)) <= budget.delta
