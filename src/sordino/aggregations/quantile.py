"""Quantiles of a column on a public grid: also the median, the least, the greatest."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, final

import numpy as np

from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractForm,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.choices import QuantilePart
from sordino.aggregations.intervals import unknown_bars
from sordino.aggregations.lattice import Lattice, position
from sordino.aggregations.measured import (
    Clamped,
    Nulls,
    bounds,
    measured,
    ranged,
    width_lattice,
    written,
)
from sordino.errors import InvalidParameter
from sordino.numbers import probability, up
from sordino.words import Words, number

_STEPS: Final = {"i64": 2**16, "f64": 2**16}
"""Most steps of the grid of candidates."""


@final
@dataclass(frozen=True)
class Quantile(AbstractAggregation):
    """Values of a group that lie near some quantiles, each clamped to [low, high]."""

    column: Any
    probabilities: tuple[Fraction, ...]
    low: Any
    high: Any
    nulls: Nulls
    word: str

    def __repr__(self) -> str:
        """Show the call."""
        asked: dict[str, tuple[Any, ...]] = {
            "quantile": tuple(map(str, self.probabilities)),
            "quantiles": ([str(one) for one in self.probabilities],),
        }
        given = (*asked.get(self.word, ()), self.low, self.high)
        return written(self.word, self.column, *given, nulls=self.nulls)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return a column for each quantile: n_0.25, n_0.75 if there are several."""
        if self.word != "quantiles":
            return (name,)
        return tuple(f"{name}_{float(q):g}" for q in self.probabilities)

    @property
    def words(self) -> Words:
        """Return the question and what it is about."""
        return ranged(
            self.word,
            self.column,
            (self.low, self.high),
            self.nulls,
            probabilities=[number(one) for one in self.probabilities],
        )

    @property
    def clamped(self) -> Clamped:
        """Return the bounds."""
        return Clamped(self.column, self.low, self.high, self.nulls)

    def forms(self, setting: Setting) -> tuple[AbstractForm, ...]:
        """Return the choice among the points of the grid."""
        values = measured(setting, self.column, self.nulls)
        grid = width_lattice(self.low, self.high, values.type, _STEPS)
        part = QuantilePart(
            ("quantiles", values.key, grid, self.probabilities),
            setting.rows(),
            position(values.expression, grid),
            grid.high - grid.low + 1,
            self.probabilities,
        )
        whole = values.type == "i64" and grid.exponent == 0
        return (QuantileForm((part,), grid, whole),)


@final
@dataclass(frozen=True)
class QuantileForm(AbstractForm):
    """The points of the grid that were chosen.

    How far a point is off depends on how dense the data is there, which is private: no
    interval is given, but how many rows may lie between.
    """

    parts: tuple[QuantilePart]
    grid: Lattice
    whole: bool
    """Whether the points are integers."""
    shares: tuple[Fraction, ...] = (Fraction(1),)

    @property
    def chooses(self) -> bool:
        """Return True."""
        return True

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return by how many rows the rank of an answer may be off."""
        (mechanism,) = mechanisms
        share = mechanism.epsilon / mechanism.levels
        scale = up(2 / share)
        wrong = float(1 - confidence) / len(self.parts[0].probabilities)
        reach = scale * float(np.log(self.parts[0].size / wrong))
        return Expected(scale, reach, "ranks")

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the chosen points."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        del confidence
        found = []
        for chosen in noisy[0].values:
            steps = chosen + self.grid.low
            points = (
                steps
                if self.whole
                else np.ldexp(steps.astype(float), self.grid.exponent)
            )
            found.append(Finished(pa.array(points), unknown_bars(points.size)))
        return tuple(found)


def quantile(
    column: Any, probability: Any, low: Any, high: Any, *, nulls: Nulls = None
) -> Quantile:
    """Return a question for a value below which a share of the values lies.

    >>> quantile("days", "0.9", 0, 30)
    quantile('days', '9/10', 0, 30)
    """
    asked = (_probability(probability=probability),)
    return _made(column, asked, (low, high), nulls, "quantile")


def quantiles(
    column: Any,
    probabilities: Sequence[Any],
    low: Any,
    high: Any,
    *,
    nulls: Nulls = None,
) -> Quantile:
    """Return a question for several quantiles, which share one price.

    >>> quantiles("days", ["0.25", "0.75"], 0, 30).columns("days")
    ('days_0.25', 'days_0.75')
    """
    if isinstance(probabilities, str) or not isinstance(probabilities, Sequence):
        raise InvalidParameter(
            "probabilities", probabilities, "must be a list", 'Try ["0.25", "0.75"].'
        )
    asked = tuple(_probability(probabilities=one) for one in probabilities)
    if not asked or any(b <= a for a, b in pairwise(asked)):
        raise InvalidParameter(
            "probabilities", probabilities, "must ascend", 'Try ["0.25", "0.75"].'
        )
    return _made(column, asked, (low, high), nulls, "quantiles")


def median(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Quantile:
    """Return a question for the median.

    >>> median("days", 0, 30)
    median('days', 0, 30)
    """
    return _made(column, (Fraction(1, 2),), (low, high), nulls, "median")


def min(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Quantile:  # noqa: A001 the word for it
    """Return a question for a value near the least one.

    >>> min("days", 0, 30)
    min('days', 0, 30)
    """
    return _made(column, (Fraction(0),), (low, high), nulls, "min")


def max(column: Any, low: Any, high: Any, *, nulls: Nulls = None) -> Quantile:  # noqa: A001 the word for it
    """Return a question for a value near the greatest one.

    >>> max("days", 0, 30)
    max('days', 0, 30)
    """
    return _made(column, (Fraction(1),), (low, high), nulls, "max")


def _made(
    column: Any,
    probabilities: tuple[Fraction, ...],
    ends: tuple[Any, Any],
    nulls: Nulls,
    word: str,
) -> Quantile:
    """Return a checked question."""
    low, high = ends
    bounds(low, high)
    return Quantile(column, probabilities, low, high, nulls, word)


def _probability(**argument: Any) -> Fraction:
    """Return a probability, exactly."""
    return probability(**argument)
