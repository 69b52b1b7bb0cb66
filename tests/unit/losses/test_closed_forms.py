"""The closed forms: stated numbers, conversions, budgets, and the door."""

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from sordino.errors import InvalidParameter
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.noise.laplace import LaplaceLoss
from sordino.noise.randomized_response import RandomizedResponseLoss
from tests.batches import for_each


@for_each(
    ("rho", "delta", "most"),
    [("2.56", "1e-10", 17.16), ("0.07", "1e-10", 2.39), ("0.015", "1e-7", 0.855)],
)
def test_zcdp_converts_at_the_best_order(rho: str, delta: str, most: float) -> None:
    """The conversion is the optimal one, well under rho + 2 sqrt(rho ln(1/delta))."""
    epsilon = ZCDP(rho).epsilon_at(delta)
    assert 0.99 * most < epsilon <= most
    assert Fraction(ZCDP(rho).delta_at(epsilon)) <= Fraction(delta)


@for_each(
    ("rho", "advantage"), [("0.0050042", 0.05), ("0.0200671", 0.1), ("0.0810930", 0.2)]
)
def test_zcdp_bounds_the_advantage_sharply(rho: str, advantage: float) -> None:
    """The advantage a satisfies a ln((1 + a)/(1 - a)) = rho."""
    assert ZCDP(rho).advantage() == pytest.approx(advantage, rel=2e-5)


@for_each(
    ("rho", "alpha", "tpr"),
    [("0.0283421", 0.01, 0.02), ("0.1733785", 0.01, 0.05), ("0.2327509", 0.001, 0.01)],
)
def test_zcdp_bounds_the_error_rates_sharply(
    rho: str, alpha: float, tpr: float
) -> None:
    """The rates are those of the best order of the binary divergence."""
    assert ZCDP(rho).tpr_at(alpha) == pytest.approx(tpr, rel=1e-5)


def test_a_gaussian_is_not_taken_for_a_zcdp_release() -> None:
    """At rho = 1/2 zCDP alone allows an advantage of 0.479, a Gaussian only 0.383."""
    assert GaussianDP(1).rho == Fraction(1, 2)
    assert ZCDP("0.5").advantage() == pytest.approx(0.47910, abs=1e-4)
    assert GaussianDP(1).advantage() == pytest.approx(0.38292, abs=1e-5)
    assert not GaussianDP(1).admits(ZCDP("0.5"))
    assert ZCDP("0.5").admits(GaussianDP(1))


def test_pure_to_zcdp_is_tight() -> None:
    """Epsilon costs epsilon tanh(epsilon / 2), which a long composition approaches."""
    rho = PureDP(1).guarantees.rho
    assert float(rho) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert Fraction(rho) >= Fraction(math.tanh(0.5)) * (1 - Fraction(1, 10**15))  # type: ignore[arg-type]
    assert ZCDP("0.4622").admits(PureDP(1))
    assert not ZCDP("0.4621").admits(PureDP(1))


def test_headlines_add_exactly() -> None:
    assert (PureDP("0.1") * 10).guarantees.epsilon == 1
    assert sum([LaplaceLoss("0.1")] * 10).guarantees.epsilon == 1  # type: ignore[union-attr]
    assert GaussianDP(3) + GaussianDP(4) == GaussianDP(5)
    assert ZCDP("0.1") + ZCDP("0.2") == ZCDP("0.3")
    assert ApproxDP(1, "1e-6") * 2 != ApproxDP(2, "2e-6")
    assert (ApproxDP(1, "1e-6") * 2).guarantees.delta == Fraction(2, 10**6)
    both = ApproxZCDP("0.1", "1e-6") + ZCDP("0.2")
    assert (both.guarantees.rho, both.guarantees.delta) == (
        Fraction(3, 10),
        Fraction(1, 10**6),
    )
    assert compose([]) == PureDP(0)


