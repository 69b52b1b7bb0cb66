"""Grouped queries: one row for each id, margins, ordered periods, grouping sets."""

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, starmap
from typing import Any, Final, Literal, TypeVar, final

from sordino.aggregations.aggregation import AbstractAggregation, Setting
from sordino.aggregations.intervals import error_names
from sordino.aggregations.margins.crossing import Crossing, Levels, Numbers, Tree
from sordino.aggregations.margins.tables import (
    choose_tables,
    read_totals,
    read_weights,
)
from sordino.aggregations.measurement import AbstractTotal, Extreme, Summary
from sordino.aggregations.running import Periods, Running
from sordino.data import KeySet
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import lift
from sordino.expressions.schema import Column, Schema, unknown
from sordino.expressions.tree import AbstractTree, Col
from sordino.numbers import arguments
from sordino.numbers.canonical import Words, call, worded_pairs
from sordino.numbers.frozen import hides
from sordino.query.dropped_rows import Clipped
from sordino.query.nodes import Filter, Gathered, Project
from sordino.query.request import (
    CONFIDENCE,
    Request,
    Rows,
    check_aggregation,
    first_few,
    group_names,
    make_request,
)
from sordino.query.steps import AbstractCatalog, AbstractStep, Relation, group_column


def listed_names(*, some: bool = False, **argument: Any) -> tuple[str, ...]:
    """One or several names of columns, each once."""
    ((name, value),) = argument.items()
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, (tuple, list)) or (some and not listed):
        raise InvalidParameter(
            name,
            value,
            "must be a column name or a list of column names",
            f'Try {name}="ward".',
        )
    names = tuple(arguments.text(**{name: item}) for item in listed)
    if len(set(names)) < len(names):
        raise InvalidParameter(name, value, "contains a name twice", "Name it once.")
    return names


T = TypeVar("T", AbstractTotal, Extreme)
Cell = tuple[str, AbstractTree]
Asked = tuple[tuple[str, AbstractAggregation], ...]


@final
@dataclass(frozen=True)
class PerID(AbstractStep):
    """Make one row of all rows of an id, or of those in each of its groups."""

    by: tuple[str, ...]
    columns: Asked

    def words(self, _catalog: AbstractCatalog) -> Words:
        columns = worded_pairs(
            (name, aggregation.words) for name, aggregation in self.columns
        )
        return call("per_id", by=list(self.by), columns=columns)

    def apply(self, relation: Relation, _catalog: AbstractCatalog) -> Relation:
        if relation.ids is None:
            raise InvalidQuery(
                "per_id makes one row of all rows of an id, and this table protects "
                "rows",
                'Protect ids: protects=sd.AddRowsWithID("person").',
            )
        for name in self.by:
            group_column(relation.schema, name)  # refuses what cannot mark a group
        aggregations = tuple(
            (name, aggregation.with_known_bounds(relation.schema))
            for name, aggregation in self.columns
        )
        marked, bounds = relation.versions(self.by), relation.contribution
        # one row of an id in each group, or in all: what it had before bounds the rest
        once = bounds.with_group_rows(marked, 1) if marked else bounds.with_rows(1)
        return replace(
            relation,
            node=_gather(relation, (relation.ids, *self.by), aggregations),
            contribution=once,
            passed=(
                *relation.passed,
                *_count_clipped(relation, relation.ids, aggregations),
            ),
            spread=relation.spread and replace(relation.spread, is_alone=False),
        )


def _gather(relation: Relation, per: Iterable[str], aggregations: Asked) -> Project:
    schema, marks = relation.schema, tuple(dict.fromkeys(per))
    setting = Setting(schema, relation.contribution, marks, relation.ids)
    summaries = [
        (name, aggregation.summary(setting)) for name, aggregation in aggregations
    ]
    totals = _name_totals(
        ((name, summary.totals) for name, summary in summaries), marks
    )
    extremes = _name_totals(
        ((name, summary.extremes) for name, summary in summaries),
        {*marks, *dict(totals)},
    )
    facts = [(name, schema[name]) for name in marks]
    facts += [(name, Column("i64", nullable=False)) for name, _ in totals]
    facts += [
        (
            name,
            replace(extreme.expression.column(schema), nullable=True, unsettled=None),
        )
        for name, extreme in extremes
    ]
    computes = any(question.reads_made(()) for _, question in aggregations)
    columns = Schema.of(facts)
    rows = Gathered(relation.node, marks, totals, extremes, columns, computes)
    return _show(rows, summaries)


