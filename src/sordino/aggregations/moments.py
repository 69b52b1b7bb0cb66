"""The moments of a column: how many values, their sum, and the sum of their squares.

All that is asked of a column is made of one way to measure them, each unbiased
(docs/proofs/moments.md).

- Apart: the number of values, the sum of their distances from the middle of the range,
  the sum of the squares of these; each a measurement with a share of its own.
- Together: nonnegative numbers that add up to the width of the range, row by row, in
  one measurement; with Laplace noise all of them are as dear as one.
- Beside a public number of rows, which needs no measurement: a row that replaces
  another moves a sum by the width at most. Squares are then measured by 2 t (1 - t),
  and both sums together move by 9/8 of the width (docs/proofs/units.md, lemma 2).

Values are counted from the low end of the range, in its widths: t from 0 to 1. A moment
is a form in the noisy numbers: a factor for each of them, in order, where each number
is counted in what a row can add to it.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, final

from sordino.aggregations.aggregation import Setting
from sordino.aggregations.lattice import (
    SUM_STEPS,
    Clamped,
    ColumnValues,
    Lattice,
    column_values,
    height,
    middle_total,
    pair_totals,
    triple_totals,
    width_lattice,
)
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    DividedMeasurement,
    IntegerMeasurement,
    LatticeMeasurement,
    Missing,
    Total,
    scale_change,
)
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree
from sordino.noise.sensitivity import Sensitivity

if TYPE_CHECKING:
    from sordino.aggregations.measurement import AbstractTotal


ROWS: Final = "rows"
"""The key of the number of rows."""


def rows_measurement(setting: Setting) -> IntegerMeasurement:
    """Return the row counts of the groups: a row moves one of them by 1."""
    return IntegerMeasurement(ROWS, setting.counts(), (Total(literal(1)),))


Form: TypeAlias = tuple[Fraction, ...]

_FINEST: Final = 24
"""Squares that are added up together have steps of so many bits."""
_NONE, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)


@final
@dataclass(frozen=True)
class Moments:
    """Measurements of a column, and its moments as forms in their numbers."""

    measurements: tuple[AbstractMeasurement, ...]
    units: Form
    """The unit of the numbers of each measurement."""
    bottom: Fraction
    width: Fraction
    rows: Form | None
    """The number of rows, None where those without a value are not counted."""
    count: Form
    """The number of values."""
    first: Form
    """The sum of t."""
    second: Form
    """The sum of t**2; empty where no question needs it."""
    rounding: Fraction = _NONE
    """By how much the square of a value may be too small."""
    size: int | None = None
    """The number of values, if it is public: the last factor of each form is then that
    of 1, which has no noise."""

    @property
    def total(self) -> Form:
        """Return the sum of the values."""
        pairs = zip(self.count, self.first, strict=True)
        return tuple(self.bottom * number + self.width * t for number, t in pairs)


def separate_moments(setting: Setting, clamped: Clamped) -> Moments:
    """Return the number of values and the sums of powers of their deviations.

    With y = t - 1/2, t**2 is y**2 + y + 1/4, and y**2 is measured less 1/8. The lattice
    is the same with squares and without them: a mean and a variance of one column have
    two measurements in common.
    """
    values = column_values(setting, clamped.column, clamped.nulls)
    squared = clamped.degree > 1
    grid = width_lattice(*clamped.bounds, values.type, SUM_STEPS)
    tall = height(values.expression, grid)
    measurements: tuple[AbstractMeasurement, ...] = (
        values_measurement(setting, values, tall),
        deviation_measurement(setting, values, tall, grid),
    )
    rest = (_NONE,) * squared
    width = grid.top - grid.bottom
    if squared:
        measurements = (*measurements, square_measurement(setting, values, grid))
    count = (_ONE, _NONE, *rest)
    units = (_ONE, width, *((8 * width,) * squared))
    return Moments(
        measurements,
        units,
        grid.bottom,
        width,
        count if values.complete else None,
        count,
        (_HALF, _ONE, *rest),
        (Fraction(3, 8), _ONE, _ONE) if squared else (),
        Fraction(1, grid.width << finer_bits(grid)) if squared else _NONE,
    )


def divided_moments(setting: Setting, clamped: Clamped) -> Moments:
    """Return numbers that add up to the width, for all that is asked of a column.

    For any row they do and none is negative, so l1 moves by the width for each row, l2
    and linf by no more (docs/proofs/moments.md, lemma 2).
    """
    key = clamped.key(setting)
    squared = max(clamped.degree, setting.degrees.get(key, 0)) > 1
    if (key, squared) not in setting.computations:  # shared, so paid for once
        computed = _divide_column(setting, clamped, key, squared=squared)
        setting.computations[key, squared] = computed
    moments: Moments = setting.computations[key, squared]
    return moments


def _divide_column(
    setting: Setting, clamped: Clamped, key: Hashable, *, squared: bool
) -> Moments:
    values = column_values(setting, clamped.column, clamped.nulls)
    grid = width_lattice(*clamped.bounds, values.type, SUM_STEPS)
    tall = height(values.expression, grid)
    finer = finer_bits(grid) if squared else 0
    totals: tuple[AbstractTotal, ...] = (
        triple_totals(values.expression, grid, finer)
        if squared
        else pair_totals(tall, grid)
    )
    used = len(totals)
    if not values.complete and _tells_rows(setting, key):
        totals = (*totals, Missing(tall, grid.width << finer))
    width, rest = grid.top - grid.bottom, (_NONE,) * (len(totals) - used)
    measurement = DividedMeasurement(
        ("together", values.key, grid, used, len(totals)),
        # the width once, not once for each number: what a row adds up to is the width
        scale_change(setting.rows(), width, len(totals)),
        width,
        grid.exponent - finer,
        totals,
    )
    return Moments(
        (measurement,),
        (width,),
        grid.bottom,
        width,
        (_ONE,) * len(totals) if values.complete or rest else None,
        (*((_ONE,) * used), *rest),
        (_NONE, *((_HALF,) * squared), _ONE, *rest),
        (_NONE, _NONE, _ONE, *rest) if squared else (),
        Fraction(1, grid.width << finer) if squared else _NONE,
    )


def row_moments(setting: Setting) -> Moments | None:
    """Return the numbers of a column that tell the number of rows, if there is one."""
    clamped = next(iter(setting.clamped), None)
    if not setting.needs_rows or not isinstance(clamped, Clamped):
        return None
    return divided_moments(setting, clamped)


def row_presence(setting: Setting) -> DividedMeasurement | None:
    """Return the measurement of a column that can show which groups have rows."""
    moments = row_moments(setting)
    measurement = None if moments is None else moments.measurements[0]
    return measurement if isinstance(measurement, DividedMeasurement) else None


def _tells_rows(setting: Setting, key: Hashable) -> bool:
    return setting.needs_rows and key == next(iter(setting.degrees), None)


def values_measurement(
    setting: Setting, values: ColumnValues, tall: AbstractTree
) -> AbstractMeasurement:
    """Return the numbers of values that are not missing."""
    if values.complete:
        return rows_measurement(setting)  # equal numbers are paid for once
    key = ("values", values.key)
    return IntegerMeasurement(key, setting.counts(), (Total(tall, 0, 1),))


def deviation_measurement(
    setting: Setting, values: ColumnValues, tall: AbstractTree, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of deviations from the middle: a row adds at most half the width.

    In half steps the deviation 2 k - low - high is an integer of size high - low.
    """
    total = (Total(tall, 2, -grid.width),)
    change = scale_change(setting.rows(), Fraction(grid.width, 2) * grid.unit)
    key = ("deviations", values.key, grid)
    return LatticeMeasurement(key, change, grid.exponent - 1, total)


