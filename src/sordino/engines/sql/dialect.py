"""A dialect: how one database says everything that a plan can ask.

| what | for |
|---|---|
| `types`, `entries` | values and expressions: a SQL form for each of our operations |
| `in_place`, `value_of` | sources that the database reads by itself |
| `digest`, `order_term`, `same`, `first`, `in_part` | which rows a bound keeps |
| `exact_sum`, `brief_sum`, `sum_of_totals`, `row_count` | exact sums |
| `narrow_total`, `distinct` | other exact totals |
| `semi_join`, `anti_join`, `unnest`, `stores` | rows beside other rows |
| `placeholder` | values bound in a statement |

What decides about privacy is never left to a translation between dialects. A dialect is
complete or not there: one that lacks an operation or a type and does not say so by
`absent` cannot be imported.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.sql.pieces import Entry, Sql, sql_type
from sordino.errors import InvalidQuery
from sordino.expressions.operations import OPERATIONS
from sordino.expressions.tree import Operation
from sordino.schema import TYPES
from sordino.sources.base import AbstractSource

SALT: Final = "salt"
"""The placeholder of the secret key of digests."""


def refusal(engine: str, what: str, why: str) -> InvalidQuery:
    """Return the refusal of what a database cannot say exactly.

    >>> raise refusal("sqlite", "sqrt", "it has no sqrt")
    Traceback (most recent call last):
    sordino.errors.InvalidQuery: sqlite cannot compute sqrt: it has no sqrt. ...
    """
    return InvalidQuery(
        f"{engine} cannot compute {what}: {why}",
        "Ask without it, or in a session with another engine.",
    )


class AbstractDialect(ABC):  # noqa: PLR0904 all that a database has to say
    """How one database says what must be said exactly.

    Proof obligation: each form has the meaning that its docstring gives, on this
    database, for any values; none of them raises, and none depends on more than its
    arguments: not on the order of rows, on time, on settings or on chance.
    """

    name: ClassVar[str]
    """What sqlglot calls it: names, literals and operators are written by it."""

    types: ClassVar[Mapping[str, str]]
    """The SQL type of each type of ours."""

    entries: ClassVar[Mapping[Operation, Entry]]
    """The SQL form of each operation."""

    wide_type: ClassVar[pa.DataType]
    """In which type of Arrow a wide total leaves the database."""

    digest_type: ClassVar[pa.DataType]
    """In which type of Arrow a digest does."""

    key_hash: ClassVar[str] = ""
    """A function of values to one integer, null like no value, if that is fast."""

    rules: ClassVar[Mapping[type[Any], Any]] = {}
    """Nodes that are written in a way of its own, by rules as in `plan_rows`."""

    tells_sums: ClassVar[bool] = False
    """Whether it is asked for sums and counts, which are put together outside of it."""

    absent: ClassVar[Mapping[str, str]] = {}
    """Types and operations, by name, that the database cannot hold or say, and why."""

    unheld: ClassVar[frozenset[str]] = frozenset()
    """Characters that no text of the database can have."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a dialect that leaves something open."""
        super().__init_subclass__(**options)
        covered = {
            *cls.types,
            *(operation.name for operation in cls.entries),
            *cls.absent,
        }
        lacking = {*TYPES, *(operation.name for operation in OPERATIONS)} - covered
        if lacking:
            names = ", ".join(sorted(lacking))
            raise TypeError(f"{cls.__name__} leaves open: {names}")

    def type_of(self, kind: str) -> exp.DataType:
        """Return the SQL type of a type of ours, anew each time."""
        self.refuse_absent(kind)
        return sql_type(self.types[kind], self.name)

    def refuse_absent(self, kind: str) -> None:
        """Refuse a type of ours that the database cannot hold."""
        if kind not in self.types:
            raise refusal(self.name, kind, self.absent[kind])

    def refuse_unheld(self, value: Any) -> None:
        """Refuse a text with a character that the database cannot hold."""
        if isinstance(value, str) and not self.unheld.isdisjoint(value):
            marks = ", ".join(
                f"U+{ord(character):04X}" for character in sorted(self.unheld)
            )
            raise refusal(self.name, f"a text with {marks}", "it holds no such text")

    def entry(self, operation: Operation) -> Entry:
        """Return how an operation is written."""
        if operation not in self.entries:
            raise refusal(self.name, operation.name, self.absent[operation.name])
        return self.entries[operation]

    def text(self, tree: exp.Select) -> str:
        """Return the text of a statement."""
        return tree.sql(self.name, copy=False)

    @abstractmethod
    def placeholder(self, number: int) -> Sql:
        """Return what stands for the n-th bound value, from 1 on."""

    @abstractmethod
    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        """Return what stands after FROM where the database reads a source by itself.

        It is called t, its columns c0, c1, ... by their places. None is for a source
        whose rows are handed over, each value of our types.
        """

    @abstractmethod
    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        """Return a column, read in place or handed over as text, as values of ours.

        Nothing that its source states of it is believed. What has no place in our type
        is null: integers of more than 64 bits, days and times outside of years 1 to
        9999, texts of more than 1 MiB; a zero has no sign; times are in UTC.
        """

    @abstractmethod
    def digest(self, values: Sequence[Sql]) -> Sql:
        """Return a hash of values and the key, in which null is like no value.

        For a random key any order of different tuples is about as likely as another.
        """

    @abstractmethod
    def order_term(self, value: Sql) -> exp.Ordered:
        """Return what rows are ordered by: a total order in which equal is the same.

        What is missing comes first.
        """

    @abstractmethod
    def same(self, left: Sql, right: Sql) -> Sql:
        """Return whether two values are the same, null like null; never null."""

    @abstractmethod
    def first(self, value: Sql, kind: str) -> Sql:
        """Return the value of a group of one row, by its type."""

    @abstractmethod
    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        """Return whether a digest of values belongs to one of so many parts."""

    @abstractmethod
    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        """Return the first entries of a list, one a row; none for a missing list."""

    @abstractmethod
    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return the rows for which another table has a row."""

    @abstractmethod
    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return the rows for which another table has no row."""

    @abstractmethod
    def stores(self, *, shared: bool) -> bool | None:
        """Return whether a named subquery is to be stored; None leaves it unsaid.

        Shared is one that several others read.
        """

    @abstractmethod
    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        """Return the exact sum of factor * value + shift, in a type that holds it.

        Of i64 values; null adds nothing, and the sum of nothing is 0. Complete values
        are not null in any row.
        """

    def place_in_box(
        self, group: Sequence[Sql], keys: pa.Table
    ) -> tuple[Sql, Sql] | None:
        """Return the place of a group among public keys, and whether it is one of them.

        None where keys are not told by their places alone: they are joined then.
        """
        del group, keys
        return None

    def brief_sum(self, value: Sql) -> Sql:
        """Return the exact sum of i64 values as an i64; where it is not held, null.

        Null adds nothing, and the sum of nothing is 0. For dialects that `tells_sums`.
        """
        raise refusal(self.name, f"the sum of {value.key}", "it tells totals")

    @abstractmethod
    def sum_of_totals(self, total: Sql) -> Sql:
        """Return the exact sum of wide totals, in a type that holds it."""

    @abstractmethod
    def row_count(self, times: int) -> Sql:
        """Return the number of rows, so many times, in a type that holds it."""

    @abstractmethod
    def narrow_total(self, total: Sql) -> Sql:
        """Return a wide total held within +-MOST, as an i64."""

    @abstractmethod
    def distinct(self, values: Sequence[Sql]) -> Sql:
        """Return how many different tuples there are, none of whose values is null.

        In a type that holds wide totals, too.
        """
