"""The moments of a column: how many values, their sum, and the sum of their squares.

Two ways to measure them, both unbiased; all that is asked of a column is made of one of
them (docs/proofs/moments.md).

- Nonnegative numbers that add up to the width of the range, row by row: one part for
  all of them, as dear as a single number. For Laplace noise.
- The number of values, the sum of their distances from the middle of the range, and the
  sum of the squares of these: a part each, so that each has a share of its own.

A moment is a linear combination of noisy numbers: a coefficient for each of them.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from sordino.aggregations.base import AbstractClamped, Setting
from sordino.aggregations.count import rows_part
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
from sordino.aggregations.totals import AbstractTotal

Coefficients: TypeAlias = tuple[Fraction, ...]

_MOST_STEPS: Final = 24
"""The logarithm of the steps to which squares are rounded, of the greatest square."""
_ZERO, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)


@final
@dataclass(frozen=True)
class Moments:
    """Parts of a column, and what its moments are of their numbers, in order."""

    parts: tuple[AbstractPart, ...]
    grid: Lattice
    origin: Fraction
    """From where values are measured."""
    rows: Coefficients | None
    """The number of rows, None where rows without a value are not counted."""
    values: Coefficients
    first: Coefficients
    """The sum of the values from the origin."""
    second: Coefficients
    """The sum of their squares, empty where nothing asks for them."""

    @property
    def bottom(self) -> Fraction:
        """Return the least value."""
        return self.grid.bottom

    @property
    def width(self) -> Fraction:
        """Return the width of the range."""
        return self.grid.top - self.grid.bottom

    @property
    def total(self) -> Coefficients:
        """Return the sum of the values."""
        pairs = zip(self.first, self.values, strict=True)
        return tuple(first + self.origin * value for first, value in pairs)


def apart(setting: Setting, clamped: Clamped, degree: int) -> Moments:
    """Return the number of values, and parts for powers of their deviations."""
    values = measured(setting, clamped.column, clamped.nulls)
    steps = SUM_STEPS if degree == 1 else SQUARE_STEPS
    grid = width_lattice(clamped.low, clamped.high, values.type, steps)
    parts: tuple[AbstractPart, ...] = (
        values_part(setting, values, grid),
        deviation_part(setting, values, grid),
    )
    middle = (grid.bottom + grid.top) / 2
    count, first = (_ONE, _ZERO), (_ZERO, _ONE)
    rows = count if values.complete else None
    if degree == 1:
        return Moments(parts, grid, middle, rows, count, first, ())
    eighth = (grid.top - grid.bottom) ** 2 / 8
    return Moments(
        (*parts, square_part(setting, values, grid)),
        grid,
        middle,
        None if rows is None else (*rows, _ZERO),
        (*count, _ZERO),
        (*first, _ZERO),
        (eighth, _ZERO, _ONE),
    )


def together(setting: Setting, clamped: Clamped) -> Moments:
    """Return nonnegative numbers that add up to the width, for all that is asked.

    For any row they do, so over all numbers l1 moves by the width for each row, and l2
    and linf by no more (docs/proofs/moments.md, lemma 2).
    """
    values = measured(setting, clamped.column, clamped.nulls)
    grid = width_lattice(clamped.low, clamped.high, values.type, SUM_STEPS)
    squared = _degree(setting, clamped) == 2
    finer = max(0, _MOST_STEPS - grid.width.bit_length()) if squared else 0
    totals: tuple[AbstractTotal, ...]
    if squared:
        totals = triple(values.expression, grid, 1 << finer)
    else:
        totals = (below(values.expression, grid), above(values.expression, grid))
    held = tells_rows(setting, clamped)
    if held and not values.complete:
        totals = (*totals, missing(values.expression, grid, grid.width << finer))
    width = grid.top - grid.bottom
    part = LatticePart(
        ("together", values.key, grid, len(totals), squared),
        scaled(setting.rows(), width, len(totals)),
        grid.exponent - finer,
        totals,
    )
    return _read(part, grid, squared=squared, complete=values.complete)


def _read(
    part: LatticePart, grid: Lattice, *, squared: bool, complete: bool
) -> Moments:
    """Return what the numbers of a part that add up say."""
    width = grid.top - grid.bottom
    numbers = 3 if squared else 2
    others = len(part.totals) - numbers
    each, none = (1 / width,), (_ZERO,)
    first = (_ZERO, _HALF, _ONE) if squared else (_ZERO, _ONE)
    second = (_ZERO, _ZERO, width) if squared else ()
    return Moments(
        (part,),
        grid,
        grid.bottom,
        each * len(part.totals) if complete or others else None,
        each * numbers + none * others,
        first + none * others,
        second + none * others if squared else (),
    )


def tells_rows(setting: Setting, clamped: Clamped) -> bool:
    """Tell whether a column is the one that tells the number of rows, too.

    That is the first one, where rows are asked for or show which groups exist.
    """
    wanted = setting.selects or any(one.counts_rows for one in setting.asked)
    first = next(iter(columns(setting)), None)
    return wanted and first is not None and first.key(setting) == clamped.key(setting)


def columns(setting: Setting) -> tuple[Clamped, ...]:
    """Return the columns of which moments are asked, in order."""
    return tuple(
        one.moments for one in setting.asked if isinstance(one.moments, Clamped)
    )
