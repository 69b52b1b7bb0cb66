"""A numeric column on its way to a sum: missing values, bounds, the lattice of its steps.

Values are clamped to public bounds and rounded to multiples of 2**exponent; the bounds
are first moved outwards to such multiples, and the sensitivity is priced from those.

Kernel: sensitivity.
"""  # noqa: E501

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal, final

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractClamped,
    Setting,
)
from sordino.aggregations.measurement import Total
from sordino.errors import InvalidParameter, InvalidQuery, show
from sordino.expressions.bins import portion as portion_of
from sordino.expressions.bins import steps as steps_of
from sordino.expressions.dates import meet_times
from sordino.expressions.language import Expression, check_expression, col, when
from sordino.expressions.literals import lift
from sordino.expressions.schema import NUMBERS, Schema
from sordino.expressions.tree import AbstractExpression, AbstractTree, Col
from sordino.numbers import down, exact, floor_log2, up
from sordino.numbers.canonical import Words, call, number


@final
@dataclass(frozen=True)
class Lattice:
    """The multiples of 2**exponent from low to high, in steps.

    >>> Lattice(0, 15, -1).top
    Fraction(15, 2)
    """

    low: int
    high: int
    exponent: int

    @property
    def unit(self) -> Fraction:
        """Return the size of a step."""
        return Fraction(2) ** self.exponent

    @property
    def bottom(self) -> Fraction:
        """Return the lower bound."""
        return self.low * self.unit

    @property
    def top(self) -> Fraction:
        """Return the upper bound."""
        return self.high * self.unit

    @property
    def width(self) -> int:
        """Return how many steps there are between the bounds."""
        return self.high - self.low


def steps_total(expression: AbstractExpression, grid: Lattice) -> Total:
    """Return the sum of k, the nearest step within the bounds."""
    return Total(step(expression, grid))


def pair_totals(tall: AbstractTree, grid: Lattice) -> tuple[Total, Total]:
    """Return the sums of high - k and of k - low, both from 0 to the width."""
    return Total(tall, -1, grid.width), Total(tall)


def middle_total(expression: AbstractExpression, grid: Lattice, finer: int) -> Total:
    """Return the sum of the width times 2**finer, less four times the middle portion.

    The middle of the three integers of `triple_totals` tells the centred square.
    """
    ends = (grid.low, grid.high, grid.exponent)
    middle = lift(portion_of(expression, *ends, 1, finer))
    return Total(middle, -4, grid.width << finer)


def triple_totals(
    expression: AbstractExpression, grid: Lattice, finer: int
) -> tuple[Total, Total, Total]:
    """Return the sums of three integers that add up to the width times 2**finer.

    The last is the square of k - low, in that many steps of the greatest square.
    """
    ends = (grid.low, grid.high, grid.exponent)
    first, second, third = (
        Total(lift(portion_of(expression, *ends, place, finer))) for place in (0, 1, 2)
    )
    return first, second, third


def step(expression: AbstractExpression, grid: Lattice) -> AbstractTree:
    """Return k for each row, missing where there is no value."""
    return lift(steps_of(expression, grid.low, grid.high, grid.exponent))


def height(expression: AbstractExpression, grid: Lattice) -> AbstractTree:
    """Return k - low for each row, from 0 to the width, missing where k is."""
    ends = (grid.low, grid.high, grid.exponent, grid.low)
    return lift(steps_of(expression, *ends))


Nulls = Literal["drop"] | int | float | None
"""What stands for a missing value or NaN: nothing ("drop"), or a number."""

SUM_STEPS: Final = {"i64": 2**31, "f64": 2**24}
"""Most steps of one row in a sum: 2**22 rows of such size, 2**29 for floats, add up to
the largest exact total."""
_FURTHEST: Final = 2**40
_LONGEST: Final = 2**63 - 1
_SMALLEST: Final = -200
_LARGEST: Final = Fraction(2) ** 200
"""Fourth powers of both, and their sums, are doubles."""


@final
@dataclass(frozen=True)
class ColumnValues:
    """A numeric expression of a row, and the public facts about it."""

    dsl: Expression
    """The value, to build on."""
    key: Hashable
    type: str
    complete: bool
    """Whether every row has a value."""

    @property
    def expression(self) -> AbstractExpression:
        """Return the value as plans hold it."""
        return self.dsl.tree


def call_text(word: str, *arguments: Any, nulls: Nulls) -> str:
    """Return a call as it was written.

    >>> call_text("sum", "days", 0, 30, nulls="drop")
    "sum('days', 0, 30, nulls='drop')"
    """
    shown = [repr(argument) for argument in arguments if argument is not None]
    shown += [] if nulls is None else [f"nulls={nulls!r}"]
    return f"{word}({', '.join(shown)})"


def column_words(column: Any) -> Words:
    """Return the words of a column, the same for its name and for `col` of it."""
    return aggregated_cell(column).words


