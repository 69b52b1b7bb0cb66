"""Answers made of noisy numbers: as they are, in linear forms, as quotients.

How far the noise moves an answer depends, for means and variances, on where the values
lie in their range, which is private. What a price tells is true of a skewed column, as
most are; beside it stands between what it lies for any data.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias, final

import numpy as np

from sordino.aggregations.aggregation import (
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
)
from sordino.aggregations.intervals import (
    Bars,
    Noise,
    NumberForm,
    Shown,
    Sums,
    additive,
    linear,
    quotient_bars,
    reach,
    spread_bars,
)
from sordino.aggregations.measurement import AbstractMeasurement, round_to_integers
from sordino.aggregations.moments import Form, Moments
from sordino.losses.curves.points import Floats
from sordino.numbers import up
from sordino.numbers.arrays import as_arrow


@final
@dataclass(frozen=True)
class SingleEstimator(AbstractEstimator):
    """Numbers with noise, unbiased; their intervals are cut to the public range."""

    measurements: tuple[AbstractMeasurement]
    least: float = -np.inf
    most: float = np.inf
    slopes: tuple[float, ...] = (1.0,)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        noise = self.measurements[0].noise(mechanisms[0])
        return Expected(noise.sd, noise.reach(confidence))

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        (numbers,) = noisy
        noise = self.measurements[0].noise(numbers.mechanism)
        if numbers.cut is None:  # what showed its group is cut: another law
            bars = [
                additive(values, noise, confidence, self.least, self.most)
                for values in numbers.values
            ]
        else:
            (values,) = numbers.values
            whole = values.dtype.kind == "i"
            shown = Shown((1.0,), float(numbers.cut))
            sums = Sums((values.astype(np.float64),), (noise,), shown)
            ends = self.least, self.most
            bars = [linear(sums, (1.0,), confidence, *ends, whole=whole)]
        pairs = zip(numbers.values, bars, strict=True)
        return tuple(Finished(pa.array(values), bar) for values, bar in pairs)

    @property
    def number_forms(self) -> tuple[NumberForm, ...]:
        places = range(len(self.measurements[0].totals))
        return tuple(NumberForm({(0, place): 1.0}) for place in places)


Factors: TypeAlias = tuple[float, ...]

TYPICAL: Final = (0.2, 0.0145)
"""Mean and variance of a skewed column, Beta(2, 8), in a range of 0 to 1."""
_MEANS: Final = np.linspace(0, 1, 21)
_QUARTER: Final = 0.25
"""The greatest variance of values between 0 and 1."""
_DIVISOR: Final = Fraction(1, 50)
"""What the number of values takes of the chance to miss, where it is a divisor."""


class Numbered(Protocol):
    """Measurements, and the unit of the numbers of each."""

    @property
    def measurements(self) -> tuple[AbstractMeasurement, ...]:
        """Return the measurements."""

    @property
    def units(self) -> tuple[Fraction, ...]:
        """Return a unit for each of them."""

    @property
    def size(self) -> int | None:
        """Return the number of values, if it is public.

        Then the last factor of each form is that of 1, which has no noise.
        """


class AbstractFormEstimator(AbstractEstimator):
    """An answer that noise moves by a form in it, to first order."""

    moments: "Numbered"

    @property
    @abstractmethod
    def steepness(self) -> Factors:
        """Return by how much the answer moves with each number of a typical column."""

    @cached_property
    def measurements(self) -> tuple[AbstractMeasurement, ...]:  # type: ignore[override]
        return self.moments.measurements

    @cached_property
    def slopes(self) -> tuple[float, ...]:  # type: ignore[override]
        numbers = iter(self.steepness)
        pairs = zip(self.measurements, self.moments.units, strict=True)
        return tuple(
            math.fsum((next(numbers) / float(unit)) ** 2 for _ in measurement.totals)
            for measurement, unit in pairs
        )

    def typical_error(
        self,
        noises: tuple[Noise, ...],
        confidence: Fraction,
        unit: str = "",
        remark: str = "",
    ) -> Expected:
        """Return how far the answer of a typical column will be off."""
        form = self.steepness
        sd = float(Sums((), noises).sd(form))
        return Expected(sd, reach(noises, form, confidence), unit, remark)

    def _told_by_rows(self, error: Expected) -> Expected:
        size = self.moments.size
        if size is None:
            return error
        return Expected(error.sd / size, error.half_width / size)

    def noises(self, mechanisms: Sequence[Any]) -> tuple[Noise, ...]:
        """Return the noise of every number."""
        noises: list[Noise] = []
        each = zip(self.measurements, mechanisms, self.moments.units, strict=True)
        for measurement, mechanism, unit in each:
            noise = measurement.noise(mechanism).times(1 / unit)
            noises += [noise] * len(measurement.totals)
        if self.moments.size is not None:
            noises.append(noises[0].times(Fraction(0)))  # the public number
        return tuple(noises)

    def sums(self, noisy: Sequence[Noisy]) -> Sums:
        """Return the noisy numbers, and the cut that showed their groups."""
        values: list[Floats] = []
        weights: list[float] = []
        cuts: list[float] = []
        for part, unit in zip(noisy, self.moments.units, strict=True):
            values += [numbers / float(unit) for numbers in part.values]
            weights += [float(part.cut is not None)] * len(part.values)
            cuts += [] if part.cut is None else [float(part.cut / unit)]
        if self.moments.size is not None:
            values.append(np.ones_like(values[0]))
            weights.append(0.0)
        shown = Shown(tuple(weights), cuts[0]) if cuts else None
        noises = self.noises([part.mechanism for part in noisy])
        return Sums(tuple(values), noises, shown)


@final
@dataclass(frozen=True)
class LinearEstimator(AbstractFormEstimator):
    """A form in noisy numbers, unbiased; its interval is cut to the public range."""

    moments: Numbered
    form: Form
    least: float = -np.inf
    most: float = np.inf
    whole: bool = False
    """Whether it is an integer."""
    remark: str = ""

    @cached_property
    def steepness(self) -> Factors:
        return _floats(self.form)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        noises = self.noises(mechanisms)
        error = self.typical_error(noises, confidence, remark=self.remark)
        if not self.whole:
            return error
        return replace(error, sd=Sums((), noises).rounded_sd(self.steepness))

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        form, ends = self.steepness, (self.least, self.most)

        def answers_of(sums: Sums) -> tuple[Any, ...]:
            values = sums.value_of(form)
            answers = round_to_integers(values) if self.whole else values
            bars = linear(sums, form, confidence, *ends, whole=self.whole)
            return (answers, *bars)

        answers, *bars = self.sums(noisy).in_blocks(answers_of)
        return (Finished(as_arrow(answers), Bars(*bars)),)

    @property
    def number_forms(self) -> tuple[NumberForm, ...]:
        factors = dict[tuple[int, int], float]()
        numbers = iter(self.steepness)
        pairs = zip(self.measurements, self.moments.units, strict=True)
        for place, (measurement, unit) in enumerate(pairs):
            for number in range(len(measurement.totals)):
                factors[place, number] = next(numbers) / float(unit)
        # where the number of values is public the last factor is that of 1
        constant = math.fsum(numbers)
        rounding = Fraction(int(self.whole), 2)
        return (NumberForm(factors, constant, rounding),)


@final
@dataclass(frozen=True)
class MeanEstimator(AbstractFormEstimator):
    """Where the mean divides the range: the first moment over the count."""

    moments: Moments

    @cached_property
    def steepness(self) -> Factors:
        return tuple(self._steepness(np.array(TYPICAL[0])).tolist())

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        noises = self.noises(mechanisms)
        remark = _spread_text(noises, self._steepness(_MEANS))
        error = self.typical_error(noises, confidence, "/ rows", remark)
        return self._told_by_rows(error)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        moments = self.moments
        count, first = _floats(moments.count), _floats(moments.first)
        start, width, most = _range(moments)

        def means_of(sums: Sums) -> tuple[Floats, ...]:
            # with noise a count may be 0 or less
            part = sums.value_of(first) / np.maximum(sums.value_of(count), 1.0)
            values = np.clip(start + width * np.clip(part, 0.0, 1.0), start, most)
            bars = quotient_bars(sums, first, count, confidence, (0.0, 1.0))
            return (values, *bars.move(start, width, most))

        values, *bars = self.sums(noisy).in_blocks(means_of)
        return (Finished(as_arrow(values), Bars(*bars)),)

    def least_sizes(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> Floats | None:
        sums, count = self.sums(noisy), _floats(self.moments.count)
        return linear(sums, count, confidence, 0.0, np.inf, whole=False).low

    def _steepness(self, mean: Floats) -> Floats:
        pairs = zip(
            *map(_floats, (self.moments.count, self.moments.first)), strict=True
        )
        width = float(self.moments.width)
        return np.array([width * (value - mean * number) for number, value in pairs])


@final
@dataclass(frozen=True)
class VarianceEstimator(AbstractFormEstimator):
    """The mean square less the square of the mean, or its root."""

    moments: Moments
    freedom: int
    """What is taken off the number of values that the squares are divided by."""
    root: bool

    @cached_property
    def steepness(self) -> Factors:
        mean, variance = map(np.array, TYPICAL)
        return tuple(self._steepness(mean, variance).tolist())

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        noises, remark = self.noises(mechanisms), "more where values hardly differ"
        if not self.root:
            variances = np.array([part * _MEANS * (1 - _MEANS) for part in (0, 0.5, 1)])
            remark = _spread_text(noises, self._steepness(_MEANS, variances))
        error = self.typical_error(noises, confidence, "/ rows", remark)
        return self._told_by_rows(error)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        sums, size = self.sums(noisy), float(self.moments.width) ** 2
        variances = np.clip(size * self._values(sums), 0.0, size * self._most)
        bars = self._bars(sums, confidence).move(0.0, size, size * self._most)
        values = np.sqrt(variances) if self.root else variances
        answers = as_arrow(values)
        return (Finished(answers, bars.root if self.root else bars),)

    @property
    def _most(self) -> float:
        """Return the greatest variance of values between 0 and 1: half at each end."""
        return _QUARTER * (1 + self.freedom)

    def _values(self, sums: Sums) -> Floats:
        forms = (self.moments.count, self.moments.first, self.moments.second)
        count, first, second = (sums.value_of(_floats(form)) for form in forms)
        size = np.maximum(count, 1.0)  # with noise it may be 0 or less
        variances = np.clip(second / size - (first / size) ** 2, 0.0, _QUARTER)
        return np.asarray(variances * size / np.maximum(size - self.freedom, 1.0))

    def _bars(self, sums: Sums, confidence: Fraction) -> Bars:
        """Return the bars of variances of values between 0 and 1.

        Where the divisor is not the count, the count is held in an interval at a small
        part of the chance to miss, and all divisors in it are allowed for.
        """
        forms = (self.moments.count, self.moments.first, self.moments.second)
        count, first, second = map(_floats, forms)
        if not self.freedom:
            bars = spread_bars(sums, count, first, second, confidence)
            high = np.minimum(bars.high + up(self.moments.rounding), self._most)
            return Bars(bars.sd, bars.low, high)
        each = (1 - confidence) * _DIVISOR
        sizes = linear(sums, count, 1 - each, 0.0, whole=True)
        # the interval of the count took its part of the chance to miss
        bars = spread_bars(sums, count, first, second, confidence + each)
        sure = sizes.low > self.freedom
        # elsewhere any divisor will do: the whole range follows
        least = np.where(sure, sizes.low, 1.0 + self.freedom)
        with np.errstate(invalid="ignore"):
            less = np.where(
                np.isinf(sizes.high), 1.0, _freedom_ratio(sizes.high, self.freedom)
            )
        high = (bars.high + up(self.moments.rounding)) * _freedom_ratio(
            least, self.freedom
        )
        return Bars(
            np.where(sure, bars.sd, np.nan),
            np.where(sure, bars.low * less, 0.0),
            np.where(sure, np.minimum(high, self._most), self._most),
        )

    def _steepness(self, mean: Floats, variance: Floats) -> Floats:
        """Return the factors at some means and variances of values between 0 and 1."""
        moments, width = self.moments, float(self.moments.width)
        size = width / (2 * np.sqrt(variance)) if self.root else width**2
        forms = map(_floats, (moments.count, moments.first, moments.second))
        return np.array([
            size * (square - 2 * mean * value + (mean**2 - variance) * number)
            for number, value, square in zip(*forms, strict=True)
        ])


def _spread_text(noises: tuple[Noise, ...], forms: Floats) -> str:
    spreads = Sums((), noises).sd(forms)
    least, most = spreads.min(), spreads.max()
    return f"sd {least:.3g} to {most:.3g} by where the values lie"


def _freedom_ratio(size: Floats, freedom: int) -> Floats:
    """Return n / (n - freedom); cutting to the public range afterwards pads it."""
    return np.asarray(size / np.maximum(size - freedom, 1.0))


def _floats(form: Form) -> Factors:
    return tuple(map(float, form))


def _range(moments: Moments) -> tuple[float, float, float]:
    """Return the low end of the range, its width and its high end."""
    most = moments.bottom + moments.width
    return float(moments.bottom), float(moments.width), float(most)


@final
@dataclass(frozen=True)
class KnownCount(AbstractEstimator):
    """The number of rows, the same in all neighbours of a table: nothing is measured.

    For any two neighbours the answer is the same, so it has no price.
    """

    rows: int
    measurements: tuple[Any, ...] = ()
    slopes: tuple[float, ...] = ()

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        del mechanisms, confidence
        return Expected(0.0, 0.0)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        del noisy, confidence
        exact = np.array([float(self.rows)])
        bars = Bars(np.zeros(1), exact, exact)
        return (Finished(pa.array([self.rows], pa.int64()), bars),)

    @property
    def number_forms(self) -> tuple[NumberForm, ...]:
        return (NumberForm({}),)
