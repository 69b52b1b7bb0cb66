"""Noise on several numbers: the worst change, against every other change."""

import itertools
import math
from fractions import Fraction

import numpy as np

from sordino.losses.closed import ZCDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.noise.gaussian import DiscreteGaussianLoss, discrete_gaussian_vector
from sordino.noise.laplace import (
    GeometricLoss,
    LaplaceLoss,
    geometric_vector,
    laplace_vector,
)
from sordino.noise.sensitivity import Sensitivity
from tests.batches import for_each

EPSILONS = np.array([0.0, 0.1, 0.4, 1.0, 2.0])


def test_the_worst_geometric_change_is_the_worst() -> None:
    """No integer change within the bounds costs more at any epsilon."""
    bounds = Sensitivity(l0=3, l1=5, linf=2)
    worst = geometric_vector(bounds, 2).delta_at(EPSILONS)
    for change in itertools.product(range(3), repeat=3):
        if sum(change) <= 5:
            parts: list[Loss] = [GeometricLoss(d, 2) for d in change]
            assert (
                compose(parts).delta_at(EPSILONS) <= worst * (1 + 1e-9) + 1e-12
            ).all()


@for_each(
    ("bounds", "loss"),
    [
        (Sensitivity(l1=1), LaplaceLoss("0.1")),
        (Sensitivity(l0=4, linf=1), LaplaceLoss("0.1") * 4),
        (Sensitivity(l0=9, l1=5, linf=2), LaplaceLoss("0.2") * 2 + LaplaceLoss("0.1")),
        (Sensitivity(l1=0), PureDP(0)),
        (Sensitivity(l0=3), PureDP(math.inf)),
        (Sensitivity(l0=2, linf="sqrt(2)"), LaplaceLoss("sqrt(2)/10") * 2),
    ],
)
def test_laplace_vectors_are_copies_and_a_rest(bounds: Sensitivity, loss: Loss) -> None:
    """As many numbers as can change most, and what is left of l1 on one more."""
    assert laplace_vector(bounds, 10) == loss


def test_a_vector_costs_less_than_its_sum() -> None:
    """The headline is l1 / scale all the same, but the curve is far below it."""
    vector = laplace_vector(Sensitivity(l0=100, linf=1), 41)
    assert vector.guarantees.epsilon == Fraction(100, 41)
    assert vector.epsilon_at(1e-6) < 1.1


def test_discrete_gaussian_vectors_are_exact_where_the_worst_is_known() -> None:
    """One number and unit changes keep their lattice, the rest its rho."""
    assert discrete_gaussian_vector(
        Sensitivity(l0=1, linf=3), 4
    ) == DiscreteGaussianLoss(3, 4)
    assert (
        discrete_gaussian_vector(Sensitivity(l0=5, linf=1), 4)
        == DiscreteGaussianLoss(1, 4) * 5
    )
    assert discrete_gaussian_vector(Sensitivity(l0=5, linf=2), 4) == ZCDP("2.5")
    assert discrete_gaussian_vector(Sensitivity(l0=1), 4) == PureDP(math.inf)
