"""Bounds of changes, tightened, and the worst vector within them."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.noise.gaussian import discrete_gaussian_vector
from sordino.noise.laplace import geometric_vector, laplace_vector
from sordino.numbers import Exact, sqrt
from tests.batches import for_each

CHANGES = st.lists(st.fractions(-100, 100), min_size=1, max_size=6)
NORMS = ("l0", "l1", "l2", "linf")
SLACK = st.fixed_dictionaries({name: st.integers(0, 3) for name in NORMS})


def norms(change: list[Fraction]) -> dict[str, Any]:
    """Return the four norms of a vector, exactly."""
    return {
        "l0": sum(entry != 0 for entry in change),
        "l1": sum((abs(entry) for entry in change), Fraction(0)),
        "l2": sqrt(sum((entry**2 for entry in change), Fraction(0))),
        "linf": max(abs(entry) for entry in change),
    }


def bounds(of: sd.Sensitivity) -> dict[str, Exact | float]:
    found = {name: getattr(of, name) for name in NORMS}
    return {name: bound for name, bound in found.items() if bound != math.inf}


@given(CHANGES, st.sets(st.sampled_from(NORMS), min_size=1), SLACK)
def test_no_change_escapes_its_bounds(
    change: list[Fraction], chosen: set[str], slack: dict[str, int]
) -> None:
    """For any change within the given bounds, every tightened bound still holds."""
    exact = norms(change)
    given_bounds = {
        name: exact[name] * (1 + slack[name]) if slack[name] else exact[name]
        for name in chosen
    }
    tightened = sd.Sensitivity(**given_bounds)
    for name in NORMS:
        assert exact[name] <= getattr(tightened, name)
    for name in chosen:
        assert getattr(tightened, name) <= given_bounds[name]


@given(CHANGES, st.sets(st.sampled_from(NORMS), min_size=1), SLACK)
def test_tightening_twice_changes_nothing(
    change: list[Fraction], chosen: set[str], slack: dict[str, int]
) -> None:
    exact = norms(change)
    once = sd.Sensitivity(**{name: exact[name] * (1 + slack[name]) for name in chosen})
    assert sd.Sensitivity(**bounds(once)) == once


@for_each(
    ("given_bounds", "filled_in"),
    [
        ({"l1": 3}, (math.inf, 3, 3, 3)),
        ({"l2": 3}, (math.inf, math.inf, 3, 3)),
        ({"linf": 3}, (math.inf, math.inf, math.inf, 3)),
        ({"l0": 4, "linf": "1/2"}, (4, 2, 1, Fraction(1, 2))),
        ({"l0": 4, "l2": 1}, (4, 2, 1, 1)),
        ({"l1": 4, "linf": 1}, (math.inf, 4, 2, 1)),
        (
            {"l0": 3, "l1": "0.5", "linf": 1},
            (3, Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)),
        ),
        ({"l0": 0, "linf": 1}, (0, 0, 0, 0)),
        ({"l1": 0}, (0, 0, 0, 0)),
        ({"l0": 5, "l1": math.inf}, (5, math.inf, math.inf, math.inf)),
    ],
)
def test_what_follows_is_filled_in(
    given_bounds: dict[str, Any], filled_in: tuple[Any, ...]
) -> None:
    """A norm left out costs nothing where the rest implies it (B024)."""
    found = sd.Sensitivity(**given_bounds)
    assert (found.l0, found.l1, found.l2, found.linf) == filled_in


@for_each(
    ("bad", "message"),
    [
        ({}, "l1 must be given.*Give at least one of"),
        ({"l0": 1.5}, "l0 must be an integer"),
        ({"l0": -1}, "l0 must be at least 0"),
        ({"l1": -1}, "l1 must not be negative"),
        ({"l2": math.nan}, "l2 must not be NaN"),
        ({"linf": True}, "linf must be a number, not a bool"),
    ],
)
def test_a_senseless_bound_is_refused(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        sd.Sensitivity(**bad)


EPSILONS = np.array([0.0, 0.1, 0.4, 1.0, 2.0])


def test_the_worst_geometric_change_is_the_worst() -> None:
    """No integer change within the bounds costs more at any epsilon."""
    bounds = sd.Sensitivity(l0=3, l1=5, linf=2)
    worst = geometric_vector(bounds, 2).delta_at(EPSILONS)
    for change in itertools.product(range(3), repeat=3):
        if sum(change) <= 5:
            parts: list[sd.Loss] = [sd.GeometricLoss(d, 2) for d in change]
            assert (
                sd.compose(parts).delta_at(EPSILONS) <= worst * (1 + 1e-9) + 1e-12
            ).all()


@for_each(
    ("bounds", "loss"),
    [
        (sd.Sensitivity(l1=1), sd.LaplaceLoss("0.1")),
        (sd.Sensitivity(l0=4, linf=1), sd.LaplaceLoss("0.1") * 4),
        (
            sd.Sensitivity(l0=9, l1=5, linf=2),
            sd.LaplaceLoss("0.2") * 2 + sd.LaplaceLoss("0.1"),
        ),
        (sd.Sensitivity(l1=0), sd.PureDP(0)),
        (sd.Sensitivity(l0=3), sd.PureDP(math.inf)),
        (sd.Sensitivity(l0=2, linf="sqrt(2)"), sd.LaplaceLoss("sqrt(2)/10") * 2),
    ],
)
def test_laplace_vectors_are_copies_and_a_rest(
    bounds: sd.Sensitivity, loss: sd.Loss
) -> None:
    """As many numbers as can change most, and what is left of l1 on one more."""
    assert laplace_vector(bounds, 10) == loss


def test_a_vector_costs_less_than_its_sum() -> None:
    """The headline is l1 / scale all the same, but the curve is far below it."""
    vector = laplace_vector(sd.Sensitivity(l0=100, linf=1), 41)
    assert vector.guarantees.epsilon == Fraction(100, 41)
    assert vector.epsilon_at(1e-6) < 1.1


def test_discrete_gaussian_vectors_are_exact_where_the_worst_is_known() -> None:
    """One number and unit changes keep their lattice, the rest its rho."""
    assert discrete_gaussian_vector(
        sd.Sensitivity(l0=1, linf=3), 4
    ) == sd.DiscreteGaussianLoss(3, 4)
    assert (
        discrete_gaussian_vector(sd.Sensitivity(l0=5, linf=1), 4)
        == sd.DiscreteGaussianLoss(1, 4) * 5
    )
    assert discrete_gaussian_vector(sd.Sensitivity(l0=5, linf=2), 4) == sd.ZCDP("2.5")
    assert discrete_gaussian_vector(sd.Sensitivity(l0=1), 4) == sd.PureDP(math.inf)
