"""Count, count_distinct, count_ids, histogram; counts of known groups less a share.

An id that lies in many groups moves each of their counts; told less a share c of the
number of ids n, it moves those where it is by 1 - c and the others by c, which is less
in all. One number for the whole table, n, then serves every group. For Gaussian noise
(docs/proofs/moments.md, lemma 6).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.aggregation import (
    AbstractAggregation,
    AbstractEstimator,
    LostAdds,
    Setting,
)
from sordino.aggregations.estimators import KnownCount, LinearEstimator, SingleEstimator
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    AbstractTotal,
    Distinct,
    IntegerMeasurement,
    Integers,
    Numbers,
    Summary,
    Total,
    certify_totals,
)
from sordino.aggregations.moments import ROWS, row_moments, rows_measurement
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.bins import Bins
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.literals import literal
from sordino.expressions.schema import Version
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments, finite, rational_above, sqrt
from sordino.numbers.canonical import Words, call

if TYPE_CHECKING:
    import pyarrow as pa


def match_rows(keys: "pa.Table", rows: "pa.Table") -> NDArray[np.int64]:
    """Return for each row the place of its key, -1 if it is none of them.

    Both tables have the same columns; with no columns every row has the one key.

    >>> import pyarrow as pa
    >>> keys = pa.table({"g": ["a", None]})
    >>> match_rows(keys, pa.table({"g": [None, "b", "a"]})).tolist()
    [1, -1, 0]
    """
    if not keys.num_columns:
        return np.zeros(rows.num_rows, np.int64)
    codes = np.zeros(keys.num_rows + rows.num_rows, np.int64)
    for ours, theirs in zip(keys.columns, rows.columns, strict=True):
        column = _codes(ours, theirs)
        # dense again after each column, so that products stay small
        _, codes = np.unique(
            codes * (int(column.max(initial=0)) + 1) + column, return_inverse=True
        )
    key_codes, row_codes = codes[: keys.num_rows], codes[keys.num_rows :]
    place = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    place[key_codes] = np.arange(keys.num_rows)
    places: NDArray[np.int64] = place[row_codes]
    return places


def _codes(ours: "pa.ChunkedArray", theirs: "pa.ChunkedArray") -> NDArray[np.int64]:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    both = pa.chunked_array([*ours.chunks, *theirs.chunks], ours.type)
    encoded = both.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: NDArray[np.int64] = encoded.indices.to_numpy().astype(np.int64)
    return codes


MOST_COLUMNS: Final = 300
"""So many totals every engine adds up within a second; bins as rows may be more."""


@final
@dataclass(frozen=True)
class Histogram(AbstractAggregation):
    """The numbers of rows in bins; a row lies in one bin or in none."""

    column: str
    bins: Bins

    def __repr__(self) -> str:
        return f"histogram({self.column!r}, {list(self.bins.edges)!r})"

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} {label}" for label in self.bins.labels)

    @property
    def words(self) -> Words:
        return call("histogram", column=self.column, bins=self.bins.words)

    @property
    def lost_adds(self) -> LostAdds | None:
        return LostAdds(0, 1)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        col(self.column).bin(self.bins).column(setting.schema)  # refuses other edges
        totals = tuple(
            Total(when(self._lies(place)).then(1).otherwise(lit(0)).tree)
            for place in range(len(self.bins.labels))
        )
        change = setting.rows(frozenset([Version()]))
        key = ("histogram", setting.schema[self.column].version, self.bins)
        return (SingleEstimator((IntegerMeasurement(key, change, totals),), least=0),)

    def _lies(self, place: int) -> Expression:
        cell, edges = col(self.column), self.bins.edges
        low, high = edges[place : place + 2]
        above = cell >= low if self.bins.opens(place) else cell > low
        below = cell < high if self.bins.opens(place + 1) else cell <= high
        both: Expression = above & below
        return both


def histogram(column: str, bins: Any) -> Histogram:
    """Return a question for the number of rows in each bin of a column.

    Rows in no bin, and rows whose value is missing, are not counted. To have the bins
    as rows of the answer, ask `query.histogram(column, bins)`.

    >>> histogram("age", [0, 18, 65, 120]).columns("age")
    ('age [0, 18)', 'age [18, 65)', 'age [65, 120]')
    """
    ranges = bins if isinstance(bins, Bins) else Bins(bins)
    if len(ranges.labels) > MOST_COLUMNS:
        raise InvalidParameter(
            "bins",
            f"{len(ranges.labels)} of them",
            f"would become columns, and at most {MOST_COLUMNS} are allowed",
            "Ask query.histogram(column, bins): there they are rows.",
        )
    return Histogram(arguments.text(column=column), ranges)


_STEP: Final = 6
"""Shares of the number of ids are multiples of 2**-6."""
_FEWEST: Final = 8
"""Fewer groups gain less than a third, and would err together for that."""
_MOST_ROWS: Final = 2**10
"""Of an id in a group: 2**48 ids, more than any table has, add up within 64 bits."""


@final
@dataclass(frozen=True)
class WholeMeasurement(AbstractMeasurement):
    """The number of ids in all groups together and outside of them: one number."""

    key: Hashable
    totals: tuple[AbstractTotal, ...] = field(compare=False)
    change: Sensitivity = field(default=Sensitivity(l0=1, linf=1), init=False)

    @property
    def certificate(self) -> dict[str, Words]:
        return {"of": "ids everywhere"}

    def scale_totals(self, exact: Integers) -> Numbers:
        return exact.astype(np.float64)


@final
@dataclass(frozen=True)
class CentredMeasurement(AbstractMeasurement):
    """Counts of known groups, each less a share of the number of ids.

    For any two tables that differ by one id, the count of at most k of d groups moves
    by at most `most`, and n by 1: an id in j of them moves the squares by
    most**2 (j (1 - 2 c) + d c**2), which grows with j (lemma 6).
    """

    key: Hashable
    change: Sensitivity
    steps: int
    """What is taken off a count for each id, in 2**-6."""
    ids: WholeMeasurement
    totals: tuple[AbstractTotal, ...] = field(compare=False)

    @property
    def certificate(self) -> dict[str, Words]:
        base = certify_totals("sum", self.totals)
        return {"of": "centred", "off": self.steps, "base": base}

    def less(self, exact: Sequence[Integers], ids: int) -> list[Integers]:
        """Return exact counts less the share of the number of ids, in 2**-6."""
        # in integers: nothing is rounded before the noise
        return [(counts << _STEP) - self.steps * ids for counts in exact]

    def scale_totals(self, exact: Integers) -> Numbers:
        return np.ldexp(exact.astype(np.float64), -_STEP)


@final
@dataclass(frozen=True)
class CentredCounts:
    """The number of ids, and the counts less a share of it."""

    measurements: tuple[WholeMeasurement, CentredMeasurement]
    units: tuple[Fraction, ...] = (Fraction(1), Fraction(1))
    size: int | None = None


def centred_estimator(
    setting: Setting, counted: IntegerMeasurement
) -> LinearEstimator | None:
    """Return counts of known groups by way of centred ones, None where that is no use.

    It is of use where ids are protected, and one may lie in several of the groups.
    """
    groups, ids = setting.groups, setting.ids
    if ids is None or groups is None or groups < _FEWEST or setting.spread is not None:
        return None
    touched = min(int(counted.change.l0), groups)
    most = rational_above(finite(counted.change.linf))
    steps = math.floor(_best_share(touched, groups) * 2**_STEP)
    if touched < 2 or steps == 0 or most > _MOST_ROWS or most.denominator > 1:
        return None
    whole = WholeMeasurement(("ids everywhere", ids), (Distinct((ids,)),))
    share = Fraction(steps, 2**_STEP)
    squares = touched * (1 - 2 * share) + groups * share**2
    change = Sensitivity(
        l0=groups,
        l1=most * (touched * (1 - share) + (groups - touched) * share),
        l2=most * sqrt(squares),
        linf=most * (1 - share),
    )
    key = ("centred", counted.key, steps)
    taken = steps * int(most)
    centred = CentredMeasurement(key, change, taken, whole, counted.totals)
    form = (share * most, Fraction(1))
    counts = CentredCounts((whole, centred))
    return LinearEstimator(counts, form, least=0, whole=True, remark=_TOGETHER)


_TOGETHER: Final = "groups err together: ask for totals of many, do not add them up"


def _best_share(touched: int, groups: int) -> float:
    if groups == 1:
        return 0.0
    spread = math.sqrt(touched * (groups - touched) / (groups - 1))
    return min(0.5, (touched - spread) / groups)


def row_estimators(setting: Setting) -> tuple[AbstractEstimator, ...]:
    """Return row counts with noise: alone, from a column's numbers, and centred."""
    if setting.size is not None and not setting.by and setting.spread is None:
        return (KnownCount(setting.size),)
    counted = rows_measurement(setting)
    column = row_moments(setting)
    divided: LinearEstimator | None = None
    if column is not None and column.rows is not None:
        divided = LinearEstimator(
            column, column.rows, least=setting.least_rows, whole=True
        )
    return count_estimators(setting, counted, divided)


