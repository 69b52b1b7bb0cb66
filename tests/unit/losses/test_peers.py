"""Losses against other libraries, in the same run, where those are installed."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sordino.losses.closed import GaussianDP
from sordino.losses.interop import from_dp_accounting, to_dp_accounting
from sordino.losses.loss import Loss, PureDP
from sordino.noise.gaussian import DiscreteGaussianLoss
from sordino.noise.laplace import GeometricLoss, LaplaceLoss

peer = pytest.importorskip(
    "dp_accounting.pld.privacy_loss_distribution",
    reason="dp_accounting is not installed",
)

GRID = 1e-3
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)

PAIRS: dict[str, tuple[Loss, str, dict[str, Any]]] = {
    "laplace": (LaplaceLoss("0.5"), "laplace_mechanism", {"parameter": 2.0}),
    "gaussian": (GaussianDP("0.5"), "gaussian_mechanism", {"standard_deviation": 2.0}),
    "geometric": (
        GeometricLoss(1, 2),
        "discrete_laplace_mechanism",
        {"parameter": 0.5, "sensitivity": 1},
    ),
    "discrete gaussian": (
        DiscreteGaussianLoss(1, 4),
        "discrete_gaussian_mechanism",
        {"sigma": 2.0, "sensitivity": 1},
    ),
    "response": (
        PureDP(1),
        "randomized_response",
        {"noise_parameter": 2 / (1 + math.e), "num_buckets": 2},
    ),
    "sampled gaussian": (
        GaussianDP("0.5").subsampled("0.1"),
        "gaussian_mechanism",
        {"standard_deviation": 2.0, "sampling_prob": 0.1},
    ),
}
"""Our loss, and the function and parameters of the peer for the same one."""


@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize(("loss", "name", "stated"), PAIRS.values(), ids=PAIRS)
def test_both_libraries_bound_the_same_thing(
    loss: Loss, name: str, stated: dict[str, Any], times: int
) -> None:
    """Two pessimistic bounds agree to the other's grid, and ours is the tighter."""
    make = getattr(peer, f"from_{name}")
    theirs = make(**stated, value_discretization_interval=GRID).self_compose(times)
    ours = loss * times
    for epsilon in EPSILONS:
        known, found = theirs.get_delta_for_epsilon(epsilon), ours.delta_at(epsilon)
        assert found <= known * (1 + 1e-6) + 1e-12
        assert found >= known * (1 - 5e-3) - 1e-9


def test_a_distribution_survives_the_way_there_and_back() -> None:
    """What is written is no better than the loss; what is read no better again."""
    for loss in (GaussianDP(1) + LaplaceLoss("0.5"), GaussianDP(1).subsampled("0.1")):
        written = to_dp_accounting(loss, step="1e-3")
        read = from_dp_accounting(written)
        for epsilon in EPSILONS:
            truth = loss.delta_at(epsilon)
            assert written.get_delta_for_epsilon(epsilon) >= truth * (1 - 1e-6)
            assert read.delta_at(epsilon) >= truth * (1 - 1e-6)
            assert read.delta_at(epsilon) <= truth * (1 + 1e-3) + 1e-9
        assert (read + GaussianDP(1)).epsilon_at(1e-6) > loss.epsilon_at(1e-6)


def test_riskcal_agrees_where_it_is_sound() -> None:
    """For a symmetric Gaussian at moderate rates both give the same curve."""
    analysis = pytest.importorskip(
        "riskcal.analysis", reason="riskcal is not installed"
    )
    composed = peer.from_gaussian_mechanism(
        4.0, value_discretization_interval=GRID
    ).self_compose(4)
    alpha = np.linspace(0.01, 0.99, 50)
    theirs = analysis.get_beta_from_pld(composed, alpha)
    ours = (GaussianDP(Fraction(1, 4)) * 4).beta_at(alpha)
    np.testing.assert_allclose(theirs, ours, atol=2e-3)
    assert (ours >= theirs - 1e-9).all()
