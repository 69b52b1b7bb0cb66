"""The mean of a column, clamped to public bounds.

Two ways to put it together; the plan takes the one that errs less.

- A pair: the sums of x - low and of high - x. A row adds high - low to both together,
  so in the Laplace family the pair costs no more than one of them, and tells the count
  as well (docs/proofs/queries.md, lemma 7).
- Deviations: the sum of x - middle and the number of values, which others may need too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Clamped,
    ColumnValues,
    Nulls,
    bounds,
    measured,
    ranged,
    width_lattice,
    written,
)
from sordino.aggregations.count import rows_measurement
from sordino.aggregations.intervals import Noise, ratio, share
from sordino.aggregations.lattice import Lattice, above, below, centred, present
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    IntegerMeasurement,
    LatticeMeasurement,
    scaled,
)
from sordino.mechanisms.noise_mechanism import AbstractNoiseMechanism
from sordino.numbers import up
from sordino.words import Words

_HALF: Final = Fraction(1, 2)
_TYPICAL: Final = 0.3
"""Where in its range a mean is taken to lie when forms are compared."""


@final
@dataclass(frozen=True)
class Mean(AbstractAggregation):
    """The mean of the values of a group, each clamped to [low, high]."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls

    def __repr__(self) -> str:
        """Show the call."""
        return written("mean", self.column, self.low, self.high, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return ranged("mean", self.column, (self.low, self.high), self.nulls)

    @property
    def clamped(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the mean by deviations, and by a pair of sums."""
        values = measured(setting, self.column, self.nulls)
        grid = width_lattice(self.low, self.high, values.type, SUM_STEPS)
        deviations = (
            deviation_measurement(setting, values, grid),
            values_measurement(setting, values, grid),
        )
        return (
            DeviationEstimator(deviations, grid),
            PairEstimator((pair_measurement(setting, values, grid),), grid),
        )


@final
@dataclass(frozen=True)
class DeviationEstimator(AbstractEstimator):
    """The middle of the range plus the mean deviation from it."""

    measurements: tuple[AbstractMeasurement, AbstractMeasurement]
    grid: Lattice
    shares: tuple[Fraction, ...] = (_HALF, _HALF)

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return the spread of the mean times the number of values."""
        top, bottom = _noises(self.measurements, mechanisms)
        aside = (_HALF_FLOAT - _TYPICAL) * _width(self.grid)
        each = (1 + confidence) / 2
        return Expected(
            math.hypot(top.sd, aside * bottom.sd),
            top.reach(each) + aside * bottom.reach(each),
            "/ rows",
        )

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return middle + deviations / count, within the public range."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        (top,), (bottom,) = noisy[0].values, noisy[1].values
        low, high = _ends(self.grid)
        middle = (low + high) / 2
        size = np.maximum(bottom.astype(np.float64), 1.0)
        values = np.clip(middle + top / size, low, high)
        noises = _noises(self.measurements, [one.mechanism for one in noisy])
        bars = ratio(top, bottom, noises, confidence, (low, high), middle)
        return (Finished(pa.array(values, pa.float64()), bars),)


@final
@dataclass(frozen=True)
class PairEstimator(AbstractEstimator):
    """Where the mean divides the range, from the sums of distances to both ends."""

    measurements: tuple[AbstractMeasurement]
    grid: Lattice
    shares: tuple[Fraction, ...] = (Fraction(1),)

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return the spread of the mean times the number of values."""
        noise = self.measurements[0].noise(mechanisms[0])
        each = (1 + confidence) / 2
        spread = math.hypot(_TYPICAL, 1 - _TYPICAL)
        return Expected(noise.sd * spread, noise.reach(each), "/ rows")

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return low + (high - low) * a / (a + b), within the public range."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        first, second = (sums.astype(np.float64) for sums in noisy[0].values)
        low, high = _ends(self.grid)
        least = _width(self.grid)
        part = np.clip(first / np.maximum(first + second, least), 0.0, 1.0)
        noise = self.measurements[0].noise(noisy[0].mechanism)
        bars = share(first, second, (noise, noise), confidence, (low, high))
        values = np.clip(low + (high - low) * part, low, high)
        return (Finished(pa.array(values, pa.float64()), bars),)


_HALF_FLOAT: Final = 0.5


def deviation_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of deviations from the middle: a row adds at most half the width.

    In half steps the deviation 2 k - low - high is an integer of size high - low.
    """
    total = (centred(values.expression, grid),)
    size = Fraction(grid.high - grid.low, 2) * Fraction(2) ** grid.exponent
    change = scaled(setting.rows(), size)
    key = ("deviations", values.key, grid)
    return LatticeMeasurement(key, change, grid.exponent - 1, total)


def values_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the numbers of values that are not missing."""
    if values.complete:
        return rows_measurement(setting)
    total = (present(values.expression, grid),)
    return IntegerMeasurement(("values", values.key), setting.rows(), total)


def pair_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of distances to both ends: a row adds the width to both together.

    For any row a + b = width with a, b >= 0, so over both sums l1 moves by the width,
    l2 and linf by no more.
    """
    totals = (
        above(values.expression, grid),
        below(values.expression, grid),
    )
    key = ("pair", values.key, grid)
    width = grid.high - grid.low
    if values.type == "i64" and grid.exponent == 0:
        return IntegerMeasurement(key, scaled(setting.rows(), width, 2), totals)
    size = width * Fraction(2) ** grid.exponent
    return LatticeMeasurement(
        key, scaled(setting.rows(), size, 2), grid.exponent, totals
    )


def _noises(
    measurements: Sequence[AbstractMeasurement],
    mechanisms: Sequence[AbstractNoiseMechanism],
) -> tuple[Noise, Noise]:
    """Return the noise of two parts."""
    top, bottom = (
        part.noise(one) for part, one in zip(measurements, mechanisms, strict=True)
    )
    return top, bottom


def _ends(grid: Lattice) -> tuple[float, float]:
    """Return the bounds as doubles."""
    return float(grid.bottom), float(grid.top)


def _width(grid: Lattice) -> float:
    """Return the width of the range, rounded up."""
    return up(grid.top - grid.bottom)


def mean(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Mean:
    """Return a question for the mean of a column, each value clamped to [low, high].

    Missing values and NaN are left out, or count as the number `nulls`. Where a group
    is too small to tell, the answer is what the noise makes of it, within the bounds.

    >>> mean("days", 0, 30)
    mean('days', 0, 30)
    """
    bounds(low, high)
    return Mean(column, low, high, nulls)