def _show(rows: Gathered, summaries: list[tuple[str, Summary]]) -> Project:
    numbers, ends = (
        [name for name, _ in named] for named in (rows.totals, rows.extremes)
    )
    cells: list[Cell] = [(name, Col(name)) for name in rows.per]
    facts = [(name, rows.schema[name]) for name in rows.per]
    for name, summary in summaries:
        own = [numbers.pop(0) for _ in summary.totals] + [
            ends.pop(0) for _ in summary.extremes
        ]
        cell = summary.value(*map(col, own)).tree
        cells.append((name, cell))
        kind = cell.column(rows.schema).type
        column = Column(
            kind, nullable=summary.nullable, nan=False, bounds=summary.bounds
        )
        facts.append((name, column))
    return Project(rows, tuple(cells), Schema.of(facts))


def _name_totals(
    columns: Iterable[tuple[str, tuple[T, ...]]], taken: Iterable[str]
) -> tuple[tuple[str, T], ...]:
    """Give each total a name of its own: that of its column, if it is free."""
    named: dict[str, T] = {}
    for name, totals in columns:
        for total in totals:
            free = name
            while free in named or free in taken:
                free += "'"
            named[free] = total
    return tuple(named.items())


def _count_clipped(
    relation: Relation, ids: str, aggregations: Asked
) -> Iterator[Clipped]:
    setting = Setting(relation.schema, relation.contribution, (ids,), ids)
    for _, aggregation in aggregations:
        clamped = None if aggregation.lacks_bounds else aggregation.clamp
        if clamped is not None:
            outside = Expression(lift(clamped.outside(setting))) == 1
            rows = Filter(relation.node, outside.tree, relation.schema)
            yield Clipped(rows, clamped.key(setting), str(clamped), ids)


COUNT = "count"
"""The name of the number of every table."""


@hides("keyset", "crossing", "rows", "totals", "words")
@final
@dataclass(frozen=True, eq=False, repr=False)
class Marginals:
    """Row counts by up to `order` columns of public keys, in all tables."""

    rows: Rows
    keyset: KeySet
    crossing: Crossing
    totals: Mapping[Levels, Numbers]
    """Tables that everybody knows."""
    weights: Mapping[Levels, Fraction]
    """What tables weigh that do not weigh 1."""
    confidence: Fraction = CONFIDENCE

    def __repr__(self) -> str:
        levels = [tree.columns for tree in self.crossing.trees if tree.depth > 1]
        more = f", hierarchies={levels!r}" if levels else ""
        if self.totals:
            known = {
                self.crossing.name(at): n.tolist() for at, n in self.totals.items()
            }
            more += f", totals={known!r}"
        more += ", weights=..." if self.weights else ""
        which = f"order={self.crossing.order}"
        if self.crossing.chosen:
            which = f"tables={[*self.crossing.names]!r}"
        return f"{self.rows!r}.marginals({self.keyset.as_asked}, {which}{more})"

    def words(self, catalog: AbstractCatalog) -> Words:
        """Canonical words of the question and of its rows."""
        beside: dict[str, Words] = {}
        if self.crossing.chosen:
            beside["tables"] = [list(name) for name in self.crossing.names]
        else:
            beside["order"] = self.crossing.order
        if self.weights:
            beside["weights"] = [
                [list(self.crossing.name(table)), str(weight)]
                for table, weight in sorted(self.weights.items())
            ]
        if self.totals:
            beside["totals"] = [
                [list(self.crossing.name(table)), counts.ravel().tolist()]
                for table, counts in sorted(self.totals.items())
            ]
        return call(
            "marginals",
            **beside,
            rows=self.rows.words(catalog),
            trees=[self.keyset[tree.columns].words for tree in self.crossing.trees],
        )


def make_marginals(
    rows: Rows,
    keyset: Any,
    which: tuple[Any, Any],
    *,
    totals: Any,
    hierarchies: Any,
    weights: Any,
) -> Marginals:
    """Checked request for margins, from public facts alone.

    `which` is the order or the tables that were named.
    """
    if not isinstance(keyset, KeySet):
        raise InvalidParameter(
            "keyset",
            keyset,
            "must be a KeySet: the values of each column are public",
            'Try sd.KeySet.from_dict({"ward": ["A", "B"], "year": [2025, 2026]}).',
        )
    for name in (COUNT, *error_names(COUNT)):
        if name in keyset.columns:
            raise InvalidParameter(
                "keyset",
                name,
                "is the name of a number in every table",
                f'Rename the column: query.rename({{"{name}": "rows"}}).',
            )
    trees = tuple(Tree.of(keyset, columns) for columns in _groups(keyset, hierarchies))
    crossing = _cross(trees, *which)
    crossing.refuse_large()
    _refuse_gaps(keyset, crossing)
    known = {} if totals is None else read_totals(crossing, totals)
    weighed = {} if weights is None else read_weights(crossing, weights)
    return Marginals(rows, keyset, crossing, known, weighed)


