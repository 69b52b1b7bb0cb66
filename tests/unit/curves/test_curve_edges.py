"""Curves at their edges: no change, no noise, fine grids, searches without an end."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sordino as sd
from sordino.losses.curves import transform
from sordino.losses.curves.combined import BreachCurve
from sordino.losses.curves.composition import Convolution
from sordino.losses.curves.curve import GaussianCurve, ResponseCurve, response_law
from sordino.losses.curves.laws import (
    Atoms,
    GaussianLaw,
    Laws,
    MovedLaw,
    Profile,
    SampledLaw,
)
from sordino.losses.curves.points import find_crossing, find_least, read
from sordino.losses.thresholded import RoundsCurve
from sordino.noise.exponential import RangeCurve
from sordino.noise.gaussian import discrete_gaussian_laws
from sordino.noise.laplace import GeometricLoss, LaplaceLoss, geometric_laws
from sordino.noise.randomized_response import category_laws
from sordino.numbers import INFINITE, progress
from tests.batches import for_each

NOTHING = Atoms(np.zeros(0), np.zeros(0), np.zeros(0), 1.0)
THIRD = Fraction(1, 3)


@for_each(
    "laws",
    [
        GaussianCurve(Fraction(0)).laws(),
        geometric_laws(0, Fraction(2)),
        category_laws(Fraction(0), 3),
        discrete_gaussian_laws(0, Fraction(9)),
        RangeCurve(Fraction(0)).laws(),
    ],
)
def test_the_law_of_no_change_has_no_loss(laws: Laws) -> None:
    (law,) = laws
    p, q = law.masses(np.array([-1e-9, 1e-9]))
    assert p.tolist() == q.tolist() == [0.0, 1.0, 0.0]


@for_each(
    "laws",
    [
        GaussianCurve(INFINITE).laws(),
        category_laws(INFINITE, 3),
        RangeCurve(INFINITE).laws(),
    ],
)
def test_the_law_of_no_noise_lies_at_infinity(laws: Laws) -> None:
    (law,) = laws
    p, q = law.masses(np.array([-np.inf, 0.0, np.inf]))
    assert p.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert q.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_a_law_without_finite_losses_spans_nothing() -> None:
    assert NOTHING.span == (0.0, 0.0)
    p, _ = NOTHING.masses(np.array([0.0, np.inf]))
    assert p.tolist() == [0.0, 1.0, 0.0]


def test_a_moved_law_holds_the_table_of_its_base() -> None:
    (base,) = category_laws(Fraction(1), 4)
    assert MovedLaw(base, 0.1, 0.0).table_size == base.table_size == 9


def test_a_sample_of_everybody_is_the_law_itself() -> None:
    base, edges = GaussianLaw(1.5), np.linspace(-9, 9, 50)
    for whole, sampled in zip(
        base.masses(edges), SampledLaw(base, 1.0).masses(edges), strict=True
    ):
        assert whole.tolist() == sampled.tolist()


def test_a_certain_breach_has_no_epsilon() -> None:
    curve = BreachCurve(ResponseCurve(Fraction(1)), 1.0)
    assert curve.epsilon_at(np.array([0.0, 0.5, 0.999])).tolist() == [math.inf] * 3


def test_a_tilt_that_is_searched_in_vain_still_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any tilt gives true bounds: that of the first guess as that of the last."""
    sums = ((GaussianLaw(0.01), 2), (category_laws(Fraction(8), 2)[0], 1))
    epsilon = np.linspace(0, 12, 40)
    sharp = Convolution(sums).profile(12.0).delta_at(epsilon)
    least = Convolution(sums).least_delta(epsilon)
    monkeypatch.setattr(transform, "_SEARCH", 1)
    rough = Convolution(sums)
    tilt, there = rough.sums.tilt(12.0)
    reached = math.sqrt(2 * (tilt * there.mean - there.log))
    assert abs(reached - 12) > transform._NEAR, "it stopped before it was near"
    delta = rough.profile(12.0).delta_at(epsilon)
    assert delta.tolist() != sharp.tolist()
    assert (delta >= least).all()


def test_bounds_of_arrays_are_below_what_was_written() -> None:
    """A double that was rounded down already serves; others go one further."""
    down = read(-1, most=1.0, alpha=np.array([0.5, THIRD, 0.1], np.float64))
    assert (down.lower_values < np.array([0.5, 1 / 3, 0.1])).all()
    assert (np.nextafter(down.lower_values, 1) <= np.array([0.5, 1 / 3, 0.1])).all()
    (alone,) = read(-1, most=1.0, alpha=THIRD).lower_values.tolist()
    assert Fraction(alone) < THIRD
    assert Fraction(math.nextafter(alone, 1.0)) <= THIRD


