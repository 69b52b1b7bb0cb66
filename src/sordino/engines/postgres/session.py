"""A server as a database: statements and rows; an engine of settings."""

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import starmap
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sordino.data.postgres_connection import ServerRefusal
from sordino.data.source import AbstractSource, is_list, kind_of
from sordino.engines.doors import Settings
from sordino.engines.postgres.dialect import NUL, POSTGRES
from sordino.engines.postgres.plans import other_plan, reads_whole, scanned_tables
from sordino.engines.postgres.server import (
    NO_PLACE,
    Server,
    bound_array,
    unnested_arrays,
)
from sordino.engines.postgres.tables import TableOfServer
from sordino.engines.statements.cached_rows import NoPlace
from sordino.engines.statements.database import AbstractDatabase, MomentPassed, Room
from sordino.engines.statements.engine import SQLEngine
from sordino.engines.statements.statements import KEPT, SOURCE, Handed, Statement
from sordino.engines.statements.totals import KEYS
from sordino.errors import EngineUnavailable
from sordino.expressions.schema import Schema
from sordino.noise.sampling.bits import Bits

_SIGN: Final = 2**63
_BATCH: Final = 10_000
_PREPARES: Final = "SET temp_buffers TO '128MB'; SET vacuum_cost_delay TO 0"
"""What holds for a connection that keeps rows: how many lie in memory, and no rests."""
_KEPT: Final = {
    "i64": "int8",
    "f64": "float8",
    "text": "text",
    "bool": "bool",
    "date": "date",
    "time": "timestamp",
}


