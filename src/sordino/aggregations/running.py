"""Counts and sums of ordered periods: of each, to date, and of the last few, together.

All come from one measurement, so they add up; its noise is correlated where that errs
less (docs/proofs/over-time.md).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractClamped,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.column_values import column_values, sum_lattice
from sordino.aggregations.count import Count
from sordino.aggregations.factorisation import (
    Factorisation,
    each_alone,
    square_root,
)
from sordino.aggregations.intervals import Bars, Noise, Sums
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    Integers,
    LatticeMeasurement,
    Numbers,
)
from sordino.aggregations.rows import rows_measurement
from sordino.aggregations.shares import AbstractShare
from sordino.aggregations.sum import Sum, sum_measurement, weighed_sum
from sordino.aggregations.totals import AbstractTotal
from sordino.contribution import Weighed
from sordino.curves.points import Floats
from sordino.errors import InvalidQuery
from sordino.mechanisms.noise_mechanism import (
    AbstractAdditiveMechanism,
    AbstractNoiseMechanism,
)
from sordino.numbers import finite, rational_above, sqrt
from sordino.schema import Schema
from sordino.sensitivity import Sensitivity
from sordino.words import Words, call

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
        """Show what is added up."""
        last = f", last={self.last}" if self.last else ""
        return f"cumulative({self.each!r}{last})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the figure of a period, to date, and of the last few."""
        return (name, f"{name}_to_date", *(f"{name}_last_{few}" for few in self.last))

    @property
    def words(self) -> Words:
        """Return the question, the order of the periods and the last few."""
        order, last = self.periods.words, list(self.last)
        return call("cumulative", of=self.each.words, order=order, last=last)

    @property
    def clamp(self) -> AbstractClamped | None:
        """Return the bounds of what is added up."""
        return self.each.clamp

    def adds_up(self, weighed: Weighed | None, schema: Schema) -> bool:
        """Tell whether the sum of a weighed column is added up."""
        return self.each.adds_up(weighed, schema)

    @property
    def lacks_bounds(self) -> bool:
        """Tell whether nothing bounds what is added up."""
        return self.each.lacks_bounds

    def with_known_bounds(self, schema: Schema) -> "Running":
        """Return the question with the bounds that its column is known to have."""
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
    """Return the one number of a period that is added up over periods."""
    match each:
        case Count():
            return rows_measurement(setting)
        case Sum() if each.lacks_bounds:
            return weighed_sum(each, setting)
        case Sum():
            values = column_values(setting, each.column, each.nulls)
            grid = sum_lattice(each.low, each.high, values.type, _SUM_STEPS)
            return sum_measurement(setting, values, grid)
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

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for real numbers."""
        return share.reals(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return the forms, block by block, in the order of the periods."""
        ordered = self.periods.in_order(exact.astype(np.int64, copy=False))
        return np.ldexp(self.factors.measure(ordered), self.exponent).reshape(-1)

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the doubles."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise of one form."""
        return Noise(mechanism)


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
        """Return by how much the variance of a figure to date grows, on average."""
        _, to_date, *_ = self.forms
        return (float(np.mean(np.sum(to_date**2, axis=1))),)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return the spread of the figures to date, and that of one period."""
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
        """Return the figures as they are sorted by key."""
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
        """Return one kind of figure for all periods of all blocks."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        figures = blocks @ form.T
        reach = np.broadcast_to(self._reach(noise, form, confidence), figures.shape)
        sd = noise.sd * np.sqrt(np.sum(form**2, axis=1))
        slack = _SLACK * np.max(np.abs(blocks), initial=0.0, axis=1, keepdims=True)
        least = 0.0 if self.counts else -np.inf
        by_key = self.measurements[0].periods.by_key
        bars = Bars(
            by_key(np.broadcast_to(sd, figures.shape)),
            by_key(np.maximum(figures - reach - slack, least)),
            by_key(np.maximum(figures + reach + slack, least)),
        )
        return Finished(pa.array(by_key(figures)), bars)

    @staticmethod
    def _reach(noise: Noise, form: Floats, confidence: Fraction) -> Floats:
        """Return how far the noise of each row of a form goes."""
        sums = Sums((), (noise,) * form.shape[1])
        return sums.reach(form.T, float(1 - confidence))