def count_estimators(
    setting: Setting,
    counted: IntegerMeasurement,
    divided: LinearEstimator | None = None,
) -> tuple[AbstractEstimator, ...]:
    """Return counts with noise, in the order of the ways to measure them."""
    alone = SingleEstimator((counted,), least=setting.least_rows)
    centred = centred_estimator(setting, counted)
    return (alone, divided or alone, alone, centred or alone)


@final
@dataclass(frozen=True)
class Count(AbstractAggregation):
    """The number of rows of a group."""

    is_of_all: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "count()"

    @property
    def words(self) -> Words:
        return call("count")

    def summary(self, setting: Setting) -> Summary:
        most = setting.most_together
        # an id without a row is not there, so 1 or more; the ends must differ
        bounds = None if most is None else (min(1, most - 1), most)
        return Summary((Total(literal(1)),), bounds=bounds)

    @property
    def lost_adds(self) -> LostAdds | None:
        return LostAdds(0, 1)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        return row_estimators(setting)


def count() -> Count:
    """Return a question for the number of rows.

    >>> count()
    count()
    """
    return Count()


IDS = "ids"
"""The key of the number of ids."""


@final
@dataclass(frozen=True)
class CountIds(AbstractAggregation):
    """The number of different ids of a group."""

    is_of_all: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "count_ids()"

    @property
    def words(self) -> Words:
        return call("count_ids")

    @property
    def lost_adds(self) -> LostAdds | None:
        # whoever is missing in a group lost a row there
        return LostAdds(0, 1, of_ids=True)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        return ids_estimators(setting)


