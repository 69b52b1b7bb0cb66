"""Covariance: the number of rows, the sums and the products of some columns, at once.

One measurement with Gaussian noise of one scale (docs/proofs/moments.md, section 6).
Each value is rounded to a step of its column, at most 2**11 of them on either side of
the middle of its range: v from -m to m, t = v / m. Measured are, for each row,

    1,  t,  t t' of each two columns,  t**2 - 1/2 of each

so that no number of a row is greater than 1, and the last ones not than 1/2. Told are
the sums of deviations from the middles of the ranges, and of their products: forms in
these numbers, in the units of the columns. What regressions and correlations are made
of is in them (`sordino.release.inference`).

Kernel: sensitivity.
"""

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar, Final, final

import numpy as np

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractClamped,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.estimators import LinearEstimator
from sordino.aggregations.intervals import NumberForm
from sordino.aggregations.lattice import (
    Clamped,
    ColumnValues,
    Nulls,
    call_text,
    column_values,
    exact_bounds,
    nulls_words,
)
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    Integers,
    Numbers,
    Total,
    certify_totals,
)
from sordino.aggregations.moments import Form
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.bins import FARTHEST, steps
from sordino.expressions.language import Expression, col, when
from sordino.expressions.literals import lift, literal
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression
from sordino.losses.budgets.charge import Family
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments, floor_log2, sqrt
from sordino.numbers.canonical import Words, call, number

MOST_COLUMNS: Final = 20
"""So many columns have 231 numbers."""
_STEPS: Final = 2**11
"""The most steps of a column on either side of the middle of its range."""
_WHOLE: Final = 25
"""What a row adds is at most 2**25 steps: 2**28 rows add up to the largest total."""
_SMALLEST: Final = -200
_NONE, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)


@final
@dataclass(frozen=True)
class Centred:
    """Multiples of 2**exponent, at most so many on either side of a middle one."""

    middle: int
    most: int
    exponent: int

    @classmethod
    def of(cls, low: Fraction, high: Fraction) -> "Centred":
        """Return the finest one that holds a range."""
        exponent = max(floor_log2((high - low) / (2 * _STEPS)), _SMALLEST)
        while True:
            unit = Fraction(2) ** exponent
            # outwards: the sensitivity is priced from these ends
            first, last = math.floor(low / unit), math.ceil(high / unit)
            middle = (first + last) // 2
            most = max(last - middle, middle - first)
            if most <= _STEPS and abs(middle) + most <= FARTHEST:
                return cls(middle, most, exponent)
            exponent += 1

    def steps(self, value: Expression) -> Expression:
        """Return the nearest step of a value within the range, from the middle."""
        first, last = self.middle - self.most, self.middle + self.most
        return Expression(lift(steps(value, first, last, self.exponent, self.middle)))

    @property
    def centre(self) -> Fraction:
        """Return the number from which values are counted."""
        return self.middle * Fraction(2) ** self.exponent

    @property
    def reach(self) -> Fraction:
        """Return how far a value can be from it."""
        return self.most * Fraction(2) ** self.exponent


@final
@dataclass(frozen=True)
class VectorMeasurement(AbstractMeasurement):
    """Several numbers of each row, each of at most a size of its own, with one noise.

    For any row the squares of the sizes add up to that of what it moves in all
    (docs/proofs/moments.md, lemma 7).
    """

    key: Hashable
    change: Sensitivity
    totals: tuple[Total, ...] = field(compare=False)

    @property
    def certificate(self) -> dict[str, Words]:
        return certify_totals("vector", self.totals) | {"exponent": -_WHOLE}

    def scale_totals(self, exact: Integers) -> Numbers:
        return np.ldexp(exact.astype(np.float64), -_WHOLE)  # exact up to 2**53


def vector_change(rows: Sensitivity, sizes: Sequence[Fraction]) -> Sensitivity:
    """Return how far sums of several numbers of each row move, by their sizes."""
    square = sqrt(sum((size * size for size in sizes), _NONE))
    return Sensitivity(
        l0=rows.l0 * len(sizes),
        l1=rows.l1 * sum(sizes, _NONE),
        l2=rows.l2 * square,
        # what one group holds moves together: no single number does as much
        linf=rows.linf * square,
    )


@final
@dataclass(frozen=True)
class _Numbers:
    """The one measurement, for forms in its numbers."""

    measurements: tuple[VectorMeasurement]
    units: tuple[Fraction, ...] = (_ONE,)
    size: int | None = None


