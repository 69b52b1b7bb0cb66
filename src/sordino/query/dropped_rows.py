"""Where rows and cells are left out between a table and an answer.

Each place can be counted, so that a release can say how much was left out
(docs/adr/0072-coverage-is-counted-where-it-is-lost.md).
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

from sordino.aggregations.measurement import (
    AbstractTotal,
    Distinct,
    IntegerMeasurement,
    Total,
)
from sordino.expressions.literals import literal
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression
from sordino.noise.sensitivity import Sensitivity
from sordino.query.nodes import AbstractNode, Crowded, Filter, Unreadable

_EACH: Final = Total(literal(1))


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

    def __str__(self) -> str:
        return f"{self.what} {self.kind} ({self.unit})"


def tally_measurement(
    key: Hashable, total: AbstractTotal, change: Sensitivity
) -> IntegerMeasurement:
    """Measurement of a count that one unit moves by at most a change."""
    return IntegerMeasurement(("coverage", key), change, (total,))


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
        key = ("cut off", id(self.crowded))
        change = Sensitivity(l0=1, l1=self.most, linf=self.most)  # a row is of one key
        if self.ids is None:
            unit, count = "keys", tally_measurement(key, _EACH, change)
        else:
            unit, count = "ids", tally_measurement(key, Distinct((self.ids,)), change)
        yield Counted("cut off", self.limit, unit, self.crowded, count)


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
