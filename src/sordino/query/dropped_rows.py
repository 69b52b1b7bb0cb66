"""Where rows and cells are left out between a table and an answer.

Each place can be counted, so that a release can say how much was left out
(docs/adr/0072-coverage-is-counted-where-it-is-lost.md).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

from sordino.aggregations.measurement import (
    AbstractTotal,
    Distinct,
    IntegerMeasurement,
    Total,
)
from sordino.expressions.bins import steps
from sordino.expressions.language import Expression, col, when
from sordino.expressions.literals import lift, literal
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import finite, rational_above
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Filter,
    Gathered,
    Join,
    MapRows,
    Project,
    PublicRows,
    Source,
    Unreadable,
)

_EACH: Final = Total(literal(1))
CUT_OFF: Final = "cut off"
ROWS: Final = "rows"
TOGETHER: Final = "limits together, "
MOST_KEPT: Final = 10**9
"""Where limits keep more rows of an id, those that they leave out are not counted."""
_ROW_BY_ROW: Final = (Source, Filter, Project, MapRows, Join, PublicRows)
"""Nodes that leave out rows by what they say alone, never by how many there are."""
_SEEN: Final = 3
"""Rows beyond the limits are counted up to so many times what they keep."""
_FARTHEST: Final = 10
"""And up to what is promised, if that is no more than so many times as far."""


@final
@dataclass(frozen=True)
class Counted:
    """A count of what was left out or changed: of what, and in which rows."""

    kind: str
    """"unreadable", "cut off" or "clamped"."""
    what: str
    unit: str
    """"rows", "ids" or "keys"."""
    rows: AbstractNode
    measurement: IntegerMeasurement

    @property
    def weight(self) -> int:
        """Return its share of what counts get, so that the errors add up to least."""
        return range_weight(rational_above(finite(self.measurement.change.linf)))

    def __str__(self) -> str:
        return f"{self.what} {self.kind} ({self.unit})"


def tally_measurement(
    key: Hashable, total: AbstractTotal, change: Sensitivity
) -> IntegerMeasurement:
    """Measurement of a count that one unit moves by at most a change."""
    return IntegerMeasurement(("coverage", key), change, (total,))


def range_weight(most: int | Fraction) -> int:
    """Weight of a sum that one unit moves by so much, beside others.

    The sum of the squares of range over weight is least at the power of two thirds.
    """
    return max(1, round(math.pow(most, 2 / 3)))


class AbstractPassage(ABC):
    """A place where something may be left out.

    Proof obligation: for any two databases that differ by the protected change, each
    count of `counts` differs by at most the change of its measurement.
    """

    @abstractmethod
    def counts(self, read: Mapping[str, frozenset[str]]) -> Iterator[Counted]:
        """Yield what can be counted, where these columns of each table are read."""


@final
@dataclass(frozen=True)
class Origin(AbstractPassage):
    """A private table, some of whose cells may be no value of their type.

    For any two databases that differ by the rows of one id, the set of ids with such a
    cell differs by that id; where rows are protected, the number of rows with one
    differs by as many rows at most.
    """

    table: str
    lossy: tuple[str, ...]
    """Columns that lie as another type, such as text, and can have such cells."""
    carried: Schema
    """The columns of ids and of blocks, as far as there are any."""
    ids: str | None
    most: int
    """How many rows differ, where rows are protected; else 1."""
    gate: AbstractExpression | None = None
    """What lets rows of open blocks pass, where a table has blocks."""

    def counts(self, read: Mapping[str, frozenset[str]]) -> Iterator[Counted]:
        ids = () if self.ids is None else (self.ids,)
        change = Sensitivity(l0=1, linf=self.most)
        for name in self.lossy:
            if name in read.get(self.table, frozenset()):
                rows: AbstractNode = Unreadable(self.table, name, self.carried)
                if self.gate is not None:  # else rows of blocks that were not charged
                    rows = Filter(rows, self.gate, self.carried)
                total = Distinct(ids) if ids else _EACH
                key = ("unreadable", self.table, name)
                count = tally_measurement(key, total, change)
                what, unit = f"{self.table}.{name}", "ids" if ids else "rows"
                yield Counted("unreadable", what, unit, rows, count)


@final
@dataclass(frozen=True)
class Cut(AbstractPassage):
    """A limit, above which rows are left out.

    For any two tables that differ by the rows of one id, the ids above a limit differ
    by that id: its values of `per` hold rows of no other. Where rows are protected and
    the limit is for each key, one row lies in one key, so as many keys differ at most
    as rows do.
    """

    crowded: Crowded
    limit: str
    most: int
    ids: str | None

    def counts(self, _read: Mapping[str, frozenset[str]]) -> Iterator[Counted]:
        key = (CUT_OFF, id(self.crowded))
        change = Sensitivity(l0=1, l1=self.most, linf=self.most)  # a row is of one key
        if self.ids is None:
            unit, count = "keys", tally_measurement(key, _EACH, change)
        else:
            unit, count = "ids", tally_measurement(key, Distinct((self.ids,)), change)
        yield Counted(CUT_OFF, self.limit, unit, self.crowded, count)


@final
@dataclass(frozen=True)
class CutRows(AbstractPassage):
    """The rows of each id that limits leave out, one limit after another.

    For any two databases that differ by the rows of one id, rows of other ids are kept
    or left out as before: the number differs by what is counted of that id, at most
    `most`, and the ids of which more are left out differ by that id.
    """

    before: AbstractNode
    after: AbstractNode
    kept: int
    """The most rows of an id that the limits keep."""
    ids: str
    cuts: tuple[AbstractPassage, ...]
    """The limits, each a place of its own."""
    most_lost: int | None = None
    """More of nobody are left out, as the curator promises; no noise rests on it."""
    each: AbstractTotal = _EACH
    """Total of the rows that count."""

    @property
    def most(self) -> int:
        """Return up to how many rows of an id are counted."""
        seen, promised = _SEEN * self.kept, self.most_lost
        if promised is None or promised > _FARTHEST * seen:
            return seen
        # all that may be lost: else ids beyond count as if each had lost all of it
        return max(1, promised)

    def counts(self, _read: Mapping[str, frozenset[str]]) -> Iterator[Counted]:
        each = self._each_id()
        lost = col(self._names[0]) - col(self._names[1])
        key = ("rows cut off", id(self.after))
        up_to = Total(steps(lost.tree, 0, self.most, 0))
        count = tally_measurement(key, up_to, Sensitivity(l0=1, linf=self.most))
        what = f"{TOGETHER}up to {self.most:,} of one {self.ids}"
        yield Counted(CUT_OFF, what, ROWS, each, count)
        beyond = Filter(each, (lost > self.most).tree, each.schema)
        change = Sensitivity(l0=1, linf=1)
        count = tally_measurement((*key, "beyond"), Distinct((self.ids,)), change)
        what = f"{TOGETHER}more than {self.most:,} of one {self.ids}"
        yield Counted(CUT_OFF, what, "ids", beyond, count)

    def restrict(
        self, rows: AbstractNode, ids: str, keys: AbstractExpression | None
    ) -> "CutRows | None":
        """Return the same of rows that an answer is made of, with some keys alone.

        None where a row may have become several since, or none that could be named.
        """
        above, node = list[Filter | Project](), rows
        while node is not self.after:
            if not isinstance(node, (Filter, Project)):
                return None
            above.append(node)
            node = node.child
        if keys is not None:
            above.insert(0, Filter(rows, keys, rows.schema))
        if not above:
            return replace(self, after=rows, ids=ids)
        mark, steps_up = "asked about", above[::-1]
        while any(mark in step.schema.names for step in (self.before, *steps_up)):
            mark += "_"
        before, after = (
            _mark_rows(node, steps_up, mark) for node in (self.before, self.after)
        )
        each = Total(col(mark).tree)
        return replace(self, before=before, after=after, ids=ids, each=each)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out before, so that these limits alone cut off."""
        waiting = [self.before]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, _ROW_BY_ROW):
                return False
            waiting += node.inputs
        return True

    @property
    def _names(self) -> tuple[str, str]:
        return f"{self.ids} rows", f"{self.ids} rows kept"

    def _each_id(self) -> Join:
        """Return a row for each id, with its rows before and after the limits."""
        number, number_kept = self._names
        left = self._count_rows(self.before, number)
        right = self._count_rows(self.after, number_kept)
        cells = tuple((name, col(name).tree) for name in (self.ids, number_kept))
        moved = [(number_kept, Column("i64", nullable=False))]
        schema = Schema.of([*left.schema.columns, *moved])
        shown = Schema.of([(self.ids, left.schema[self.ids]), *moved])
        return Join(left, Project(right, cells, shown), (self.ids,), False, schema)

    def _count_rows(self, rows: AbstractNode, name: str) -> Gathered:
        number = (name, Column("i64", nullable=False))
        schema = Schema.of([(self.ids, rows.schema[self.ids]), number])
        return Gathered(rows, (self.ids,), ((name, self.each),), (), schema)


