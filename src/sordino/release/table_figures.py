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
from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

import numpy as np

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    Finished,
    LostAdds,
    LostRows,
)
from sordino.aggregations.count import Count
from sordino.aggregations.intervals import (
    Bars,
    Noise,
    additive,
    error_names,
    reach,
)
from sordino.aggregations.lattice import (
    AbstractBounded,
    aggregated_cell,
    exact_bounds,
)
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


_SPENT: Final = 20
"""One part in so many of the chance to miss is for whether anything was lost at all."""
_MOST: Final = Fraction(9, 20)
"""An end misses with less than one half: else it would lie within."""


@final
@dataclass(frozen=True)
class LostForm:
    """A form in noisy counts of what was cut off: what was lost is no more."""

    noises: tuple[Noise, ...]
    factors: tuple[float, ...]
    value: float

    def most(self, chance: Fraction) -> float:
        """Return an upper bound, which misses with such a chance."""
        return max(0.0, self.value + _reach(self.noises, self.factors, chance))


@lru_cache(maxsize=256)
def _reach(
    noises: tuple[Noise, ...], factors: tuple[float, ...], chance: Fraction
) -> float:
    # noise is symmetric: half of what is farther out is above
    return reach(noises, factors, 1 - 2 * chance)


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

    def rows_lost(self, promised: int) -> LostForm:
        """Return a bound on the rows that were lost, if the promise is kept."""
        more = max(0, promised - self.cut.most)
        return self._form([
            (pair, 1 if pair[0].unit == ROWS else more)
            for pair in self.counts
            if pair[0].unit == ROWS or (more and _is_beyond(pair[0]))
        ])

    def ids_lost(self) -> LostForm:
        """Return a bound on the ids that lost a row: each is above a limit."""
        return self._form([
            (pair, 1)
            for pair in self.counts
            if pair[0].unit != ROWS and not _is_beyond(pair[0])
        ])

    def _form(self, terms: Sequence[tuple[tuple[Counted, int], int]]) -> LostForm:
        noises = tuple(_noise(self.purchase, count) for (count, _), _ in terms)
        value = sum(number * factor for (_, number), factor in terms)
        return LostForm(
            noises, tuple(float(factor) for _, factor in terms), float(value)
        )

    def finish(
        self,
        aggregation: AbstractAggregation,
        estimator: "AbstractEstimator",
        noisy: "list[Noisy]",
    ) -> tuple[list[Finished], list[str]]:
        """Return the columns of an answer, and what their intervals hold."""
        columns = [*estimator.finish(noisy, self.purchase.plan.request.confidence)]
        adds, promised = aggregation.lost_adds, self.cut.most_lost
        bars: list[Bars | None] = [column.bars for column in columns]
        if promised is None:
            # no budget excludes one id with a million rows
            word = AT_LEAST if adds is not None and adds.low == 0 else ""
            return columns, [word] * len(columns)
        if promised > 0:
            forms = estimator.number_forms
            if adds is None or not forms or any(each.cut is not None for each in noisy):
                bars = self._bars_apart(aggregation, estimator, noisy, promised)
            else:
                lost = self.ids_lost() if adds.of_ids else self.rows_lost(promised)
                bars = [
                    self._bars_together(
                        _Kept(estimator, noisy, place, columns[place]), adds, lost
                    )
                    for place in range(len(columns))
                ]
        word = _table_word(self.purchase, aggregation)
        answers = [
            column if bar is None else replace(column, bars=bar)
            for column, bar in zip(columns, bars, strict=True)
        ]
        return answers, ["" if bar is None else word for bar in bars]

    def _bars_together(self, answer: "_Kept", adds: LostAdds, lost: LostForm) -> Bars:
        """Return bars of an answer of all rows, from one form for either end.

        Where surely more than nothing was lost, the exact answer can be near to one of
        the ends alone, and each may miss with all of the chance.
        """
        spent = self.chance / _SPENT
        width = adds.high - adds.low
        far = max(answer.reach(lost, end, spent) for end in (adds.low, adds.high))
        least = 2 * far + width * _reach(lost.noises, lost.factors, spent)
        left = self.chance - spent
        each = left / 2 if width * lost.value < least else min(left, _MOST)
        return answer.bars(lost, adds, each)

    def _bars_apart(
        self,
        aggregation: AbstractAggregation,
        estimator: "AbstractEstimator",
        noisy: "list[Noisy]",
        promised: int,
    ) -> list[Bars | None]:
        """Return bars from those of the rows kept, at half of the chance to miss.

        The other half is left to what bounds the rows that were lost.
        """
        half = self.chance / 2
        rows, ids = self.rows_lost(promised).most(half), self.ids_lost().most(half)
        lost, surely = LostRows(rows, ids), 1 - half
        if not self.purchase.plan.request.by:
            # a quarter of what is left for a mean goes to its divisor
            part = half / 4
            sizes = estimator.least_sizes(noisy, 1 - 2 * part)
            if sizes is not None:
                lost, surely = LostRows(rows, ids, sizes), surely + part
        finished = estimator.finish(noisy, surely)
        return [aggregation.with_lost(column.bars, lost) for column in finished]

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
        low, *lows = [
            additive([value], _noise(self.purchase, each), confidence, 0).low[0]
            for each, value in ((cut, number), *beyond)
        ]
        rows_kept = float(np.sum(as_numpy(table[counts[0]])))
        if low <= 0 or any(lows) or rows_kept <= 0:
            return None
        return 1 + number / rows_kept


@final
@dataclass(frozen=True)
class _Kept:
    """One column of answers of the rows that limits kept, which is a form."""

    estimator: "AbstractEstimator"
    noisy: "list[Noisy]"
    place: int
    column: Finished

    def reach(self, lost: LostForm, factor: float, chance: Fraction) -> float:
        """Return how far its noise and so many times that of the lost rows go together.

        Either way, but for such a chance.
        """
        form = self.estimator.number_forms[self.place]
        noises = tuple(
            self.estimator.measurements[place].noise(self.noisy[place].mechanism)
            for place, _ in form.factors
        )
        together = (*form.factors.values(), *(factor * each for each in lost.factors))
        drawn = _reach((*noises, *lost.noises), together, chance)
        return drawn + float(form.rounding)

    def bars(self, lost: LostForm, adds: LostAdds, each: Fraction) -> Bars:
        """Return the bars of all rows; either end misses with such a chance."""
        inner = self.estimator.finish(self.noisy, 1 - 2 * each)[self.place].bars
        values = as_numpy(self.column.values).astype(np.float64)
        low, high = (
            values + factor * lost.value + sign * self.reach(lost, factor, each)
            for factor, sign in ((adds.low, -1), (adds.high, 1))
        )
        # where one side adds nothing the rows kept have the exact law of their lattice
        low = inner.low if adds.low == 0 else np.minimum(low, inner.low)
        high = inner.high if adds.high == 0 else np.maximum(high, inner.high)
        return Bars(self.column.bars.sd, low, high).outward


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


def _noise(purchase: Purchase, count: Counted) -> Noise:
    return count.measurement.noise(purchase.coverage[count.measurement.key])


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
