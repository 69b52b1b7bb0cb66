"""Losses where nothing or all is revealed, their pages, and what is no loss."""

import sys
from fractions import Fraction
from typing import Any

import matplotlib as mpl
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, MissingDependency
from sordino.losses.loss import compose
from sordino.losses.thresholded import mixture, threshold_loss
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import discrete_gaussian_vector
from sordino.noise.laplace import geometric_vector, laplace_vector
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import INFINITE, sqrt
from sordino.office.pictures.curves import DARK
from tests.batches import for_each

MILLIONTH = Fraction(1, 10**6)


def test_a_sample_of_nobody_reveals_nothing() -> None:
    assert sd.PureDP(3).subsampled(0) == sd.PureDP(0)


def test_an_unbounded_range_has_no_rho() -> None:
    assert BoundedRangeLoss(float("inf")).rho is INFINITE


def test_approximate_zcdp_without_delta_is_one_piece() -> None:
    plain = sd.ApproxZCDP("1/2", 0)
    assert plain.pieces() == ({plain: 1}, {})
    assert sd.ApproxZCDP(0, 0).pieces() == ({}, {})


def test_a_composition_states_its_parameters() -> None:
    assert compose([sd.PureDP(1), sd.GaussianDP(1)]).delta == 0
    loss = compose([sd.PureDP(1), sd.GaussianDP(1), sd.ApproxDP("1/2", MILLIONTH)])
    assert loss.delta == loss.guarantees.delta == MILLIONTH
    assert (loss.epsilon, loss.rho, loss.mu) == (
        loss.guarantees.epsilon,
        loss.guarantees.rho,
        loss.guarantees.mu,
    )


@for_each(
    "vector",
    [
        geometric_vector(Sensitivity(l0=2, linf=float("inf")), 3),
        laplace_vector(Sensitivity(linf=1), 3),
        discrete_gaussian_vector(Sensitivity(l0=2, linf=float("inf")), 3),
    ],
)
def test_changes_without_bound_are_not_hidden(vector: sd.Loss) -> None:
    """No noise of a finite scale has a finite loss for them."""
    assert vector == sd.PureDP(INFINITE)


def test_integers_that_cannot_change_cost_nothing() -> None:
    """A change below 1, be it a root, is none."""
    apart = Sensitivity(l0=1, linf=sqrt(Fraction(1, 2)))
    assert geometric_vector(apart, 3) == sd.PureDP(0)
    assert discrete_gaussian_vector(apart, 3) == sd.ZCDP(0)


def test_what_returns_no_losses_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="noise must return losses"):
        threshold_loss(lambda _: 1, key_delta="1e-6", keys=2)  # type: ignore[arg-type,return-value]
    with pytest.raises(InvalidParameter, match="weight must sum to 1"):
        mixture([("1/2", sd.PureDP(0)), ("1/4", sd.PureDP(1))])


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