def nulls_words(nulls: Nulls) -> Words:
    """Return the rule for missing values: nothing, "drop", or a number."""
    if nulls is None or nulls == "drop":
        return nulls
    return number(exact(nulls=nulls))


def range_words(
    word: str, column: Any, ends: tuple[Any, Any], nulls: Nulls, **more: Words
) -> Words:
    """Return the words of a question about values between two bounds."""
    return call(
        word,
        column=column_words(column),
        **ends_words(*ends),
        nulls=nulls_words(nulls),
        **more,
    )


def ends_words(low: Any, high: Any) -> dict[str, Words]:
    """Return the words of two bounds; none where none were given."""
    if low is None:
        return {}
    return dict(zip(("low", "high"), map(number, exact_bounds(low, high)), strict=True))


def _to_numbers(cell: Expression, kind: str) -> str:
    """Say how values become numbers, of the very column that was asked of."""
    written = f"sd.{cell}" if isinstance(cell.tree, Col) else f"({cell})"
    match kind:
        case "bool":
            return f'Ask sd.share({written}), or cast it: {written}.cast("i64").'
        case "text":
            return f'If it holds numbers, cast it: {written}.cast("f64").'
        case "date" | "time":
            return f"Ask for a number of it, such as {written}.year()."
        case _:
            return f'Cast it first: {written}.cast("i64").'


def column_values(
    setting: Setting, column: Any, nulls: Nulls, types: tuple[str, ...] = NUMBERS
) -> ColumnValues:
    """Return the values that are aggregated, by the rule for missing ones."""
    cell = cell_among(column, setting.schema)
    facts = cell.column(setting.schema)
    if facts.type not in types:
        last = "only numbers" if types == NUMBERS else f"only {', '.join(types)}"
        raise InvalidQuery(
            f"{cell} has type {facts.type}, and {last} can be aggregated",
            _to_numbers(cell, facts.type),
        )
    # to leave such rows out in silence would answer another question
    if nulls is None and facts.unsettled is not None:
        raise InvalidQuery(
            f"{cell} may be missing: {facts.unsettled}",
            'Say what then counts: nulls="drop" or nulls=0; or use fill_null.',
        )
    key: Hashable = facts.version if isinstance(column, str) else _Same(cell.tree)
    if nulls is None or nulls == "drop":
        # facts of the plan, never of the rows: the price must not depend on them
        complete = not facts.nullable and not facts.nan
        return ColumnValues(cell, key, facts.type, complete)
    value = _replacement(nulls, facts.type)
    filled = cell.fill_null(value)
    if facts.nan:
        filled = filled.fill_nan(value)
    return ColumnValues(filled, (key, value), facts.type, complete=True)