def test_a_start_below_all_bounds_is_all_there_is() -> None:
    profile = Profile(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.4, 0.35]))
    alone = profile.with_start(0.3)
    assert alone.epsilon.tolist() == [0.0]
    assert alone.delta.tolist() == [0.3]


def test_an_end_before_all_bounds_is_all_there_is() -> None:
    profile = Profile(np.array([0.0, 1.0]), np.array([0.5, 0.4]))
    for last, delta in ((0.45, 0.45), (0.6, 0.5)):
        assert profile.with_end(0.0, last).delta.tolist() == [delta]


def test_the_least_may_be_the_first() -> None:
    assert find_least(lambda x: x >= 0, 0.0, 5.0) == 0


class _Looser:
    """A curve that is within a target for single points, and never for many."""

    def delta_at(self, epsilon: Any) -> Any:
        return np.full_like(epsilon, 0.0 if len(epsilon) == 1 else 1.0)


def test_an_end_that_single_points_let_pass_serves() -> None:
    """Long grids are answered in doubles, a point by balls: what it met is given."""
    curve = RoundsCurve(((0.0, 0.0, _Looser()),))  # type: ignore[arg-type]
    assert curve.epsilon(np.array([0.5])).tolist() == [1.0]


def test_work_that_takes_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the patience of the one who watches, and not before."""
    said: list[str] = []
    monkeypatch.setattr(progress.Line, "say", lambda _, text: said.append(text))
    monkeypatch.setattr(progress, "PATIENCE", math.inf)
    list(progress.tick_each("ab", "loss"))
    assert said == []
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    list(progress.tick_each("ab", "loss"))
    assert said == ["loss 1 of 2", "loss 2 of 2"]


def test_a_crossing_outside_of_the_bracket() -> None:
    assert find_crossing(lambda _: -1.0, 0.0, 1.0, 1e-9) == 0.0
    assert find_crossing(lambda _: 1.0, 0.0, 1.0, 1e-9) == math.inf
    assert find_least(lambda _: False, 0.0, 1.0) == math.inf


def test_a_bracket_without_a_double_inside() -> None:
    after = math.nextafter(1.0, 2.0)
    crossed = find_crossing(lambda x: 1.0 if x <= 1 else -1.0, 1.0, after, 0.0)
    assert crossed == after


SCALES = [10**k for k in range(3, 16)] + [10**k + 7 for k in range(6, 16)]
MOST_POINTS = 1 << 21


@for_each("scale", SCALES)
def test_the_cost_does_not_follow_the_scale(scale: int) -> None:
    """A grid has a bounded number of points, and bounds that are true and tight.

    Geometric noise tells its two laws apart nearly as well as Laplace noise does: by
    less than the mass of a step, and by 1e-7 for the rounding of a grid.
    """
    loss, near = GeometricLoss(scale, scale), LaplaceLoss(1)
    (sums,) = loss.tradeoff.convolutions
    assert len(sums.grids[0][0].masses) < MOST_POINTS
    asked = np.linspace(0, 1.1, 45)
    apart = loss.delta_at(asked) - near.delta_at(asked)
    assert (np.abs(apart) < 1 / scale + 1e-7).all()
    alphas = np.geomspace(1e-6, 1, 45)
    assert (np.abs(loss.tpr_at(alphas) - near.tpr_at(alphas)) < 1 / scale + 1e-7).all()


def test_a_coarse_grid_is_on_the_safe_side() -> None:
    """What a coarse grid says of a lattice is never below what the lattice says."""
    for scale in (999, 1000, 4001):
        exact = GeometricLoss(scale, scale)
        (fine,) = exact.tradeoff.convolutions
        for cells in (7, 20, 333):
            coarse = type(fine)(fine.parts, fine.step * cells)
            asked = np.linspace(0, 1.05, 64)
            found = coarse.profile(0.0).delta_at(asked)
            assert (found >= fine.profile(0.0).delta_at(asked) - 1e-13).all()


def test_sentences_on_a_wide_sum() -> None:
    """A release of a wide sum explains itself as one of a narrow sum does."""
    said = []
    for high in (100_000, 10**12):
        table = sd.PrivateTable({"x": [1, 2]}, protects=sd.AddOneRow())
        session = sd.Session({"t": table}, sd.PureDP(1))
        query = sd.table("t").agg(n=sd.sum("x", 0, high))
        said.append(session.release(query, sd.PureDP(1)).loss.explain())
    assert said[0] == said[1]


@for_each(("limit", "lost"), [(Fraction(0), 0.25), (Fraction(1), 0.25), (INFINITE, 1)])
def test_only_what_nobody_can_follow_is_taken_for_revealed(
    limit: Any, lost: float
) -> None:
    """A response that tells nothing fails with its reserve, and tells no more."""
    law = response_law(limit, Fraction(1, 4))
    assert isinstance(law, Atoms)
    assert law.infinity == lost
