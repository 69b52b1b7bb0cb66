"""What holds for every loss, whatever its form."""

import numpy as np
import pytest

import sordino as sd
from sordino.losses.curves.composition import Convolution
from sordino.losses.guarantees import NOTHING
from sordino.numbers import up
from tests.batches import for_each, sampled
from tests.cases import LOSSES

ALPHAS = np.concatenate(([0.0], np.logspace(-12, -2, 60), np.linspace(0.011, 1, 140)))
EPSILONS = np.concatenate(([0.0], np.logspace(-3, 1.5, 90)))
ROUNDING = 2e-9
"""What one tilt or one rounding may differ from the next by, relatively."""

every_loss = for_each("loss", LOSSES.values(), ids=LOSSES)


@sampled(6, 14)
@every_loss
def test_beta_is_convex_decreasing_and_below_blind_guessing(loss: sd.Loss) -> None:
    """A trade-off curve: beta(0) <= 1, beta(1) = 0, and no bump between."""
    beta = loss.beta_at(ALPHAS)
    assert (beta >= 0).all()
    assert (beta <= 1 - ALPHAS).all()
    assert (np.diff(beta) <= ROUNDING).all()
    slopes = np.diff(beta) / np.diff(ALPHAS)
    assert (np.diff(slopes) >= -1e-3 * np.abs(slopes[:-1]) - 1e-6).all()
    assert beta[-1] == 0


@every_loss
def test_tpr_and_beta_are_two_sides_of_one_test(loss: sd.Loss) -> None:
    """What is found and what is missed add up to at least one, and hardly more."""
    total = loss.tpr_at(ALPHAS) + loss.beta_at(ALPHAS)
    assert (total >= 1 - 1e-14).all()
    assert (total <= 1 + 1e-5).all()


@every_loss
def test_beta_is_its_own_inverse(loss: sd.Loss) -> None:
    """Neither direction is better for the attacker: f(f(alpha)) is alpha."""
    inner = ALPHAS[(ALPHAS > 1e-3) & (ALPHAS < 0.5)]
    beta = loss.beta_at(inner)
    again = loss.beta_at(beta)
    steep = loss.beta_at(np.maximum(inner - 1e-4, 0)) - beta < 0.05
    known = steep & (beta > 0) & (beta < 1 - float(loss.delta_at(1e3)) - 1e-6)
    np.testing.assert_allclose(again[known], inner[known], rtol=2e-3)


@every_loss
def test_delta_decreases_and_mirrors_below_zero(loss: sd.Loss) -> None:
    """Delta falls with epsilon, and below zero is that of the exchanged databases."""
    delta = loss.delta_at(EPSILONS)
    assert (np.diff(delta) <= ROUNDING * delta[:-1]).all()
    below = loss.delta_at(-EPSILONS)
    np.testing.assert_allclose(1 - below, np.exp(-EPSILONS) * (1 - delta), atol=1e-12)


@every_loss
def test_delta_and_beta_are_dual(loss: sd.Loss) -> None:
    """For any e tpr(alpha) <= delta(e) + exp(e) alpha; some e nearly attains it."""
    grid = np.concatenate(([0.0], np.logspace(-3, 1.6, 4000)))
    lines = loss.delta_at(grid)[:, None] + np.exp(grid)[:, None] * ALPHAS
    mirror = 1 - np.exp(-grid)[:, None] * (1 - ALPHAS - loss.delta_at(grid)[:, None])
    best = np.minimum(np.minimum(lines, mirror).min(axis=0), 1.0)
    tpr = loss.tpr_at(ALPHAS)
    assert (tpr <= best * (1 + 3e-3) + 1e-12).all()
    assert (tpr >= best * (1 - 6e-3) - 1e-6).all()


@sampled(2, 8)
@every_loss
def test_epsilon_answers_delta(loss: sd.Loss) -> None:
    """The epsilon returned for a delta has that delta or less, and hardly less."""
    for delta in (0.3, 1e-2, 1e-6, 1e-9):
        epsilon = loss.epsilon_at(delta)
        if np.isfinite(epsilon):
            assert loss.delta_at(epsilon) <= delta * (1 + 2e-6)
            before = loss.delta_at(max(epsilon * (1 - 1e-3), 0.0))
            assert epsilon == 0 or before > delta * (1 - 1e-6)


@every_loss
def test_advantage_and_bayes_risk_agree(loss: sd.Loss) -> None:
    """At even odds the risk is half of 1 - advantage; at certainty it is 0."""
    assert loss.advantage() == loss.delta_at(0)
    assert loss.bayes_risk(0.5) == pytest.approx((1 - loss.advantage()) / 2, abs=1e-12)
    assert loss.bayes_risk([0, 1]).tolist() == [0, 0]
    assert (loss.bayes_risk(ALPHAS) <= np.minimum(ALPHAS, 1 - ALPHAS)).all()
    mirrored = loss.bayes_risk([0.2, 0.8])
    assert mirrored[0] == pytest.approx(mirrored[1], rel=1e-9)


