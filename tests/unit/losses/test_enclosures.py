"""Every answer of a curve bounds the truth, rounding included, at every argument.

The truth is computed with 400 digits from the closed forms of the papers, at the double
that is asked and at its shortest decimal: an answer holds for both readings.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import erfc, exp, mp, mpf, sqrt

import sordino as sd
from sordino.numbers import down, shortest, up
from tests.batches import for_each, sampled
from tests.cases import LOSSES

DIGITS = 400
APART = 1e-6
"""What balls and doubles may differ by: most for one minus a rate near 1."""
RATES = [
    0.0, 5e-324, 1e-320, 2.3e-308, 1e-300, 1e-100, 1e-30, 1e-17, 1e-16, 3e-9, 1e-6,
    0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-9, 1 - 2.0**-52, 1 - 2.0**-53, 1.0,
]  # fmt: skip
EPSILONS = [
    -700.0, -30.0, -1.0, -1e-9, -5e-324, 0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.1, 0.3,
    0.9999999999999999, 1.0, 1.0000000000000002, 2.5, 7.0, 35.0, 300.0, 745.0, 1e4,
]  # fmt: skip


@dataclass(frozen=True)
class Form:
    """A loss, its delta above 0, its trade-off curve, and how loose answers may be."""

    loss: sd.Loss
    delta: Callable[[mpf], mpf]
    tpr: Callable[[mpf], mpf]
    loose: float = 1e-12


def pure(epsilon: str, reserve: str = "0") -> Form:
    """Return randomized response that fails with some probability."""

    def delta(e: mpf) -> mpf:
        size, lost = mpf(epsilon), mpf(reserve)
        inner = max(mpf(0), (exp(size) - exp(e)) / (exp(size) + 1))
        return lost + (1 - lost) * inner

    def tpr(alpha: mpf) -> mpf:
        size, lost = mpf(epsilon), mpf(reserve)
        kept = min(mpf(1), alpha / (1 - lost))
        inner = min(exp(size) * kept, 1 - exp(-size) * (1 - kept))
        return lost + (1 - lost) * min(mpf(1), inner)

    loss = sd.ApproxDP(epsilon, reserve) if mpf(reserve) else sd.PureDP(epsilon)
    return Form(loss, delta, tpr)


def laplace(epsilon: str) -> Form:
    def delta(e: mpf) -> mpf:
        return max(mpf(0), 1 - exp((e - mpf(epsilon)) / 2))

    def tpr(alpha: mpf) -> mpf:
        size = mpf(epsilon)
        if 2 * alpha <= exp(-size):
            return exp(size) * alpha
        if 2 * alpha <= 1:
            return 1 - exp(-size) / (4 * alpha)
        return 1 - exp(-size) * (1 - alpha)

    return Form(sd.LaplaceLoss(epsilon), delta, tpr)


def bounded(epsilon: str) -> Form:
    def delta(e: mpf) -> mpf:
        size = mpf(epsilon)
        return max(mpf(0), 1 - exp((min(e, size) - size) / 2)) ** 2 / (1 - exp(-size))

    def tpr(alpha: mpf) -> mpf:
        return alpha / (alpha + exp(-mpf(epsilon)) * (1 - alpha))

    return Form(sd.BoundedRangeLoss(epsilon), delta, tpr)


def gaussian(mu: str) -> Form:
    """Return Gaussian noise; the trade-off is bounded by the tangents of delta."""

    def delta(e: mpf) -> mpf:
        size, x = mpf(mu), e / mpf(mu) - mpf(mu) / 2
        first = erfc(x / sqrt(2)) / 2
        return first - exp(e) * erfc((x + size) / sqrt(2)) / 2

    def tpr(alpha: mpf) -> mpf:
        return alpha  # the exact one is asked of epsilon below

    return Form(sd.GaussianDP(mu), delta, tpr, loose=np.inf)


FORMS = {
    "pure": pure("1"),
    "pure, a tenth": pure("0.1"),
    "pure, little": pure("1e-9"),
    "pure, much": pure("40"),
    "pure, beside a third": pure("1", "0.3"),
    "pure, beside a millionth": pure("2.5", "1e-6"),
    "laplace": laplace("1"),
    "laplace, little": laplace("1e-9"),
    "laplace, five": laplace("5"),
    "laplace, much": laplace("40"),
    "bounded range": bounded("1"),
    "bounded range, little": bounded("1e-6"),
    "bounded range, much": bounded("40"),
    "gaussian": gaussian("1"),
    "gaussian, little": gaussian("0.01"),
    "gaussian, much": gaussian("9"),
}
every_form = for_each("form", FORMS.values(), ids=FORMS)


def readings(value: float) -> tuple[mpf, mpf]:
    return mpf(value), mpf(repr(value))


def delta_of(form: Form, e: mpf) -> mpf:
    """Return delta, below zero from the other direction, which has the same curve."""
    return form.delta(e) if e >= 0 else 1 - exp(e) * (1 - form.delta(-e))


def asked(answer: Callable[[Any], Any], values: list[float]) -> list[float]:
    """Return answers to single numbers, seen to agree with those to arrays.

    Few numbers are answered by balls and many by doubles where both serve; nothing
    else may differ, whatever stands beside a number.
    """
    single = [answer(value) for value in values]
    few = answer(np.array(values)).tolist()
    many = answer(np.array(values * 8)).tolist()[: len(values)]
    between = np.linspace(max(min(values), -1.0), min(max(values), 1.0), 150).tolist()
    mixed = answer(np.array(values + between)).tolist()[: len(values)]
    for found in (few, many, mixed):
        assert found == pytest.approx(single, rel=APART, abs=1e-12)
    for one, other in zip(single, many, strict=True):
        assert (one == 0) == (other == 0)
    return [*single, *few, *many]


@sampled(5, 6)
@every_form
def test_delta_is_never_below_the_truth(form: Form) -> None:
    """At any epsilon, also where delta is less than the least double."""
    with mp.workdps(DIGITS):
        found = asked(form.loss.delta_at, EPSILONS)
        for e, answer in zip(EPSILONS * 3, found, strict=True):
            truth = max(delta_of(form, point) for point in readings(e))
            assert mpf(answer) >= truth
            near = min(delta_of(form, point) for point in readings(e))
            room = mpf(form.loose if np.isfinite(form.loose) else 1e-9)
            assert mpf(answer) <= near * (1 + room) + mpf("1e-14") + mpf(5e-324)


@every_form
def test_rates_are_on_the_attackers_side(form: Form) -> None:
    """At any alpha, 0 and 1 included: tpr never below, beta never above the truth."""
    with mp.workdps(DIGITS):
        tprs, betas = asked(form.loss.tpr_at, RATES), asked(form.loss.beta_at, RATES)
        for alpha, tpr, beta in zip(RATES * 3, tprs, betas, strict=True):
            truths = [form.tpr(point) for point in readings(alpha)]
            assert mpf(tpr) >= max(truths)
            assert mpf(beta) <= min(1 - truth for truth in truths)
            if np.isfinite(form.loose) and (alpha == 0 or alpha >= 1e-300):
                room = mpf(form.loose)
                assert mpf(tpr) <= max(truths) * (1 + room) + mpf(1e-323)
                assert mpf(beta) >= (1 - max(truths)) * (1 - room) - mpf(2e-16)


@for_each("mu", ["0.01", "1", "9"])
def test_gaussian_rates_meet_every_tangent(mu: str) -> None:
    loss = sd.GaussianDP(mu)
    with mp.workdps(DIGITS):
        for z in (-9, -2, -0.5, 0, 0.25, 1, 3, 7, 20, 37):
            alpha = erfc(mpf(z) / sqrt(2)) / 2
            double = min(float(alpha), 1 - 2.0**-53)
            least = erfc((mpf(z) - mpf(mu)) / sqrt(2)) / 2
            slope = exp(mpf(mu) * z - mpf(mu) ** 2 / 2)
            off = slope * (mpf(double) - alpha)
            assert mpf(loss.tpr_at(double)) >= least + off - abs(off) * mpf("1e-9")
            assert mpf(loss.beta_at(double)) <= 1 - (least + off) + abs(off) * mpf(
                "1e-9"
            )


@sampled(5)
@every_form
def test_epsilon_serves_its_delta(form: Form) -> None:
    deltas = [rate for rate in RATES if 0 < rate < 0.999]
    with mp.workdps(DIGITS):
        for delta, epsilon in zip(
            deltas * 3, asked(form.loss.epsilon_at, deltas), strict=True
        ):
            if np.isfinite(epsilon):
                assert form.delta(mpf(epsilon)) <= max(readings(delta))
            else:
                assert min(readings(delta)) < mpf(float(form.loss.guarantees.delta))


@sampled(6)
@for_each(
    "loss",
    [
        sd.ApproxDP(1, "1e-6"),
        sd.ApproxDP(1, 0.1),
        sd.ApproxDP(1, "1/3"),
        sd.ApproxDP(1, 1e-5) + sd.PureDP(1),
        sd.LaplaceThreshold(1, 20).map((1, 1, 1)),
        sd.LaplaceThreshold(2, 20, dtype="i64").map((3, 3, 1)),
        sd.PureDP(0.3),
        sd.LaplaceLoss(0.7) * 3,
        sd.Geometric(3).map(2),
        sd.RandomizedResponse(1, 5).map(1),
    ],
    ids=repr,
)
def test_the_headline_is_met_exactly(loss: Any) -> None:
    known = loss.guarantees
    epsilon, delta = up(known.epsilon), up(known.delta)
    assert loss.epsilon_at(known.delta) <= epsilon
    assert loss.delta_at(known.epsilon) <= delta
    if shortest(delta) >= known.delta:
        for given in (delta, [delta], np.full(99, delta)):
            assert np.max(loss.epsilon_at(given)) <= epsilon
    if shortest(epsilon) >= known.epsilon:
        for given in (epsilon, [epsilon], np.full(99, epsilon)):
            assert np.max(loss.delta_at(given)) <= delta
    assert loss.tpr_at(0) <= delta
    assert loss.beta_at(0) >= down(1 - known.delta)


@sampled(1, 4)
@for_each("loss", LOSSES.values(), ids=LOSSES)
def test_answers_are_numbers_wherever_a_curve_is_asked(loss: sd.Loss) -> None:
    """No NaN, no infinity but for epsilon, in range, one number like many."""
    with np.errstate(all="raise"):
        for values in (EPSILONS, [-np.inf, np.inf]):
            deltas = asked(loss.delta_at, values)
            assert all(0 <= delta <= 1 for delta in deltas)
        for answer in (loss.tpr_at, loss.beta_at, loss.bayes_risk):
            assert all(0 <= rate <= 1 for rate in asked(answer, RATES))
        assert all(epsilon >= 0 for epsilon in asked(loss.epsilon_at, RATES))
        epsilons = loss.epsilon_at(np.array([0.0, 1e-9, 1e-6, 0.01, 0.3, 1.0]))
        assert (epsilons >= 0).all()
        assert all(b <= a * (1 + 1e-9) for a, b in pairwise(epsilons.tolist()))


def test_a_concentrated_curve_answers_one_number_like_many() -> None:
    """Its deltas are found by a search for one, and by tangents for many."""
    assert all(0 <= delta <= 1 for delta in asked(sd.ZCDP("0.1").delta_at, EPSILONS))


EXTREMES: dict[str, Callable[[], sd.Loss]] = {
    "response, beyond doubles": lambda: sd.RandomizedResponse(800, 3).map(1),
    "response, far beyond": lambda: sd.RandomizedResponse(10**6, 7).map(1),
    "pure, beyond doubles": lambda: sd.PureDP("1e400"),
    "laplace, beyond doubles": lambda: sd.LaplaceLoss("1e400"),
    "gaussian, next to nothing": lambda: sd.GaussianDP("1e-300"),
    "gaussian, everything": lambda: sd.GaussianDP("1e200"),
    "concentrated, everything": lambda: sd.ZCDP("1e300"),
    "concentrated, next to nothing": lambda: sd.ZCDP("1e-300"),
    "geometric, steep": lambda: sd.Geometric("1e-3").map(1),
    "geometric, wide": lambda: sd.Geometric("1e300").map(1),
    "discrete gaussian, wide": lambda: sd.DiscreteGaussian(
        variance=Fraction(10**300)
    ).map(sd.Sensitivity(l0=1, linf=1)),
    "discrete gaussian, narrow": lambda: sd.DiscreteGaussian(
        variance=Fraction(1, 10**300)
    ).map(sd.Sensitivity(l0=1, linf=1)),
    "sampled, nearly all": lambda: sd.GaussianDP(1).subsampled(1 - Fraction(1, 2**60)),
    "sampled, hardly any": lambda: sd.GaussianDP(1).subsampled("1e-300"),
    "bounded range, everything": lambda: sd.BoundedRangeLoss("1e400"),
    "sum, next to nothing": lambda: sd.GaussianDP("1e-300") + sd.PureDP(1),
    "sum of least": lambda: sd.PureDP("1e-300") * 1000,
    "sum, concentrated": lambda: sd.ZCDP("1e-300") + sd.LaplaceLoss(1),
    "sum, beyond doubles": lambda: sd.RandomizedResponseLoss(800, 3) * 3,
    "sum, everything": lambda: sd.GaussianDP("1e10") + sd.PureDP(1),
    "sum, far": lambda: sd.PureDP(10**6) + sd.GaussianDP(1),
    "nothing": lambda: sd.PureDP(0),
    "everything": lambda: sd.PureDP(float("inf")),
}


@sampled(2, 7)
@for_each("name", EXTREMES)
def test_extremes_are_answered(name: str) -> None:
    """Beyond the doubles, and next to nothing: numbers in range, no foreign error."""
    loss = EXTREMES[name]()
    for array in (EPSILONS, EPSILONS * 8):
        assert all(0 <= x <= 1 for x in loss.delta_at(array))
    for array in (RATES, RATES * 8):
        assert all(0 <= x <= 1 for x in [*loss.tpr_at(array), *loss.beta_at(array)])
    assert all(x >= 0 for x in loss.epsilon_at([5e-324, 0.3, 1]))
    assert 0 <= loss.advantage() <= 1
    assert loss.explain().endswith(".")


def test_next_to_nothing_is_next_to_nothing_for_many_points() -> None:
    """Far out in the tail an array is answered by nearly 0, like a number."""
    loss = sd.GaussianDP("1e-300")
    assert loss.delta_at(np.full(99, 0.5)).max() < 1e-300
    assert loss.delta_at(0.5) < 1e-300