@final
class Postgres(AbstractDatabase):
    """The server of the first table that lies in one."""

    dialect = POSTGRES
    remote = True

    def __init__(self, server: Server | None = None) -> None:
        self._server = server
        self._handed: dict[str, pa.Table] = {}
        self._kept: dict[str, str] = {}  # where rows are that are kept
        self._kept_by = 0  # the connection that sees them
        self._filled: set[str] = set()  # where this transaction has kept rows

    def admit(self, source: AbstractSource) -> None:
        match source:
            case TableOfServer():
                self._join(source)
            case _:
                pass

    def _join(self, source: TableOfServer) -> None:
        self._server = self._server or source.server
        if not self._server.is_at(source.server):
            # a transaction sees one moment of one database
            raise EngineUnavailable(
                "the tables of one session must lie in one database: give the same "
                "address with each of them",
                lasts=True,
            )
        source.server = self._server  # its locks are then those of each question

    def connect(self) -> None:
        self._known.connect()

    @contextmanager
    def question_context(self) -> Generator[None]:
        with self._known.transaction():
            # here: to begin may have made a new connection, without the tables
            if self._kept and not self._has_kept:
                self._kept.clear()
                raise MomentPassed("rows that were kept went with their connection")
            yield
        self._settle()

    def _settle(self) -> None:
        # VACUUM notes on each page that all may see its rows: they are read faster. It
        # runs in no transaction; what keeps a server from it keeps it from no answer
        while self._filled:
            with suppress(ServerRefusal):
                self._known.command(f"VACUUM {self._filled.pop()}")

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        # no text of this server has U+0000, so a key with it can be no key of its rows
        table = rows if isinstance(rows, pa.Table) else rows.read_all()
        self._handed[name] = _without_nul(table) if name == KEYS else table

    def forget(self) -> None:
        self._handed.clear()
        self._filled.clear()

    def begin_kept(self, name: str, schema: Schema, widths: tuple[int, ...]) -> bool:
        del widths  # there are none: the dialect has no narrow types
        # a name that nobody knows beforehand; none behind a pool, where others would
        # see it and it would outlast the session
        self.destroy(name)
        with self._known.transaction():
            pass  # so a connection that was lost is made anew
        place = f"pg_temp.sordino_{Bits().word(8):016x}"
        columns = ", ".join(
            f"c{n} {_kept_type(column.type)}"
            for n, (_, column) in enumerate(schema.columns)
        )
        if self._known.is_pooled:
            return False
        if not self._has_kept:  # before the first such table of a connection
            self._known.command(_PREPARES)
            self._kept_by = self._known.life
            self._kept.clear()
        try:
            self._known.command(f"CREATE TEMPORARY TABLE {place} ({columns})")
        except ServerRefusal as refusal:
            if refusal.code not in NO_PLACE:
                raise
            return False
        self._kept[name] = place
        return True

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        # a read-only transaction may write to temporary tables
        place = self._kept[name]
        text, values = self._plan(statement, salt, f"INSERT INTO {place} SELECT q.*")
        self._known.change(text, values)
        self._filled.add(place)

    def destroy(self, name: str) -> None:
        # a table ends with the connection that made it
        place = self._kept.pop(name, None)
        if place is not None and self._has_kept:
            try:
                self._known.command(f"DROP TABLE IF EXISTS {place}")
            except ServerRefusal:
                if self._has_kept:
                    raise

    def abandon(self) -> bool:
        # what is kept goes with its connection alone
        self.forget()
        return self._has_kept

    @property
    def _has_kept(self) -> bool:
        return self._known.life == self._kept_by

    def table(self, statement: Statement, salt: int) -> pa.Table:
        # one row comes back, of an array for each column; but an array of arrays would
        # have one length for all, so rows with lists come one by one
        if any(map(is_list, statement.kinds)):
            return self.batches(statement, salt).read_all()
        names = [f"a{place}" for place in range(len(statement.kinds))]
        arrays = ", ".join(f"array_agg({column})" for column in _leaving(statement))
        text, bound = self._plan(statement, salt, f"SELECT {arrays}")
        (row,) = self._known.rows(text, bound)
        columns = [
            pa.array(values or [], kind)  # array_agg of no rows is null
            for values, kind in zip(row, statement.kinds, strict=True)
        ]
        return pa.Table.from_arrays(columns, names=names)

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        names = [f"a{place}" for place in range(len(statement.kinds))]
        form = pa.schema(list(zip(names, statement.kinds, strict=True)))
        text, values = self._plan(
            statement, salt, f"SELECT {', '.join(_leaving(statement))}"
        )

        def produced() -> Iterator[pa.RecordBatch]:
            for rows in self._known.stream(text, _BATCH, values):
                columns = zip(zip(*rows, strict=True), statement.kinds, strict=True)
                arrays = list(starmap(pa.array, columns))
                yield pa.RecordBatch.from_arrays(arrays, schema=form)

        return pa.RecordBatchReader.from_batches(form, produced())

    def is_short(self, error: Exception) -> bool:
        # the server spills by itself
        del error
        return False

    def is_stuck(self, error: Exception) -> bool:
        # no cell of a database in UTF-8 can stop it
        del error
        return False

    def close(self) -> None:
        self.forget()
        if self._server is not None:
            self._server.close()

    @property
    def _known(self) -> Server:
        if self._server is None:
            raise EngineUnavailable(
                'no table of this session lies in a PostgreSQL server: engine="duckdb" '
                "asks files and tables in memory",
                lasts=True,
            )
        return self._server

    def refuse_other_plan(self, statement: Statement, salt: int) -> None:
        planned = statement.empty_copy(_is_of_server)
        for part in filter(_is_of_server, planned.handed):
            part.source.check()
        self._plan(planned, salt, "SELECT q.*")

    def _plan(
        self, statement: Statement, salt: int, select: str
    ) -> tuple[str, list[Any]]:
        """Write a statement whose plan reads each table as a whole, with its values.

        A fence, behind which nothing is known of rows, stands before tables that a plan
        leaves out: with it, they can be left out only because nothing is asked of them.
        """
        written = self._whole(statement, salt, select)
        tables = [
            (part.source, part.source.scans(part.places))
            for part in statement.handed
            if isinstance(part.source, TableOfServer)
        ]
        if not tables:
            return written
        expected = [scans for _, scans in tables]
        # what was declared since a table was opened is not hidden by the text
        hidden = all(table.is_hidden for table, _ in tables)
        if hidden and self._scan_counts(*written) == sum(expected, Counter()):
            return written
        fenced = self._whole(_with_fences(statement), salt, select)
        if reads_whole(self._scan_counts(*fenced), expected):
            return fenced
        raise other_plan()

    def _scan_counts(self, text: str, values: list[Any]) -> Counter[str]:
        ours = {place.rpartition(".")[2] for place in self._kept.values()}
        scanned = scanned_tables(self._known, text, values)
        return Counter({name: n for name, n in scanned.items() if name not in ours})

    def _whole(
        self, statement: Statement, salt: int, select: str
    ) -> tuple[str, list[Any]]:
        reads_kept = any(
            leaf.table == KEPT and leaf.in_place for leaf in statement.handed
        )
        if reads_kept and not self._has_kept:
            raise NoPlace  # they went with their connection
        values = statement.parameters(salt - _SIGN)
        parts = [
            f"{name} AS NOT MATERIALIZED (SELECT * FROM {place})"  # noqa: S608 ours
            for name, place in self._kept.items()
            if self._has_kept
        ]
        for name, table in self._handed.items():
            rows = unnested_arrays(table, len(values) + 1)
            parts.append(f"{name} AS MATERIALIZED ({rows.sql('postgres')})")
            values += [bound_array(leaf.combine_chunks()) for leaf in table.columns]
        handed = f"WITH {', '.join(parts)} " if parts else ""
        return f"{handed}{select} FROM ({statement.text}) AS q", values