@sampled(11, 11)
@every_loss
def test_shapes_are_kept(loss: sd.Loss) -> None:
    asked = np.array([[0.5, 1e-3], [0.9, 0.0]])
    for ask in (
        loss.beta_at,
        loss.tpr_at,
        loss.delta_at,
        loss.epsilon_at,
        loss.bayes_risk,
    ):
        assert isinstance(ask(0.5), float)
        answers = ask(asked)
        assert answers.shape == asked.shape
        np.testing.assert_allclose(answers[1, 0], ask(0.9), rtol=1e-6)
        assert ask(np.zeros((0, 3))).shape == (0, 3)
        assert ask(np.array(0.5)).shape == ()


@sampled(6, 12)
@every_loss
def test_composing_commutes_and_never_shrinks(loss: sd.Loss) -> None:
    other = sd.GaussianDP("0.2")
    both = loss + other
    assert both == other + loss
    assert (both.beta_at(ALPHAS) <= loss.beta_at(ALPHAS) + 1e-9).all()
    assert (
        both.delta_at(EPSILONS) >= loss.delta_at(EPSILONS) * (1 - 2e-5) - 1e-12
    ).all()
    assert loss + sd.PureDP(0) == loss
    assert sum([loss]) == loss
    assert loss * 0 == sd.PureDP(0)


@every_loss
def test_composing_counts(loss: sd.Loss) -> None:
    assert loss + loss + loss == loss * 3
    assert 2 * loss == loss * 2


@sampled(7, 14)
@every_loss
def test_the_curve_is_within_the_headline(loss: sd.Loss) -> None:
    """The curve never says worse than the exact parameters do."""
    known = loss.guarantees
    reserve = float(known.delta)
    if known.epsilon != np.inf:
        assert loss.delta_at(up(known.epsilon)) <= reserve * (1 + 1e-9) + 1e-15
    if known.mu != np.inf and known.mu > 0:
        inner = sd.GaussianDP(known.mu).delta_at(EPSILONS)
        limit = reserve + (1 - reserve) * inner
        assert (loss.delta_at(EPSILONS) <= limit * (1 + 3e-5) + 1e-12).all()
    if known.rho != np.inf and known.rho > 0:
        inner = sd.ZCDP(known.rho).delta_at(EPSILONS)
        limit = reserve + (1 - reserve) * inner
        assert (loss.delta_at(EPSILONS) <= limit * (1 + 3e-5) + 1e-12).all()


@every_loss
def test_a_sample_never_costs_more(loss: sd.Loss) -> None:
    """Poisson sampling loses no privacy, and at rate 1 changes nothing."""
    assert loss.subsampled(1) == loss
    sampled = loss.subsampled("0.3")
    slack = loss.delta_at(EPSILONS) * 1e-4 + 1e-9
    assert (sampled.delta_at(EPSILONS) <= loss.delta_at(EPSILONS) + slack).all()


@every_loss
def test_the_law_dominates_the_closed_form(loss: sd.Loss) -> None:
    """The discretised law of a loss lies on or above its own curve, and close to it."""
    sides = [Convolution(((law, 1),)).profile(0.0) for law in loss.tradeoff.laws()]
    found = np.max([side.delta_at(EPSILONS) for side in sides], axis=0)
    truth = loss.delta_at(EPSILONS)
    assert (found >= truth * (1 - 1e-6) - 1e-12).all()
    assert (found <= truth * (1 + 2e-2) + 2e-4).all()


@every_loss
def test_budgets_admit_what_they_are(loss: sd.Loss) -> None:
    assert loss.admits(loss)
    assert loss.admits(sd.PureDP(0))
    assert sd.PureDP(0).admits(loss) == (loss.guarantees == NOTHING)


@every_loss
def test_every_loss_explains_itself(loss: sd.Loss) -> None:
    text = loss.explain()
    assert "at most" in text
    assert "nan" not in text


@sampled(19, 19)
@every_loss
def test_its_own_delta_has_its_own_epsilon(loss: sd.Loss) -> None:
    """Asked for the delta of its headline, a loss tells the headline's epsilon."""
    known = loss.guarantees
    if known.epsilon != np.inf:
        told = loss.epsilon_at(known.delta)
        assert known.epsilon <= told <= np.nextafter(up(known.epsilon), np.inf)


@sampled(9, 9)
@every_loss
def test_what_was_told_is_admitted(loss: sd.Loss) -> None:
    """A number that a curve gave as its upper bound, read back, covers the loss."""
    for epsilon in (0, "1/3", 0.1, 0.7, 1.3):
        assert sd.ApproxDP(epsilon, loss.delta_at(epsilon)).admits(loss)
    for delta in ("1e-3", 1e-6, 0.01, 0.25):
        epsilon = loss.epsilon_at(delta)
        assert sd.ApproxDP(epsilon, delta).admits(loss)
    assert sd.Advantage(loss.advantage()).admits(loss)
    for fpr in (0.001, "0.01", 0.3):
        assert sd.ErrorRates(fpr=fpr, tpr=loss.tpr_at(fpr)).admits(loss)
    if loss.guarantees.delta == 0 and loss.guarantees.epsilon != np.inf:
        assert sd.PureDP(loss.epsilon_at(0)).admits(loss)