def ids_estimators(setting: Setting) -> tuple[AbstractEstimator, ...]:
    """Return the counts of ids, or of rows where they are the same."""
    measurement = ids_measurement(setting)
    if measurement.key == ROWS:
        return row_estimators(setting)
    return count_estimators(setting, measurement)


def ids_measurement(setting: Setting) -> IntegerMeasurement:
    """Return the counts of ids: an id moves each group that it lies in by 1.

    Where an id has at most one row in each group, they are the row counts.
    """
    if setting.ids is None:
        raise InvalidQuery(
            "count_ids counts protected ids, and this table protects rows",
            'Use sd.count(), or protect ids: protects=sd.AddRowsWithID("person").',
        )
    change = setting.people()
    each = setting.unit_rows
    if each is not None and each.linf == 1:
        return rows_measurement(setting)
    return IntegerMeasurement(IDS, change, (Distinct((setting.ids,)),))


def count_ids() -> CountIds:
    """Return a question for the number of ids.

    >>> count_ids()
    count_ids()
    """
    return CountIds()


@final
@dataclass(frozen=True)
class CountDistinct(AbstractAggregation):
    """The number of different values of some columns, none of them missing."""

    is_of_all: ClassVar[bool] = True
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"count_distinct({', '.join(map(repr, self.names))})"

    @property
    def words(self) -> Words:
        return call("count_distinct", columns=list(self.names))

    @property
    def lost_adds(self) -> LostAdds | None:
        return LostAdds(0, 1)

    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        if self.names == (setting.ids,):
            return ids_estimators(setting)
        self._refuse_lists(setting)
        key = tuple(setting.schema[name].version for name in self.names)
        part = IntegerMeasurement(key, setting.rows(), (Distinct(self.names),))
        complete = not any(setting.schema[name].nullable for name in self.names)
        least = setting.least_rows if complete else 0  # rows may all lack a value
        return (SingleEstimator((part,), least=least),)

    def summary(self, setting: Setting) -> Summary:
        self._refuse_lists(setting)
        most = setting.most_together
        bounds = None if most is None else (0, most)
        return Summary((Distinct(self.names),), bounds=bounds)

    def _refuse_lists(self, setting: Setting) -> None:
        for name in self.names:
            if setting.schema[name].type.startswith("list"):
                raise InvalidQuery(
                    f"{name!r} is a list column, and lists cannot be compared",
                    "Explode it first.",
                )


def count_distinct(*columns: Any) -> CountDistinct:
    """Return a question for the number of different values of one or more columns.

    Rows in which one of them is missing do not count.

    >>> count_distinct("doctor")
    count_distinct('doctor')
    """
    if not columns:
        raise InvalidParameter(
            "columns",
            columns,
            "must name at least one column",
            'Try count_distinct("doctor").',
        )
    return CountDistinct(tuple(arguments.text(columns=name) for name in columns))
