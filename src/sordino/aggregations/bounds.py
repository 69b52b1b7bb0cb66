"""Bounds to clamp a column to, found privately on a public grid of sizes.

The sizes of the values are counted between powers of 2**(1/4), and a walk from small to
large stops where few rows are left beyond (docs/proofs/selection.md, section 5).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from sordino import _validate
from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractEstimator,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.choices import BoundChoice
from sordino.aggregations.column_values import (
    Nulls,
    column_values,
    column_words,
    nulls_words,
)
from sordino.aggregations.intervals import unknown_bars
from sordino.expressions.language import Expression, lit, when
from sordino.words import Words, call

_STEPS: Final = 4
"""How many bins there are from one power of two to the next."""
_FAR: Final = 10
"""A bound that is 2**10 times too wide is wider by far."""
_RARE: Final = 1e-9
"""Chances below are told as this one."""
_SMALLEST: Final = -10
_LARGEST: Final = 60


@final
@dataclass(frozen=True)
class Bounds(AbstractAggregation):
    """A low and a high bound of equal size; few values of a group lie beyond."""

    column: Any
    up_to: int
    nulls: Nulls

    def __repr__(self) -> str:
        """Show the call."""
        rule = "" if self.nulls is None else f", nulls={self.nulls!r}"
        return f"bounds({self.column!r}, up_to={self.up_to!r}{rule})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return a column for each end."""
        return (f"{name}_low", f"{name}_high")

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Return the sizes that may be found, ascending."""
        last = self.up_to * _STEPS
        return tuple(2.0 ** (k / _STEPS) for k in range(_SMALLEST * _STEPS, last + 1))

    @property
    def words(self) -> Words:
        """Return the name of the question and its arguments."""
        return call(
            "bounds",
            column=column_words(self.column),
            up_to=self.up_to,
            nulls=nulls_words(self.nulls),
        )

    @property
    def clamp(self) -> None:
        """Return None: no values are clamped."""

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the walk over the sizes."""
        values = column_values(setting, self.column, self.nulls)
        position = size_bins(values.dsl, self.sizes)
        part = BoundChoice(
            ("bounds", values.key, self.up_to),
            setting.rows(),
            position.tree,
            len(self.sizes),
        )
        return (BoundEstimator((part,), self.sizes, values.type == "i64"),)


def size_bins(value: Expression, sizes: Sequence[float]) -> Expression:
    """Return the place of the first size that a number does not exceed, else the last.

    Missing, NaN and infinities have none.
    """
    size = value.cast("f64").abs()
    place = _place_between(size, sizes, 0, len(sizes) - 1)
    none = size.is_null() | size.is_nan() | size.is_infinite()
    return when(none).then(lit(None, "i64")).otherwise(place)


def _place_between(
    size: Expression, sizes: Sequence[float], first: int, last: int
) -> Expression:
    """Return the place of a size between two places, by halving; there must be one."""
    if first == last:
        return lit(first)
    middle = (first + last) // 2
    low = _place_between(size, sizes, first, middle)
    high = _place_between(size, sizes, middle + 1, last)
    return when(size <= sizes[middle]).then(low).otherwise(high)


@final
@dataclass(frozen=True)
class BoundEstimator(AbstractEstimator):
    """The size where the walk stopped, as a bound on either side."""

    chooses: ClassVar[bool] = True
    measurements: tuple[BoundChoice]
    sizes: tuple[float, ...]
    whole: bool
    """Whether bounds are integers."""
    shares: tuple[Fraction, ...] = (Fraction(1),)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return how many rows may lie beyond the bound, and how much too wide it is.

        Too wide means: against the first size that no value exceeds. Beside what holds
        with the confidence stands how often a bound is wider by far (lemma 7).
        """
        (mechanism,) = mechanisms
        beyond = self.measurements[0].expected_error(mechanism, confidence)
        wrong, steps = float(1 - confidence), len(self.sizes)
        passed = bisect_left(
            range(1, steps), -wrong, key=lambda bins: -mechanism.chance_to_pass(bins)
        )
        wide = 2.0 ** (passed / _STEPS)
        far = max(mechanism.chance_to_pass(_FAR * _STEPS), _RARE)
        remark = (
            f"{beyond.remark}, and it is at most {wide:.3g} times too wide, but"
            f" {2**_FAR} times or more in 1 of {math.floor(1 / far)} answers"
        )
        return replace(beyond, remark=remark)

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the bounds: those of integers are rounded outwards."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        del confidence
        high = np.array(self.sizes)[noisy[0].values[0]]
        if self.whole:
            high = np.ceil(high).astype(np.int64)
        bars = unknown_bars(high.size)
        return Finished(pa.array(-high), bars), Finished(pa.array(high), bars)


def bounds(column: Any, *, up_to: int = 30, nulls: Nulls = None) -> Bounds:
    """Return a question for bounds to clamp a column to: (-size, size).

    Sizes go up to 2**up_to; about 4 / epsilon values lie beyond the answer. Clamping to
    it biases sums by what lies beyond, which no error bar shows.

    >>> bounds("cost").columns("cost")
    ('cost_low', 'cost_high')
    """
    power = _validate.integer(up_to=up_to, least=_SMALLEST + 1, most=_LARGEST)
    return Bounds(column, power, nulls)
