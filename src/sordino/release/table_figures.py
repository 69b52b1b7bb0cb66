"""Figures of the table: intervals that hold what limits cut off, and "about".

kept answers, noisy counts of what was cut off ── ends that hold the answers of all rows

Functions of noisy numbers and public facts alone, so they cost no privacy; why they
hold stands in docs/proofs/intervals.md, lemmas 10 to 12. What an interval holds is
written beside it, in the errors of an answer, so it is kept and read with them.

| `holds` | what |
|---|---|
| "" | the exact answer of the rows that limits kept |
| "at least" | the same; its lower end is also below the figure of all rows |
| "of the table" | the exact answer of all rows of the table |
| "of the table, clamped" | the same, each value within the bounds of the question |
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, final

import numpy as np

from sordino.aggregations.aggregation import AbstractAggregation, Finished, LostRows
from sordino.aggregations.count import Count
from sordino.aggregations.intervals import Bars, additive, error_names
from sordino.aggregations.lattice import (
    AbstractBounded,
    aggregated_cell,
    exact_bounds,
)
from sordino.aggregations.measurement import Numbers
from sordino.aggregations.sum import Sum
from sordino.numbers.arrays import as_numpy
from sordino.plan.purchase import Purchase
from sordino.query.dropped_rows import CUT_OFF, ROWS, TOGETHER, Counted, CutRows
from sordino.release.text import NOISE

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.aggregations.aggregation import AbstractEstimator, Noisy


AT_LEAST: Final = "at least"
TABLE: Final = "of the table"
CLAMPED: Final = "of the table, clamped"
_HOLDS: Final = b"holds"
_ABOUT: Final = b"about"


@final
@dataclass(frozen=True)
class CutOff:
    """Noisy counts of the rows that limits cut off from some answers."""

    purchase: Purchase
    counts: tuple[tuple[Counted, int], ...]
    """Each count with its noisy number."""
    cut: CutRows

    @classmethod
    def of(cls, purchase: Purchase, numbers: Sequence[int]) -> "CutOff | None":
        """Return the noisy counts of a purchase; None where they bound nothing.

        A row that was made of others since, or was left out in another place, is not
        among those that were counted.
        """
        cut = purchase.plan.rows_cut_off
        if cut is None or purchase.plan.request.population:
            return None
        pairs = zip(purchase.plan.coverage.values(), numbers, strict=True)
        counts = tuple(pair for pair in pairs if pair[0].kind == CUT_OFF)
        return cls(purchase, counts, cut)

    @property
    def chance(self) -> Fraction:
        """Return the chance with which all intervals may miss."""
        return 1 - self.purchase.plan.request.confidence

    @property
    def kept_confidence(self) -> Fraction:
        """Return the confidence at which kept answers are told, before all rows are.

        The other half of the chance to miss is left to the counts.
        """
        return 1 - self.chance / 2

    def bound_lost(self) -> LostRows:
        """Return the rows and ids that were lost at most, each but for that half.

        Without end where nobody promised how many rows one id has at most.
        """
        if self.cut.most_lost is None:
            return LostRows(np.inf, np.inf)
        half = self.chance / 2
        limits = [
            pair
            for pair in self.counts
            if pair[0].unit != ROWS and not _is_beyond(pair[0])
        ]
        # whoever lost a row is above one of the limits
        ids = sum(self._most(pair, half / len(limits)) for pair in limits)
        (rows,) = (pair for pair in self.counts if pair[0].unit == ROWS)
        (beyond,) = (pair for pair in self.counts if _is_beyond(pair[0]))
        more = self.cut.most_lost - self.cut.most
        if more <= 0:
            return LostRows(self._most(rows, half), ids)
        share = half / 5
        most = self._most(rows, half - share) + more * self._most(beyond, share)
        return LostRows(most, ids)

    def _most(self, pair: tuple[Counted, int], chance: Fraction) -> float:
        """Return an upper end of a count, which misses it with such a chance."""
        count, number = pair
        # noise is symmetric: half of what a two-sided interval misses is above it
        bars = _bars(self.purchase, count, np.array([number]), 1 - 2 * chance)
        return float(bars.high[0])

    def finish(
        self,
        aggregation: AbstractAggregation,
        estimator: "AbstractEstimator",
        noisy: "list[Noisy]",
    ) -> tuple[list[Finished], list[str]]:
        """Return the columns of an answer, and what their intervals hold."""
        request = self.purchase.plan.request
        columns_kept = estimator.finish(noisy, request.confidence)
        if self.cut.most_lost == 0:
            return [*columns_kept], [_table_word(self.purchase, aggregation)] * len(
                columns_kept
            )
        lost, surely = self.bound_lost(), self.kept_confidence
        if not request.by and not np.isinf(lost.rows):
            # a quarter of what is left for a mean goes to its divisor
            part = (1 - surely) / 4
            sizes = estimator.least_sizes(noisy, 1 - 2 * part)
            if sizes is not None:
                lost, surely = LostRows(lost.rows, lost.ids, sizes), surely + part
        columns, words = list[Finished](), list[str]()
        for column, surer in zip(
            columns_kept, estimator.finish(noisy, surely), strict=True
        ):
            bars = aggregation.with_lost(surer.bars, lost)
            if bars is None:
                words.append("")
            elif np.isinf(bars.high).any():
                # no budget excludes one id with a million rows
                words.append("" if np.isinf(bars.low).any() else AT_LEAST)
            else:
                words.append(_table_word(self.purchase, aggregation))
                column = replace(column, bars=bars)  # noqa: PLW2901 its interval
            columns.append(column)
        return columns, words

    def about_factor(self, table: "pa.Table") -> float | None:
        """Return how many times as many rows there are, had each group lost alike.

        None where it would say less than the noisy count: what was lost may be nothing,
        some lost more than was counted, or groups are not all told.
        """
        request = self.purchase.plan.request
        counts = [
            name for name, question in request.columns if isinstance(question, Count)
        ]
        partly = request.unknown or request.minimum is not None
        rows = [(each, n) for each, n in self.counts if each.unit == ROWS]
        beyond = [(each, n) for each, n in self.counts if _is_beyond(each)]
        if partly or not counts or self.cut.most_lost == 0 or len(rows) != 1:
            return None
        (cut, number), confidence = rows[0], request.confidence
        lows = _bars(self.purchase, cut, np.array([number]), confidence).low
        low = [
            _bars(self.purchase, each, np.array([more]), confidence).low[0]
            for each, more in beyond
        ]
        rows_kept = float(np.sum(as_numpy(table[counts[0]])))
        if lows[0] <= 0 or any(low) or rows_kept <= 0:
            return None
        return 1 + number / rows_kept


def _is_beyond(count: Counted) -> bool:
    return count.unit != ROWS and count.what.startswith(TOGETHER)


def _table_word(purchase: Purchase, aggregation: AbstractAggregation) -> str:
    """Say that an interval holds the figure of the table: of clamped values, if so."""
    if aggregation.clamp is None or not isinstance(aggregation, AbstractBounded):
        return TABLE
    schema = purchase.plan.relation.schema
    known = aggregated_cell(aggregation.column).column(schema).bounds
    low, high = exact_bounds(aggregation.low, aggregation.high)
    inside = known is not None and low <= known[0] and known[1] <= high
    return TABLE if inside else CLAMPED


def _bars(
    purchase: Purchase, count: Counted, numbers: Numbers, confidence: Fraction
) -> Bars:
    mechanism = purchase.coverage[count.measurement.key]
    return additive(numbers, count.measurement.noise(mechanism), confidence, 0)


def write_facts(
    errors: "pa.Table",
    holds: Mapping[str, str],
    about: float | None,
    sums: Iterable[str],
) -> "pa.Table":
    """Write beside the ends of intervals what they hold, and "about" where it is."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    scaled, facts = set(sums), dict[str, dict[bytes, bytes]]()
    for name, word in holds.items():
        low = facts.setdefault(error_names(name)[1], {})
        if word:
            low[_HOLDS] = word.encode()
        if about is not None and name in scaled:
            low[_ABOUT] = repr(about).encode()
    fields = [
        field.with_metadata(facts[field.name]) if facts.get(field.name) else field
        for field in errors.schema
    ]
    return errors.cast(pa.schema(fields))


