"""Losses at their edges: nothing and everything, their sentences and pictures."""

import re
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import matplotlib as mpl
import mpmath
import pytest

import sordino as sd
from sordino.errors import MissingDependency
from sordino.noise.gaussian import discrete_gaussian_vector
from sordino.noise.laplace import geometric_vector, laplace_vector
from sordino.numbers import INFINITE, sqrt
from sordino.office.pictures.curves import DARK
from tests.batches import for_each, sampled
from tests.oracles import mp, mpf, real

MILLIONTH = Fraction(1, 10**6)


def test_a_sample_of_nobody_reveals_nothing() -> None:
    assert sd.PureDP(3).subsampled(0) == sd.PureDP(0)


def test_an_unbounded_range_has_no_rho() -> None:
    assert sd.BoundedRangeLoss(float("inf")).rho is INFINITE


def test_approximate_zcdp_without_delta_is_one_piece() -> None:
    plain = sd.ApproxZCDP("1/2", 0)
    assert plain.pieces() == ({plain: 1}, {})
    assert sd.ApproxZCDP(0, 0).pieces() == ({}, {})


def test_a_composition_states_its_parameters() -> None:
    assert sd.compose([sd.PureDP(1), sd.GaussianDP(1)]).delta == 0
    loss = sd.compose([sd.PureDP(1), sd.GaussianDP(1), sd.ApproxDP("1/2", MILLIONTH)])
    assert loss.delta == loss.guarantees.delta == MILLIONTH
    assert (loss.epsilon, loss.rho, loss.mu) == (
        loss.guarantees.epsilon,
        loss.guarantees.rho,
        loss.guarantees.mu,
    )


@for_each(
    "vector",
    [
        geometric_vector(sd.Sensitivity(l0=2, linf=float("inf")), 3),
        laplace_vector(sd.Sensitivity(linf=1), 3),
        discrete_gaussian_vector(sd.Sensitivity(l0=2, linf=float("inf")), 3),
    ],
)
def test_changes_without_bound_are_not_hidden(vector: sd.Loss) -> None:
    """No noise of a finite scale has a finite loss for them."""
    assert vector == sd.PureDP(INFINITE)


def test_integers_that_cannot_change_cost_nothing() -> None:
    """A change below 1, be it a root, is none."""
    apart = sd.Sensitivity(l0=1, linf=sqrt(Fraction(1, 2)))
    assert geometric_vector(apart, 3) == sd.PureDP(0)
    assert discrete_gaussian_vector(apart, 3) == sd.ZCDP(0)


@for_each("times", [1, 3])
def test_a_sum_is_known_at_exactly_its_delta(times: int) -> None:
    """At 1 - (1 - a)(1 - b), the chance of any breach, the epsilons add up."""
    both = (sd.ApproxDP(1, "0.1") + sd.ApproxDP(2, "0.2")) * times
    delta = 1 - Fraction(72, 100) ** times
    assert both.epsilon_at(delta) == 3 * times
    assert both.epsilon_at(delta - MILLIONTH) == float("inf")
    many = sd.ApproxDP(1, "1e-6") * 1_000
    assert many.epsilon_at(many.guarantees.delta) <= 1_000


def test_a_loss_shows_its_sentences_and_its_curve() -> None:
    page = sd.PureDP(1)._repr_html_()
    assert "PureDP(epsilon=1)" in page
    assert "<svg" in page
    assert all(line in page for line in ("false alarms", "people found"))


def test_curves_follow_the_ground() -> None:
    """Their colours are those that read on the ground of Matplotlib."""
    dark: Any = {"figure.facecolor": "black", "axes.facecolor": "black"}
    with mpl.rc_context(dark):
        axes = sd.GaussianDP(1).curve().plot()
    colours = [line.get_color() for line in axes.lines]
    assert colours == [DARK.bare, DARK.blue, DARK.soft, DARK.find]