def _mark_rows(
    rows: AbstractNode, above: Iterable[Filter | Project], mark: str
) -> AbstractNode:
    """Return rows with 1 for each that passes all steps above them, else 0.

    None is left out: limits keep a row of each id, but of those that pass maybe none,
    and rows of an id before and after them are found by that.
    """
    passes = (mark, Column("i64", nullable=False))
    schema = Schema((*rows.schema.columns, passes))
    rows = Project(rows, (*_as_they_are(rows), (mark, literal(1))), schema)
    for step in above:
        if isinstance(step, Project):
            columns, passed = step.columns, col(mark)
        else:
            stays = Expression(lift(step.condition))
            columns = _as_they_are(step)
            passed = when(stays).then(col(mark)).otherwise(0)
        schema = Schema((*step.schema.columns, passes))
        rows = Project(rows, (*columns, (mark, passed.tree)), schema)
    return rows


def _as_they_are(rows: AbstractNode) -> tuple[tuple[str, AbstractExpression], ...]:
    return tuple((name, col(name).tree) for name in rows.schema.names)


@final
@dataclass(frozen=True)
class Clipped(AbstractPassage):
    """Bounds to which the values of an id are clamped before they are summed up.

    For any two databases that differ by the rows of one id, the ids with a value
    outside differ by that id.
    """

    outside: AbstractNode
    key: Hashable
    bounds: str
    ids: str

    def counts(self, _read: Mapping[str, frozenset[str]]) -> Iterator[Counted]:
        key, change = ("clamped per id", self.key), Sensitivity(l0=1, linf=1)
        count = tally_measurement(key, Distinct((self.ids,)), change)
        yield Counted("clamped", self.bounds, "ids", self.outside, count)