@final
@dataclass(frozen=True)
class CovarianceEstimator(AbstractEstimator):
    """Sums of deviations and of their products: forms in one measurement."""

    answers: tuple[LinearEstimator, ...]
    columns: tuple[str, ...]
    ranges: tuple[Centred, ...]
    slopes: tuple[float, ...] = (1.0,)

    @cached_property
    def measurements(self) -> tuple[Any, ...]:  # type: ignore[override]
        return self.answers[0].measurements

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        error = self.answers[0].expected_error(mechanisms, confidence)
        remark = "of the rows, and of each product in half widths of its ranges"
        return Expected(error.sd, error.half_width, remark=remark)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        columns = (each.finish(noisy, confidence) for each in self.answers)
        return tuple(itertools.chain.from_iterable(columns))

    @property
    def number_forms(self) -> tuple[NumberForm, ...]:
        return tuple(
            itertools.chain.from_iterable(e.number_forms for e in self.answers)
        )


@final
@dataclass(frozen=True)
class ClampedColumns(AbstractClamped):
    """The bounds of several columns: a row is outside if one of its values is."""

    each: tuple[Clamped, ...]
    degree: int = 0

    def __str__(self) -> str:
        return ", ".join(map(str, self.each))

    def key(self, setting: Setting) -> Hashable:
        return tuple(clamped.key(setting) for clamped in self.each)

    def outside(self, setting: Setting) -> AbstractExpression:
        outside = [
            Expression(lift(clamped.outside(setting))) == 1 for clamped in self.each
        ]
        return when(reduce(or_, outside)).then(1).otherwise(0).tree


