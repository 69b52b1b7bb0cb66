"""The variance and the standard deviation of a column, clamped to public bounds.

From the number of values, the sum of deviations from the middle of the range, and the
sum of their squares. Squares are centred too: with R the width of the range, the square
of a deviation less R**2 / 8 lies within +-R**2 / 8, half of what squares alone add.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from sordino.aggregations import intervals
from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.column_values import (
    SQUARE_STEPS,
    Clamped,
    ColumnValues,
    Nulls,
    bounds,
    measured,
    ranged,
    width_lattice,
    written,
)
from sordino.aggregations.intervals import AnyNoise, Bars, Combined
from sordino.aggregations.lattice import Lattice, spread
from sordino.aggregations.mean import deviation_measurement, values_measurement
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    LatticeMeasurement,
    Numbers,
    scaled,
)
from sordino.mechanisms.noise_mechanism import AbstractNoiseMechanism
from sordino.numbers import up
from sordino.words import Words

_THIRDS: Final = (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))

Values = Callable[[Numbers], Numbers]
BarsOf = Callable[..., Bars]


@final
@dataclass(frozen=True)
class Variance(AbstractAggregation):
    """The mean squared distance of a group's values from their mean, or its root."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls
    name: str
    made: Values
    """What is made of variances: nothing, or their roots."""
    bars: BarsOf

    def __repr__(self) -> str:
        """Show the call."""
        return written(self.name, self.column, self.low, self.high, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the one column."""
        return (name,)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return ranged(self.name, self.column, (self.low, self.high), self.nulls)

    @property
    def clamped(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the variance from three sums."""
        values = measured(setting, self.column, self.nulls)
        grid = width_lattice(self.low, self.high, values.type, SQUARE_STEPS)
        parts = (
            values_measurement(setting, values, grid),
            deviation_measurement(setting, values, grid),
            square_measurement(setting, values, grid),
        )
        return (MomentsEstimator(parts, grid, self.made, self.bars),)


@final
@dataclass(frozen=True)
class MomentsEstimator(AbstractEstimator):
    """The mean square less the square of the mean, from noisy moments."""

    measurements: tuple[AbstractMeasurement, AbstractMeasurement, AbstractMeasurement]
    grid: Lattice
    made: Values
    bars: BarsOf
    shares: tuple[Fraction, ...] = _THIRDS

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return the spread of the mean square times the number of values."""
        square = self._noises(mechanisms)[2]
        return Expected(square.sd, square.reach(confidence), "/ rows")

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the variance, within what values in the range can have."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        count, first, centred = (one.values[0].astype(np.float64) for one in noisy)
        second = centred + count * self._eighth
        size = np.maximum(count, 1.0)
        most = 2 * self._eighth
        values = np.clip(second / size - (first / size) ** 2, 0.0, most)
        noises = self._noises([one.mechanism for one in noisy])
        within = (float(self.grid.bottom), float(self.grid.top))
        bars = self.bars((count, first, second), noises, confidence, within)
        return (Finished(pa.array(self.made(values), pa.float64()), bars),)

    @property
    def _eighth(self) -> float:
        """Return the square of the width over 8."""
        return up((self.grid.top - self.grid.bottom) ** 2 / 8)

    def _noises(
        self, mechanisms: Sequence[AbstractNoiseMechanism]
    ) -> tuple[AnyNoise, AnyNoise, AnyNoise]:
        """Return the noise of the count, of deviations, and of uncentred squares."""
        count, first, centred = (
            part.noise(one)
            for part, one in zip(self.measurements, mechanisms, strict=True)
        )
        return count, first, Combined(((centred, 1.0), (count, self._eighth)))


def square_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of centred squares: a row adds at most R**2 / 8.

    With w = high - low steps and d = 2 k - low - high, the integer 2 d**2 - w**2 is of
    size w**2 at most, in units of step**2 / 8.
    """
    total = (spread(values.expression, grid),)
    exponent = 2 * grid.exponent - 3
    size = (grid.high - grid.low) ** 2 * Fraction(2) ** exponent
    key = ("squares", values.key, grid)
    return LatticeMeasurement(key, scaled(setting.rows(), size), exponent, total)


def variance(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Variance:
    """Return a question for the variance of a column, clamped to [low, high].

    It is the mean squared distance from the mean: of all the values, not of a sample.

    >>> variance("days", 0, 30)
    variance('days', 0, 30)
    """
    bounds(low, high)
    return Variance(
        column, low, high, nulls, "variance", np.positive, intervals.variance
    )


def stdev(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Variance:
    """Return a question for the standard deviation of a column, clamped to [low, high].

    >>> stdev("days", 0, 30)
    stdev('days', 0, 30)
    """
    bounds(low, high)
    return Variance(column, low, high, nulls, "stdev", np.sqrt, intervals.stdev)