@final
@dataclass(frozen=True)
class Clamped(AbstractClamped):
    """The bounds of an aggregation of a numeric column."""

    column: Any
    low: Any
    high: Any
    nulls: Nulls
    degree: int = 0

    def __str__(self) -> str:
        filled = "" if self.nulls in {None, "drop"} else f", missing as {self.nulls}"
        return f"{self.column} to [{show(self.low)}, {show(self.high)}]{filled}"

    def key(self, setting: Setting) -> Hashable:
        values = column_values(setting, self.column, self.nulls)
        return (values.key, self.bounds)

    @cached_property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the bounds exactly."""
        return exact_bounds(self.low, self.high)

    def outside(self, setting: Setting) -> AbstractExpression:
        """Return 1 or 0: a bound between two values is moved to the inner one.

        Missing values and NaN lie nowhere.
        """
        values = column_values(setting, self.column, self.nulls)
        least, most = self.bounds
        if values.type == "i64":
            # inwards: a value between two bounds is counted as outside of neither
            low = max(math.ceil(least), -_LONGEST - 1)
            high = min(math.floor(most), _LONGEST)
            beyond = (values.dsl < low) | (values.dsl > high)
        else:
            beyond = (values.dsl < up(least)) | (values.dsl > down(most))
            beyond &= ~values.dsl.is_nan()  # which is above every number
        return when(beyond).then(1).otherwise(0).tree


@final
@dataclass(frozen=True, eq=False)
class _Same:
    """An expression, the same as another that is written alike."""

    tree: AbstractTree

    def __eq__(self, other: object) -> bool:
        """Compare the expressions as written: alike ones have equal values."""
        return isinstance(other, _Same) and self.tree.same(other.tree)

    def __hash__(self) -> int:
        return hash(self.tree.names())  # alike expressions read the same columns


def aggregated_cell(column: Any) -> Expression:
    """Return the column of a name, or an expression as it is."""
    if isinstance(column, str):
        return col(column)
    return Expression(check_expression(column=column))


def cell_among(column: Any, schema: Schema) -> Expression:
    """Values that are aggregated, where times that are compared are of one type."""
    return Expression(lift(meet_times(aggregated_cell(column).tree, schema)))


def _replacement(nulls: Any, kind: str) -> int | float:
    if isinstance(nulls, str):
        raise InvalidParameter(
            "nulls", nulls, 'must be "drop" or a number', 'Try nulls="drop".'
        )
    value = exact(nulls=nulls)
    if kind not in NUMBERS:
        raise InvalidParameter(
            "nulls", nulls, f'must be "drop" for a {kind}', 'Try nulls="drop".'
        )
    if isinstance(value, Fraction) and abs(value) > _LARGEST:
        raise InvalidParameter(
            "nulls", nulls, "must be between -2**200 and 2**200", "Try nulls=0."
        )
    if not isinstance(value, Fraction) or (kind == "i64" and value.denominator != 1):
        raise InvalidParameter(
            "nulls",
            nulls,
            "must be an integer for a column of integers",
            "Try nulls=0.",
        )
    return int(value) if kind == "i64" else float(value)


def sum_lattice(low: Any, high: Any, kind: str, steps: dict[str, int]) -> Lattice:
    """Finest lattice whose bounds lie at most `steps[kind]` steps from 0.

    For integers it is the integers themselves, unless the bounds are very wide.

    >>> sum_lattice(0, "7.5", "f64", SUM_STEPS).top
    Fraction(15, 2)
    >>> sum_lattice(0, 10, "i64", SUM_STEPS)
    Lattice(low=0, high=10, exponent=0)
    """
    least, most = exact_bounds(low, high)
    return _finest_lattice(least, most, max(abs(least), abs(most)), kind, steps[kind])


def width_lattice(
    least: Fraction, most: Fraction, kind: str, steps: dict[str, int]
) -> Lattice:
    """Finest lattice with at most `steps[kind]` steps between two bounds."""
    return _finest_lattice(least, most, most - least, kind, steps[kind])


def exact_bounds(low: Any, high: Any) -> tuple[Fraction, Fraction]:
    """Return public bounds exactly, refusing empty or reversed ones."""
    least, most = _bound(low=low), _bound(high=high)
    if least >= most:
        raise InvalidParameter(
            "low", low, f"must be less than high, {high!r}", "Swap or widen the bounds."
        )
    return least, most


def _bound(**argument: Any) -> Fraction:
    ((name, given),) = argument.items()
    if given is None:
        raise InvalidParameter(
            name, given, "must be given with the other bound", f"Try {name}=1."
        )
    value = exact(**argument)
    if not isinstance(value, Fraction):
        raise InvalidParameter(name, given, "must be rational", f"Try {name}=1.")
    if abs(value) > _LARGEST:
        raise InvalidParameter(
            name, given, "must be between -2**200 and 2**200", f"Try {name}=1e9."
        )
    return value


def _finest_lattice(
    least: Fraction, most: Fraction, extent: Fraction, kind: str, steps: int
) -> Lattice:
    furthest = max(abs(least), abs(most))
    exponent = max(floor_log2(extent / steps), floor_log2(furthest / _FURTHEST))
    # integers lie on whole steps
    exponent = max(exponent, 0 if kind == "i64" else _SMALLEST)
    while not _fits(least, most, extent, exponent, steps):
        exponent += 1
    unit = Fraction(2) ** exponent
    # outward: the sensitivity is priced from these ends
    return Lattice(math.floor(least / unit), math.ceil(most / unit), exponent)


def _fits(
    least: Fraction, most: Fraction, extent: Fraction, exponent: int, steps: int
) -> bool:
    unit = Fraction(2) ** exponent
    furthest = max(abs(least), abs(most)) / unit
    return math.ceil(extent / unit) <= steps and furthest + 1 <= _FURTHEST


class AbstractBounded(AbstractAggregation):
    """A question about the values of a column, each clamped to [low, high]."""

    column: Any
    low: Any
    """None where no bounds were given: they may be known of the column."""
    high: Any

    def with_known_bounds(self, schema: Schema) -> AbstractAggregation:
        facts = cell_among(self.column, schema).column(schema)
        if not self.lacks_bounds or facts.bounds is None:
            return self
        question: Any = self
        low, high = facts.bounds
        bounded: AbstractAggregation = replace(question, low=low, high=high)
        return bounded

    @property
    def lacks_bounds(self) -> bool:
        return self.low is None


class AbstractAdded(AbstractBounded):
    """A question about a sum of values: of truths, how many are true."""

    def with_known_bounds(self, schema: Schema) -> AbstractAggregation:
        cell = cell_among(self.column, schema)
        if not self.lacks_bounds or cell.column(schema).type != "bool":
            return super().with_known_bounds(schema)
        question: Any = self
        truths: AbstractAggregation = replace(
            question, column=cell.cast("i64"), low=0, high=1
        )
        return truths


def check_bounds(low: Any, high: Any) -> None:
    """Refuse empty or reversed bounds; both may be left out."""
    if low is not None or high is not None:
        exact_bounds(low, high)
