"""Mistakes of another library: ours gives the right value, from the safe side."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import sordino as sd
from sordino.errors import InvalidParameter
from tests.batches import for_each

VECTORS = Path(__file__).parents[2] / "vectors" / "tradeoff_pitfalls.json"
PITFALLS = {row["id"]: row for row in json.loads(VECTORS.read_text())}
ALPHAS = np.linspace(0, 1, 2001)

_LATTICE = np.arange(-40, 41)
_WEIGHTS = np.exp(-(_LATTICE**2) / 2)
_P = _WEIGHTS / math.fsum(_WEIGHTS)
_SHIFTED = np.exp(-((_LATTICE - 1) ** 2) / 2) / math.fsum(_WEIGHTS)

LOSSES: dict[str, tuple[sd.Loss, float]] = {
    "P004": (
        sd.DiscreteGaussianLoss(1, 1).subsampled("0.1"),
        0.1 * float(np.abs(_P - _SHIFTED).sum()) / 2,
    ),
    "P005": (sd.LaplaceLoss(1).subsampled("0.1"), 0.1 * -math.expm1(-0.5)),
    "P006": (sd.RandomizedResponseLoss(repr(math.log(0.85 / 0.15)), 2), 0.7),
    "P007": (
        sd.ApproxDP("0.5", "1e-5"),
        1e-5 + (1 - 1e-5) * math.tanh(0.25),
    ),
    "P008": (
        sd.GaussianDP(Fraction(1, 30)) * 1000,
        float(2 * ndtr(math.sqrt(1000) / 60) - 1),
    ),
}
"""The loss, and its greatest advantage worked out by hand."""

every_loose_row = for_each("row", LOSSES)


def greatest_gain(loss: sd.Loss) -> float:
    tpr, beta = loss.tpr_at(ALPHAS), loss.beta_at(ALPHAS)
    return float(max((tpr - ALPHAS).max(), (1 - ALPHAS - beta).max()))


def test_small_false_alarm_rates_keep_their_mass() -> None:
    """P003: at alpha = 1e-6 the attack finds 3.3e-6, where 3.5e-11 is claimed."""
    row = PITFALLS["P003"]
    found = (sd.GaussianDP(1).subsampled("0.01") * 100).tpr_at(row["alpha"])
    # the reference is itself an upper bound on a grid, printed to five digits
    np.testing.assert_allclose(found, row["reference_tpr"], rtol=5e-5)
    assert (found > np.array(row["riskcal_tpr"])).all()
    assert (found > row["alpha"]).all()


@every_loose_row
def test_the_greatest_gain_of_a_curve_is_its_advantage(row: str) -> None:
    """P004 to P008: the curve and delta(0) agree, on and never below the truth."""
    loss, truth = LOSSES[row]
    assert truth * (1 - 1e-12) <= loss.advantage() <= truth * (1 + 1e-5)
    gain = greatest_gain(loss)
    assert gain <= loss.advantage() * (1 + 1e-6)
    assert gain == pytest.approx(loss.advantage(), rel=2e-3)
    assert loss.advantage() <= PITFALLS[row]["delta0"] * (1 + 1e-4)
    assert gain < PITFALLS[row]["riskcal_curve_advantage"] * 0.9


@every_loose_row
def test_no_curve_has_steps(row: str) -> None:
    """P005: between two tests the attacker may toss a coin, so curves are convex."""
    beta = LOSSES[row][0].beta_at(ALPHAS)
    assert np.diff(beta, 2).min() >= -1e-7


def test_randomised_response_is_two_segments() -> None:
    """P006: beta falls from 1 by 17/3 per alpha to (0.15, 0.15), then to (1, 0)."""
    loss, _ = LOSSES["P006"]
    truth = np.interp(ALPHAS, [0, 0.15, 1], [1, 0.15, 0])
    beta = loss.beta_at(ALPHAS)
    assert (beta <= truth + 1e-14).all()
    np.testing.assert_allclose(beta, truth, atol=1e-12)
    assert loss.tpr_at(0.1) == pytest.approx(17 / 30, rel=1e-12)
    assert loss.tpr_at(0.1) < PITFALLS["P006"]["riskcal_tpr_at_fpr_01"]


MADE: dict[str, tuple[str, dict[str, Any], int]] = {
    "P004": (
        "discrete_gaussian_mechanism",
        {"sigma": 1.0, "sensitivity": 1, "sampling_prob": 0.1},
        1,
    ),
    "P005": (
        "laplace_mechanism",
        {"parameter": 1.0, "sampling_prob": 0.1, "use_connect_dots": False},
        1,
    ),
    "P006": ("randomized_response", {"noise_parameter": 0.3, "num_buckets": 2}, 1),
    "P008": (
        "gaussian_mechanism",
        {"standard_deviation": 30.0, "use_connect_dots": False},
        1000,
    ),
}
"""The distribution of the peer on which each curve was misread."""


@for_each("row", MADE)
def test_a_distribution_is_read_without_being_loosened(row: str) -> None:
    """P004 to P008: of the peer's own masses our curve shows at most its delta(0).

    It may show less, never less than the truth: delta(e) and its mirror image bound the
    curve from both sides of 0, and rounded up they need not meet there.
    """
    peer = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution",
        reason="dp_accounting is not installed",
    )
    name, stated, times = MADE[row]
    make = getattr(peer, f"from_{name}")
    theirs = make(**stated, value_discretization_interval=1e-3).self_compose(times)
    delta = theirs.get_delta_for_epsilon(0.0)
    assert delta == pytest.approx(PITFALLS[row]["delta0"], rel=1e-4)
    loss = sd.from_dp_accounting(theirs)
    _, truth = LOSSES[row]
    # delta(0) is the same both ways: ours is the lesser bound, the peer's the greater.
    assert truth * (1 - 1e-9) <= loss.advantage() <= delta * (1 + 1e-9)
    assert truth * (1 - 1e-3) <= greatest_gain(loss) <= delta * (1 + 1e-9)


ANSWERS: dict[str, tuple[Callable[[], object], float]] = {
    "a large epsilon": (lambda: sd.ApproxDP(1000, "1e-5").beta_at(0), 1 - 1e-5),
    "a huge epsilon": (lambda: sd.ApproxDP("1e300", "1e-5").beta_at(0), 1 - 1e-5),
    "a large epsilon alone": (lambda: sd.ApproxDP(1000, 0).advantage(), 1.0),
    "a certain prior": (lambda: sd.GaussianDP(1).bayes_risk(1.0), 0.0),
}

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "alpha below 0": (lambda: sd.ApproxDP(1, "1e-5").beta_at(-1), "alpha"),
    "epsilon below 0": (lambda: sd.ApproxDP(-1, "1e-5"), "epsilon"),
    "alpha above 1": (lambda: sd.GaussianDP(1).beta_at(2), "alpha"),
    "mu below 0": (lambda: sd.GaussianDP(-1), "mu"),
}


@for_each(("ask", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_extreme_arguments_are_answered(
    ask: Callable[[], object], expected: float
) -> None:
    """P011: where others print NaN, the limit is meant, and is returned."""
    assert ask() == pytest.approx(expected, rel=1e-15)


@for_each(("ask", "name"), REFUSED.values(), ids=REFUSED)
def test_senseless_arguments_are_refused(ask: Callable[[], object], name: str) -> None:
    """P011: where others print a rate above 1, the argument is refused by name."""
    with pytest.raises(InvalidParameter, match=name):
        ask()


def test_an_infinite_epsilon_promises_nothing() -> None:
    """P011: any finite epsilon leaves 1 - delta at 0; an infinite one is no promise.

    It is the price of a release without noise, whose outputs may never coincide.
    """
    assert sd.ApproxDP(math.inf, "1e-5").beta_at([0, 0.5, 1]).tolist() == [0, 0, 0]


def test_a_rate_without_false_alarms_needs_no_division() -> None:
    """P011: with fpr 0 no epsilon is too large, and delta alone decides."""
    half = sd.ErrorRates(fpr=0, tpr="0.5")
    assert half.admits(sd.PureDP(1000))
    assert half.admits(sd.ApproxDP(1000, "0.49"))
    assert not half.admits(sd.ApproxDP(1000, "0.51"))
