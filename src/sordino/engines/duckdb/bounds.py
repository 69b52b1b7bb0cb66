"""Truncation in portions: of ids with few rows, with very many, and the others.

Digests lie in ranges, `2**bits` of one length: those of ids, to count rows in little
room, and those of rows, of which the first range has the ones that come first. Why the
portions together are the rows of the bound: docs/proofs/kept-rows.md, section 5.

A look at how many rows ids have decides in which portions the rows are kept, and so how
long that takes; never which rows. What is believed of a source, its size, decides no
more.

Kernel: totals.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from sordino.data.source import lookup
from sordino.engines.statements import templates
from sordino.engines.statements.database import AbstractDatabase
from sordino.engines.statements.plans import (
    Made,
    Rule,
    Subquery,
    Writer,
    columns_named,
    number_copies,
    place_in_order,
    select_from,
    table_named,
)
from sordino.engines.statements.scripts import Recipe
from sordino.engines.statements.statements import Statement, Statements
from sordino.engines.statements.templates import Sql
from sordino.expressions.schema import Column, Schema
from sordino.numbers.arrays import as_arrow, as_numpy
from sordino.query.nodes import (
    AbstractNode,
    Filter,
    KeepRows,
    Kept,
    Project,
    Source,
    Without,
)

RANGE: Final = Schema.of([("range", Column("i64", nullable=False))])
TWIN_BITS: Final = 32  # of the ranges by which rows that are alike are found
EARLY_BITS: Final = 5  # of the ranges of which the first has the rows that come early


@final
@dataclass(frozen=True)
class Ranges(AbstractNode):
    """Rows, and last of all in which range the digest of some columns lies."""

    child: AbstractNode
    names: tuple[str, ...]
    bits: int
    schema: Schema = RANGE

    def describe(self) -> str:
        return f"ranges of {', '.join(self.names)}"


@final
@dataclass(frozen=True)
class Marked(AbstractNode):
    """The rows whose range, a column of theirs, is marked, or those whose is not."""

    child: AbstractNode
    column: str
    marks: Made  # each range once
    among: bool
    schema: Schema

    def describe(self) -> str:
        return f"some ranges, by {self.column}"


@final
@dataclass(frozen=True)
class KeepEarly(AbstractNode):
    """What a bound keeps of those ids of which it keeps early rows alone.

    `twins` are the ranges of all rows that are like another.
    """

    child: AbstractNode
    bound: KeepRows
    twins: Made
    schema: Schema

    def describe(self) -> str:
        return f"{self.bound.describe()}, of ids with early rows"


def _ranges(work: Writer, node: Ranges) -> Subquery:
    below = work.rows(node.child)
    *carried, name = node.schema.names
    place = _range(_first_digest(work, below, node.names), node.bits)
    pairs = [*columns_named(below, carried), (name, place)]
    return work.part(select_from(below), pairs, node.schema)


def _marked_rows(work: Writer, node: Marked) -> Subquery:
    below, marks = work.rows(node.child), work.rows(node.marks)
    (mark,) = marks.columns.values()
    join = work.dialect.semi_join if node.among else work.dialect.anti_join
    agree = below.columns[node.column].eq(mark)
    select = join(select_from(below), table_named(marks.name), agree)
    return work.part(select, columns_named(below, node.schema), node.schema)


def _keep_early(work: Writer, node: KeepEarly) -> Subquery:
    """Keep the first rows of ids of which so many come early, copies among them.

    Candidates are the rows that are early as the first of their kind, and all that may
    be like another: so no copy of any row is early that is not among them.
    """
    bound, schema = node.bound, node.child.schema
    candidates = _candidates(work, node)
    numbered = number_copies(work, bound, candidates)
    place = place_in_order(work, bound, numbered)
    placed = work.share(work.select(numbered, schema, [*numbered.further, place]))
    digest, number = placed.further
    limit = exp.Literal.number(bound.limit)
    last = exp.and_(number.copy().eq(limit.copy()), _is_early(digest))
    # an id is settled if its last row that is kept comes early: so do all before it
    enough = work.select(placed, bound.per, where=last)
    agree = exp.and_(
        *(
            work.dialect.same(placed.columns[name].copy(), enough.columns[name].copy())
            for name in bound.per
        )
    )
    first = select_from(placed).where(number <= limit, copy=False)
    rows = work.dialect.semi_join(first, table_named(enough.name), agree)
    return work.part(rows, columns_named(placed, node.schema), node.schema)


def _candidates(work: Writer, node: KeepEarly) -> Subquery:
    below, schema = work.rows(node.child), node.child.schema
    names = (*node.bound.per, *node.bound.order)
    digested = work.select(below, schema, [_first_digest(work, below, names)])
    twins = work.rows(node.twins)
    (digest,), (twin,) = digested.further, twins.columns.values()
    alike = _range(digest.copy(), TWIN_BITS).eq(twin.copy())
    near = exp.or_(_is_early(digest), exp.not_(twin.copy().is_(exp.null())))
    rows = select_from(digested).join(
        table_named(twins.name), on=alike, join_type="left", copy=False
    )
    return work.part(
        rows.where(near, copy=False), columns_named(digested, schema), schema
    )


def _first_digest(work: Writer, rows: Subquery, names: tuple[str, ...]) -> Sql:
    return work.dialect.digest([
        *(rows.columns[name] for name in names),
        templates.bigint(1),
    ])


def _range(digest: Sql, bits: int) -> Sql:
    shifted = exp.BitwiseRightShift(
        this=digest.copy(), expression=exp.Literal.number(64 - bits)
    )
    return templates.as_type(shifted, "BIGINT")


def _is_early(digest: Sql) -> exp.Condition:
    return _range(digest, EARLY_BITS).eq(exp.Literal.number(0))


RULES: Final[Mapping[type[Any], Rule]] = {
    Ranges: _ranges,
    Marked: _marked_rows,
    KeepEarly: _keep_early,
}


LEAST: Final = 2**20  # of fewer rows a look costs more than it saves
MOST: Final = 2**25  # of more rows the counts and the copy take too much memory
FINE: Final = 16  # the counts of the first rows are in fewer ranges by this factor
SAMPLE: Final = 32  # of so many rows one is looked at before the others are copied
WORTH: Final = 2  # of so many rows one has to be spared its place in a sort
FEW: Final = 8  # of so many rows of heavy ids no more than one may have a twin


@final
@dataclass(frozen=True)
class Looks:
    """Looks at the rows of a bound, and says in which portions they are kept."""

    database: AbstractDatabase
    writes: Statements
    salt: int

    def statements(self, recipe: Recipe) -> Generator[Statement]:
        """Yield statements of all rows that are kept, each run before the next."""
        bound = recipe.run.rows
        size = self._size(bound) if isinstance(bound, KeepRows) else 0
        if not (isinstance(bound, KeepRows) and LEAST <= size <= MOST):
            yield recipe.run.last
            return
        if not self._first_counts(bound, size).promise_much(size):
            yield recipe.run.last
            return
        # a copy: of one moment, whatever its source does between two portions
        counts = Counts.of(bound.limit, size)
        copied = _with_ranges(bound, counts.bits)
        copy = Kept(copied, f"{recipe.name}w", copied.schema)
        self.database.begin_kept(copy.name, copy.schema)
        try:
            rows = self.writes.rows(copied)
            self.database.hand_parts(rows)
            self.database.keep(copy.name, rows, self.salt)
            there = Kept(bound, recipe.name, bound.schema)
            for portion in self._portions(bound, counts, copy, there):
                yield self.writes.rows(portion)
        finally:
            self.database.destroy(copy.name)

    def _size(self, bound: KeepRows) -> int:
        """Size that a source states; 0 where its rows may be left out."""
        below: AbstractNode = bound.child
        while isinstance(below, (Project, Filter)):
            if isinstance(below, Filter) and below.condition.names() - {*bound.per}:
                return 0
            below = below.child
        if not isinstance(below, Source):
            return 0
        return lookup(self.writes.tables, below.table).source.size() or 0

    def _portions(
        self, bound: KeepRows, counts: "Counts", copy: Kept, there: Kept
    ) -> Iterator[AbstractNode]:
        """Rows of heavy ids, then of the others, then of light ones."""
        schema, (*_, ranges) = bound.child.schema, copy.schema.columns
        total = 0
        for batch in self._columns(replace(copy, schema=Schema.of([ranges]))):
            counts.add(batch)
            total += len(batch)
        rest: AbstractNode = replace(copy, schema=schema)
        if total > MOST:  # more than its source said, and counts have 32 bits
            yield replace(bound, child=rest)
            return
        light: list[AbstractNode] = []
        crowded, heavy_ranges = counts.ranges_above(bound.limit), counts.heavy_ranges()
        if counts.rows(crowded) * WORTH <= total:
            marks = self._mark(0, crowded)
            rest = Marked(copy, ranges[0], marks, among=True, schema=schema)
            light.append(replace(rest, among=False, schema=bound.schema))
        if counts.rows(heavy_ranges) * WORTH >= total > 0:
            marks = self._mark(1, heavy_ranges)
            heavy = Marked(copy, ranges[0], marks, among=True, schema=schema)
            twins = self._twins(heavy, bound, counts.rows(heavy_ranges))
            if twins is not None:
                yield KeepEarly(heavy, bound, self._mark(2, twins), bound.schema)
                rest = Without(rest, there, bound.per, schema)
        yield replace(bound, child=rest)
        yield from light

    def _first_counts(self, bound: KeepRows, size: int) -> "Counts":
        counts, seen = Counts.of(bound.limit, -(-size // FINE)), 0
        looked_at = Ranges(bound.child, bound.per, counts.bits)
        with closing(self._columns(looked_at)) as batches:
            while seen * SAMPLE < size and (batch := next(batches, None)) is not None:
                counts.add(batch)
                seen += len(batch)
        return counts

    def _twins(
        self, heavy: Marked, bound: KeepRows, count: int
    ) -> npt.NDArray[Any] | None:
        """Ranges that several rows share; None if many rows do."""
        ranges, seen = np.zeros(count, np.uint32), 0
        names = (*bound.per, *bound.order)
        for batch in self._columns(Ranges(heavy, names, TWIN_BITS)):
            ranges[seen : seen + len(batch)] = batch
            seen += len(batch)
        ranges.sort()
        several = ranges[1:][ranges[1:] == ranges[:-1]]
        return None if len(several) * FEW > count else np.unique(several)

    def _columns(self, rows: AbstractNode) -> Generator[npt.NDArray[Any]]:
        statement = self.writes.rows(rows)
        self.database.hand_parts(statement)
        for batch in self.database.batches(statement, self.salt):
            yield as_numpy(batch.column(0))

    def _mark(self, number: int, ranges: npt.NDArray[Any]) -> Made:
        column = as_arrow(ranges.astype(np.int64))
        self.database.hand(f"m{number}", pa.table({"c0": column}))
        return Made(number, RANGE)


def _with_ranges(bound: KeepRows, bits: int) -> Ranges:
    columns = bound.child.schema.columns
    name = "".join(("range", *bound.child.schema.names))  # longer than any of them
    schema = Schema.of([*columns, (name, Column("i64", nullable=False))])
    return Ranges(bound.child, bound.per, bits, schema)


@final
@dataclass(frozen=True)
class Counts:
    """How many rows were seen of the ids of each range."""

    limit: int
    each: npt.NDArray[Any]

    @classmethod
    def of(cls, limit: int, size: int) -> "Counts":
        """Counts of no rows, in at least `size` ranges."""
        return cls(limit, np.zeros(1 << (size - 1).bit_length(), np.uint32))

    @property
    def bits(self) -> int:
        """Return of how many bits the ranges are."""
        return len(self.each).bit_length() - 1

    def add(self, ranges: npt.NDArray[Any]) -> None:
        """Count some rows."""
        np.add.at(self.each, ranges, np.uint32(1))

    def rows(self, ranges: Any = slice(None)) -> int:
        """Return how many rows were seen in some ranges, or in all of them."""
        return int(self.each[ranges].sum())

    def ranges_above(self, least: float) -> npt.NDArray[Any]:
        """Return the ranges of more rows than some number."""
        return np.flatnonzero(self.each > least)

    def heavy_ranges(self, share: float = 1) -> npt.NDArray[Any]:
        """Ranges that have so many rows that, most likely, enough come early.

        Of rows that are a share of all, so many less are enough.
        """
        return self.ranges_above(max(1, share * ((2 * self.limit + 32) << EARLY_BITS)))

    def promise_much(self, size: int) -> bool:
        """Tell whether ids look light or heavy, by the first of `size` rows.

        Light if a row has few others of its id: of all pairs in a range those are left
        out that are there by chance.
        """
        seen = self.rows()
        if not seen:
            return False
        pairs = float(np.square(self.each, dtype=np.float64).sum()) - seen
        others = (pairs / seen**2 - 1 / len(self.each)) * size
        many = self.rows(self.heavy_ranges(share=seen / size))
        return others * 4 <= self.limit * 3 or many * WORTH >= seen
