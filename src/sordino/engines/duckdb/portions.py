"""Rows of a bound in portions: of ids with few rows, with very many, and the others.

Digests lie in ranges, `2**bits` of one length: those of ids, to count rows in little
room, and those of rows, of which the first range has the ones that come first. Why the
portions together are the rows of the bound: docs/proofs/kept-rows.md, section 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.kept_rows import number_copies, place_in_order
from sordino.engines.sql.pieces import Sql
from sordino.engines.sql.stages import Made
from sordino.engines.sql.writer import (
    Rule,
    Subquery,
    Writer,
    columns_named,
    select_from,
    table_named,
)
from sordino.query.nodes import AbstractNode, KeepRows
from sordino.schema import Column, Schema

RANGE: Final = Schema.of([("range", Column("i64", nullable=False))])
"""One column of ranges."""
TWIN_BITS: Final = 32
"""Of the ranges by which rows that are alike are found."""
EARLY_BITS: Final = 5
"""Of the ranges of which the first has the rows that come early."""


@final
@dataclass(frozen=True)
class Ranges(AbstractNode):
    """Rows, and last of all in which range the digest of some columns lies."""

    child: AbstractNode
    names: tuple[str, ...]
    bits: int
    schema: Schema = RANGE

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return the child."""
        return (self.child,)

    def describe(self) -> str:
        """Say of what."""
        return f"ranges of {', '.join(self.names)}"


@final
@dataclass(frozen=True)
class Marked(AbstractNode):
    """The rows whose range, a column of theirs, is marked, or those whose is not."""

    child: AbstractNode
    column: str
    marks: Made
    """Each range once."""
    among: bool
    schema: Schema

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return the child."""
        return (self.child,)

    def describe(self) -> str:
        """Say of which."""
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

    @property
    def inputs(self) -> tuple[AbstractNode, ...]:
        """Return the child."""
        return (self.child,)

    def describe(self) -> str:
        """Show the bound."""
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
    placed = work.share(
        work.part(
            select_from(numbered),
            columns_named(numbered, schema),
            schema,
            [*numbered.further, place],
        )
    )
    digest, number = placed.further
    limit = exp.Literal.number(bound.limit)
    last = exp.and_(number.copy().eq(limit.copy()), _is_early(digest))
    enough = work.part(
        select_from(placed).where(last, copy=False), columns_named(placed, bound.per)
    )
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
    """Return the rows that are early or have a twin, and a few that may have one."""
    below, schema = work.rows(node.child), node.child.schema
    names = (*node.bound.per, *node.bound.order)
    digested = work.part(
        select_from(below),
        columns_named(below, schema),
        schema,
        [_first_digest(work, below, names)],
    )
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
    """Return the digest of some columns of a row numbered 1."""
    return work.dialect.digest([*(rows.columns[name] for name in names), sql.bigint(1)])


def _range(digest: Sql, bits: int) -> Sql:
    """Return in which of the ranges a digest lies, in their order."""
    shifted = exp.BitwiseRightShift(
        this=digest.copy(), expression=exp.Literal.number(64 - bits)
    )
    return sql.as_type(shifted, "BIGINT")


def _is_early(digest: Sql) -> exp.Condition:
    """Return whether a digest lies in the first range."""
    return _range(digest, EARLY_BITS).eq(exp.Literal.number(0))


RULES: Final[Mapping[type[Any], Rule]] = {
    Ranges: _ranges,
    Marked: _marked_rows,
    KeepEarly: _keep_early,
}