def adds_up(aggregation: AbstractAggregation) -> bool:
    """Whether an answer grows with the rows of a group."""
    return isinstance(aggregation, (Count, Sum))


def without_facts(errors: "pa.Table") -> "pa.Table":
    """Return errors that say nothing of the table: of several answers together."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    return errors.cast(pa.schema([field.remove_metadata() for field in errors.schema]))


def read_holds(errors: "pa.Table", name: str) -> str:
    """Word for what the interval of an answer holds: the noise, or the table."""
    known = errors.schema.field(error_names(name)[1]).metadata or {}
    word = known.get(_HOLDS, b"").decode("ascii", "replace")
    # a word of a later version is not one that this one may print
    return word if word in {TABLE, CLAMPED} else NOISE


def read_about(errors: "pa.Table", name: str) -> float | None:
    """Return how many times an answer the table's figure may be, None if not told."""
    known = errors.schema.field(error_names(name)[1]).metadata or {}
    try:
        return float(known[_ABOUT])
    except (KeyError, ValueError):
        return None


def scale_answers(numbers: "pa.Array", factor: float) -> "pa.Array":
    """Return answers times a factor: integers where they are integers."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    whole = pa.types.is_integer(numbers.type)
    scaled = [
        None if number is None else round(number * factor) if whole else number * factor
        for number in numbers.to_pylist()
    ]
    return pa.array(scaled, numbers.type)