def square_measurement(
    setting: Setting, values: ColumnValues, grid: Lattice
) -> AbstractMeasurement:
    """Return the sums of centred squares, 8 y**2 - 1 of a row, in widths.

    Of a row that is divided into three integers with the sum w, the middle one is
    2 w t (1 - t), or less than 2 more; w less four times that is w (8 y**2 - 1), or
    less than 8 less (docs/proofs/moments.md, lemma 1): of size w + 8 at most.
    """
    finer = finer_bits(grid)
    total = (middle_total(values.expression, grid, finer),)
    exponent = grid.exponent - finer
    # the 8 is the rounding of the middle integer, four times less than 2
    size = ((grid.width << finer) + 8) * Fraction(2) ** exponent
    key = ("squares", values.key, grid)
    return LatticeMeasurement(key, scale_change(setting.rows(), size), exponent, total)


def finer_bits(grid: Lattice) -> int:
    """Return how many bits finer than a lattice the squares on it are added up."""
    return max(0, _FINEST - grid.width.bit_length())


_TOGETHER: Final = Fraction(9, 8)
"""How far t and 2 t (1 - t) move together, at most: where t goes from 0 to 3/4."""
_ODD: Final = 2
"""By how much the middle of three integers may be above 2 t (1 - t)."""


def sized_moments(setting: Setting, clamped: Clamped) -> Moments | None:
    """Return the sum of t, and that of 2 t (1 - t), beside a number that is known.

    None where a row may be missing, or a value of one, or groups divide the rows. What
    a row adds lies between 0 and the width, though facts of its column be false: then
    it adds nothing, which is the low end of the range.
    """
    key = clamped.key(setting)
    values = column_values(setting, clamped.column, clamped.nulls)
    # in groups, or of some rows, the number of rows is not public
    if setting.by or setting.spread is not None or not values.complete:
        return None
    rows = setting.contribution.each_way
    if not setting.size or rows is None:
        return None
    squared = max(clamped.degree, setting.degrees.get(key, 0)) > 1
    grid = width_lattice(*clamped.bounds, values.type, SUM_STEPS)
    rest = (_NONE,) * squared
    count = (_NONE, *rest, Fraction(setting.size))
    finer = finer_bits(grid) if squared else 0
    return Moments(
        (_measure_column(values, grid, finer, rows, squared=squared),),
        (grid.top - grid.bottom,),
        grid.bottom,
        grid.top - grid.bottom,
        count,
        count,
        (_ONE, *rest, _NONE),
        (_ONE, -_HALF, _NONE) if squared else (),
        Fraction(1, grid.width << finer) if squared else _NONE,
        size=setting.size,
    )


def _measure_column(
    values: ColumnValues, grid: Lattice, finer: int, rows: int, *, squared: bool
) -> LatticeMeasurement:
    tall = Total(height(values.expression, grid), 1 << finer)
    totals: tuple[AbstractTotal, ...] = (tall,)
    steps = Fraction(grid.width << finer)
    change = Sensitivity(l0=1, linf=steps)
    if squared:
        totals = (tall, triple_totals(values.expression, grid, finer)[1])
        change = Sensitivity(
            l0=2,
            # both sums move together by 9/8 of the width at most, and one is rounded
            l1=_TOGETHER * steps + _ODD,
            l2=steps + _ODD,
            linf=max(steps, steps / 2 + _ODD),
        )
    key: Hashable = ("sized", values.key, grid, squared)
    exponent = grid.exponent - finer
    moved = change.times(rows * Fraction(2) ** exponent)
    return LatticeMeasurement(key, moved, exponent, totals)
