"""What everybody may know of a session."""

import dis
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Final, final

from sordino.expressions.schema import Column, Schema
from sordino.ledger.blocks import (
    BLOCK_HEADING,
    PERSON_HEADING,
    Block,
    Windows,
    block_rows,
    exposure_rows,
)
from sordino.ledger.record_kinds import Entry
from sordino.losses.budgets.limits import Frame
from sordino.losses.loss import Loss
from sordino.numbers.formatting import cut_text, format_key, text_width
from sordino.numbers.views import office

MOST: Final = 60
"""Columns of a table that are shown."""


@final
@dataclass(frozen=True)
class Holding:
    """A table or a view: a sentence on it, its columns, and what cannot be used."""

    name: str
    sentence: str
    columns: tuple[tuple[str, str, str], ...]
    """(name, type, what of its values may be missing)"""
    unusable: tuple[tuple[str, str], ...]
    """(name, why)"""

    @classmethod
    def of(
        cls, name: str, sentence: str, schema: Schema, unusable: Mapping[str, str]
    ) -> "Holding":
        """Public facts of a table or a view."""
        columns = tuple(
            (known, column.type, missing_word(column))
            for known, column in schema.columns
        )
        return cls(name, sentence, columns, tuple(unusable.items()))

    @property
    def first_columns(self) -> tuple[tuple[str, str, str], ...]:
        """Return the first columns."""
        return self.columns[:MOST]

    @property
    def rest(self) -> int:
        """Return how many columns are not shown."""
        return len(self.columns) - len(self.first_columns)


def missing_word(column: Column) -> str:
    """Word for what may be missing in a column: no, yes, NaN.

    >>> missing_word(Column("f64")), missing_word(Column("i64", nullable=False))
    ('yes, or NaN', 'no')
    """
    match column.nullable, column.nan:
        case True, True:
            return "yes, or NaN"
        case True, False:
            return "yes"
        case False, True:
            return "NaN"
        case _:
            return "no"


_NAME, _WIDEST = 40, 100
_GAP: Final = "  "


@final
@dataclass(frozen=True, repr=False)
class Description:
    """Tables and views, key sets, what is left, and the releases so far.

    It prints itself, and shows itself in a notebook with the last releases.
    """

    holdings: tuple[Holding, ...]
    keysets: tuple[str, ...]
    left: Loss
    budget: Loss
    entries: tuple[Entry, ...]
    blocks: tuple[Block, ...] = ()
    """Those that are read, where the tables lie in blocks."""
    exposures: Windows = ()
    """What people of several blocks are charged, at worst and at most."""
    frame: Frame | None = None
    """Who is promised less, where the table is a secret sample of them."""

    def __repr__(self) -> str:
        """Show everything as text, within 100 columns."""
        return "\n".join(
            line
            for part in (*map(_table_lines, self.holdings), self._end())
            for line in part
        )

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.description_page(
            self.holdings,
            self.keysets,
            office.budget_line(self._where, self.left, self.budget),
            office.block_tables(self.blocks, self.exposures)
            + office.entry_table(self.entries),
        )
        return shown

    @property
    def _where(self) -> str:
        """Return in what it is left, if blocks have the budget, and not a name."""
        limits = {block.limit for block in self.blocks}
        return "in every block" if self.budget in limits else ""

    def _end(self) -> Iterator[str]:
        if self.keysets:
            yield _line(f"asked by: {', '.join(self.keysets)}")
        where = f", {self._where}" if self._where else ""
        yield _line(f"left: {self.left!r} of {self.budget!r}{where}")
        if self.frame is not None:
            yield _line(f"{self.frame} loses at most {self.frame.promise!r}")
        if not self.blocks:
            return
        yield from _rows([BLOCK_HEADING, *block_rows(self.blocks[-office.NEWEST :])])
        yield from _rows([PERSON_HEADING, *exposure_rows(self.exposures, self.blocks)])


def print_unused(described: Description, caller: FrameType) -> None:
    """Print a description in a script that does nothing with it.

    At a prompt and in a notebook it shows itself, and `print(session.describe())` is
    to print once. What a line does with a value is not told to who returns it, so the
    instruction behind the call is looked at.
    """
    if hasattr(sys, "ps1"):  # Python and IPython set it where somebody types
        return
    behind = (
        step.opname
        for step in dis.get_instructions(caller.f_code)
        if step.offset > caller.f_lasti and step.opname != "CACHE"
    )
    if next(behind, "") == "POP_TOP":
        print(described)  # noqa: T201 what describing is for


def _table_lines(holding: Holding) -> Iterator[str]:
    yield _line(f"{_name(holding.name)}: {format_key(holding.sentence)}")
    heading = ("column", "type", "may be missing")
    shown = [
        (_name(name), kind, may_be) for name, kind, may_be in holding.first_columns
    ]
    first, second = (
        max(text_width(row[place]) for row in (heading, *shown)) for place in (0, 1)
    )
    for name, kind, may_be in (heading, *shown):
        blank = " " * (first - text_width(name))
        yield f"{_GAP}{name}{blank}{_GAP}{kind:<{second}}{_GAP}{may_be}"
    if holding.rest:
        yield f"{_GAP}... and {holding.rest:,} more"
    for name, why in holding.unusable:
        yield _line(f"{_GAP}cannot be used: {_name(name)} ({format_key(why)})")
    yield ""


def _rows(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell + " " * (width - text_width(cell))
            for cell, width in zip(row, widths, strict=True)
        )
        yield _line((_GAP + _GAP.join(cells)).rstrip())


def _name(name: str) -> str:
    """Return a name on one line, cut to a width."""
    return cut_text(format_key(name), _NAME) or "''"


def _line(text: str) -> str:
    return cut_text(text, _WIDEST)