def test_a_picture_shows_itself() -> None:
    axes: Any = sd.GaussianDP(1).curve().plot()
    for shown in (axes, axes.figure):
        png, size = shown._repr_png_()
        assert png.startswith(b"\x89PNG")
        assert set(size) == {"width", "height"}
    axes.remove()
    assert axes._repr_png_() is None


def test_a_picture_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sordino.office.pictures.figures", None)
    with pytest.raises(MissingDependency, match="plots"):
        sd.PureDP(1).curve().plot()


EPSILONS = ["1/10", "1/2", "1", "2", "3"]


def two_digits_up(value: Any) -> float:
    unit = mpf(10) ** (mp.floor(mp.log10(value)) - 1)
    return float(mp.ceil(value / unit * (1 - mpf("1e-12"))) * unit)


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"at most ([0-9.e+-]*[0-9])", text)]


@for_each("epsilon", EPSILONS)
def test_a_pure_loss_says_what_an_attacker_can_do(epsilon: str) -> None:
    gain = mp.exp(real(epsilon))
    least = mp.exp(-real(epsilon))
    said = numbers(sd.PureDP(epsilon).explain())
    truths = [
        100 * min(gain / 100, 1 - least * (1 - mpf(1) / 100)),
        1000 * min(gain / 1000, 1 - least * (1 - mpf(1) / 1000)),
        100 * gain / (1 + gain),
        100 / (1 + 9 * least),
    ]
    assert said == pytest.approx([two_digits_up(one) for one in truths], rel=1e-9)


SCALES = ["1e-400", "1e-300", "1e-120", "1e-90", "1e-10"]
OTHERS: dict[str, Callable[[sd.Loss], sd.Loss]] = {
    "alone": lambda loss: loss,
    "beside Laplace noise": lambda loss: loss + sd.Laplace(1).map(1),
    "beside integers": lambda loss: loss + sd.Geometric(1).map(1),
    "three times beside a curve": lambda loss: loss * 3 + sd.GaussianDP(1),
    "sampled": lambda loss: loss.subsampled("0.5") + sd.PureDP(1),
}
LOSSES: dict[str, Callable[[Any], sd.Loss]] = {
    "epsilon": lambda scale: sd.PureDP(1 / Fraction(scale)),
    "Laplace": lambda scale: sd.Laplace(scale).map(1),
    "geometric": lambda scale: sd.Geometric(scale).map(3),
    "Gaussian": lambda scale: sd.Gaussian(scale=scale).map(1),
    "discrete Gaussian": lambda scale: sd.DiscreteGaussian(scale=scale).map(1),
}


@sampled(10, 10)
@for_each("beside", OTHERS)
@for_each("kind", LOSSES)
def test_next_to_no_noise_reveals_all(kind: str, beside: str) -> None:
    """Every question has an answer, and it is that the attacker knows."""
    least = 0.49 if beside == "sampled" else 0.999
    for scale in SCALES:
        loss = OTHERS[beside](LOSSES[kind](scale))
        assert loss.tpr_at(0.05) >= least
        assert loss.delta_at(1) >= least
        assert loss.advantage() >= least
        assert loss.epsilon_at("1e-6") > 20
        assert loss.explain()


@for_each("epsilon", [600, 700, 709, "709.5", "709.78", 710, 720, 740, 745, 800])
def test_rates_beyond_what_doubles_hold_are_the_attackers(epsilon: Any) -> None:
    """Where exp(epsilon) overflows, and rates are the least doubles that there are."""
    loss = sd.PureDP(epsilon)
    with mpmath.workdps(800):
        growth = mpmath.exp(mpmath.mpf(str(epsilon)))
        for alpha in (0.0, 5e-324, 1e-310, 1e-300, 0.5, 1 - 2.0**-53, 1.0):
            missed = max(1 - growth * alpha, (1 - mpmath.mpf(alpha)) / growth, 0)
            assert loss.tpr_at(alpha) >= 1 - missed
            assert loss.beta_at(alpha) <= missed
