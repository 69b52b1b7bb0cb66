"""Every curve against values at 60 digits that are worked out by another route.

The grid is drawn from a seed, not listed. No answer lies on the unsafe side, the last
digit included; how far it lies on the safe side is measured, and the most that is
allowed stands beside each family (`tests/loss_families.py`).
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

import sordino as sd
from tests import oracles
from tests.batches import for_each, sampled
from tests.loss_families import FAINT, FAMILIES, LAST, SEED, Delta, drawn, size
from tests.oracles import Worlds, mp, mpf

CASES = 4


def excesses(name: str, case: int, share: float = 1.0) -> list[float]:
    """Return how far a share of each delta lies above the truth, relatively."""
    loss, truth, epsilons = drawn(name, case)
    alone = [loss.delta_at(epsilon) for epsilon in epsilons]
    together = loss.delta_at(np.array(epsilons))
    found = []
    for epsilon, *answers in zip(epsilons, alone, together.tolist(), strict=True):
        exact = truth(epsilon)
        for answer in answers:
            above = mpf(answer * share) - exact
            found.append(float(above / max(exact, mpf(FAINT))))
    return found


@sampled(23, 40)
@for_each("case", range(CASES))
@for_each("name", FAMILIES)
def test_delta_is_above_the_truth_and_close(name: str, case: int) -> None:
    """A number and an array are answered: never below, and hardly above."""
    found = excesses(name, case)
    assert min(found) >= 0
    assert max(found) <= FAMILIES[name].looseness


@for_each("name", FAMILIES)
def test_a_thousandth_less_is_caught(name: str) -> None:
    """The planted mutant: curves that are 0.1 % too low fall below the truth."""
    assert any(min(excesses(name, case, 0.999)) < 0 for case in range(CASES))


@sampled(13, 30)
@for_each("case", range(CASES))
@for_each("name", FAMILIES)
def test_epsilon_meets_its_delta(name: str, case: int) -> None:
    """The true delta at the epsilon that is told for a delta is that delta or less."""
    loss, truth, epsilons = drawn(name, case)
    for target in (0.1, float(loss.delta_at(epsilons[-1])), 1e-9):
        epsilon = loss.epsilon_at(target)
        assert epsilon == np.inf or truth(epsilon) <= target


def steepest(truth: Delta, alpha: float) -> Any:
    """Return the true positive rate: the least of delta(e) + exp(e) alpha over all e.

    Convex in exp(e), so a search by thirds ends at the least.
    """
    low, high = mpf(-40), mpf(40)
    for _ in range(230):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        ends = (truth(e) + mp.exp(e) * alpha for e in (left, right))
        low, high = (low, right) if next(ends) <= next(ends) else (left, high)
    return min(truth(low) + mp.exp(low) * alpha, mpf(1))


CLOSED = [
    *("pure", "approximate", "gaussian", "laplace", "geometric", "discrete gaussian"),
    *("randomized response", "bounded range", "mixed"),
]


@sampled(2, 6)
@for_each("name", CLOSED)
def test_error_rates_are_within_the_truth(name: str) -> None:
    """For no alpha does an attacker find more people, or miss fewer, than is told."""
    loss, truth, _ = drawn(name, 0)
    for alpha in (1e-6, 0.03, 0.4):
        rate = steepest(truth, alpha)
        assert rate <= loss.tpr_at(alpha) <= rate * (1 + mpf("1e-2"))
        assert 1 - rate >= loss.beta_at(alpha) >= (1 - rate) * (1 - mpf("1e-2"))


@for_each("name", FAMILIES)
def test_a_budget_admits_what_the_curve_allows(name: str) -> None:
    """A billionth above the delta that is told is enough, a thousandth less is not."""
    loss, _, epsilons = drawn(name, 0)
    epsilon = Fraction(min(epsilons[2:]))
    told = Fraction(loss.delta_at(epsilon))
    assert sd.ApproxDP(epsilon, told * (1 + Fraction(1, 10**9))).admits(loss)
    assert not sd.ApproxDP(epsilon, told * Fraction(999, 1000)).admits(loss)


def conversion(rho: Fraction, epsilon: float) -> Any:
    """Return the delta that rho-zCDP implies at the best order, by a search."""

    def log_delta(place: Any) -> Any:
        less = mp.exp(place)
        gained = less * ((1 + less) * oracles.real(rho) - mpf(epsilon))
        return gained + less * mp.log(less / (1 + less)) - mp.log(1 + less)

    low, high = mpf(-14), mpf(16)
    for _ in range(120):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        lower = log_delta(left) < log_delta(right)
        low, high = (low, right) if lower else (left, high)
    return mp.exp(log_delta(low))


@for_each("case", range(8))
def test_concentrated_losses_convert_at_the_best_order(case: int) -> None:
    """Beyond rho the delta is that of the best order or less, beside a reserve too.

    It is not below that of Gaussian noise of this rho, which is one of its releases.
    """
    rng = random.Random(f"{SEED} concentrated {case}")
    rho, reserve = size(rng, 1e-3, 2), size(rng, 1e-9, 1e-2)
    for _ in range(4):
        epsilon = float(rho) + rng.uniform(0.7, 6) * (2 * float(rho)) ** 0.5
        most, lost = conversion(rho, epsilon), oracles.real(reserve)
        least = oracles.gaussian(f"sqrt({2 * rho})").delta(epsilon)
        for ask in (float, lambda e: np.full(20, e)):
            plain = np.min(sd.ZCDP(rho).delta_at(ask(epsilon)))
            kept = np.min(sd.ApproxZCDP(rho, reserve).delta_at(ask(epsilon)))
            assert least <= plain <= most * (1 + mpf("1e-6"))
            assert lost + (1 - lost) * least <= kept


@for_each("case", range(8))
def test_a_rho_is_the_divergence_of_its_pair(case: int) -> None:
    """The rho that is told for a pure form is its divergence, and of no order less.

    For any order a the divergence is at most a rho: orders between 1 and 64 are tried.
    """
    rng = random.Random(f"{SEED} rho {case}")
    ratio, shift, scale = size(rng), rng.randint(1, 5), size(rng, 0.5, 20)
    exact = oracles.real(ratio) + mp.expm1(-oracles.real(ratio))
    assert exact <= oracles.real(sd.LaplaceLoss(ratio).rho) <= exact * (1 + 2 * LAST)
    pairs: list[tuple[Any, Worlds]] = [
        (sd.PureDP(ratio), oracles.response(ratio)),
        (sd.GeometricLoss(shift, scale), oracles.geometric(shift, scale)),
    ]
    for loss, worlds in pairs:
        told = oracles.real(loss.guarantees.rho)
        exact = mp.fsum(p * mp.log(p / q) for p, q in worlds.atoms)
        assert exact <= told <= exact * (1 + 2 * LAST)
        for order in (mpf(5) / 4, mpf(2), mpf(7), mpf(64)):
            sums = mp.fsum(p**order * q ** (1 - order) for p, q in worlds.atoms)
            assert mp.log(sums) / (order - 1) <= order * told