def _is_of_server(part: Handed) -> bool:
    return isinstance(part.source, TableOfServer)


def _with_fences(statement: Statement) -> Statement:
    tree = statement.tree.copy()
    for node in tree.find_all(exp.Subquery):
        if SOURCE in node.meta:
            node.set("this", node.this.offset(0))  # OFFSET stops planning across it
    return Statement.of(
        statement.dialect, statement.kinds, tree, statement.values, statement.handed
    )


def _kept_type(kind: str) -> str:
    """Return the type of a column that is kept, by its full name.

    It is named before our settings hold.

    >>> _kept_type("i64"), _kept_type("list[text]")
    ('pg_catalog.int8', 'pg_catalog.text[] COLLATE pg_catalog."C"')
    """
    plain = kind.removeprefix("list[").removesuffix("]")
    brackets = "" if plain == kind else "[]"
    collation = ' COLLATE pg_catalog."C"' if plain == "text" else ""
    return f"pg_catalog.{_KEPT[plain]}{brackets}{collation}"


def _leaving(statement: Statement) -> list[str]:
    # until they leave a zero may have a sign: comparisons, groups and hashes do not see
    # it
    return [
        f"q.a{place} + 0::float8" if pa.types.is_floating(kind) else f"q.a{place}"
        for place, kind in enumerate(statement.kinds)
    ]


def _without_nul(table: pa.Table) -> pa.Table:
    for name in table.column_names:
        if kind_of(table.schema.field(name).type) == "text":
            odd = pc.fill_null(pc.match_substring(table[name], NUL), False)
            table = table.filter(pc.invert(odd))
    return table


def postgres_of_settings(settings: Settings) -> SQLEngine:
    """Return an engine for the server in which the tables lie.

    Its memory and its threads are the server's own matter.
    """
    del settings
    return SQLEngine(Postgres(), Room())


def postgres_engine(
    address: str, *, salt: int | None = None, parts: tuple[int, ...] = (1,)
) -> SQLEngine:
    """Return an engine for a server, also for tables that are handed to it."""
    return SQLEngine(Postgres(Server(address)), Room(), salt=salt, parts=parts)
