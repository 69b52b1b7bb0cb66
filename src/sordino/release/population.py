"""Intervals of what is true of the population that the rows were drawn from.

Beside the noise a mean of n rows is off by the luck of the draw, of variance v/n. For
rows that were drawn independently of each other, n of them in a group:

| beside the mean | v | interval |
|---|---|---|
| its variance | the noisy one | m -+ root(d^2 + z^2 v/n), d from m to the printed end |
| nothing | (p - low) (high - p), the most that a mean p allows | the p no further off |

For shares the second is exact, and Wilson's interval where there is no noise; of other
values it is too wide, never too narrow. Of two groups the distances to the ends add up
by their squares, and counts of a secret sample are off by its coins. All of it takes
nothing but printed answers, so it costs nothing (docs/proofs/intervals.md, section 6).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.count import Count
from sordino.aggregations.intervals import Bars, error_names, unknown_bars
from sordino.aggregations.lattice import aggregated_cell
from sordino.aggregations.mean import Mean, Variance
from sordino.errors import InvalidQuery
from sordino.losses.curves.points import Floats
from sordino.numbers.normal import normal_quantile_of
from sordino.plan.plan import Plan
from sordino.plan.purchase import Purchase
from sordino.query.processing import NoisyRows

if TYPE_CHECKING:
    import pyarrow as pa


FEWEST: Final = 50
"""Of fewer rows nothing is told: the normal law is too far off, and v too noisy."""
TOO_FEW: Final = (
    f"Nothing is told of the population where there are fewer than {FEWEST} rows, by "
    "noisy count, and of answers that are neither means nor shares."
)
Asked: TypeAlias = Mapping[str, AbstractAggregation]


def check_population(plan: Plan) -> None:
    """Refuse where nothing can be told of a population; no data is read."""
    questions = dict(plan.request.columns)
    if not any(isinstance(each, Mean) for each in questions.values()):
        raise InvalidQuery(
            "population=True is about means and shares, and none is asked",
            "Ask sd.mean(...) or sd.share(...), beside n=sd.count().",
        )
    if _count_of(questions) is None:
        raise InvalidQuery(
            "how far a mean of drawn rows is off hangs on their number",
            "Ask n=sd.count() beside it.",
        )
    if plan.relation.contribution.most_rows() != 1:
        raise InvalidQuery(
            "rows of one id are not drawn independently of each other",
            "Bound them to one: .enforce(sd.MaxRowsPerID(1)), or ask of per_id(...).",
        )
    for name, mean in questions.items():
        if isinstance(mean, Mean) and not _is_complete(mean, plan):
            raise InvalidQuery(
                f"{name!r} leaves out rows without a value, so their number is not "
                "that of its values",
                "Leave them out before: .drop_nulls(...), or give a number for them: "
                "nulls=0.",
            )


def population_errors(
    purchase: Purchase, table: "pa.Table", errors: "pa.Table"
) -> "pa.Table":
    """Return the errors of an answer, of the noise and of the draw of rows together."""
    questions = dict(purchase.plan.request.columns)
    confidence = (1 + float(purchase.plan.request.confidence)) / 2
    z = float(normal_quantile_of(np.array([confidence]))[0])
    for name in table.column_names[len(purchase.plan.request.by) :]:
        bars = unknown_bars(table.num_rows)
        mean = questions.get(name)
        if isinstance(mean, Mean):
            bars = _Mean.of(name, mean, questions, table, errors).bars(z)
        for bar, values in bars.columns(name).items():
            errors = errors.set_column(errors.column_names.index(bar), bar, values)
    return errors


@final
@dataclass(frozen=True, eq=False)
class _Mean:
    """A noisy mean with its printed interval, the number of rows, their variance."""

    value: Floats
    printed: Bars
    rows: Floats
    variance: Floats | None
    """Of the mean of the rows drawn, None where nothing was asked of it."""
    ends: tuple[float, float]
    """The bounds of values."""

    @classmethod
    def of(
        cls,
        name: str,
        mean: Mean,
        questions: Asked,
        table: "pa.Table",
        errors: "pa.Table",
    ) -> "_Mean":
        count = _count_of(questions)
        assert count is not None  # noqa: S101 refused before
        rows = np.maximum(_floats(table[count]), 1.0)
        low, high = mean.clamp.bounds
        variance = None
        for other, spread, freedom in _spreads_of(mean, questions):
            # n - 1 estimates the population's; what is asked with ddof=1 is that
            values = np.maximum(_floats(table[other]), 0.0)
            squares = values**2 if spread == "stdev" else values
            variance = squares / np.maximum(rows - 1 + freedom, 1.0)
        printed = Bars(*(_floats(errors[bar]) for bar in error_names(name)))
        ends = float(low), float(high)
        return cls(_floats(table[name]), printed, rows, variance, ends)

    def bars(self, z: float) -> Bars:
        """Return the intervals for the population; NaN where nothing is told."""
        low, high = self._ends(z)
        least, most = self.ends
        drawn = self.variance
        if drawn is None:
            drawn = (self.value - least) * (most - self.value) / self.rows
        sd = np.hypot(self.printed.sd, np.sqrt(np.maximum(drawn, 0.0)))
        few = self.rows < FEWEST
        parts = sd, np.maximum(low, least), np.minimum(high, most)
        return Bars(*(np.where(few, np.nan, part) for part in parts))

    def _ends(self, z: float) -> tuple[Floats, Floats]:
        below, above = self.value - self.printed.low, self.printed.high - self.value
        if self.variance is not None:
            drawn = z * np.sqrt(self.variance)
            return self.value - np.hypot(below, drawn), self.value + np.hypot(
                above, drawn
            )
        # (u - p)^2 = d^2 + k p (1 - p), in widths of the range: the p at both ends
        least, most = self.ends
        width = most - least
        u, k = (self.value - least) / width, z * z / self.rows

        def root(d: Floats, sign: float) -> Floats:
            inside = (2 * u + k) ** 2 - 4 * (1 + k) * (u * u - (d / width) ** 2)
            ends = (2 * u + k + sign * np.sqrt(np.maximum(inside, 0.0))) / (2 + 2 * k)
            return np.asarray(least + width * ends)

        return root(below, -1.0), root(above, 1.0)


def difference_tables(
    beside: NoisyRows, answer: str, before: str
) -> "tuple[pa.Table, pa.Table]":
    """Return by how much a mean differs from that of a baseline, with its errors.

    Rows and noise of two groups are independent, so the squares of how far either is
    off add up, on the side where it is off.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    m, other = (_floats(beside.table[name]) for name in (answer, before))
    first, second = (
        Bars(*(_floats(beside.errors[bar]) for bar in error_names(name)))
        for name in (answer, before)
    )
    bars = Bars(
        np.hypot(first.sd, second.sd),
        m - other - np.hypot(m - first.low, second.high - other),
        m - other + np.hypot(first.high - m, other - second.low),
    )
    name = f"{answer} difference"
    keys = {key: beside.table[key] for key in beside.keys}
    table = pa.table({**keys, name: pa.array(m - other)})
    return table, pa.table({**keys, **bars.columns(name)})