def _cross(trees: tuple[Tree, ...], order: Any, tables: Any) -> Crossing:
    if tables is None:
        few = 2 if order is None else order
        return Crossing(trees, arguments.integer(order=few, least=1, most=len(trees)))
    if order is not None:
        raise InvalidParameter(
            "order",
            order,
            "says which tables there are, and so does tables",
            "Give one.",
        )
    chosen = choose_tables(trees, tables)
    return Crossing(trees, max(sum(map(bool, table)) for table in chosen), chosen)


def _groups(keyset: KeySet, hierarchies: Any) -> list[tuple[str, ...]]:
    if not isinstance(hierarchies, Sequence) or isinstance(hierarchies, str):
        raise InvalidParameter(
            "hierarchies",
            hierarchies,
            "must be a list of columns from the top down",
            'Try hierarchies=[("region", "city", "ward")].',
        )
    trees: dict[str, tuple[str, ...]] = {name: (name,) for name in keyset.columns}
    taken: set[str] = set()
    for hierarchy in hierarchies:
        columns = listed_names(hierarchies=hierarchy, some=True)
        for name in columns:
            if name not in keyset.columns:
                raise unknown("column of the keys", name, keyset.columns)
            if name in taken:
                raise InvalidParameter(
                    "hierarchies", name, "stands in two of them", "Name it once."
                )
            trees[name] = columns
            taken.add(name)
    return list(dict.fromkeys(trees.values()))


def _refuse_gaps(keyset: KeySet, crossing: Crossing) -> None:
    if not crossing.joint_cells:
        raise InvalidParameter(
            "keyset", keyset, "must have keys", "Name the values of each column."
        )
    if math.prod(int(tree.sizes[-1]) for tree in crossing.trees) != keyset.size:
        raise InvalidQuery(
            "margins need every combination of the values of all columns, and the keys "
            "leave some out",
            "Give the values of each column, KeySet.from_dict({...}), or say which "
            'columns nest: hierarchies=[("region", "city")].',
        )


_MOST: Final = 2000
_MONTHS: Final = 12


def read_periods(name: str, periods: Any) -> tuple[KeySet, Periods]:
    """Keys of listed periods, and where each stands among them."""
    listed = _listed(periods)
    keys = KeySet.from_dict({name: listed})
    if keys.size != len(listed):
        raise InvalidParameter(
            "periods", periods, "list a period twice", "Give each period once."
        )
    _refuse_period_gaps(listed)
    places = {value: place for place, (value,) in enumerate(_rows(keys))}
    return keys, Periods(tuple(places[value] for value in listed))


def read_last(last: Any, size: int) -> tuple[int, ...]:
    """Lengths of the windows of last periods over which figures add up, each once."""
    windows = (last,) if isinstance(last, int) else last
    if not isinstance(windows, (list, tuple)):
        raise InvalidParameter(
            "last", last, "must be numbers of periods", "Try last=(4, 13)."
        )
    numbers = tuple(arguments.integer(last=few, least=2, most=size) for few in windows)
    if len(set(numbers)) < len(numbers):
        raise InvalidParameter("last", last, "names one twice", "Give each once.")
    return numbers


def _rows(keys: KeySet) -> Sequence[tuple[Any, ...]]:
    return [tuple(row.values()) for row in keys.table().to_pylist()]


def _listed(periods: Any) -> list[Any]:
    if not isinstance(periods, (list, tuple, range)) or not 2 <= len(periods) <= _MOST:
        raise InvalidParameter(
            "periods",
            periods,
            f"must list 2 to {_MOST} periods in order",
            "Try range(1, 53).",
        )
    listed = list(periods)
    kinds = {type(value) for value in listed}
    if len(kinds) > 1 or kinds & {bool, float, type(None)}:
        raise InvalidParameter(
            "periods",
            periods,
            "must be whole numbers, dates or texts",
            'Try range(1, 53), or ["2026-01", "2026-02"].',
        )
    return listed


