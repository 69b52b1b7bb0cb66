"""Counts and sums of ordered periods: of each, to date, and of the last few, together.

All come from one measurement, so they add up; its noise is correlated where that errs
less. Measured is y = C x + noise, C lower triangular with f_0, f_1, ... on its
diagonals; all figures are forms in y (docs/proofs/over-time.md).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractClamped,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.count import Count
from sordino.aggregations.intervals import Bars, Noise, Sums
from sordino.aggregations.lattice import column_values, sum_lattice
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    AbstractTotal,
    Integers,
    LatticeMeasurement,
    Numbers,
    certify_totals,
)
from sordino.aggregations.moments import rows_measurement
from sordino.aggregations.sum import Sum, clamped_weight, sum_measurement, weighed_sum
from sordino.data.contribution import Weighed
from sordino.errors import InvalidQuery
from sordino.expressions.schema import Schema
from sordino.losses.curves.points import Floats
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import finite, rational_above, sqrt
from sordino.numbers.canonical import Words, call

STEPS: Final = 8
"""Factors are multiples of 2**-8: integers are added up, whatever the data."""
_HALF_WORD: Final = 26


@final
@dataclass(frozen=True)
class Factorisation:
    """Non-increasing integers f_0 = 2**8, f_1, ..., one for each period."""

    factors: tuple[int, ...]

    @property
    def periods(self) -> int:
        """Return how many periods there are."""
        return len(self.factors)

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """Return the factors as a lower triangular matrix."""
        return _toeplitz(np.array(self.factors, np.int64))

    @cached_property
    def back(self) -> Floats:
        """Return g with which the figures of periods are made of measured ones."""
        factors = np.array(self.factors) / 2.0**STEPS
        back = np.zeros(self.periods)
        back[0] = 1.0
        for place in range(1, self.periods):
            back[place] = -np.dot(factors[1 : place + 1], back[place - 1 :: -1])
        return back

    def measure(self, exact: NDArray[np.int64]) -> Floats:
        """Return C x for rows of periods, in units of x; totals stop at 2**53 steps.

        Halves of the words of x are added up apart, so that nothing overflows.
        """
        high, low = exact >> _HALF_WORD, exact & ((1 << _HALF_WORD) - 1)
        sums = (high @ self.matrix.T, low @ self.matrix.T)
        steps = sums[0].astype(object) * (1 << _HALF_WORD) + sums[1]
        most = 2**53
        # saturates where every exact total does
        numbers = np.clip(steps, -most, most).astype(np.float64)
        return np.asarray(np.ldexp(numbers, -STEPS))

    def forms(self, last: int | None) -> Floats:
        """Return the forms in y, a row for each period, of the last few or of all."""
        sums = np.cumsum(self.back)
        if last is not None:
            sums[last:] -= np.cumsum(self.back)[:-last]
        return _toeplitz(sums)

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """Return |c_1 + ... + c_k|**2 in 2**-16, for k = 0, 1, ... columns of C."""
        sums = np.cumsum(self.matrix.astype(object), axis=1)
        squares = (sums * sums).sum(axis=0)
        return (0, *(int(square) for square in squares))

    def change_squared(
        self, entries: int, bounds: tuple[Fraction, Fraction], *, blocks: bool
    ) -> Fraction:
        """Return how far C x moves at most, squared, in all blocks together.

        So many `entries` of x move, each and together within `bounds`. With `blocks`
        there may be several of all periods, in which columns are shared out at will.
        """
        largest, whole = bounds
        columns = min(entries, math.ceil(whole / largest))
        most = min(columns, self.periods)
        steps = Fraction(self.squares[most])
        if blocks:
            each = (Fraction(self.squares[j], j) for j in range(1, most + 1))
            # blocks may share the columns out in the dearest way
            steps = columns * max(each)
        moved = min(largest**2 * steps, whole**2 * self.squares[1])
        return moved / 4**STEPS


@lru_cache(maxsize=32)
def square_root(periods: int) -> Factorisation:
    """Return the square root of running totals: f_j = f_(j-1) (2 j - 1) / (2 j)."""
    factor, factors = Fraction(1), [1 << STEPS]
    for place in range(1, periods):
        factor *= Fraction(2 * place - 1, 2 * place)
        factors.append(round(factor * (1 << STEPS)))
    return Factorisation(tuple(factors))


@lru_cache(maxsize=32)
def each_alone(periods: int) -> Factorisation:
    """Return every period by itself."""
    return Factorisation((1 << STEPS, *([0] * (periods - 1))))


def _toeplitz(first: NDArray[Any]) -> NDArray[Any]:
    size = len(first)
    gaps = np.subtract.outer(np.arange(size), np.arange(size))
    return np.where(gaps >= 0, first[np.maximum(gaps, 0)], 0)


_SUM_STEPS: Final = {"i64": 2**20, "f64": 2**16}
"""Most steps of one row: 2**25 rows of such size add up to the largest total."""
_SLACK: Final = 2.0**-40
"""Of the largest figure: far more than doubles err where forms are computed."""


@final
@dataclass(frozen=True)
class Periods:
    """Ordered periods: where each stands among their keys, which are sorted."""

    places: tuple[int, ...]

    @property
    def words(self) -> Words:
        """Return the order, if it is not that of the keys."""
        ascending = self.places == tuple(range(len(self.places)))
        return None if ascending else list(self.places)

    def in_order(self, values: Numbers) -> Numbers:
        """Return a row of periods in order for each block of sorted keys."""
        blocks: Numbers = values.reshape(-1, len(self.places))[:, list(self.places)]
        return blocks

    def by_key(self, rows: Floats) -> Floats:
        """Return rows of periods as they are sorted by key."""
        keys = np.empty_like(rows)
        keys[:, list(self.places)] = rows
        return keys.reshape(-1)


@final
@dataclass(frozen=True)
class Running(AbstractAggregation):
    """A count or a sum in each of ordered periods, to date, and of the last few."""

    needs_every_group: ClassVar[bool] = True
    is_of_all: ClassVar[bool] = True
    each: AbstractAggregation
    periods: Periods
    last: tuple[int, ...]

    def __repr__(self) -> str:
        last = f", last={self.last}" if self.last else ""
        order = self.periods.words  # of keys in another order than their own
        listed = "" if order is None else f", order={order}"
        return f"cumulative({self.each!r}{last}{listed})"

    def columns(self, name: str) -> tuple[str, ...]:
        return (name, f"{name}_to_date", *(f"{name}_last_{few}" for few in self.last))

    @property
    def words(self) -> Words:
        order, last = self.periods.words, list(self.last)
        return call("cumulative", of=self.each.words, order=order, last=last)

    @property
    def clamp(self) -> AbstractClamped | None:
        return self.each.clamp

    def adds_up(self, weighed: Weighed | None, schema: Schema) -> bool:
        return self.each.adds_up(weighed, schema)

    @property
    def lacks_bounds(self) -> bool:
        return self.each.lacks_bounds

    def with_known_bounds(self, schema: Schema) -> "Running":
        return replace(self, each=self.each.with_known_bounds(schema))

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return each period with its own noise, and, for Gaussian noise, correlated.

        The last one is of use for Gaussian noise alone.
        """
        size, total = len(self.periods.places), _total(self.each, setting)
        blocks = len(setting.by) > 1
        alone, correlated = (
            RunningEstimator(
                (_running_measurement(total, factors, self.periods, blocks=blocks),),
                self.last,
                isinstance(self.each, Count) or self.lacks_bounds,
            )
            for factors in (each_alone(size), square_root(size))
        )
        return (alone, alone, alone, correlated)


