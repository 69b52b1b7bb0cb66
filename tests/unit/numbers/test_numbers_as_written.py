"""A float is the decimal that its reader wrote, at every door (ADR 80)."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.losses.budgets.limits import filter_for
from sordino.numbers import number_text, rounded_up, shortest, up
from tests.batches import for_each

DOORS: dict[str, Callable[[Any], Any]] = {
    "epsilon": sd.PureDP,
    "epsilon and delta": lambda x: sd.ApproxDP(x, x),
    "rho": lambda x: sd.ApproxZCDP(x, x),
    "mu": sd.GaussianDP,
    "advantage": sd.Advantage,
    "error rates": lambda x: sd.ErrorRates(fpr=x, tpr=x),
    "scale": sd.Laplace,
    "variance": lambda x: sd.DiscreteGaussian(variance=x),
    "standard deviation": lambda x: sd.Gaussian(scale=x),
    "threshold": lambda x: sd.LaplaceThreshold(x, x),
    "distance": lambda x: sd.Laplace(1).map(x),
    "distances": lambda x: sd.LaplaceThreshold(1, 9).map((1, x, x)),
    "sensitivity": lambda x: sd.Sensitivity(l0=3, linf=x),
    "choice": sd.Exponential,
    "odds": lambda x: sd.RandomizedResponse(x, 3),
    "rate": lambda x: sd.GaussianDP(1).subsampled(x),
    "confidence": lambda x: sd.Geometric(9).error(x),
    "chance": lambda x: sd.Geometric(9).inverse_cdf(x),
    "quantile": lambda x: sd.quantile("x", x, 0, 1).probabilities,
    "quantiles": lambda x: sd.quantiles("x", [x], 0, 1).probabilities,
    "weight": lambda x: sd.table("t").agg(n=sd.count(), weights={"n": x}).weights,
}


@for_each("door", DOORS.values(), ids=DOORS)
@for_each("float_", [0.1, np.float64(0.1), np.float32(0.1)])
def test_a_tenth_is_a_tenth(door: Callable[[Any], Any], float_: Any) -> None:
    """A float means what its text means, a rational and a decimal too."""
    tenth = door("0.1")
    assert door(float_) == door(Decimal("0.1")) == door(Fraction(1, 10)) == tenth


@for_each(
    ("one", "whole"),
    [
        (sd.PureDP(0.1), sd.PureDP(1)),
        (sd.ZCDP(0.1), sd.ZCDP(1)),
        (sd.ApproxDP(0.1, 1e-7), sd.ApproxDP(1, 1e-6)),
    ],
    ids=repr,
)
def test_ten_tenths_are_one(one: sd.Loss, whole: sd.Loss) -> None:
    """Ten charges of a tenth exhaust a budget; what is left reads as written."""
    limit = filter_for(whole)
    spent = limit.zero
    for _ in range(9):
        _, spent = limit.accept(spent, limit.charge_for(one, one))
    assert repr(limit.remainder(spent)) == repr(one)
    _, spent = limit.accept(spent, limit.charge_for(one, one))
    with pytest.raises(sd.errors.BudgetExceeded, match=r"this costs .*=0\.1[,)]"):
        limit.accept(spent, limit.charge_for(one, one))


def test_percentiles_are_a_list_of_quantiles() -> None:
    asked = sd.quantiles("x", [i / 100 for i in range(1, 100)], 0, 100)
    assert asked.probabilities == tuple(Fraction(i, 100) for i in range(1, 100))
    assert asked.columns("x")[6] == "x_0.07"


def test_values_are_not_parameters() -> None:
    """Data and outcomes of noise are the doubles they are, not their decimals."""
    grid = sd.Laplace("1e-9", granularity=-40)
    place = (2**40 // 10 + 1) * 2.0**-40
    assert shortest(place) != Fraction(place)
    assert grid.cdf(grid.inverse_cdf("0.7")) >= 0.7
    assert round(grid(place) * 2**40) == pytest.approx(round(place * 2**40), abs=1e5)
    assert sd.Laplace.no_noise()(place) == place


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_a_float_is_written_as_it_is_read(value: float) -> None:
    """What is printed makes an equal number, at every double."""
    read = shortest(value)
    assert up(read) in {value, math.nextafter(value, math.inf)}
    assert shortest(float(number_text(read))) == read


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_rounding_up_to_a_decimal(value: Fraction) -> None:
    found = rounded_up(value)
    assert value <= found
    assert shortest(float(np.nextafter(float(found), 0))) < value