@final
@dataclass(frozen=True)
class Covariance(AbstractAggregation):
    """The rows, sums and products of columns about the middles of their ranges."""

    families: ClassVar[tuple[Family, ...]] = ("gaussian",)
    names: tuple[str, ...]
    bounds: tuple[tuple[str, tuple[Any, Any]], ...]
    nulls: Nulls
    known: tuple[tuple[str, tuple[Any, Any]], ...] = field(default=(), compare=False)
    """Bounds that are known of columns for which none were given."""

    def __repr__(self) -> str:
        bounds = dict(self.bounds) or None
        return call_text("covariance", list(self.names), bounds, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        pairs = [f"{name}: {a} * {b}" for a, b in _pairs(self.names)]
        return (name, *(f"{name}: {each}" for each in self.names), *pairs)

    @property
    def words(self) -> Words:
        given = dict(self.bounds)
        ends: list[Words] = [
            [number(end) for end in exact_bounds(*given[name])]
            if name in given
            else None
            for name in self.names
        ]
        return call(
            "covariance",
            columns=[*self.names],
            bounds=ends,
            nulls=nulls_words(self.nulls),
        )

    @property
    def clamp(self) -> ClampedColumns | None:
        given = (Clamped(name, *ends, self.nulls) for name, ends in self.bounds)
        each = tuple(given)
        return ClampedColumns(each) if each else None

    def with_known_bounds(self, schema: Schema) -> "Covariance":
        ends = {name: _known_bounds(schema[name]) for name in self.names}
        known = tuple((name, each) for name, each in ends.items() if each is not None)
        return replace(self, known=known)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        ends = dict((*self.known, *self.bounds))
        values = [self._values(setting, name) for name in self.names]
        for name in self.names:
            if name not in ends:
                raise InvalidQuery(
                    f"nothing bounds the values of {name!r}",
                    f'Give bounds: bounds={{"{name}": (0, 100)}}.',
                )
        ranges = [Centred.of(*exact_bounds(*ends[name])) for name in self.names]
        measurement = _measure(setting, values, ranges)
        numbers = _Numbers((measurement,))
        forms = _forms(ranges, measurement.totals)
        answers = tuple(
            LinearEstimator(numbers, form, least)
            for form, least in zip(forms, self._least(), strict=True)
        )
        return (CovarianceEstimator(answers, self.names, tuple(ranges)),)

    def _values(self, setting: Setting, name: str) -> ColumnValues:
        is_truth = setting.schema[name].type == "bool"
        cell = col(name).cast("i64") if is_truth else name
        return column_values(setting, cell, self.nulls)

    def _least(self) -> list[float]:
        """Return the least that each sum can be: of rows and of squares 0."""
        pairs = [0.0 if a == b else -math.inf for a, b in _pairs(self.names)]
        return [0.0, *(-math.inf for _ in self.names), *pairs]


def covariance(
    columns: Sequence[str],
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    nulls: Nulls = None,
) -> Covariance:
    """Return a question for the sums and products of some columns, at once.

    They are what `release.regression` and `release.correlation` are made of, for any
    choice of the columns: `bounds` has the range of each, to which its values are
    clamped; truths need none. A row in which one of them is missing or NaN is left out,
    or counts with the number `nulls`. All numbers have one Gaussian noise, so a pure
    budget cannot pay for them.

    >>> covariance(["age", "days"], {"age": (0, 100), "days": (0, 30)})
    covariance(['age', 'days'], {'age': (0, 100), 'days': (0, 30)})
    """
    listed = columns if isinstance(columns, (tuple, list)) else ()
    names = tuple(arguments.text(columns=name) for name in listed)
    if not 1 <= len(names) <= MOST_COLUMNS or len({*names}) < len(names):
        raise InvalidParameter(
            "columns",
            columns,
            f"must be 1 to {MOST_COLUMNS} different columns",
            'Try covariance(["age", "days"], {"age": (0, 100), "days": (0, 30)}).',
        )
    given: Any = {} if bounds is None else bounds
    if not isinstance(given, Mapping):
        raise InvalidParameter(
            "bounds",
            bounds,
            "must be a dict from columns to ranges",
            'Try {"age": (0, 100)}.',
        )
    return Covariance(names, tuple(_read_bounds(names, given)), nulls)


def _read_bounds(
    names: tuple[str, ...], given: Mapping[Any, Any]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name, ends in given.items():
        if name not in names:
            raise InvalidParameter(
                "bounds", name, "is none of the columns", "Name a column, or leave it."
            )
        if not isinstance(ends, (tuple, list)) or len(ends) != 2:
            raise InvalidParameter(
                "bounds", ends, "must be two numbers", f'Try {{"{name}": (0, 100)}}.'
            )
        exact_bounds(*ends)
        yield name, (ends[0], ends[1])


def _pairs(names: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(itertools.combinations_with_replacement(names, 2))


def _known_bounds(facts: Column) -> tuple[Any, Any] | None:
    return (0, 1) if facts.type == "bool" else facts.bounds


def _measure(
    setting: Setting, values: Sequence[ColumnValues], ranges: Sequence[Centred]
) -> VectorMeasurement:
    """Return the numbers of a row, each brought near to 2**25 steps by a factor."""
    pairs_of_cells = zip(ranges, values, strict=True)
    cells = [each.steps(value.dsl) for each, value in pairs_of_cells]
    lost = [
        cell.is_null()
        for cell, value in zip(cells, values, strict=True)
        if not value.complete
    ]

    def total(number: Expression, factor: int, shift: int = 0) -> Total:
        # a row is in all sums or in none: else they are not of the same rows
        there = (
            when(~reduce(or_, lost)).then(number).otherwise(None) if lost else number
        )
        return Total(lift(there), factor, shift)

    most = [each.most for each in ranges]
    totals = [total(Expression(literal(1)), 1 << _WHOLE)]
    sizes = [1 << _WHOLE]
    for cell, m in zip(cells, most, strict=True):
        factor = (1 << _WHOLE) // m
        totals.append(total(cell, factor))
        sizes.append(factor * m)
    pairs = zip(_pairs(cells), _pairs(most), _pairs(range(len(cells))), strict=True)
    for (cell, other), (m, n), (i, j) in pairs:
        if i == j:  # v**2 less half of its most: half as large as v itself can be
            factor = (1 << _WHOLE - 1) // (m * m)
            totals.append(total(cell * cell, 2 * factor, -factor * m * m))
            sizes.append(factor * m * m)
        else:
            factor = (1 << _WHOLE) // (m * n)
            totals.append(total(cell * other, factor))
            sizes.append(factor * m * n)
    unit = Fraction(1, 1 << _WHOLE)
    change = vector_change(setting.rows(), [size * unit for size in sizes])
    key = ("vector", tuple(value.key for value in values), tuple(ranges))
    return VectorMeasurement(key, change, tuple(totals))


def _forms(ranges: Sequence[Centred], totals: Sequence[Any]) -> Iterator[Form]:
    """Yield the sums of deviations, and of their products, as forms in the numbers."""
    units = [Fraction(2) ** each.exponent for each in ranges]
    scales = [_ONE, *units, *(a * b for a, b in _pairs(units))]
    squares = [
        None if i != j else ranges[i].reach ** 2 / 2
        for i, j in _pairs(range(len(ranges)))
    ]
    for place, scale in enumerate(scales):
        form = [_NONE] * len(scales)
        # of steps of 2**-25, as many as the factor says
        form[place] = (1 << _WHOLE) * scale / totals[place].factor
        square = squares[place - len(ranges) - 1] if place > len(ranges) else None
        if square is not None:
            form[0] = square
        yield tuple(form)