def _total(each: AbstractAggregation, setting: Setting) -> AbstractMeasurement:
    match each:
        case Count():
            return rows_measurement(setting)
        case Sum() if each.lacks_bounds:
            return weighed_sum(each, setting)
        case Sum():
            values = column_values(setting, each.column, each.nulls)
            grid = sum_lattice(each.low, each.high, values.type, _SUM_STEPS)
            weight = clamped_weight(each, setting)
            return weight or sum_measurement(setting, values, grid)
        case _:
            raise InvalidQuery(
                f"{each!r} does not add up over periods",
                "Ask count or sum. People to date are counted once each: "
                'per_id(week=sd.min("week")), then cumulative("week", ..., '
                "people=sd.count()).",
            )


@final
@dataclass(frozen=True)
class RunningMeasurement(AbstractMeasurement):
    """Forms in the totals of ordered periods, by blocks of all periods.

    For any two tables that differ by the protected change, all forms of all blocks
    together move by at most `change` (docs/proofs/over-time.md, lemma 1).
    """

    key: Hashable
    change: Sensitivity
    factors: Factorisation
    periods: Periods
    exponent: int
    totals: tuple[AbstractTotal, ...] = field(compare=False)

    @property
    def certificate(self) -> dict[str, Words]:
        base = certify_totals("sum", self.totals) | {"exponent": self.exponent}
        return {"of": "running", "factors": [*self.factors.factors], "base": base}

    def scale_totals(self, exact: Integers) -> Numbers:
        ordered = self.periods.in_order(exact.astype(np.int64, copy=False))
        return np.ldexp(self.factors.measure(ordered), self.exponent).reshape(-1)


