"""A look at how many rows ids have, before a bound is made of many rows.

It decides in which portions the rows of a bound are kept, and so how long that takes;
never which rows. What is believed of a source, its size, decides no more.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sordino.engines.duckdb.portions import (
    EARLY_BITS,
    RANGE,
    TWIN_BITS,
    KeepEarly,
    Marked,
    Ranges,
)
from sordino.engines.sql.database import AbstractDatabase
from sordino.engines.sql.scripts import Recipe
from sordino.engines.sql.stages import Made
from sordino.engines.sql.statements import Statement, Statements
from sordino.query.kept import Kept
from sordino.query.nodes import AbstractNode, Filter, KeepRows, Project, Source, Without
from sordino.sources.base import lookup

LEAST: Final = 2**20
"""Of fewer rows a look costs more than it saves."""
MOST: Final = 2**25
"""Of more rows the counts and the copy take too much memory."""
FINE: Final = 16
"""The counts of the first rows are in fewer ranges by this factor."""
SAMPLE: Final = 8
"""Of so many rows one is looked at before the others are copied."""
WORTH: Final = 2
"""Of so many rows one has to be spared its place in a sort."""
FEW: Final = 8
"""Of so many rows of heavy ids no more than one may have a twin."""


@final
@dataclass(frozen=True)
class Looks:
    """Looks at the rows of a bound, and says in which portions they are kept."""

    database: AbstractDatabase
    writes: Statements
    salt: int

    def statements(self, recipe: Recipe) -> Iterator[Statement]:
        """Yield statements of all rows that are kept, each run before the next.

        Portions are of a copy of the rows: of one moment, whatever a source does.
        """
        bound = recipe.run.rows
        size = self._size(bound) if isinstance(bound, KeepRows) else 0
        if not (isinstance(bound, KeepRows) and LEAST <= size <= MOST):
            yield recipe.run.last
            return
        if not self._first_counts(bound, size).promise_much(size):
            yield recipe.run.last
            return
        copy = Kept(bound.child, f"{recipe.name}w", bound.child.schema)
        self.database.begin_kept(copy.name, copy.schema)
        try:
            rows = self.writes.rows(bound.child)
            self.database.hand_parts(rows)
            self.database.keep(copy.name, rows, self.salt)
            there = Kept(bound, recipe.name, bound.schema)
            for portion in self._portions(replace(bound, child=copy), there, size):
                yield self.writes.rows(portion)
        finally:
            self.database.destroy(copy.name)

    def _size(self, bound: KeepRows) -> int:
        """Return what a source says of its size, 0 where its rows may be left out."""
        below: AbstractNode = bound.child
        while isinstance(below, (Project, Filter)):
            if isinstance(below, Filter) and not below.condition.names() <= {*bound.per}:
                return 0
            below = below.child
        if not isinstance(below, Source):
            return 0
        return lookup(self.writes.tables, below.table).source.size() or 0

    def _portions(
        self, bound: KeepRows, there: Kept, size: int
    ) -> Iterator[AbstractNode]:
        """Yield what is kept of heavy ids, then of the others, then of light ones."""
        counts = Counts.of(bound.limit, size)
        for batch in self._ranges(bound.child, bound.per, counts.bits):
            counts.add(batch)
        rest: AbstractNode = bound.child
        light: list[AbstractNode] = []
        if counts.are_light():
            marks = self._mark(0, counts.crowded())
            some = Marked(rest, bound.per, counts.bits, marks, False, bound.schema)
            light.append(some)
            rest = replace(some, among=True, schema=rest.schema)
        if counts.are_heavy():
            marks = self._mark(1, counts.heavy())
            heavy = Marked(
                bound.child, bound.per, counts.bits, marks, True, bound.child.schema
            )
            twins = self._twins(heavy, bound, counts.rows(counts.least_heavy))
            if twins is not None:
                yield KeepEarly(heavy, bound, self._mark(2, twins), bound.schema)
                rest = Without(rest, there, bound.per, rest.schema)
        yield replace(bound, child=rest)
        yield from light

    def _first_counts(self, bound: KeepRows, size: int) -> "Counts":
        """Return how the first rows of a source are shared by ids."""
        counts, seen = Counts.of(bound.limit, -(-size // FINE)), 0
        with closing(self._ranges(bound.child, bound.per, counts.bits)) as batches:
            while seen * SAMPLE < size and (batch := next(batches, None)) is not None:
                counts.add(batch)
                seen += len(batch)
        return counts

    def _twins(
        self, heavy: Marked, bound: KeepRows, count: int
    ) -> npt.NDArray[Any] | None:
        """Return the ranges that several rows share, or None if many rows do."""
        ranges, seen = np.zeros(count, np.uint32), 0
        names = (*bound.per, *bound.order)
        for batch in self._ranges(heavy, names, TWIN_BITS):
            ranges[seen : seen + len(batch)] = batch
            seen += len(batch)
        ranges.sort()
        several = ranges[1:][ranges[1:] == ranges[:-1]]
        return None if len(several) * FEW > count else np.unique(several)

    def _ranges(
        self, rows: AbstractNode, names: tuple[str, ...], bits: int
    ) -> Generator[npt.NDArray[Any]]:
        """Yield the ranges of some rows."""
        statement = self.writes.rows(Ranges(rows, names, bits))
        self.database.hand_parts(statement)
        for batch in self.database.batches(statement, self.salt):
            yield batch.column(0).to_numpy()

    def _mark(self, number: int, ranges: npt.NDArray[Any]) -> Made:
        """Hand over ranges, as the rows of a step of some number."""
        column = pa.array(ranges.astype(np.int64))
        self.database.hand(f"m{number}", pa.table({"c0": column}))
        return Made(number, RANGE)


@final
@dataclass(frozen=True)
class Counts:
    """How many rows were seen of the ids of each range."""

    limit: int
    each: npt.NDArray[Any]

    @classmethod
    def of(cls, limit: int, size: int) -> "Counts":
        """Return counts of no rows, in at least so many ranges."""
        return cls(limit, np.zeros(1 << (size - 1).bit_length(), np.uint32))

    @property
    def bits(self) -> int:
        """Return of how many bits the ranges are."""
        return len(self.each).bit_length() - 1

    @property
    def least_heavy(self) -> int:
        """Return of how many rows enough come early for the limit, most likely."""
        return (2 * self.limit + 32) << EARLY_BITS

    def add(self, ranges: npt.NDArray[Any]) -> None:
        """Count some rows."""
        np.add.at(self.each, ranges, np.uint32(1))

    def rows(self, least: float = 0) -> int:
        """Return how many rows were seen, in ranges of at least so many."""
        return int(self.each.sum(where=self.each >= least))

    def promise_much(self, size: int) -> bool:
        """Tell whether ids look light or heavy, by the first of so many rows.

        Light if a row has few others of its id: of all pairs in a range those are left
        out that are there by chance.
        """
        seen = self.rows()
        if not seen:
            return False
        pairs = float(np.square(self.each, dtype=np.float64).sum()) - seen
        others = (pairs / seen**2 - 1 / len(self.each)) * size
        many = self.rows(least=max(2, self.least_heavy * seen / size))
        return others * 4 <= self.limit * 3 or many * WORTH >= seen

    def crowded(self) -> npt.NDArray[Any]:
        """Return the ranges in which an id may have more rows than the limit."""
        return np.flatnonzero(self.each > self.limit)

    def are_light(self) -> bool:
        """Tell whether most rows are in no crowded range."""
        return self.rows(least=self.limit + 1) * WORTH <= self.rows()

    def heavy(self) -> npt.NDArray[Any]:
        """Return the ranges of very many rows."""
        return np.flatnonzero(self.each >= self.least_heavy)

    def are_heavy(self) -> bool:
        """Tell whether most rows are in heavy ranges."""
        return self.rows(least=self.least_heavy) * WORTH >= self.rows()
