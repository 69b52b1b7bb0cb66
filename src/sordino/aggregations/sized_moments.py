"""The moments of a column of a table whose number of rows is public.

Neighbouring tables have as many rows, so nothing need be measured to know it, and one
row that takes the place of another moves a sum of values in a range by its width at
most. With t from 0 to 1, squares are told by 2 t (1 - t), which is greatest in the
middle: both sums together move by 9/8 of the width (docs/proofs/units.md, lemma 2).
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from sordino.aggregations.base import Setting
from sordino.aggregations.column_values import (
    SUM_STEPS,
    Clamped,
    ColumnValues,
    column_values,
    width_lattice,
)
from sordino.aggregations.lattice import Lattice, height, triple_totals
from sordino.aggregations.measurements import LatticeMeasurement
from sordino.aggregations.moments import Moments, finer_bits
from sordino.aggregations.totals import Total
from sordino.sensitivity import Sensitivity

if TYPE_CHECKING:
    from sordino.aggregations.totals import AbstractTotal

_NONE, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)
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
    """Return the sums, in steps of the lattice that is so many bits finer."""
    tall = Total(height(values.expression, grid), 1 << finer)
    totals: tuple[AbstractTotal, ...] = (tall,)
    steps = Fraction(grid.width << finer)
    change = Sensitivity(l0=1, linf=steps)
    if squared:
        totals = (tall, triple_totals(values.expression, grid, finer)[1])
        change = Sensitivity(
            l0=2,
            l1=_TOGETHER * steps + _ODD,
            l2=steps + _ODD,
            linf=max(steps, steps / 2 + _ODD),
        )
    key: Hashable = ("sized", values.key, grid, squared)
    exponent = grid.exponent - finer
    moved = change.times(rows * Fraction(2) ** exponent)
    return LatticeMeasurement(key, moved, exponent, totals)