def _refuse_period_gaps(listed: list[Any]) -> None:
    """Refuse numbers and dates that do not follow each other: rows would be lost."""
    first = listed[0]
    if isinstance(first, dt.datetime) or not isinstance(first, (int, dt.date)):
        return  # of texts the order is what is listed
    for before, after in pairwise(listed):
        if after <= before:
            raise InvalidParameter(
                "periods", after, f"stands after {before}", "List periods in order."
            )
    steps = list(starmap(_steps, pairwise(listed)))
    if not set.intersection(*map(set, steps)):
        place = next(
            place for place in range(1, len(steps)) if not {*steps[0]} & {*steps[place]}
        )
        raise InvalidParameter(
            "periods",
            listed[place + 1],
            f"leaves a gap after {listed[place]}: its rows would be in no figure",
            "List every period, those without rows as well.",
        )


def _steps(before: Any, after: Any) -> list[tuple[str, int]]:
    if isinstance(before, int):
        return [("number", after - before)]
    steps = [("days", (after - before).days)]
    if before.day == after.day:
        months = _MONTHS * (after.year - before.year) + after.month - before.month
        steps.append(("months", months))
    return steps


_ALL = "all"
"""The name of the set without columns: all rows together."""


@hides("by", "keyset", "query")
@final
@dataclass(frozen=True, repr=False)
class Grouped:
    """A query whose rows fall into groups, about to be aggregated."""

    query: Rows
    by: tuple[str, ...]
    keyset: KeySet | None

    def __repr__(self) -> str:
        return f"{self.query!r}.group_by({group_names(self.by, self.keyset)})"

    def agg(
        self,
        /,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask for a row of answers about each group.

        `coverage=True` adds noisy counts of what was unreadable, clamped or cut off.
        A weight of "keys" shows keys that nobody named by a measurement of their own.
        """
        return make_request(
            self.query,
            self.by,
            self.keyset,
            aggregations,
            noise=noise,
            weights=weights,
            coverage=coverage,
        )

    def top(
        self,
        groups: int,
        /,
        by: Any,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask which groups come first, by a count or a sum, and in which order.

        That costs far less than the counts of all groups. Further aggregations are
        told of the chosen groups alone; the weight of "rank" is that of the choice.
        """
        return make_request(
            self.query,
            self.by,
            self.keyset,
            aggregations,
            noise=noise,
            weights=weights,
            coverage=coverage,
            few=first_few(groups, by, self.keyset),
        )

    def cumulative(
        self,
        period: str,
        periods: Any,
        /,
        *,
        last: Any = (),
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask for counts and sums of ordered periods, and for what they come to.

        `cumulative("week", range(1, 53), last=(4, 13), n=sd.count())` tells each week
        n, n_to_date, n_last_4 and n_last_13: one release, in which all add up.
        """
        keys, order = read_periods(period, periods)
        if period in self.by:
            raise InvalidParameter(
                "period", period, "is a group already", "Group by other columns."
            )
        windows = read_last(last, keys.size)
        running = {
            name: Running(check_aggregation(**{name: aggregation}), order, windows)
            for name, aggregation in aggregations.items()
        }
        return make_request(
            self.query,
            (*self.by, period),
            keys if self.keyset is None else self.keyset * keys,
            running,
            noise=noise,
            weights=weights,
            coverage=coverage,
        )

    def keys(self) -> Request:
        """Ask which groups there are, of those that several people are in."""
        return make_request(
            self.query, self.by, self.keyset, {}, noise=None, weights=None
        )


@hides("of", "sets")
@final
@dataclass(frozen=True, repr=False)
class GroupingSets:
    """A query whose rows fall into groups in several ways, about to be aggregated."""

    sets: Mapping[str, Grouped]

    @classmethod
    def of(cls, ways: tuple[Grouped, ...]) -> "GroupingSets":
        """Name each way to group by its columns."""
        groupings: dict[str, Grouped] = {}
        for way in ways:
            name = ", ".join(way.by) or _ALL
            if name in groupings:
                raise InvalidParameter(
                    "sets", name, "is given twice", "Give each set of columns once."
                )
            groupings[name] = way
        if not groupings:
            raise InvalidParameter(
                "sets",
                (),
                "must name at least one set of columns",
                'Try group_by_sets("ward", ()).',
            )
        return cls(groupings)

    def __repr__(self) -> str:
        first = next(iter(self.sets.values()))
        return f"{first.query!r}.group_by_sets({', '.join(map(repr, self.sets))})"

    def agg(
        self,
        /,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        **aggregations: Any,
    ) -> dict[str, Request]:
        """Ask the same of the groups of each set, by the names of its columns.

        For `session.price_all` and `session.release_all`, which share one budget.
        """
        return {
            name: grouping.agg(noise=noise, weights=weights, **aggregations)
            for name, grouping in self.sets.items()
        }
