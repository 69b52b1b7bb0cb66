"""What every aggregation is: estimators of an answer, made of noisy measurements.

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, final

from sordino.aggregations.intervals import Bars, NumberForm
from sordino.aggregations.measurement import Numbers, Summary, scale_change
from sordino.data.contribution import LARGEST, Contribution, Spread, Versions, Weighed
from sordino.errors import InvalidQuery
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression
from sordino.losses.budgets.charge import Family
from sordino.losses.curves.points import Floats
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers.canonical import Words
from sordino.numbers.rounding import without_dust

if TYPE_CHECKING:
    import pyarrow as pa


PER_ROW: Final = "/ rows"
"""The unit of an error that is to be divided by the rows of a group."""
CHOOSE: Final = (
    "session.suggest(query, budget, sample=rows) tells what each limit would cut off; "
    "without a sample it charges a twentieth of the budget."
)
"""How a limit is chosen."""
SINGLE, DIVIDED, SEPARATE, CENTRED = range(4)
"""The ways to answer, in the order of an aggregation's estimators.

Each number by itself; by the numbers into which the rows of a column are divided; by
its count and deviations, a measurement each; counts less a share of all ids.
"""


@final
@dataclass(frozen=True)
class Setting:
    """The rows that are aggregated, as the public knows them."""

    schema: Schema
    contribution: Contribution
    by: tuple[str, ...]
    ids: str | None
    spread: Spread | None = None
    """If a unit's rows are charged one by one: all changes are so many of one row's."""
    clamped: "tuple[AbstractClamped, ...]" = ()
    """What is asked of the same groups and adds up values, in order."""
    groups: int | None = None
    """How many groups there are, where they are known beforehand."""
    needs_rows: bool = False
    """Whether row counts are asked for, or decide which groups are shown."""
    size: int | None = None
    """How many rows there are, where that is public."""
    weighed: Weighed | None = None
    """A column of which the sum moves by so much and no more, if there is one."""
    least_rows: int = 0
    """How many rows each group that is shown has at least: 1 if no key is known."""

    @cached_property
    def degrees(self) -> Mapping[Hashable, int]:
        """Return the highest power that is summed of each column, in order."""
        highest: dict[Hashable, int] = {}
        for clamped in self.clamped:
            key = clamped.key(self)
            highest[key] = max(clamped.degree, highest.get(key, 0))
        return highest

    @cached_property
    def computations(self) -> dict[Hashable, Any]:
        """Return a store for results that several aggregations of these rows share."""
        return {}

    @cached_property
    def versions(self) -> Versions:
        """Return the versions of the columns that mark groups."""
        return frozenset(self.schema[name].version for name in self.by)

    @property
    def most_together(self) -> int | None:
        """Return how many rows of one unit a group has at most, None without limit."""
        return self.contribution.most_together(self.versions)

    def rows(self, *more: Versions) -> Sensitivity:
        """Return how far one unit can move the row counts of the groups.

        `more` are versions of columns that split the groups further.
        """
        change = self._change_of_split_rows(*more) if more else self._rows
        if change is None:
            raise InvalidQuery(
                "nothing bounds how many rows one id contributes",
                self._remedy(),
                needs=("rows", *self.by),
            )
        if change.l1 > LARGEST:
            raise InvalidQuery(
                "one unit could hold more rows than can be counted exactly",
                "Lower the limits, or max_rows of flat_map.",
            )
        return change

    def counts(self) -> Sensitivity:
        """Return how far one unit can move sums of one number of 0 to 1 for each row.

        Where rows come and leave, they pull two ways; beside a weighed column that
        nothing depends on, they come or leave in one.
        """
        change, weight = self.rows(), self.weight()
        if self.spread is not None:
            return change
        if weight is not None:
            return weight
        if self.contribution.each_way is None:  # then counts move as rows do
            return change
        return self.contribution.count_sensitivity(self.versions) or change

    def weight(self) -> Sensitivity | None:
        """Return how far one unit can move sums of the weighed column, if there is one.

        In a part of a table that is charged by the row it is a column like others.
        """
        if self.weighed is None or self.spread is not None:
            return None
        return self.weighed.sensitivity(self.versions)

    def people(self) -> Sensitivity:
        """Return how far one id can move the counts of ids of the groups."""
        change = self._change_by(self._change_of_ids)
        if change is None:
            columns = _call_names(self.by)
            raise InvalidQuery(
                "nothing bounds how many groups one id is in",
                f"Add .enforce(sd.MaxGroupsPerID({columns}, 2)) before group_by. "
                f"{CHOOSE}",
                needs=("groups", *self.by),
            )
        return change

    @cached_property
    def _rows(self) -> Sensitivity | None:
        return self.unit_rows if self.spread is None else self._change_of_split_rows()

    @cached_property
    def unit_rows(self) -> Sensitivity | None:
        """Return how far the row counts move by a whole unit, None if without bound."""
        return self.contribution.sensitivity(self.versions)

    def _change_of_split_rows(self, *more: Versions) -> Sensitivity | None:
        return self._change_by(
            lambda contribution: contribution.sensitivity(self.versions.union(*more))
        )

    def _change_of_ids(self, contribution: Contribution) -> Sensitivity | None:
        groups = contribution.groups_touched(self.versions)
        if groups is None:
            return None
        # of known groups nothing is told of any other
        most = groups if self.groups is None else min(groups, self.groups)
        # an id counts once in a group, however many rows it has there
        return Sensitivity(l0=most, linf=1)

    def _change_by(
        self, rule: Callable[[Contribution], Sensitivity | None]
    ) -> Sensitivity | None:
        if self.spread is None:
            return rule(self.contribution)
        row, rows = rule(self.spread.row), self.spread.rows
        return None if row is None else scale_change(row, rows, rows)

    def _remedy(self) -> str:
        if not self.by:
            return f"Add .enforce(sd.MaxRowsPerID(5)). {CHOOSE}"
        columns = _call_names(self.by)
        return (
            f"Add .enforce(sd.MaxGroupsPerID({columns}, 2), "
            f"sd.MaxRowsPerGroupPerID({columns}, 3)) before group_by, or "
            f".enforce(sd.MaxRowsPerID(5)). {CHOOSE}"
        )


@final
@dataclass(frozen=True)
class Noisy:
    """The noisy numbers of one part, and the mechanism that made them."""

    values: tuple[Numbers, ...]
    mechanism: Any
    cut: Fraction | None = None
    """What the values had to reach together where they show the groups, else None."""


@final
@dataclass(frozen=True)
class Finished:
    """A column of answers with its error bars."""

    values: "pa.Array"
    bars: Bars
    ranks: Bars | None = None
    """By how many rows it is too large, of a value that was chosen by its rank."""


@final
@dataclass(frozen=True)
class LostRows:
    """What limits cut off of the rows of a group, at most; infinite where unknown."""

    rows: float
    ids: float
    """Ids that lost a row or more."""
    kept: Floats | None = None
    """The least number of values that were kept, None where groups are asked about."""


@final
class LostAdds(NamedTuple):
    """Between what each row, or each id, that limits cut off adds to an answer."""

    low: float
    high: float
    of_ids: bool = False
    """Whether each id that lost a row adds that, however many it lost."""


@final
@dataclass(frozen=True)
class Expected:
    """How far an answer will be off, as far as that is known beforehand.

    `unit` says in what the numbers are: "" for the answer's own unit, "/ rows" where
    they are to be divided by the number of rows of a group, "ranks" where they count
    rows between the answer and the exact one, "rows" where they count those beyond the
    answer. `remark` says what no number does.
    """

    sd: float
    half_width: float
    unit: str = ""
    remark: str = ""

    def __str__(self) -> str:
        return self.text(())

    def text(self, sizes: Sequence[int]) -> str:
        """Tell it in a line; what hangs on the rows of a group, for some sizes, too.

        >>> Expected(210.0, 441.0, PER_ROW).text((100, 10_000))
        'sd 210 / rows, within ±441 / rows: ±4.41 for 100 rows, ±0.0441 for 10,000 rows'
        """
        unit = f" {self.unit}" if self.unit else ""
        remark = f"; {self.remark}" if self.remark else ""
        sd, reach = without_dust(self.sd), without_dust(self.half_width)
        known = sizes if self.unit == PER_ROW else ()
        each = ", ".join(f"±{reach / rows:.3g} for {rows:,} rows" for rows in known)
        by_size = f": {each}" if each else ""
        return f"sd {sd:.4g}{unit}, within ±{reach:.4g}{unit}{by_size}{remark}"


class AbstractEstimator(ABC):
    """One way to put an answer together of measurements, or of choices."""

    chooses: ClassVar[bool] = False
    """Whether it is made of choices among candidates instead of noisy numbers."""
    measurements: "tuple[Any, ...]"
    shares: tuple[Fraction, ...]
    """Of choices: the fraction of the answer's share that each gets; their sum is 1."""
    slopes: tuple[float, ...]
    """Of measurements: by how much the answer's variance grows with that of each."""

    @abstractmethod
    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return how far the answer will be off."""

    @abstractmethod
    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the columns of the answer."""

    def least_sizes(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> Floats | None:
        """Return the lower ends of the numbers of values, None where none is known."""
        del noisy, confidence
        return None

    @property
    def number_forms(self) -> tuple[NumberForm, ...]:
        """The columns as forms in (place of the measurement, place of its number).

        None of an answer that is no form, such as a mean or a median.
        """
        return ()


class AbstractClamped(ABC):
    """Public bounds to which values are moved before they are aggregated."""

    degree: int
    """The highest power of the values that is summed, 0 for none."""

    @abstractmethod
    def key(self, setting: Setting) -> Hashable:
        """Return a key that is equal for equal bounds on the same values."""

    @abstractmethod
    def outside(self, setting: Setting) -> AbstractExpression:
        """Return 1 for a row whose value lies outside of the bounds, else 0."""


class AbstractAggregation(ABC):
    """A question about each group."""

    needs_every_group: ClassVar[bool] = False
    """Whether an answer is made of the numbers of several groups."""
    is_of_all: ClassVar[bool] = False
    """Whether each answer is about all rows of a group, not those with a value."""
    families: ClassVar[tuple[Family, ...]] = ("laplace", "gaussian")
    """The families of noise that serve it."""

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the names of the columns of the answer: the one given, if not more."""
        return (name,)

    @property
    @abstractmethod
    def words(self) -> Words:
        """Return the question in a form that lasts for ever."""

    @property
    def clamp(self) -> "AbstractClamped | None":
        """Return the bounds that values are clamped to, None without any."""
        return None

    def reads_made(self, computed: Container[str]) -> bool:
        """Whether a question is about an expression, or a column made by one."""
        words: Any = self.words
        _, arguments = words
        match arguments.get("column"):
            case None:
                return False
            case str(name) | ["col", {"name": name}]:
                return name in computed
            case _:
                return True

    def adds_up(self, weighed: Weighed | None, schema: Schema) -> bool:
        """Whether this is the sum of a weighed column, which needs no bounds."""
        del weighed, schema
        return False

    def with_known_bounds(self, schema: Schema) -> "AbstractAggregation":
        """Return the question with the bounds that its column is known to have.

        What needs no bounds, or was given some, stays as it is.
        """
        del schema
        return self

    @property
    def lacks_bounds(self) -> bool:
        """Tell whether one unit could move the answer without limit."""
        return False

    def summary(self, setting: Setting) -> Summary:
        """Return an exact summary of the rows of one id, in each of its groups.

        For any rows it is a function of the multiset of them.
        """
        del setting
        raise InvalidQuery(
            f"{self!r} cannot be computed from the rows of one id",
            "Ask count, sum, mean, min, max or count_distinct in per_id.",
        )

    @property
    def lost_adds(self) -> LostAdds | None:
        """Between what each lost row adds to an answer, at most 0 to at least 0.

        None of an answer that is no sum over rows or ids.
        """
        return None

    def with_lost(self, bars: Bars, lost: LostRows) -> Bars | None:
        """Return bars of the answer of all rows, from those of the rows that were kept.

        None where that is not known. For any rows: if no more were lost than it says,
        the ends hold the one wherever they held the other.
        """
        adds = self.lost_adds
        if adds is None:
            return None
        most = lost.ids if adds.of_ids else lost.rows
        low, high = bars.low + adds.low * most, bars.high + adds.high * most
        return Bars(bars.sd, low, high).outward

    @abstractmethod
    def estimators(self, setting: Setting) -> tuple[AbstractEstimator, ...]:
        """Return the ways to answer, or refuse a question without a sound answer.

        They are in the order of the ways; the last one stands for those left out.
        """


def _call_names(columns: tuple[str, ...]) -> str:
    return repr(columns[0]) if len(columns) == 1 else repr(columns)
