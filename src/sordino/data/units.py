"""Whom a table protects: the change that no answer may reveal.

Changes are additions or removals; where one row takes the place of another, and where
rows stand for what people did, they are both (docs/proofs/units.md). Several tables of
a session may change at once, each by its own change; tables that share an id space
change by the same id.

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, final

from sordino.data.contribution import Contribution, Weighed, limit
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.schema import Schema
from sordino.numbers import arguments
from sordino.numbers.canonical import Verb, Words, call
from sordino.numbers.frozen import fill, hides

_IDS = ("i64", "text", "date")


@hides(
    *("contribution", "fixes_size", "id_column", "is_drawn_whole", "name_columns"),
    "weigh",
)
class AbstractUnit(ABC):
    """A protected change of a table."""

    @property
    @abstractmethod
    def whom(self) -> str:
        """Return in words what nobody can tell of a table: its presence."""

    @property
    @abstractmethod
    def id_column(self) -> str | None:
        """Return the column whose equal values mark one unit, if there is one."""

    @property
    @abstractmethod
    def id_space(self) -> str | None:
        """Name of the kind of id; tables that share it change together."""

    @property
    @abstractmethod
    def words(self) -> Verb:
        """Return whom it protects, in a form that lasts."""

    @abstractmethod
    def contribution(self, schema: Schema) -> Contribution:
        """Contribution of one unit to a table, or a refusal of its schema."""

    @property
    def is_drawn_whole(self) -> bool:
        """Tell whether one coin draws a unit, with all that it holds, or nothing."""
        return False

    @property
    def fixes_size(self) -> bool:
        """Tell whether all neighbours of a table have as many rows, which is public."""
        return False

    def weigh(self, schema: Schema) -> Weighed | None:
        """Return the column whose sum a unit moves by so much, if there is one."""
        del schema
        return None

    def name_columns(self, schema: Schema) -> "AbstractUnit":
        """The same unit of a table, with every column that it speaks of named."""
        del schema
        return self


@final
@dataclass(frozen=True)
class AddOneRow(AbstractUnit):
    """Protects the presence of any one row."""

    whom: ClassVar[str] = "any one row"
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None
    is_drawn_whole: ClassVar[bool] = True

    @property
    def words(self) -> Verb:
        return call("AddOneRow")

    def contribution(self, schema: Schema) -> Contribution:
        del schema
        return Contribution(rows=1)


@final
@dataclass(frozen=True)
class AddMaxRows(AbstractUnit):
    """Protects the presence of any `max_rows` rows.

    >>> AddMaxRows(3)
    AddMaxRows(max_rows=3)
    """

    max_rows: int
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None

    def __post_init__(self) -> None:
        fill(self, max_rows=limit(max_rows=self.max_rows))

    @property
    def whom(self) -> str:
        return f"any {self.max_rows} rows"

    @property
    def words(self) -> Verb:
        return call("AddMaxRows", max_rows=self.max_rows)

    def contribution(self, schema: Schema) -> Contribution:
        del schema
        return Contribution(rows=self.max_rows)


@final
@dataclass(frozen=True)
class AddMaxRowsInMaxGroups(AbstractUnit):
    """Protects rows in at most `max_groups` values of a column, limited in each."""

    column: str
    max_groups: int
    max_rows_per_group: int
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None

    def __post_init__(self) -> None:
        fill(
            self,
            column=arguments.text(column=self.column),
            max_groups=limit(max_groups=self.max_groups),
            max_rows_per_group=limit(max_rows_per_group=self.max_rows_per_group),
        )

    @property
    def whom(self) -> str:
        return (
            f"any {self.max_rows_per_group} rows in each of any {self.max_groups} "
            f"values of {self.column!r}"
        )

    @property
    def words(self) -> Verb:
        return call(
            "AddMaxRowsInMaxGroups",
            column=self.column,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
        )

    def contribution(self, schema: Schema) -> Contribution:
        column = frozenset([schema[self.column].version])
        bounds = Contribution(rows=self.max_groups * self.max_rows_per_group)
        bounds = bounds.with_groups(column, self.max_groups)
        return bounds.with_group_rows(column, self.max_rows_per_group)


@final
@dataclass(frozen=True)
class ChangeOneRow(AbstractUnit):
    """Protects what stands in any one row, but not how many rows there are.

    Neighbouring tables have as many rows: one of them stands in the place of another.
    So the number of rows is public. It is read when a session is made, and a question
    is refused if it has changed since.

    At the same epsilon this promises more than `AddOneRow`, for what one row is may
    move a sum by the width of its range.
    """

    whom: ClassVar[str] = "what stands in any one row"
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None
    fixes_size: ClassVar[bool] = True

    @property
    def words(self) -> Verb:
        return call("ChangeOneRow")

    def contribution(self, schema: Schema) -> Contribution:
        del schema
        # one row leaves, and one comes in its place
        return Contribution(rows=2, each_way=1)


@final
@dataclass(frozen=True)
class AddMaxTotal(AbstractUnit):
    """Protects whatever adds at most `max_total` to the sum of a column.

    For tables that were added up before, as views by page and hour: each row stands for
    as many views as it says. Whoever is protected makes numbers of the column grow, and
    rows appear, by at most `max_total` in all; every other column says what a row is
    about. A row whose number is missing, or below 1, stands for nothing, and is left
    out.

    `in_each` says that of this at most so much is added where rows have the same values
    of some columns: `("page", "day", 1)` of page and day, `1` of all other columns of
    the table. It serves groups by these columns, and finer ones.

    >>> AddMaxTotal("views", 30)
    AddMaxTotal(column='views', max_total=30, in_each=None)
    """

    column: str
    max_total: int
    in_each: int | tuple[str | int, ...] | None = None
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None

    def __post_init__(self) -> None:
        fill(
            self,
            column=arguments.text(column=self.column),
            max_total=limit(max_total=self.max_total),
            in_each=None if self.in_each is None else self._read_each(),
        )

    def _read_each(self) -> int | tuple[str | int, ...]:
        if not isinstance(self.in_each, (tuple, list)):
            return limit(in_each=self.in_each)
        if len(self.in_each) < 2:
            raise InvalidParameter(
                "in_each",
                self.in_each,
                "must name columns, and then how much is added where these are equal",
                'Try in_each=("page", "day", 1); or in_each=1 for all other columns.',
            )
        *columns, most = self.in_each
        names = tuple(arguments.text(in_each=name) for name in columns)
        if self.column in names or len(set(names)) < len(names):
            raise InvalidParameter(
                "in_each",
                self.in_each,
                f"must name other columns than {self.column!r}, each once",
                "Name the columns that say what a row is about.",
            )
        return (*names, limit(in_each=most))

    @property
    def whom(self) -> str:
        whole = f"whatever adds at most {self.max_total} to the sum of {self.column!r}"
        if self.in_each is None:
            return whole
        if isinstance(self.in_each, int):
            return f"{whole}, at most {self.in_each} where all other columns are equal"
        *columns, most = self.in_each
        listed = " and ".join(map(repr, columns))
        return f"{whole}, at most {most} in each value of {listed}"

    @property
    def words(self) -> Verb:
        each = list(self.in_each) if isinstance(self.in_each, tuple) else self.in_each
        beside: dict[str, Words] = {} if each is None else {"in_each": each}
        whole: dict[str, Words] = {"column": self.column, "max_total": self.max_total}
        return call("AddMaxTotal", **(whole | beside))

    def weigh(self, schema: Schema) -> Weighed:
        unit = self.name_columns(schema)
        whole = Weighed(schema[self.column].version, self.max_total)
        if not isinstance(unit.in_each, tuple):
            return whole
        *columns, most = unit.in_each
        cell = frozenset(schema[str(name)].version for name in columns)
        return replace(whole, in_each=(cell, int(most)))

    def name_columns(self, schema: Schema) -> "AddMaxTotal":
        """The same unit of a table, of which the columns of `in_each` are named."""
        if not isinstance(self.in_each, int):
            return self
        others = schema.other_names([self.column])
        if not others:
            raise InvalidQuery(
                f"there is no column but {self.column!r}, so in_each is of nothing",
                "Leave in_each out; max_total bounds the sum.",
            )
        return replace(self, in_each=(*others, self.in_each))

    def contribution(self, schema: Schema) -> Contribution:
        column = schema[self.column]
        if column.type != "i64":
            raise InvalidQuery(
                "a column that people add to must hold whole numbers, and "
                f"{self.column!r} has type {column.type}",
                'Declare it, columns={"views": sd.Column("i64")}, or count in cents.',
            )
        # a row is touched by 1 or more: at most `max_total` leave, and come back with
        # another number
        rows = Contribution(rows=2 * self.max_total, each_way=self.max_total)
        for cell, most in filter(None, [self.weigh(schema).in_each]):
            rows = rows.with_group_rows(cell, 2 * most)
        return rows


@final
@dataclass(frozen=True)
class AddRowsWithID(AbstractUnit):
    """Protects all rows that share one value of a column, however many they are.

    A row whose id is missing belongs to nobody and is left out. Tables of one session
    with the same `id_space` hold rows of the same people.
    """

    column: str
    id_space: str = "default"
    is_drawn_whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fill(
            self,
            column=arguments.text(column=self.column),
            id_space=arguments.text(id_space=self.id_space),
        )

    @property
    def whom(self) -> str:
        return f"any one value of {self.column!r}, with all its rows"

    @property
    def id_column(self) -> str:
        return self.column

    @property
    def words(self) -> Verb:
        return call("AddRowsWithID", column=self.column, id_space=self.id_space)

    def contribution(self, schema: Schema) -> Contribution:
        ids = schema[self.column]
        if ids.type not in _IDS:
            raise InvalidQuery(
                f"ids must be text, integers or dates, and the column {self.column!r} "
                "has type "
                f"{ids.type}",
                'Name another column: sd.AddRowsWithID("person").',
            )
        return Contribution()  # an id has any number of rows until a limit is enforced
