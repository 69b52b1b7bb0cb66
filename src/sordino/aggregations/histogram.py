"""How many rows of a group lie in each bin of a column, one column for each bin."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from sordino.aggregations.base import (
    AbstractAggregation,
    AbstractForm,
    Expected,
    Finished,
    Noisy,
    Setting,
)
from sordino.aggregations.intervals import additive
from sordino.aggregations.parts import IntegerPart
from sordino.aggregations.totals import Total
from sordino.expressions.bins import Bins
from sordino.expressions.language import col, lit, when
from sordino.schema import Version
from sordino.units import column_name

_WHOLE: Final = (Fraction(1),)


@final
@dataclass(frozen=True)
class Histogram(AbstractAggregation):
    """The numbers of rows in bins; a row lies in one bin or in none."""

    column: str
    bins: Bins

    def __repr__(self) -> str:
        """Show the call."""
        return f"histogram({self.column!r}, {list(self.bins.edges)!r})"

    def columns(self, name: str) -> tuple[str, ...]:
        """Return a column for each bin."""
        return tuple(f"{name} {label}" for label in self.bins.labels)

    def forms(self, setting: Setting) -> tuple[AbstractForm, ...]:
        """Return the counts with noise: bins split the rows of a group further."""
        binned = col(self.column).bin(self.bins)
        binned.column(setting.schema)  # refuses edges of another type
        totals = tuple(
            Total(when(binned == label).then(1).otherwise(lit(0)).tree)
            for label in self.bins.labels
        )
        change = setting.rows(frozenset([Version()]))
        key = ("histogram", setting.schema[self.column].version, self.bins)
        return (CountsForm((IntegerPart(key, change, totals),)),)


@final
@dataclass(frozen=True)
class CountsForm(AbstractForm):
    """Several counts of one part, each with its own noise."""

    parts: tuple[IntegerPart]
    shares: tuple[Fraction, ...] = _WHOLE

    @property
    def chooses(self) -> bool:
        """Return False."""
        return False

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return the spread of the noise of each count."""
        noise = self.parts[0].noise(mechanisms[0])
        return Expected(noise.sd, noise.reach(confidence))

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the counts as they are."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        noise = self.parts[0].noise(noisy[0].mechanism)
        return tuple(
            Finished(pa.array(one), additive(one, noise, confidence, 0))
            for one in noisy[0].values
        )


def histogram(column: str, bins: Any) -> Histogram:
    """Return a question for the number of rows in each bin of a column.

    Rows in no bin, and rows whose value is missing, are not counted. To have the bins
    as rows of the answer, ask `query.histogram(column, bins)`.

    >>> histogram("age", [0, 18, 65, 120]).columns("age")
    ('age [0, 18)', 'age [18, 65)', 'age [65, 120]')
    """
    ranges = bins if isinstance(bins, Bins) else Bins(bins)
    return Histogram(column_name(column=column), ranges)
