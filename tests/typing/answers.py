"""What noise answers, and what it costs, as editors and type checkers see it.

`make lint` checks this file with mypy and pyright; nothing runs.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

import sordino as sd
from sordino.losses.thresholded import JointLoss
from sordino.numbers import Infinity, Radical


def floats(noise: sd.Laplace | sd.Gaussian, doubles: NDArray[np.float64]) -> None:
    """The answer has the type of the question, in floats."""
    assert_type(noise(3), float)
    assert_type(noise(2.5), float)
    assert_type(noise(np.int64(3)), np.floating[Any])
    assert_type(noise([1, 2]), list[float])
    assert_type(noise((1.5, 2.5)), tuple[float, ...])
    assert_type(noise(doubles), NDArray[np.floating[Any]])


def integers(
    noise: sd.Geometric | sd.DiscreteGaussian, counts: NDArray[np.int64]
) -> None:
    """Integers are answered by integers."""
    assert_type(noise(3), int)
    assert_type(noise([1, 2]), list[int])
    assert_type(noise((1, 2)), tuple[int, ...])
    assert_type(noise(counts), NDArray[np.integer[Any]])
    assert_type(sd.RandomizedResponse(1)(1), int)
    assert_type(sd.Exponential(1)([3, Fraction(1, 2)]), int)
    assert_type(sd.Exponential(1)(counts), int)


def columns(noise: sd.Laplace, rows: pl.Series, totals: pd.Series) -> None:
    """A column of another tool is answered by one of its own."""
    assert_type(noise(rows), pl.Series)
    assert_type(noise(totals), pd.Series)


def maps(
    noise: sd.LaplaceThreshold | sd.GaussianThreshold, wards: pl.DataFrame
) -> None:
    """A map is answered by a map of its kind."""
    assert_type(noise({"North": 3, "South": 2}), dict[str, float])
    assert_type(noise((["North"], [3])), tuple[list[str], list[int]])
    assert_type(noise(wards), pl.DataFrame)


def maps_of_distances() -> None:
    """The map of a plain distance is the loss of that noise, with its parameters."""
    assert_type(sd.Laplace(10).map(1), sd.LaplaceLoss | sd.PureDP)
    assert_type(sd.Geometric("1/2").map(1), sd.GeometricLoss | sd.PureDP)
    assert_type(sd.Gaussian(scale="sqrt(2)").map(1), sd.GaussianDP | sd.ZCDP)
    assert_type(sd.DiscreteGaussian(scale=2).map(1), sd.DiscreteGaussianLoss | sd.ZCDP)
    assert_type(sd.Laplace(1).map(sd.Sensitivity(l0=2, linf=1)), sd.Loss)
    assert_type(sd.LaplaceThreshold(1, 20).map((1, 1, 1)), JointLoss)
    assert_type(sd.Exponential(1).map(1), sd.BoundedRangeLoss)
    assert_type(sd.Laplace(10).check(1, sd.PureDP(1)), bool)


def fitted(budget: sd.Budget) -> None:
    """Fitting gives the very class, and takes its options by name."""
    assert_type(
        sd.Laplace.for_loss(budget, 1, dtype="f32", granularity=-10), sd.Laplace
    )
    assert_type(sd.Geometric.for_loss(budget, 1, dtype="i32"), sd.Geometric)
    triple = (1, 1, 1)
    loss = sd.ApproxDP(1, "1e-6")
    found = sd.LaplaceThreshold.for_loss(loss, triple, negative=True, dtype="i64")
    assert_type(found, sd.LaplaceThreshold)
    assert_type(found.error("0.95"), float | int)


def curves(loss: sd.Loss, rates: NDArray[np.float64], pair: sd.PLRVs) -> None:
    """A number is answered by a number, an array by an array."""
    assert_type(loss.delta_at(1), float)
    assert_type(loss.delta_at("1/3"), float)
    assert_type(loss.epsilon_at(rates), NDArray[np.float64])
    assert_type(loss.tpr_at([0.1, 0.2]), NDArray[np.float64])
    assert_type(loss.beta_at(0.1), float)
    assert_type(loss.bayes_risk("0.5"), float)
    assert_type(loss.curve().beta_at(rates), NDArray[np.float64])
    assert_type(sd.get_beta(pair, 0.25), float)
    assert_type(sd.get_beta(pair, rates), NDArray[np.float64])
    assert_type(loss.advantage(), float)
    assert_type(loss + loss, sd.Loss)
    assert_type(sd.Gaussian(scale=2).map(1).mu, Fraction | Radical | Infinity)


NOISY: Callable[[float], float] = sd.Laplace(1)
"""A mechanism is a function from numbers to numbers."""
