"""The curve of bounded-range losses: over every pair, attained, and composable."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sordino.losses.closed import ZCDP, GaussianDP
from sordino.losses.loss import PureDP
from sordino.noise.exponential import BoundedRangeLoss
from tests.batches import for_each, sampled

Law = NDArray[np.float64]
EPSILONS = [0.01, 0.3, 1.0, 2.5, 6.0]
ASKED = np.concatenate(([0.0], np.geomspace(1e-3, 12, 80)))
ALPHAS = np.linspace(0, 1, 201)
ROUNDING = 1e-12


def delta_of(p: Law, q: Law, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def two_outcomes(epsilon: float, most: float) -> tuple[Law, Law]:
    q = math.expm1(epsilon - most) / math.expm1(epsilon)
    p = q * math.exp(most)
    return np.array([p, 1 - p]), np.array([q, 1 - q])


def chosen(scores: Law, rate: float) -> Law:
    weights = np.exp(rate * (scores - scores.max()))
    law: Law = weights / weights.sum()
    return law


@given(
    changes=st.lists(st.floats(0, 1), min_size=2, max_size=6),
    scores=st.lists(st.floats(-4, 4), min_size=6, max_size=6),
    epsilon=st.sampled_from(EPSILONS),
)
def test_no_choice_is_worse(
    changes: list[float], scores: list[float], epsilon: float
) -> None:
    """For any scores and any change of range 1, the curve is over both directions."""
    before = np.array(scores[: len(changes)])
    p, q = chosen(before, epsilon), chosen(before + np.array(changes), epsilon)
    bound = BoundedRangeLoss(Fraction(epsilon)).delta_at(ASKED)
    for first, second in ((p, q), (q, p)):
        found = [delta_of(first, second, e) for e in ASKED]
        assert (np.array(found) <= bound + ROUNDING).all()


@for_each("epsilon", EPSILONS)
def test_some_pair_attains_every_delta(epsilon: float) -> None:
    """At e the pair of two outcomes with losses up to (e + epsilon)/2 is as bad."""
    loss = BoundedRangeLoss(Fraction(epsilon))
    for e in np.linspace(0, epsilon, 40):
        worst = delta_of(*two_outcomes(epsilon, (e + epsilon) / 2), e)
        assert loss.delta_at(e) == pytest.approx(worst, rel=1e-9, abs=1e-13)


@for_each("epsilon", EPSILONS)
def test_a_smaller_range_does_not_cover(epsilon: float) -> None:
    """The planted mutant: a curve of 1 % less is passed by some pair."""
    mutant = BoundedRangeLoss(Fraction(epsilon) * Fraction(99, 100))
    worst = delta_of(*two_outcomes(epsilon, epsilon / 2), 0.0)
    assert mutant.advantage() < worst


@for_each("epsilon", EPSILONS)
def test_odds_change_by_the_factor(epsilon: float) -> None:
    """The best attack turns the odds of alpha into exp(epsilon) times as much."""
    inner = ALPHAS[1:-1]
    tpr = BoundedRangeLoss(Fraction(epsilon)).tpr_at(inner)
    odds = tpr / (1 - tpr) / (inner / (1 - inner))
    np.testing.assert_allclose(odds, math.exp(epsilon), rtol=1e-9)


@given(
    first=st.floats(0, 1),
    second=st.floats(0, 1),
    epsilon=st.sampled_from([0.3, 1.0, 2.5]),
)
def test_compositions_cover_unlike_pairs(
    first: float, second: float, epsilon: float
) -> None:
    """For any two pairs of two outcomes, the composed loss is over their product."""
    pairs = [two_outcomes(epsilon, share * epsilon) for share in (first, second)]
    p, q = (np.outer(pairs[0][i], pairs[1][i]).ravel() for i in (0, 1))
    bound = (BoundedRangeLoss(Fraction(epsilon)) * 2).delta_at(ASKED)
    found = [delta_of(p, q, e) for e in ASKED]
    assert (np.array(found) <= bound + ROUNDING).all()


@for_each("epsilon", EPSILONS)
def test_rho_covers_every_divergence(epsilon: float) -> None:
    """For any order a and any pair, the divergence is at most a rho; near 1 hardly."""
    rho = float(BoundedRangeLoss(Fraction(epsilon)).rho)
    closest = 0.0
    for order in (1.0001, 1.5, 2, 4, 16):
        for most in np.linspace(0, epsilon, 60)[1:-1]:
            p, q = two_outcomes(epsilon, most)
            moment = float((p**order * q ** (1 - order)).sum())
            divergence = math.log(moment) / (order - 1)
            closest = max(closest, divergence / order / rho)
    assert closest <= 1 + 1e-9
    assert closest > 0.98 or epsilon > 1


@for_each("epsilon", EPSILONS)
def test_mu_is_the_least(epsilon: float) -> None:
    loss = BoundedRangeLoss(Fraction(epsilon))
    implied = GaussianDP(loss.guarantees.mu)
    assert (implied.beta_at(ALPHAS) <= loss.beta_at(ALPHAS) + ROUNDING).all()
    alike = 1 / (1 + math.exp(epsilon / 2))
    assert implied.beta_at(alike) == pytest.approx(alike, rel=1e-9)


def test_what_a_range_admits() -> None:
    """As a budget: a lesser range, half as much pure loss, and no composed ranges."""
    budget = BoundedRangeLoss(1)
    assert budget.admits(BoundedRangeLoss("0.99"))
    assert not budget.admits(BoundedRangeLoss("1.01"))
    assert budget.admits(PureDP("0.5"))
    assert not budget.admits(PureDP("0.51"))
    assert not budget.admits(BoundedRangeLoss("0.5") * 2)


@for_each("epsilon", [0, "1e-300", 800, "1e9", math.inf])
def test_extremes(epsilon: object) -> None:
    loss = BoundedRangeLoss(epsilon)
    assert 0 <= loss.delta_at(0.1) <= 1
    assert 0 <= loss.epsilon_at(1e-6) <= float(loss.epsilon)
    assert 0 <= loss.beta_at(0.1) <= 0.9 <= 1 - loss.delta_at(5) + 0.9
    assert loss.tpr_at(0) == (loss.epsilon == math.inf)


@sampled(1)
@for_each(("epsilon", "times"), [("0.1", 100), ("0.5", 30), (1, 2)])
def test_choices_composed_cost_no_more_than_their_rho(
    epsilon: object, times: int
) -> None:
    """The exact rho of many choices bounds them, whatever their laws say composed."""
    many = BoundedRangeLoss(epsilon) * times
    by_rho = ZCDP(many.guarantees.rho)
    for delta in (1e-3, 1e-6, 1e-9):
        assert many.epsilon_at(delta) <= by_rho.epsilon_at(delta) * (1 + 1e-15)
    for rate in (1e-6, 0.01, 0.3):
        assert many.tpr_at(rate) <= by_rho.tpr_at(rate) * (1 + 1e-15)
    both = many + GaussianDP("0.3")
    assert both.epsilon_at(1e-6) <= ZCDP(both.guarantees.rho).epsilon_at(1e-6) + 1e-12
