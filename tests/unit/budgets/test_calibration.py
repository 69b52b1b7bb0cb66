"""Calibration: the least noise within a target of any form, re-checked."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from tests.batches import for_each


def gaussian(scale: float) -> sd.Loss:
    return sd.GaussianDP(1 / Fraction(scale))


def laplace_often(scale: float) -> sd.Loss:
    return sd.LaplaceLoss(1 / Fraction(scale)) * 50


def sampled(scale: float) -> sd.Loss:
    return sd.GaussianDP(1 / Fraction(scale)).subsampled("0.05") * 100


@for_each(
    "target",
    [
        sd.ApproxDP(1, "1e-6"),
        sd.GaussianDP("0.3"),
        sd.ZCDP("0.05"),
        sd.ApproxZCDP("0.05", "1e-9"),
        sd.Advantage("0.1"),
        sd.ErrorRates(fpr="0.01", tpr="0.03"),
        sd.ErrorRates(fpr="1e-5", tpr="1e-4"),
    ],
    ids=repr,
)
@for_each("loss_at", [gaussian, laplace_often], ids=lambda f: f.__name__)
def test_the_scale_found_is_admitted_and_hardly_more_than_needed(
    loss_at: Callable[[float], sd.Loss], target: sd.Budget
) -> None:
    if target == sd.GaussianDP("0.3") and loss_at is laplace_often:
        target = sd.PureDP(2)
    scale = sd.calibrate(loss_at, target=target, tolerance="1e-5")
    assert target.admits(loss_at(scale))
    assert not target.admits(loss_at(scale * (1 - 2e-5)))


def test_known_answers() -> None:
    """The mu of an advantage of 0.1 is 0.251323, of 2 % at 1 % it is 0.272599."""
    one = sd.calibrate(gaussian, target=sd.Advantage("0.1"))
    assert 1 / one == pytest.approx(0.251323, rel=4e-6)
    two = sd.calibrate(gaussian, target=sd.ErrorRates(fpr="0.01", tpr="0.02"))
    assert 1 / two == pytest.approx(0.272599, rel=4e-6)


def test_a_lenient_search_is_confirmed_at_full_precision() -> None:
    """With coarse grids in between, the answer still holds, within its tolerance."""
    target = sd.Advantage("0.2")
    scale = sd.calibrate(sampled, target=target, tolerance="1e-3")
    assert target.admits(sampled(scale))
    assert not target.admits(sampled(scale * (1 - 3e-3)))


@for_each("loss_at", [sampled, laplace_often], ids=lambda f: f.__name__)
@for_each("tolerance", ["1e-2", "1e-3", "1e-4"])
def test_coarser_grids_cost_no_more_than_the_tolerance(
    loss_at: Callable[[float], sd.Loss], tolerance: str
) -> None:
    """A tolerant answer is at most its tolerance above the strict one, never below."""
    target = sd.Advantage("0.1")
    strict = sd.calibrate(loss_at, target=target, tolerance="1e-6")
    found = sd.calibrate(loss_at, target=target, tolerance=tolerance)
    assert strict * (1 - 2e-6) <= found <= strict * (1 + 1.01 * float(tolerance))


def test_the_advantage_is_the_same_from_both_directions() -> None:
    """Total variation is symmetric: either direction bounds it, and one is asked."""
    removing, adding = sampled(1.0).tradeoff.convolutions  # type: ignore[attr-defined]
    start = np.zeros(1)
    bounds = [sums.profile(0.0).delta_at(start)[0] for sums in (removing, adding)]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-5)
    narrower = bounds[adding.width < removing.width]
    assert sampled(1.0).advantage() == pytest.approx(narrower, rel=1e-15)


@for_each("start", ["1e-6", "1e6"])
def test_a_bad_start_only_costs_time(start: str) -> None:
    """The search finds its way from far below and from far above."""
    for target in (sd.Advantage("0.1"), sd.ApproxDP(1, "1e-6")):
        near = sd.calibrate(gaussian, target=target)
        assert sd.calibrate(gaussian, target=target, start=start) == pytest.approx(
            near, rel=3e-6
        )


@for_each("tolerance", [0, -1, 1, 2, math.nan, "1e-300"])
def test_senseless_tolerances_are_refused(tolerance: object) -> None:
    with pytest.raises(InvalidParameter, match="tolerance"):
        sd.calibrate(gaussian, target=sd.Advantage("0.1"), tolerance=tolerance)


def test_a_search_leaves_no_coarse_grid_behind() -> None:
    """Losses that a search has looked at answer like losses that none has seen."""

    def made() -> list[sd.Loss]:
        parts = [Fraction(1, k) for k in range(1, 12)]
        return [sd.LaplaceLoss(part) * 4 + sd.GaussianDP(part) for part in parts]

    losses = made()

    def prepared(scale: float) -> sd.Loss:
        return losses[min(max(int(scale) - 1, 0), len(losses) - 1)]

    sd.calibrate(prepared, target=sd.Advantage("0.4"), tolerance="1e-2")
    assert any("at " in name for loss in losses for name in vars(loss.tradeoff))
    for seen, fresh in zip(losses, made(), strict=True):
        assert np.array_equal(seen.delta_at([0, 0.5, 2]), fresh.delta_at([0, 0.5, 2]))