@final
@dataclass(frozen=True)
class SampledFrame:
    """The people of whom a table is a secret random sample, each by a coin."""

    rate: Fraction
    counts: Mapping[str, int]
    """Each count that was asked, and what one person adds to it at most."""

    def estimate(
        self, table: "pa.Table", errors: "pa.Table", confidence: Fraction
    ) -> "tuple[pa.Table, pa.Table]":
        """Return the counts of all who might have been drawn, with their errors."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        z = float(normal_quantile_of(np.array([(1 + float(confidence)) / 2]))[0])
        q = float(self.rate)
        # a column of a key stands in both tables
        keys = {
            key: table[key]
            for key in table.column_names
            if key in {*errors.column_names}
        }
        counts, bars = dict(keys), dict(keys)
        for name, most in self.counts.items():
            number = _floats(table[name])
            sd, low, high = (_floats(errors[bar]) for bar in error_names(name))
            drawn = (1 - q) * most
            half = z * z * drawn / 2
            # (number - t)^2 = d^2 + z^2 (1 - q) most t: the t at both ends; t/q is told
            below, above = (
                np.sqrt(np.maximum(half * (2 * number + half) + d**2, 0.0))
                for d in (number - low, high - number)
            )
            sd = np.hypot(sd, np.sqrt(drawn * np.maximum(number, 0.0)))
            parts = (sd, np.maximum(number + half - below, 0.0), number + half + above)
            counts[name] = pa.array(np.rint(number / q).astype(np.int64))
            bars |= Bars(*(part / q for part in parts)).columns(name)
        return pa.table(counts), pa.table(bars)


def _count_of(questions: Asked) -> str | None:
    return next(
        (name for name, each in questions.items() if isinstance(each, Count)), None
    )


def _spreads_of(mean: Mean, questions: Asked) -> Iterator[tuple[str, str, int]]:
    """Yield the variances of the very values of a mean: name, kind, and its ddof."""
    wanted = (mean.clamp.bounds, mean.nulls)
    for name, each in questions.items():
        if isinstance(each, Variance) and (each.clamp.bounds, each.nulls) == wanted:
            cells = aggregated_cell(each.column), aggregated_cell(mean.column)
            if cells[0].same(cells[1]):
                yield name, each.name, each.ddof


def _is_complete(mean: Mean, plan: Plan) -> bool:
    facts = aggregated_cell(mean.column).column(plan.relation.schema)
    filled = mean.nulls is not None and mean.nulls != "drop"
    return filled or not (facts.nullable or facts.nan)


def _floats(column: Any) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
