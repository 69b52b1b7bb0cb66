"""The moments of a column: how many values, their sum, and the sum of their squares.

There are two ways to measure them, both unbiased, and all that is asked of a column is
made of one of them (docs/proofs/moments.md).

- Apart: the number of values, the sum of their distances from the middle of the range,
  the sum of the squares of these; each a part with a share of its own.
- Together: nonnegative numbers that add up to the width of the range, row by row, in
  one part; with Laplace noise all of them are as dear as one.

A moment is a combination of noisy numbers: a coefficient for each of them, in order.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from sordino.aggregations.base import AbstractClamped, Setting
from sordino.aggregations.lattice import (
    Lattice,
    above,
    below,
    centred,
    missing,
    present,
    spread,
    triple,
)
from sordino.aggregations.measured import (
    SQUARE_STEPS,
    SUM_STEPS,
    Clamped,
    Measured,
    measured,
    width_lattice,
)
from sordino.aggregations.parts import AbstractPart, IntegerPart, LatticePart, scaled
from sordino.aggregations.rows import rows_part
from sordino.aggregations.totals import AbstractTotal

Coefficients: TypeAlias = tuple[Fraction, ...]

_FINEST: Final = 24
"""How many bits the steps have in which squares are added up together."""
_ZERO, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)


@final
@dataclass(frozen=True)
class Moments:
    """Parts of a column, and what of their numbers its moments are."""

    parts: tuple[AbstractPart, ...]
    bottom: Fraction
    width: Fraction
    origin: Fraction
    """From where values are measured."""
    rows: Coefficients | None
    """The number of rows, None where those without a value are not counted."""
    values: Coefficients
    first: Coefficients
    """The sum of the values, measured from the origin."""
    second: Coefficients
    """The sum of their squares; empty where nothing asks for it."""
    rounding: Fraction = _ZERO
    """By how much the square of a value may be too small."""

    @property
    def total(self) -> Coefficients:
        """Return the sum of the values."""
        pairs = zip(self.first, self.values, strict=True)
        return tuple(first + self.origin * value for first, value in pairs)


def apart(setting: Setting, clamped: Clamped) -> Moments:
    """Return the number of values and the sums of powers of their deviations."""
    values = measured(setting, clamped.column, clamped.nulls)
    squared = clamped.degree > 1
    steps = SQUARE_STEPS if squared else SUM_STEPS
    grid = width_lattice(clamped.low, clamped.high, values.type, steps)
    parts: tuple[AbstractPart, ...] = (
        values_part(setting, values, grid),
        deviation_part(setting, values, grid),
    )
    parts += (square_part(setting, values, grid),) if squared else ()
    rest = (_ZERO,) * squared
    width = grid.top - grid.bottom
    return Moments(
        parts,
        grid.bottom,
        width,
        (grid.bottom + grid.top) / 2,
        (_ONE, _ZERO, *rest) if values.complete else None,
        (_ONE, _ZERO, *rest),
        (_ZERO, _ONE, *rest),
        (width**2 / 8, _ZERO, _ONE) if squared else (),
    )


def together(setting: Setting, clamped: AbstractClamped) -> Moments:
    """Return numbers that add up to the width, for all that is asked of a column.

    For any row they do and none is negative, so l1 moves by the width for each row, l2
    and linf by no more (docs/proofs/moments.md, lemma 2).
    """
    asked = _alike(setting, clamped)
    values = measured(setting, asked[0].column, asked[0].nulls)
    low, high = asked[0].low, asked[0].high
    grid = width_lattice(low, high, values.type, SUM_STEPS)
    squared = max(one.degree for one in asked) > 1
    finer = max(0, _FINEST - grid.width.bit_length()) if squared else 0
    totals: tuple[AbstractTotal, ...] = (
        triple(values.expression, grid, finer)
        if squared
        else (below(values.expression, grid), above(values.expression, grid))
    )
    used = len(totals)
    if not values.complete and tells_rows(setting, clamped):
        totals += (missing(values.expression, grid, grid.width << finer),)
    width = grid.top - grid.bottom
    part = LatticePart(
        ("together", values.key, grid, used, len(totals)),
        scaled(setting.rows(), width, len(totals)),
        grid.exponent - finer,
        totals,
    )
    rest = (_ZERO,) * (len(totals) - used)
    first = (_ZERO, _HALF, _ONE) if squared else (_ZERO, _ONE)
    return Moments(
        (part,),
        grid.bottom,
        width,
        grid.bottom,
        (1 / width,) * len(totals) if values.complete or rest else None,
        (*((1 / width,) * used), *rest),
        (*first, *rest),
        (_ZERO, _ZERO, width, *rest) if squared else (),
        width * part.step,
    )


def row_moments(setting: Setting) -> Moments | None:
    """Return the numbers of a column that tell the number of rows, if one can."""
    for clamped in setting.clamped[:1]:
        return together(setting, clamped)
    return None


def tells_rows(setting: Setting, clamped: AbstractClamped) -> bool:
    """Tell whether a column is the one that tells the number of rows as well."""
    if not (setting.needs_rows and setting.clamped):
        return False
    return clamped.key(setting) == setting.clamped[0].key(setting)


def _alike(setting: Setting, clamped: AbstractClamped) -> list[Clamped]:
    """Return what is asked of the same values within the same bounds."""
    key = clamped.key(setting)
    found = [one for one in (clamped, *setting.clamped) if one.key(setting) == key]
    return [one for one in found if isinstance(one, Clamped)]


def values_part(setting: Setting, values: Measured, grid: Lattice) -> AbstractPart:
    """Return the numbers of values that are not missing."""
    if values.complete:
        return rows_part(setting)
    total = (present(values.expression, grid),)
    return IntegerPart(("values", values.key), setting.rows(), total)


def deviation_part(setting: Setting, values: Measured, grid: Lattice) -> AbstractPart:
    """Return the sums of deviations from the middle: a row adds at most half the width.

    In half steps the deviation 2 k - low - high is an integer of size high - low.
    """
    total = (centred(values.expression, grid),)
    size = Fraction(grid.width, 2) * grid.unit
    change = scaled(setting.rows(), size)
    key = ("deviations", values.key, grid)
    return LatticePart(key, change, grid.exponent - 1, total)


def square_part(setting: Setting, values: Measured, grid: Lattice) -> AbstractPart:
    """Return the sums of centred squares: a row adds at most R**2 / 8.

    With w = high - low steps and d = 2 k - low - high, the integer 2 d**2 - w**2 is of
    size w**2 at most, in units of step**2 / 8.
    """
    total = (spread(values.expression, grid),)
    exponent = 2 * grid.exponent - 3
    size = grid.width**2 * Fraction(2) ** exponent
    key = ("squares", values.key, grid)
    return LatticePart(key, scaled(setting.rows(), size), exponent, total)
