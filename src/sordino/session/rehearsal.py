"""A rehearsal: the same session over invented rows, where nothing private is touched.

public facts of a session ── invented rows ── a session of its own ── exact answers too

Of the private tables only names, types and what may be missing are looked at: all of it
is public. Columns of one name hold the same values in all tables, so that joins find
something, and those of a public table's columns are its own.
"""

import datetime as dt
import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from sordino.data.tables import PrivateTable, PublicTable
from sordino.data.units import AbstractUnit
from sordino.errors import InvalidParameter
from sordino.expressions.schema import Column, Schema, read_columns, unknown
from sordino.losses.budgets.limits import Limit
from sordino.losses.closed import ApproxDP
from sordino.losses.curves.points import Floats
from sordino.losses.loss import Budget
from sordino.numbers import arguments
from sordino.numbers.canonical import canonical_text
from sordino.query.builder import Query
from sordino.query.request import Request
from sordino.session.session import Session

if TYPE_CHECKING:
    import pyarrow as pa


_NAMES: Final = 6
_MISSING: Final = 0.03
_FIRST_DAY: Final = dt.date(2025, 1, 1)
_DAYS: Final = 365
_MOST: Final = 100
_HALF: Final = 0.5
_LIST: Final = 4
"""The longest list."""


@final
@dataclass(frozen=True)
class Inventor:
    """Makes up rows: always the same ones of one seed. None of this is noise."""

    rows: int
    seed: int
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """What a column may hold, by its name, where that is known."""

    def table(self, name: str, schema: Schema, ids: str | None) -> "pa.Table":
        """Return the rows of a table."""
        import pyarrow as pa  # noqa: PLC0415 slow to import

        columns = {
            column: pa.array(self._cells(name, column, facts, ids), facts.arrow)
            for column, facts in schema.columns
        }
        return pa.table(columns)

    def _cells(
        self, table: str, name: str, facts: Column, ids: str | None
    ) -> list[Any]:
        if name == ids:
            return self._ids(table, facts)
        if facts.type.startswith("list["):
            inner = Column(facts.type.removeprefix("list[").removesuffix("]"))
            lengths = self._chances(table, name, "length") * (_LIST + 1)
            parts = [self._values(table, f"{name} {n}", inner) for n in range(_LIST)]
            cells = [
                [part[row] for part in parts[: int(length)]]
                for row, length in enumerate(lengths)
            ]
        else:
            cells = self._values(table, name, facts)
        missing = self._chances(table, name, "missing") < _MISSING
        return [
            None if facts.nullable and absent else cell
            for cell, absent in zip(cells, missing, strict=True)
        ]

    def _ids(self, table: str, facts: Column) -> list[Any]:
        """Return ids: a few with many rows each, and many with few."""
        people = max(self.rows // 3, 1)
        ends = np.cumsum(1 / np.arange(1, people + 1) ** 0.6)
        drawn = self._chances(table, "", "ids") * ends[-1]
        return [_id(int(person), facts.type) for person in np.searchsorted(ends, drawn)]

    def _values(self, table: str, name: str, facts: Column) -> list[Any]:
        """Return values, of those that are known to occur if any are."""
        drawn = self._chances(table, name, "values")
        known = self.values.get(name)
        if known is not None:
            return [known[int(chance * len(known))] for chance in drawn]
        return [_usual(name, facts.type, float(chance)) for chance in drawn]

    def _chances(self, *what: str) -> Floats:
        """Return a number of [0, 1) for each row, always the same ones."""
        words = repr((self.seed, what)).encode()
        bits = np.frombuffer(hashlib.shake_256(words).digest(8 * self.rows), np.uint64)
        chances: Floats = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return chances


def _usual(name: str, kind: str, chance: float) -> Any:
    """Return a value of a column, knowing only its name and type."""
    match kind:
        case "i64":
            return int(chance * (_MOST + 1))
        case "f64":
            return round(chance * _MOST, 2)
        case "bool":
            return chance < _HALF
        case "text":
            return f"{name} {int(chance * _NAMES) + 1}"
        case "date":
            return _FIRST_DAY + dt.timedelta(int(chance * _DAYS))
        case _:
            midnight = dt.datetime.combine(_FIRST_DAY, dt.time())
            return midnight + dt.timedelta(seconds=int(chance * _DAYS * 86_400))


def _id(number: int, kind: str) -> Any:
    match kind:
        case "i64":
            return number
        case "text":
            return f"person {number}"
        case _:
            return dt.date(1950, 1, 1) + dt.timedelta(number % 20_000)


def listed_values(
    values: Mapping[str, Any], columns: Mapping[str, Column]
) -> dict[str, list[Any]]:
    """Return the values that columns may hold, lists of their types; refuse the rest.

    >>> listed_values({"days": range(3)}, {"days": Column("i64")})
    {'days': [0, 1, 2]}
    """
    if not isinstance(values, Mapping):
        raise InvalidParameter(
            "values", values, "must be a dict of lists", 'Try {"ward": ["A", "B"]}.'
        )
    lists = {}
    for name, known in values.items():
        if name not in columns:
            raise unknown("column", name, columns)
        lists[name] = _cells_of(known, columns[name])
        if not lists[name]:
            raise InvalidParameter(
                f"values[{name!r}]",
                known,
                f"must be a list of at least one {columns[name].type} value",
                'Try ["A", "B"], or range(1, 31).',
            )
    return lists


def _cells_of(known: Any, facts: Column) -> list[Any]:
    """Return values of a column's type, none where some are not."""
    import pyarrow as pa  # noqa: PLC0415 slow to import

    if isinstance(known, (str, bytes, Mapping)):
        return []
    try:
        cells: list[Any] = pa.array(list(known), facts.arrow).to_pylist()
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return []
    return cells


USUAL: Final = ApproxDP(1, "1e-6")
_NEARLY_ALL: Final = "0.999999999"
_EXACT: Final = ApproxDP(10**9, "0.999")
_ENDLESS: Final = ApproxDP(10**12, _NEARLY_ALL)
"""Noise that this buys is zero, to every digit that is shown."""
_MOST_ROWS: Final = 10**6


@final
class Rehearsal:
    """Invented tables of the shape of private ones, and a session over them.

    Nothing in it was ever measured: it is for learning, for trying requests and for
    tests. Only here the exact answer can be seen beside the noisy one.

    >>> import sordino as sd
    >>> trial = sd.rehearsal({"visits": {"ward": "text", "days": "i64"}},
    ...                      protects=sd.AddOneRow())
    >>> query = sd.table("visits").agg(n=sd.count())
    >>> trial.exact(query)["n"].to_pylist()
    [1000]
    """

    def __init__(
        self,
        tables: "Mapping[str, PrivateTable | PublicTable]",
        views: Mapping[str, Query],
        budget: Budget | Limit,
    ) -> None:
        """Open a session over tables that were invented."""
        self._given, self._views = tables, views
        self.session: Final = self._open_session(budget)

    @property
    def tables(self) -> "dict[str, pa.Table]":
        """Return the invented tables, by name."""
        return {
            name: table.source
            for name, table in self._given.items()
            if isinstance(table, PrivateTable)
        }

    def exact(self, query: Request) -> "pa.Table":
        """Return the answer without noise, after the limits of the query.

        It is what a budget without end would buy; groups of one id may be left out
        where groups are not known.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            endless = self._open_session(_ENDLESS)
            return endless.release(query, _EXACT).table

    def __repr__(self) -> str:
        """Show the names of the tables."""
        names = ", ".join(f"{name} ({len(rows)})" for name, rows in self.tables.items())
        return f"Rehearsal(invented rows: {names})"

    def _open_session(self, budget: Budget | Limit) -> Session:
        session = Session(tables=self._given, budget=budget)
        for name, query in self._views.items():
            session.view(name, query)
        return session


@final
class TableShape(NamedTuple):
    """A private table as the public knows it."""

    name: str
    schema: Schema
    protects: AbstractUnit
    sampled: Fraction | None = None


@final
@dataclass(frozen=True)
class Stage:
    """What a rehearsal has to look like: all of it is public."""

    shapes: tuple[TableShape, ...]
    publics: "Mapping[str, pa.Table]"
    views: Mapping[str, Query]
    budget: Budget | Limit


def rehearsal(
    of: Session | Mapping[str, Mapping[str, Any]],
    *,
    protects: AbstractUnit | None = None,
    budget: Budget | Limit | None = None,
    rows: int = 1000,
    values: Mapping[str, Any] = MappingProxyType({}),
    seed: int = 1,
) -> Rehearsal:
    """Return invented tables of the shape of a session's, and a session over them.

    Instead of a session, `of` may be the columns of tables, and `protects` whom they
    protect. `values` says what columns hold: `{"ward": ["A", "B"], "days": range(30)}`.
    No private row is read.
    """
    number = arguments.integer(rows=rows, least=1, most=_MOST_ROWS)
    start = arguments.integer(seed=seed, least=0)
    if isinstance(of, Session):
        stage = _stage_of(of, protects, budget)
    else:
        stage = _declared_stage(of, protects, budget)
    columns = {
        name: facts
        for shape in stage.shapes
        for name, facts in shape.schema.columns
        if name != shape.protects.id_column
    }
    known = _public_values(stage.publics, columns) | listed_values(values, columns)
    inventor = Inventor(number, start, known)
    tables: dict[str, PrivateTable | PublicTable] = {
        shape.name: PrivateTable(
            inventor.table(shape.name, shape.schema, shape.protects.id_column),
            shape.protects,
            dict(shape.schema.columns),
            sampled=shape.sampled,
        )
        for shape in stage.shapes
    }
    tables |= {name: PublicTable(table) for name, table in stage.publics.items()}
    return Rehearsal(tables, stage.views, stage.budget)


def _public_values(
    publics: "Mapping[str, pa.Table]", columns: Mapping[str, Column]
) -> dict[str, list[Any]]:
    """Return the values of public columns, where a private one is named like them."""
    return {
        name: cells
        for table in publics.values()
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name in columns and columns[name].arrow == column.type
        if (cells := column.unique().drop_null().to_pylist())
    }


def _stage_of(
    session: Session, protects: AbstractUnit | None, budget: Budget | Limit | None
) -> Stage:
    if protects is not None:
        raise InvalidParameter(
            "protects",
            protects,
            "is said by the session",
            "Leave it out.",
        )
    desk = session._desk  # noqa: SLF001 of one room
    desk.refuse_strangers()
    catalog, book = desk.catalog, desk.book
    shapes = (
        TableShape(
            name, catalog.relations[name].schema, unit, catalog.sampled.get(name)
        )
        for name, unit in catalog.units.items()
    )
    if not catalog.units:
        raise InvalidParameter(
            "of",
            session,
            "is a part of a view",
            "Rehearse the session that it is a part of.",
        )
    publics = {name: catalog.engine.frozen_rows(name) for name in catalog.publics}
    limit = book.ledger.first_limit(book.name) if budget is None else budget
    return Stage(tuple(shapes), publics, catalog.views, limit)


def _declared_stage(
    of: Any, protects: AbstractUnit | None, budget: Budget | Limit | None
) -> Stage:
    if not isinstance(of, Mapping) or not of:
        raise InvalidParameter(
            "of",
            of,
            "must be a session, or a dict of the columns of tables",
            'Try {"visits": {"ward": "text", "days": "i64"}}.',
        )
    if not isinstance(protects, AbstractUnit):
        raise InvalidParameter(
            "protects",
            protects,
            "must be a protected unit",
            'Try protects=sd.AddRowsWithID("person") or sd.AddOneRow().',
        )
    shapes = tuple(
        TableShape(arguments.unicode_text(of=name), _declared_schema(columns), protects)
        for name, columns in of.items()
    )
    for shape in shapes:
        protects.contribution(shape.schema)  # refuses columns that hold no ids
    return Stage(shapes, {}, {}, USUAL if budget is None else budget)


def _declared_schema(columns: Any) -> Schema:
    """Return columns that were written down, which must be at least one."""
    if not columns:
        raise InvalidParameter(
            "of", columns, "must name the columns of each table", 'Try {"days": "i64"}.'
        )
    declared = read_columns(columns)
    canonical_text(list(declared))
    return Schema.of(declared.items())
