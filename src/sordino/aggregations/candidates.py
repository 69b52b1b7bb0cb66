"""The public candidates that a choice is made among, and the values they stand for.

Candidates are counted from the lower bound: multiples of a power of two for integers,
what starts with the same binary digits for doubles, days for dates, seconds for times.
An integer belongs to the nearest number, a time to its day or second. Of each range of
candidates the number with the fewest digits is released, so that a price of 9.99 comes
back as 9.99. Answers have the type of the column, and lie within the bounds.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.aggregation import AbstractClamped, Setting
from sordino.aggregations.lattice import (
    Clamped,
    ColumnValues,
    Lattice,
    Nulls,
    column_values,
    ends_words,
    exact_bounds,
    height,
    width_lattice,
)
from sordino.aggregations.measurement import Integers
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.bins import double_bin
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.literals import LEAST, MOST, literal
from sordino.expressions.schema import arrow_type
from sordino.expressions.tree import AbstractExpression
from sordino.losses.curves.points import Floats
from sordino.noise.bin_counts import (
    AbstractWeights,
    DoubleWeights,
    EvenWeights,
    weights,
)
from sordino.numbers import down, up
from sordino.numbers.canonical import Words
from sordino.numbers.double_grid import DoubleGrid

if TYPE_CHECKING:
    import pyarrow as pa


_FINEST: Final = 330
_LARGEST: Final = 10**19


def shortest_decimals(low: Floats, high: Floats) -> Floats:
    """Return the number with the fewest decimals in each range low <= x < high.

    Of several with equally few digits the one nearest to the middle.

    >>> low, high = np.array([9.98999, -0.2, 1230]), np.array([9.99001, 0.7, 1239])
    >>> shortest_decimals(low, high)
    array([   9.99,    0.  , 1230.  ])
    """
    middle = low + (high - low) / 2
    shortest, open_ = middle.copy(), np.ones(middle.size, np.bool_)
    for places in _places(low, high):
        tens = 10.0 ** abs(places)
        scaled = middle * tens if places > 0 else middle / tens
        rounded = np.rint(scaled)
        # + 0.0: never -0.0
        decimal = (rounded / tens if places > 0 else rounded * tens) + 0.0
        fits = open_ & (low <= decimal) & (decimal < high)
        shortest[fits] = decimal[fits]
        open_ &= ~fits
    return shortest


def _places(low: Floats, high: Floats) -> range:
    """Return numbers of decimals, from too few for any range to enough for all."""
    if not low.size:
        return range(0)
    farthest = max(float(np.abs(low).max()), float(np.abs(high).max()))
    narrowest = float((high - low).min())
    first = -math.ceil(math.log10(farthest)) - 1
    last = math.ceil(-math.log10(narrowest)) + 1 if narrowest > 0 else _FINEST
    return range(first, min(last, _FINEST) + 1)


def roundest(low: int, high: int) -> int:
    """Return the integer with the most zeros at its end within low <= x <= high.

    >>> roundest(1230, 1239), roundest(-7, 9), roundest(5, 5), roundest(1995, 2003)
    (1230, 0, 5, 2000)
    """
    power = _LARGEST
    while (multiple := -(-low // power) * power) > high:
        power //= 10
    return multiple


_STEPS: Final = {"i64": 2**40}
"""The most candidates; more of them cost nothing but digits."""


_MOST: Final = 2**16
"""So many candidates are walked one by one."""
_EQUAL: Final = 2**14
_PER_DOUBLING: Final = 16


def _stretches(last: int, origin: int) -> Integers:
    """Return stretches, some of equal length, some a share of their way from zero.

    `origin` is the candidate nearest to zero.
    """
    if last < _MOST:
        return np.arange(last + 1)
    even = np.linspace(0, last, _EQUAL + 1).astype(np.int64)
    doublings = np.arange(last.bit_length() * _PER_DOUBLING + 1)
    away = np.exp2(doublings / _PER_DOUBLING).astype(np.int64)
    ends = np.concatenate([even, origin - away, [origin], origin + away])
    return np.unique(np.append(ends[(ends >= 0) & (ends < last)], last))


class AbstractCandidates(ABC):
    """Candidates 0, 1, ... up to `last`, for values of one type."""

    @property
    @abstractmethod
    def last(self) -> int:
        """Return the candidate of the upper bound."""

    @property
    @abstractmethod
    def stretches(self) -> Integers:
        """Return the last candidate of each stretch that is walked, ascending."""

    @property
    @abstractmethod
    def weights(self) -> AbstractWeights:
        """Return how much each candidate weighs, before any data is seen."""

    @abstractmethod
    def position(self, values: Expression) -> AbstractExpression:
        """Return the candidate of each value, missing where the value is."""

    @abstractmethod
    def values(self, first: Integers, last: Integers) -> "pa.Array":
        """Return for each range of candidates a value that one of them stands for."""

    def ends(self, first: Integers, last: Integers) -> tuple[Floats, Floats] | None:
        """Return numbers around all values of ranges, None of what are no numbers."""
        del first, last
        return None


class AbstractNumbers(AbstractCandidates):
    """Multiples of a power of two."""

    grid: Lattice

    @property
    def last(self) -> int:
        return self.grid.width

    @property
    def stretches(self) -> Integers:
        return _stretches(self.last, min(max(-self.grid.low, 0), self.last))

    @property
    def weights(self) -> AbstractWeights:
        return weights(self.grid.low, self.grid.exponent, self.last + 1)

    def position(self, values: Expression) -> AbstractExpression:
        return height(values.tree, self.grid)


class AbstractMoments(AbstractCandidates):
    """Days or seconds, none of them rounder than another."""

    @property
    def stretches(self) -> Integers:
        return _stretches(self.last, 0)

    @property
    def weights(self) -> AbstractWeights:
        return EvenWeights(self.last + 1)


@final
@dataclass(frozen=True)
class RealCandidates(AbstractCandidates):
    """Doubles, as near to each other as they are written, at any size.

    Rows whose values share a bin are equal; a bin is shorter than a 2**49th of its
    numbers, and told as the shortest decimal in it.
    """

    grid: DoubleGrid

    @property
    def last(self) -> int:
        return self.grid.size - 1

    @property
    def weights(self) -> AbstractWeights:
        return DoubleWeights(self.grid)

    @cached_property
    def stretches(self) -> Integers:
        """Return the last candidates of stretches that are walked."""
        grid, low, high = self.grid, self.grid.low, self.grid.high
        even = np.linspace(low, high, _EQUAL + 1)
        top = math.log2(max(abs(low), abs(high)))
        doublings = np.arange(math.ceil(top - grid.least) * _PER_DOUBLING)
        away = np.exp2(doublings / _PER_DOUBLING + grid.least)
        edges = np.concatenate([even, away, -away, [0.0]])
        within = edges[(edges >= low) & (edges < high)].tolist()
        lasts = {grid.bin(edge) - grid.first for edge in within}
        return np.array(sorted({*lasts, self.last}))

    def position(self, values: Expression) -> AbstractExpression:
        return double_bin(values.tree, self.grid)

    def values(self, first: Integers, last: Integers) -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        grid = self.grid
        low = grid.starts(first + grid.first)
        high = grid.starts(last + grid.first + 1)
        # a short decimal near a bound may lie beyond it
        return pa.array(np.clip(shortest_decimals(low, high), grid.low, grid.high))

    def ends(self, first: Integers, last: Integers) -> tuple[Floats, Floats]:
        grid = self.grid
        low = grid.starts(first + grid.first)
        high = grid.starts(last + grid.first + 1)
        return np.maximum(low, grid.low), np.minimum(high, grid.high)


@final
@dataclass(frozen=True)
class WholeCandidates(AbstractNumbers):
    """Integers, or multiples of a power of two where there are very many."""

    grid: Lattice
    low: int
    high: int

    def values(self, first: Integers, last: Integers) -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        unit = 2**self.grid.exponent
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        integers = [
            roundest(
                (a + self.grid.low) * unit - unit // 2,
                (b + self.grid.low) * unit + (unit - 1) // 2,
            )
            for a, b in pairs
        ]
        within = [min(max(integer, self.low), self.high) for integer in integers]
        return pa.array(within, pa.int64())

    def ends(self, first: Integers, last: Integers) -> tuple[Floats, Floats]:
        unit, start = 2**self.grid.exponent, self.grid.low
        lows = [(a + start) * unit - unit // 2 for a in first.tolist()]
        highs = [(b + start) * unit + (unit - 1) // 2 for b in last.tolist()]
        # of 64 bits some integers are no doubles: then the next one outward
        return (
            np.array([down(Fraction(max(a, self.low))) for a in lows]),
            np.array([up(Fraction(min(b, self.high))) for b in highs]),
        )


@final
@dataclass(frozen=True)
class DayCandidates(AbstractMoments):
    """Days from the first to the last."""

    low: date
    high: date

    @property
    def last(self) -> int:
        return (self.high - self.low).days

    def position(self, values: Expression) -> AbstractExpression:
        days = lit(self.low).days_between(values)
        return height(days.tree, Lattice(0, self.last, 0))

    def values(self, first: Integers, last: Integers) -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        middle = (first + (last - first) // 2).tolist()
        days = [self.low + timedelta(days=day) for day in middle]
        return pa.array(days, arrow_type("date"))


@final
@dataclass(frozen=True)
class SecondCandidates(AbstractMoments):
    """Seconds from the first to the last."""

    low: datetime
    high: datetime

    @property
    def last(self) -> int:
        return (self.high - self.low) // timedelta(seconds=1)

    def position(self, values: Expression) -> AbstractExpression:
        seconds = lit(self.low).seconds_between(values)
        return height(seconds.tree, Lattice(0, self.last, 0))

    def values(self, first: Integers, last: Integers) -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        middle = (first + (last - first) // 2).tolist()
        times = [self.low + timedelta(seconds=second) for second in middle]
        return pa.array(times, arrow_type("time"))


def end_points(low: Any, high: Any) -> tuple[Any, Any]:
    """Return bounds as they were given, refusing empty or reversed ones.

    >>> end_points(0, "7.5"), end_points(date(2026, 1, 1), date(2026, 12, 31))[0]
    ((0, '7.5'), datetime.date(2026, 1, 1))
    """
    if not isinstance(low, date) and not isinstance(high, date):
        exact_bounds(low, high)
        return low, high
    ends = [literal(end) for end in (low, high)]
    if ends[0].type != ends[1].type:
        raise InvalidParameter(
            "high", high, f"must have the same type as low, {low!r}", "Give two dates."
        )
    least, most = (end.constant for end in ends)
    if least >= most:
        raise InvalidParameter(
            "low",
            low,
            f"must be before high, {high!r}",
            "Swap or widen the bounds.",
        )
    return least, most


def moment_words(low: Any, high: Any) -> dict[str, Words]:
    """Return the words of two bounds: exact numbers, dates or times; or of none."""
    if isinstance(low, date):
        return {"low": literal(low).words, "high": literal(high).words}
    return ends_words(low, high)


@final
@dataclass(frozen=True)
class ClampedMoments(AbstractClamped):
    """The bounds of a question about dates or times."""

    column: Any
    low: date
    high: date
    nulls: Nulls
    degree: int = field(default=0, init=False)

    def __str__(self) -> str:
        return f"{self.column} to [{self.low}, {self.high}]"

    def key(self, setting: Setting) -> Hashable:
        return (self._values(setting).key, self.low, self.high)

    def outside(self, setting: Setting) -> AbstractExpression:
        value = self._values(setting).dsl
        beyond = (value < self.low) | (value > self.high)
        return when(beyond).then(1).otherwise(0).tree

    def _values(self, setting: Setting) -> ColumnValues:
        return column_values(setting, self.column, self.nulls, ORDERED)


def clamp_moments(column: Any, low: Any, high: Any, nulls: Nulls) -> AbstractClamped:
    """Return the bounds of a question about numbers, dates or times."""
    kind = ClampedMoments if isinstance(low, date) else Clamped
    return kind(column, low, high, nulls)


def candidates(low: Any, high: Any, kind: str) -> AbstractCandidates:
    """Return the candidates between two bounds for values of a type.

    >>> candidates(0, 120, "i64").last, candidates(0, 1, "f64").last < 2**56
    (120, True)
    """
    check_ends(low, kind)
    return _CANDIDATES[kind](low, high)


def check_ends(low: Any, kind: str) -> None:
    """Refuse bounds that values of a type cannot be compared with."""
    given = literal(low).type if isinstance(low, date) else "number"
    if given != _BOUNDS[kind]:
        raise InvalidQuery(
            f"a column of type {kind} cannot have a bound such as {low!r}",
            _EXAMPLES[kind],
        )


def _floats(low: Any, high: Any) -> RealCandidates:
    least, most = exact_bounds(low, high)
    ends = float(least), float(most)
    if ends[0] == ends[1]:
        ends = down(least), up(most)
    return RealCandidates(DoubleGrid.of_bounds(*ends))


def _integers(low: Any, high: Any) -> WholeCandidates:
    least, most = exact_bounds(low, high)
    # outward, as far as a column of integers reaches
    first, last = max(least.__floor__(), LEAST), min(most.__ceil__(), MOST)
    if first >= last:
        raise InvalidQuery(
            f"no integer of 64 bits lies between {low!r} and {high!r}",
            "Give bounds that the column can reach.",
        )
    grid = width_lattice(Fraction(first), Fraction(last), "i64", _STEPS)
    return WholeCandidates(grid, first, last)


_CANDIDATES: Final[dict[str, Callable[[Any, Any], AbstractCandidates]]] = {
    "f64": _floats,
    "i64": _integers,
    "date": DayCandidates,
    "time": SecondCandidates,
}
_BOUNDS: Final = {"f64": "number", "i64": "number", "date": "date", "time": "time"}
_EXAMPLES: Final = {
    "f64": "Give numbers, such as 0 and 100.",
    "i64": "Give numbers, such as 0 and 100.",
    "date": "Give dates, such as date(2026, 1, 1) and date(2026, 12, 31).",
    "time": "Give datetimes, such as datetime(2026, 1, 1) and datetime(2027, 1, 1).",
}
ORDERED: Final = tuple(_CANDIDATES)
"""The types of columns that have quantiles."""
