"""What is particular about the maps of single mechanisms."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from tests.batches import for_each


def test_a_lattice_is_worse_than_the_gaussian_of_its_ratio() -> None:
    """A discrete Gaussian step at scale 1 exceeds GaussianDP(1) by 0.0161 in delta."""
    lattice = sd.DiscreteGaussian(scale=1).map(sd.Sensitivity(l0=1, linf=1))
    epsilons = np.linspace(0, 3, 3001)
    excess = lattice.delta_at(epsilons) - sd.GaussianDP(1).delta_at(epsilons)
    assert excess.max() == pytest.approx(0.0161087, rel=1e-3)
    assert sd.DiscreteGaussian(scale=1).map(1) == lattice


@for_each("square", ["1", "1.9", "2", "4"])
def test_integers_near_each_other_are_priced_by_whole_steps(square: str) -> None:
    """Less than sqrt(2) apart one integer moves by 1; farther apart rho is known."""
    noise = sd.DiscreteGaussian(scale=1)
    count = int(Fraction(square))
    steps = noise.map(sd.Sensitivity(l0=count, linf=1))
    known = noise.map(f"sqrt({square})")
    assert (known == steps) == (count == 1)
    assert known.rho >= steps.guarantees.rho == Fraction(count, 2)
    assert (known.delta_at([0, 0.5, 1, 2]) >= steps.delta_at([0, 0.5, 1, 2])).all()
    fitted = sd.DiscreteGaussian.for_loss(sd.Advantage("0.1"), 1)
    assert 3.98 < float(fitted.scale) < 3.995


def test_a_rounded_gaussian_costs_what_the_gaussian_costs() -> None:
    """Rounding the exact sum is post-processing: mu is distance over scale, exactly."""
    for dtype in ("f64", "f32"):
        assert sd.Gaussian(scale=3, dtype=dtype).map(1) == sd.GaussianDP("1/3")


def test_a_grid_adds_its_rounding_for_every_value_that_can_change() -> None:
    """Four changed values add four steps in l1 and two in l2; a number is one value."""
    laplace = sd.Laplace(1, granularity=-2)
    assert laplace.map(1).epsilon == Fraction(5, 4)
    assert laplace.map(sd.Sensitivity(l0=8, l1=1)).guarantees.epsilon == 3
    gaussian = sd.Gaussian(scale=1, granularity=-2)
    assert gaussian.map(1).rho == Fraction(25, 32)
    assert gaussian.map(sd.Sensitivity(l0=4, l2=1)).rho == Fraction(9, 8)
    unknown = laplace.map(sd.Sensitivity(l1=1))
    assert unknown.guarantees.epsilon == float("inf")
    told = sd.Laplace(1, granularity=-2, values=8)
    assert told.map(1).epsilon == 3
    assert told.map(sd.Sensitivity(l0=4, l1=1)).guarantees.epsilon == 2
    assert sd.Gaussian(scale=1, granularity=-2, values=4).map(1).rho == Fraction(9, 8)
    assert sd.Laplace.for_loss(sd.PureDP(1), 1, granularity=-2, values=8).scale == 3


@for_each(
    "many", [[0.45], (0.45, 0.5), np.full(10, 0.45), np.zeros(0), pa.array([1.0])]
)
def test_on_a_grid_vectors_are_answered_once_their_changes_are_counted(
    many: Any,
) -> None:
    """What a plain number prices is what a call can do: ten values move ten steps."""
    for alone, told in (
        (sd.Laplace(1, granularity=0), sd.Laplace(1, granularity=0, values=10)),
        (
            sd.Gaussian(scale=1, granularity=0),
            sd.Gaussian(scale=1, granularity=0, values=10),
        ),
    ):
        assert isinstance(alone(0.45), float)
        with pytest.raises(sd.errors.InvalidParameter, match=r"^values must say"):
            alone(many)
        told(many)
    step = sd.Laplace.no_noise(granularity=0, values=10)
    here, there = step(np.full(10, 0.45)), step(np.full(10, 0.55))
    moved = float(np.abs(there - here).sum())
    assert moved == 10
    assert sd.Laplace(1, granularity=0, values=10).map(1).epsilon == 11 >= moved


def test_values_move_to_the_grid_alike_wherever_they_lie() -> None:
    """Rounding to the grid treats every step alike: ties go up, also below zero."""
    silent = sd.Laplace("1e-9", granularity=0, values=1)
    values = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.49]
    assert silent(values) == [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 2.0]


def test_vectors_are_priced_by_their_worst_change() -> None:
    """A hundred counts that move by 1 cost far less than one that moves by 100."""
    together = sd.Laplace(100).map(sd.Sensitivity(l0=100, linf=1))
    assert together.guarantees.epsilon == 1
    assert together.delta_at(0.5) < sd.Laplace(100).map(100).delta_at(0.5) / 50
