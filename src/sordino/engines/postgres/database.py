"""A PostgreSQL server as a database: statements and rows on their way."""

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import starmap
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc

from sordino.engines.postgres.bound_arrays import bound_array, unnested_arrays
from sordino.engines.postgres.dialect import NUL, POSTGRES
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.server_tables import TableOfServer
from sordino.engines.sql.database import AbstractDatabase
from sordino.engines.sql.group_totals import KEYS
from sordino.engines.sql.statements import Statement
from sordino.errors import EngineFailure, EngineUnavailable
from sordino.schema import Schema
from sordino.sources.arrow_kinds import kind_of
from sordino.sources.base import AbstractSource

_SIGN: Final = 2**63
_BATCH: Final = 10_000


@final
class Postgres(AbstractDatabase):
    """The server of the first table that lies in one."""

    dialect = POSTGRES
    remote = True

    def __init__(self, server: Server | None = None) -> None:
        """Wait for a table that lies in a server, unless it is told which."""
        self._server = server
        self._handed: dict[str, pa.Table] = {}
        self._held: set[tuple[int, tuple[int, ...]]] = set()

    def admit(self, source: AbstractSource) -> None:
        """Ask the server of a table; all tables of a session lie in the same."""
        match source:
            case TableOfServer():
                self._join(source)
            case _:
                pass

    def _join(self, source: TableOfServer) -> None:
        self._server = self._server or source.server
        if not self._server.is_at(source.server):
            raise EngineUnavailable(
                "the tables of one session must lie in one database: give the same "
                "address with each of them"
            )
        source.server = self._server

    def connect(self) -> None:
        """Reach the server, if there is a connection no more."""
        self._known.connect()

    def asking(self) -> AbstractContextManager[object]:
        """Return a transaction that sees the rows of one moment and writes nothing."""
        return self._asking()

    @contextmanager
    def _asking(self) -> Generator[None]:
        self._held.clear()
        with self._known.transaction():
            yield

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Keep rows, which travel with each statement that reads them.

        A key with U+0000 is no key of this server: no text of it has that.
        """
        table = rows if isinstance(rows, pa.Table) else rows.read_all()
        self._handed[name] = _without_nul(table) if name == KEYS else table

    def forget(self) -> None:
        """Drop what was handed over."""
        self._handed.clear()

    def begin_kept(self, name: str, schema: Schema) -> bool:
        """Return False: nothing is written to a server."""
        del name, schema
        return False

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        """Refuse: there is no place for rows."""
        del name, statement, salt
        raise EngineFailure

    def destroy(self, name: str) -> None:
        """Do nothing: no rows are kept."""
        del name

    def abandon(self) -> bool:
        """Drop what was handed over."""
        self.forget()
        return True

    def table(self, statement: Statement, salt: int) -> pa.Table:
        """Return the rows of a statement: one row comes back, of an array for each."""
        names = [f"a{place}" for place in range(len(statement.kinds))]
        arrays = ", ".join(f"array_agg(q.{name})" for name in names)
        text, values = self._whole(statement, salt, f"SELECT {arrays}")
        (row,) = self._known.rows(text, values)
        columns = [
            pa.array(one or [], kind)
            for one, kind in zip(row, statement.kinds, strict=True)
        ]
        return pa.Table.from_arrays(columns, names=names)

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        """Return the rows of a statement, read as they are asked for."""
        names = [f"a{place}" for place in range(len(statement.kinds))]
        form = pa.schema(list(zip(names, statement.kinds, strict=True)))
        text, values = self._whole(statement, salt, "SELECT q.*")

        def made() -> Iterator[pa.RecordBatch]:
            for rows in self._known.streamed(text, _BATCH, values):
                columns = zip(zip(*rows, strict=True), statement.kinds, strict=True)
                arrays = list(starmap(pa.array, columns))
                yield pa.RecordBatch.from_arrays(arrays, schema=form)

        return pa.RecordBatchReader.from_batches(form, made())

    def is_short(self, error: Exception) -> bool:
        """Return False: the server spills by itself."""
        del error
        return False

    def is_stuck(self, error: Exception) -> bool:
        """Return False: no cell of a server in UTF-8 can stop it."""
        del error
        return False

    def close(self) -> None:
        """Let go of the connection."""
        self.forget()
        if self._server is not None:
            self._server.close()

    @property
    def _known(self) -> Server:
        if self._server is None:
            raise EngineUnavailable(
                'no table of this session lies in a PostgreSQL server: engine="duckdb" '
                "asks files and tables in memory"
            )
        return self._server

    def _whole(
        self, statement: Statement, salt: int, select: str
    ) -> tuple[str, list[Any]]:
        """Return a statement with what is handed to it, and all bound values."""
        values = statement.bound(salt - _SIGN)
        parts = []
        for one in statement.handed:
            if one.in_place:
                self._hold(one.source, one.places)
        for name, table in self._handed.items():
            rows = unnested_arrays(table, len(values) + 1)
            parts.append(f"{name} AS MATERIALIZED ({rows.sql('postgres')})")
            values += [bound_array(one.combine_chunks()) for one in table.columns]
        given = f"WITH {', '.join(parts)} " if parts else ""
        return f"{given}{select} FROM ({statement.text}) AS q", values

    def _hold(self, source: AbstractSource, places: tuple[int, ...]) -> None:
        """Lock a table for this transaction, once."""
        known = (id(source), places)
        match source:
            case TableOfServer() if known not in self._held:
                source.hold(places)
                self._held.add(known)
            case _:
                pass


def _without_nul(table: pa.Table) -> pa.Table:
    """Return the rows without U+0000 in a text."""
    for name in table.column_names:
        if kind_of(table.schema.field(name).type) == "text":
            odd = pc.fill_null(pc.match_substring(table[name], NUL), False)
            table = table.filter(pc.invert(odd))
    return table
