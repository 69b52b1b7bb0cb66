"""Whom a table protects: the change that no answer may reveal.

All changes are additions or removals. Several tables of a session may change at once,
each by its own change; tables that share an id space change by the same id.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

from sordino import _validate
from sordino._completion import hides
from sordino._fields import fill
from sordino.contribution import Contribution, limit
from sordino.errors import InvalidQuery
from sordino.schema import Schema
from sordino.words import Verb, call

_IDS = ("i64", "text", "date")


@hides("contribution", "id_column")
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
        """Return what the ids stand for; tables with the same change together."""

    @property
    @abstractmethod
    def words(self) -> Verb:
        """Return whom it protects, in a form that lasts."""

    @abstractmethod
    def contribution(self, schema: Schema) -> Contribution:
        """Return what is known of one unit's rows, or refuse a schema that lacks it."""


@final
@dataclass(frozen=True)
class AddOneRow(AbstractUnit):
    """Protects the presence of any one row."""

    whom: ClassVar[str] = "any one row"
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None

    @property
    def words(self) -> Verb:
        """Return the unit."""
        return call("AddOneRow")

    def contribution(self, schema: Schema) -> Contribution:
        """Return one row."""
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
        """Refuse a number of rows that protects nothing."""
        fill(self, max_rows=limit(max_rows=self.max_rows))

    @property
    def whom(self) -> str:
        """Return it in words."""
        return f"any {self.max_rows} rows"

    @property
    def words(self) -> Verb:
        """Return the unit."""
        return call("AddMaxRows", max_rows=self.max_rows)

    def contribution(self, schema: Schema) -> Contribution:
        """Return that many rows."""
        del schema
        return Contribution(rows=self.max_rows)


@final
@dataclass(frozen=True)
class AddMaxRowsInMaxGroups(AbstractUnit):
    """Protects any rows in at most `max_groups` values of a column, so many in each."""

    column: str
    max_groups: int
    max_rows_per_group: int
    id_column: ClassVar[None] = None
    id_space: ClassVar[None] = None

    def __post_init__(self) -> None:
        """Refuse numbers that protect nothing."""
        fill(
            self,
            column=_validate.text(column=self.column),
            max_groups=limit(max_groups=self.max_groups),
            max_rows_per_group=limit(max_rows_per_group=self.max_rows_per_group),
        )

    @property
    def whom(self) -> str:
        """Return it in words."""
        return (
            f"any {self.max_rows_per_group} rows in each of any {self.max_groups} "
            f"values of {self.column!r}"
        )

    @property
    def words(self) -> Verb:
        """Return the unit."""
        return call(
            "AddMaxRowsInMaxGroups",
            column=self.column,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
        )

    def contribution(self, schema: Schema) -> Contribution:
        """Return the bounds on groups of the column, and on rows in each."""
        column = frozenset([schema[self.column].version])
        bounds = Contribution(rows=self.max_groups * self.max_rows_per_group)
        bounds = bounds.with_groups(column, self.max_groups)
        return bounds.with_group_rows(column, self.max_rows_per_group)


@final
@dataclass(frozen=True)
class AddRowsWithID(AbstractUnit):
    """Protects all rows that share one value of a column, however many they are.

    A row whose id is missing belongs to nobody and is left out. Tables of one session
    with the same `id_space` hold rows of the same people.
    """

    column: str
    id_space: str = "default"

    def __post_init__(self) -> None:
        """Refuse names that are none."""
        fill(
            self,
            column=_validate.text(column=self.column),
            id_space=_validate.text(id_space=self.id_space),
        )

    @property
    def whom(self) -> str:
        """Return it in words."""
        return f"any one value of {self.column!r}, with all its rows"

    @property
    def id_column(self) -> str:
        """Return the column of ids."""
        return self.column

    @property
    def words(self) -> Verb:
        """Return the unit."""
        return call("AddRowsWithID", column=self.column, id_space=self.id_space)

    def contribution(self, schema: Schema) -> Contribution:
        """Return nothing: rows with one id are without bound until one is enforced."""
        ids = schema[self.column]
        if ids.type not in _IDS:
            raise InvalidQuery(
                f"ids must be text, integers or dates, and the column {self.column!r} "
                "has type "
                f"{ids.type}",
                'Name another column: sd.AddRowsWithID("person").',
            )
        return Contribution()
