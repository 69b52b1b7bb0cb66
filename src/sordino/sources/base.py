"""What every source of rows is, whatever holds them: columns by their places.

Names of columns are free text of users and never reach a database: the n-th column of
a source is called cn.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Final, TypeVar, final

import pyarrow as pa

from sordino.errors import EngineUnavailable, InvalidParameter, SordinoError, show
from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import col
from sordino.schema import Column, Schema, unknown
from sordino.sources.arrow_kinds import kind_of

T = TypeVar("T")
NOTHING: Final = "nothing"
"""A column that stands for none: rows of no columns would not be counted."""


class AbstractSource(ABC):
    """Rows that can be read as often as asked, always the same."""

    fields: tuple[tuple[str, pa.DataType], ...]
    """The name and the Arrow type of each column, in order."""

    paths: tuple[str, ...] = ()
    """The files that the rows are in, for who reads them by itself."""

    untyped: ClassVar[bool] = False
    """Whether columns are plain text whose types have to be declared."""

    ours: ClassVar[bool] = False
    """Whether what is handed over has our types, each value read by its rule."""

    unsaid: Mapping[str, str] = MappingProxyType({})
    """Columns that have no type, or that are not read, and what to do."""

    declared: Mapping[str, Column] = {}
    """What the source says of its columns, beside what the table says."""

    doubt: str = ""
    """Why a row of it may depend on more than one row, or be believed of; none: ""."""

    reading: Callable[[str], AbstractExpression] | None = None
    """How a column x of text is read as a declared type, where that is not a cast."""

    @abstractmethod
    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns at some places for a database, to be read once."""

    def check(self) -> None:  # noqa: B027 what lies in memory is what it was
        """Raise something if this is no longer of the form that it was opened in.

        No row is looked at.
        """

    def size(self) -> int | None:
        """Return how many rows it says it has, or None if it would have to read them.

        No more than time and memory may depend on it.
        """
        return None

    @abstractmethod
    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns at some places, called c0, c1, ... by their places."""

    def count_missing(self, place: int) -> int:
        """Return how many cells of a column are not there."""
        return int(self.read([place]).column(0).null_count)

    def cells(self, place: int) -> pa.Table:
        """Return cells of a column, and how many cells each of them stands for.

        Of a source that is larger than memory, the most frequent ones.
        """
        column = self.read([place]).column(0)
        return pa.table({"cell": column, "times": pa.repeat(1, len(column))})


@final
@dataclass(frozen=True)
class Stored:
    """A column as it lies in its source, and the type that it has in the session."""

    place: int
    arrow: pa.DataType
    kind: str
    reading: AbstractExpression | None = None
    """How a value x becomes of that type, None where it lies as one."""


@final
@dataclass(frozen=True)
class Opened:
    """A source, and what of it can be used."""

    source: AbstractSource
    schema: Schema
    stored: Mapping[str, Stored]
    unusable: Mapping[str, str]
    """For each column without a usable type, why."""

    @property
    def lossy(self) -> frozenset[str]:
        """Return the columns that lie as another type, so that cells can be lost."""
        return frozenset(
            name for name, column in self.stored.items() if column.reading is not None
        )

    def held_as(self, kinds: Container[str]) -> "Opened":
        """Return the table with the columns that an engine can hold."""
        columns = [column for column in self.schema.columns if column[1].type in kinds]
        lacking = {
            name: f"this engine cannot hold {column.type}"
            for name, column in self.schema.columns
            if column.type not in kinds
        }
        return replace(
            self, schema=Schema.of(columns), unusable={**self.unusable, **lacking}
        )

    @classmethod
    def of(cls, source: AbstractSource, declared: Mapping[str, Column]) -> "Opened":
        """Match the columns of a source with what is declared of them."""
        names = [name for name, _ in source.fields]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidParameter(
                "source",
                twice,
                "has two columns with the same name",
                "Rename one of them.",
            )
        for name in declared:
            if name not in names and name not in source.unsaid:
                raise unknown("column", name, names)
        stored, columns, unusable = {}, [], dict(source.unsaid)
        for place, (name, arrow) in enumerate(source.fields):
            kind = kind_of(arrow)
            if name in source.unsaid:
                continue
            if kind is None:
                unusable[name] = f"its type {arrow} has no place in a private table"
            elif source.untyped and name not in declared:
                unusable[name] = "it is read from text and its type is not declared"
            else:
                column = declared.get(name, Column(kind))
                reading = _read_as(source, name, kind, column.type)
                stored[name] = Stored(place, arrow, column.type, reading)
                columns.append((name, column))
        _refuse(unusable, declared)
        return cls(source, Schema.of(columns), stored, unusable)


def lookup(tables: Mapping[str, T], name: str) -> T:
    """Return what is held under the name of a table, or refuse a name unknown."""
    if name not in tables:
        raise unknown("table", name, tables)
    return tables[name]


def refuse_changed(table: str, source: AbstractSource) -> None:
    """Refuse a source that is gone, or of another form than when it was opened."""
    try:
        source.check()
    except Exception:  # noqa: BLE001, S110 what a library says of a file may quote it
        pass
    else:
        return
    raise EngineUnavailable(
        f"the table {show(table)} is not what it was when the session was made: it "
        "cannot be read, is another text file, or has other columns or files. Put it "
        "back, or make a new session"
    )


def recast(kind: str) -> AbstractExpression:
    """Return the value of a column x as one of a declared type, or missing."""
    return col("x").cast(kind)


def _read_as(
    source: AbstractSource, name: str, kind: str, declared: str
) -> AbstractExpression | None:
    """Return how a column becomes a declared type, or refuse a type it never does."""
    if declared == kind:
        return None
    try:
        reading = (source.reading or recast)(declared)
        reading.column(Schema((("x", Column(kind)),)))
    except SordinoError:
        pass
    else:
        return reading
    raise InvalidParameter(
        "columns",
        name,
        f"is declared as {declared} but holds {kind}, which cannot be read as that",
        "Declare the type it has.",
    )


def _refuse(unusable: Mapping[str, str], declared: Mapping[str, Column]) -> None:
    """Refuse to declare a column that cannot be used."""
    for name, reason in unusable.items():
        if name in declared:
            raise InvalidParameter(
                "columns",
                name,
                f"declares a column that cannot be used ({reason})",
                "Leave it out, or convert it where the table is made.",
            )


def internal(places: Sequence[int]) -> list[str]:
    """Return the names of the columns at some places."""
    return [f"c{place}" for place in places]


def or_nothing(table: pa.Table, places: Sequence[int]) -> pa.Table:
    """Return columns of a table by their places, or one that stands for none."""
    if not places:
        return pa.table({NOTHING: pa.nulls(table.num_rows, pa.bool_())})
    return table.select(list(places)).rename_columns(internal(places))