def test_budgets_admit_by_headline_or_by_curve() -> None:
    """A tighter curve counts against (epsilon, delta), an exact headline everywhere."""
    tenth = LaplaceLoss("0.1") * 10
    assert PureDP(1).admits(tenth)
    assert not PureDP("0.999").admits(tenth)
    assert ApproxDP("0.9", "1e-6").admits(LaplaceLoss("0.01") * 100)
    assert not ApproxDP("0.1", "1e-6").admits(LaplaceLoss("0.01") * 100)
    assert ApproxDP(math.inf, 0).admits(GaussianDP(100))
    assert ApproxZCDP("0.5", "1e-6").admits(GaussianDP(1) + ApproxDP(0, "1e-6"))
    assert not ZCDP("0.5").admits(GaussianDP(1) + ApproxDP(0, "1e-6"))


@for_each(
    "loss",
    [
        PureDP(math.inf),
        GaussianDP(math.inf),
        ZCDP(math.inf),
        ApproxDP(0, 1),
        LaplaceLoss(math.inf),
    ],
    ids=repr,
)
def test_an_infinite_loss_protects_nobody(loss: Loss) -> None:
    assert loss.advantage() == 1
    assert loss.beta_at([0, 0.5, 1]).tolist() == [0, 0, 0]
    assert loss.tpr_at(0.5) == 1
    assert (loss + GaussianDP(1)).advantage() == 1
    assert loss.epsilon_at(0.5) == math.inf
    assert loss.epsilon_at(1) == 0


def test_a_thousand_million_releases_are_bounded() -> None:
    """1e9 compositions answer at once, still close to their Gaussian limit."""
    many = PureDP("1/1000000") * 10**9
    limit = GaussianDP("sqrt(0.001)").epsilon_at(1e-6)
    assert limit < many.epsilon_at(1e-6) < limit * 1.001
    assert (GaussianDP("1e-6") * 10**9).guarantees.mu == GaussianDP("sqrt(0.001)").mu


def test_huge_losses_stay_bounds() -> None:
    """Where exp(epsilon) overflows a double, the bound holds and stays close."""
    both = GaussianDP(60) + PureDP("0.001")
    alone = GaussianDP(60).epsilon_at(1e-6)
    assert alone <= both.epsilon_at(1e-6) < alone + 0.05
    assert (GaussianDP(1).subsampled("0.5") * 10**9).epsilon_at(1e-6) == math.inf


def test_adding_one_by_one_is_no_slower_than_it_need_be() -> None:
    """A thousand unlike losses, added in a loop, are the same as composed at once."""
    unlike = [LaplaceLoss(Fraction(1, 1000 + i)) for i in range(1000)]
    one_by_one: Loss = PureDP(0)
    for loss in unlike:
        one_by_one += loss
    assert one_by_one == compose(unlike)


def test_tiny_deltas_keep_their_digits() -> None:
    """At epsilon where delta is 1e-30 a tilted sum agrees with a closed form."""
    both = GaussianDP(3) + LaplaceLoss("1e-9")
    epsilon = GaussianDP(3).epsilon_at(1e-30)
    assert both.delta_at(epsilon) == pytest.approx(1e-30, rel=1e-3)
    assert both.delta_at(epsilon) >= 1e-30


@for_each("make", [PureDP, ZCDP, GaussianDP, LaplaceLoss, RandomizedResponseLoss])
@for_each("value", [-1, math.nan, True, None, [1], "many", 1j])
def test_senseless_parameters_are_refused(make: type[Loss], value: object) -> None:
    with pytest.raises(InvalidParameter):
        make(value)  # type: ignore[call-arg]


def test_long_arrays_agree_with_enclosures() -> None:
    for mu in ("0.02", "0.7", "3", "12"):
        loss = GaussianDP(mu)
        alpha = np.concatenate((np.logspace(-14, -1, 100), np.linspace(0.1, 1, 100)))
        exact = np.array([loss.tpr_at(a) for a in alpha.tolist()])
        found = loss.tpr_at(alpha)
        assert (found >= exact * (1 - 1e-15)).all()
        np.testing.assert_allclose(found, exact, rtol=1e-9)
        epsilon = np.linspace(0, 20, 200)
        exact = np.array([loss.delta_at(e) for e in epsilon.tolist()])
        found = loss.delta_at(epsilon)
        assert (found >= exact).all()
        np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-300)


def test_only_losses_are_added() -> None:
    loss, number = PureDP(1), cast("Any", 3)
    for left, right in ((loss, number), (number, loss)):
        with pytest.raises(TypeError, match="unsupported operand"):
            left + right