def _running_measurement(
    total: AbstractMeasurement,
    factors: Factorisation,
    periods: Periods,
    *,
    blocks: bool,
) -> RunningMeasurement:
    """Return forms in a number of each period, and how far they move."""
    change = total.change
    if any(factors.factors[1:]):
        entries = int(change.l0)
        bounds = rational_above(finite(change.linf)), rational_above(finite(change.l1))
        squared = factors.change_squared(entries, bounds, blocks=blocks)
        change = Sensitivity(l0=entries * factors.periods, l2=sqrt(squared))
    key = ("running", total.key, factors, periods)
    unit = total.exponent if isinstance(total, LatticeMeasurement) else 0
    return RunningMeasurement(key, change, factors, periods, unit, total.totals)


@final
@dataclass(frozen=True)
class RunningEstimator(AbstractEstimator):
    """Figures of periods, to date, and of the last few, unbiased, which add up."""

    measurements: tuple[RunningMeasurement]
    last: tuple[int, ...]
    counts: bool
    """Whether no figure is below 0: of rows, and of what people add to."""

    @property
    def forms(self) -> tuple[Floats, ...]:
        """Return the forms of the figures in what is measured."""
        factors = self.measurements[0].factors
        lasts = (1, None, *self.last)
        return tuple(factors.forms(few) for few in lasts)

    @cached_property
    def slopes(self) -> tuple[float, ...]:  # type: ignore[override]
        _, to_date, *_ = self.forms
        return (float(np.mean(np.sum(to_date**2, axis=1))),)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        (mechanism,) = mechanisms
        noise = self.measurements[0].noise(mechanism)
        period, to_date, *_ = (
            noise.sd * np.sqrt(np.sum(form**2, axis=1)) for form in self.forms
        )
        last = self._reach(noise, self.forms[1][-1:], confidence)
        remark = (
            f"to date, at the end; on average sd {to_date.mean():.4g}, "
            f"of one period {period.mean():.4g}"
        )
        return Expected(float(to_date[-1]), float(last[0]), remark=remark)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        (numbers,) = noisy
        noise = self.measurements[0].noise(numbers.mechanism)
        (values,) = numbers.values
        blocks = values.reshape(-1, len(self.measurements[0].periods.places))
        return tuple(
            self._figures(blocks, form, noise, confidence) for form in self.forms
        )

    def _figures(
        self, blocks: Floats, form: Floats, noise: Noise, confidence: Fraction
    ) -> Finished:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        figures = blocks @ form.T
        reach = np.broadcast_to(self._reach(noise, form, confidence), figures.shape)
        sd = noise.sd * np.sqrt(np.sum(form**2, axis=1))
        slack = _SLACK * np.max(np.abs(blocks), initial=0.0, axis=1, keepdims=True)
        least = 0.0 if self.counts else -np.inf
        by_key = self.measurements[0].periods.by_key
        bars = Bars(
            by_key(np.broadcast_to(sd, figures.shape)),
            by_key(figures - reach - slack),
            by_key(figures + reach + slack),
        )
        return Finished(pa.array(by_key(figures)), bars.clip(least, np.inf))

    @staticmethod
    def _reach(noise: Noise, form: Floats, confidence: Fraction) -> Floats:
        sums = Sums((), (noise,) * form.shape[1])
        return sums.reach(form.T, float(1 - confidence))
