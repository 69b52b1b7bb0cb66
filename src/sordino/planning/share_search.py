"""How measurements share a budget: so that the answers err least together.

The mean logarithm of the errors is minimised, each answer with its weight; at the least
one a measurement has the share of the errors that it causes (docs/proofs/moments.md,
lemma 5). Where each answer has a measurement of its own, shares are the weights.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias, final

import numpy as np

from sordino.aggregations.measurements import AbstractMeasurement
from sordino.losses.allowance import Family
from sordino.numbers import finite

Slopes: TypeAlias = tuple[tuple[float, ...], ...]
"""For each answer the variance that each measurement causes if it has all."""

_STEPS: Final = 60
_FAINTEST: Final = 1e-9
_FINEST: Final = 2**12
"""Shares are near rationals of such denominators: short, and thirds are thirds."""


@final
@dataclass(frozen=True)
class Answered:
    """What noise moves: by how much each measurement does, and what that weighs."""

    slopes: Mapping[Hashable, float]
    weight: Fraction


def measurement_shares(
    wanted: Sequence[Answered],
    measurements: Mapping[Hashable, AbstractMeasurement],
    family: Family,
) -> dict[Hashable, Fraction]:
    """Return the share of each measurement in what all of them may spend."""
    if not measurements:
        return {}
    sizes = {
        key: _size(measurement, family) for key, measurement in measurements.items()
    }
    table = tuple(
        tuple([answer.slopes.get(key, 0.0) * size for key, size in sizes.items()])
        for answer in wanted
    )
    weights = tuple(answer.weight for answer in wanted)
    shares = best_shares(table, weights, _POWERS[family])
    return dict(zip(measurements, shares, strict=True))


def _size(measurement: AbstractMeasurement, family: Family) -> float:
    """Return the variance of the noise of a whole budget, but for a factor."""
    change = measurement.change
    return float(finite(change.l1 if family == "laplace" else change.l2)) ** 2


_POWERS: Final[Mapping[Family, int]] = {"laplace": 2, "gaussian": 1}


@lru_cache(maxsize=4096)
def best_shares(
    slopes: Slopes, weights: tuple[Fraction, ...], power: int
) -> tuple[Fraction, ...]:
    """Return the shares of measurements, which add up to 1.

    Noise of a share s has the variance slope / s**power in an answer: 1 for Gaussian
    noise, whose shares are of mu squared, 2 for Laplace noise.

    >>> best_shares(((4.0, 0.0), (0.0, 1.0)), (Fraction(1), Fraction(2)), 1)
    (Fraction(1, 3), Fraction(2, 3))
    >>> best_shares(((1.0, 1.0),), (Fraction(1),), 2)
    (Fraction(1, 2), Fraction(1, 2))
    >>> best_shares(((0.0, 0.0),), (Fraction(1),), 2)
    (Fraction(1, 2), Fraction(1, 2))
    """
    table, weight = np.array(slopes), np.array([float(weight) for weight in weights])
    weight /= weight.sum()
    shares = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(_STEPS):
        caused = weight @ _parts(table, shares, power)
        shares = (caused * shares**power) ** (1 / (power + 1))
        shares = np.maximum(shares / shares.sum(), _FAINTEST)
    causes = weight @ _parts(table, shares, power)
    near = [Fraction(part).limit_denominator(_FINEST) for part in causes.tolist()]
    least = Fraction(1, _FINEST**2)
    whole = sum((max(part, least) for part in near), Fraction(0))
    return tuple(max(part, least) / whole for part in near)


def _parts(
    table: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    shares: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    power: int,
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return which part of each answer's variance each measurement causes.

    An answer that no unit moves has no variance, and leaves it even.
    """
    variances = table / shares**power
    whole = variances.sum(axis=1, keepdims=True)
    even = np.full_like(variances, 1 / table.shape[1])
    return np.asarray(np.divide(variances, whole, out=even, where=whole > 0))
