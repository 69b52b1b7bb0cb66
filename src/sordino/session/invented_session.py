"""A rehearsal: the same session over invented rows, where nothing private is touched.

public facts of a session ── invented rows ── a session of its own ── exact answers too
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino import _validate
from sordino.budgets.limits import Limit
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget
from sordino.losses.closed import ApproxDP
from sordino.query.builder import Query
from sordino.query.request import Request
from sordino.query.tables import PrivateTable, PublicTable
from sordino.schema import Column, Schema, read_columns
from sordino.session.invention import Inventor, listed_values
from sordino.session.session import Session
from sordino.units import AbstractUnit
from sordino.words import canonical_text

if TYPE_CHECKING:
    import pyarrow as pa

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
        """Return a new session over the invented tables."""
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
    number = _validate.integer(rows=rows, least=1, most=_MOST_ROWS)
    start = _validate.integer(seed=seed, least=0)
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
    """Return what a session looks like to everybody."""
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
        TableShape(name, catalog.relations[name].schema, unit)
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
    """Return what tables look like whose columns were written down."""
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
        TableShape(_validate.unicode_text(of=name), _declared_schema(columns), protects)
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
