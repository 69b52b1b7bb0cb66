"""A connection to a server, in which no setting of others has a say.

    BEGIN, read-only, at one moment -> our settings -> statements -> COMMIT or ROLLBACK

All that decides about the meaning of a statement is set anew in each transaction, for
that transaction alone (docs/adr/0125): so nothing of it lasts in a pooled connection,
and nothing that a role, a database or a pool has set comes through.
"""

import itertools
import os
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, final

import psycopg
from psycopg import RawCursor, RawServerCursor
from psycopg.conninfo import conninfo_to_dict

from sordino.engines.postgres.bound_arrays import BoundArray, BoundArrayDumper
from sordino.engines.postgres.refusals import (
    ServerRefusal,
    in_our_words,
    told_of_connecting,
)
from sordino.errors import EngineUnavailable

Row = tuple[Any, ...]
_OLDEST: Final = 140_000
_PATIENCE: Final = 10
_SETTINGS: Final = {
    "search_path": "pg_catalog, pg_temp",
    "row_security": "off",
    "standard_conforming_strings": "on",
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "lc_numeric": "'C'",
    "lc_time": "'C'",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "client_min_messages": "error",
    "log_parameter_max_length_on_error": "0",
    "debug_print_parse": "off",
    "debug_print_rewritten": "off",
    "debug_print_plan": "off",
}
"""For each transaction: what names mean, how literals are read, what is logged."""
PINS: Final = {
    "constraint_exclusion": "off",
    "enable_partition_pruning": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "enable_tidscan": "off",
    "enable_seqscan": "on",
    "cursor_tuple_fraction": "1",
}
"""For statements that read rows: tables are read from their first row to their last."""
_BEGIN: Final = "; ".join([
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY NOT DEFERRABLE",
    *(f"SET LOCAL {name} TO {value}" for name, value in _SETTINGS.items()),
])
_PIN: Final = "; ".join(f"SET LOCAL {name} TO {value}" for name, value in PINS.items())
_UNPIN: Final = "; ".join(f"SET LOCAL {name} TO DEFAULT" for name in PINS)


@final
class Server:
    """A database of a server, reached when it is asked, by one connection."""

    def __init__(self, address: str) -> None:
        """Keep the address, refusing one that is none."""
        self._address = address
        self._parts = _read_address(address)
        self._cursors = itertools.count()
        self._lives = 0
        self._connection: psycopg.Connection[Row] | None = None
        self._end: weakref.finalize[..., Any] | None = None
        self._begun = False
        self._pinned = False

    def is_at(self, other: "Server") -> bool:
        """Tell whether another has the same address."""
        return self._parts == other._parts  # noqa: SLF001 another of the same

    def connect(self) -> None:
        """Be there, or tell why not."""
        if self._connection is not None and not self._connection.closed:
            return
        self.close()
        connection = _connected(self._parts)
        self._connection, self._lives = connection, self._lives + 1
        self._end = weakref.finalize(self, _closed, connection, os.getpid())

    @property
    def life(self) -> int:
        """Return which connection there is, by its number; 0 for none."""
        there = self._connection is not None and not self._connection.closed
        return self._lives if there else 0

    @property
    def is_pooled(self) -> bool:
        """Tell whether a pool stands before the server: it shares its processes."""
        own = self._there.info.backend_pid
        return self.rows("SELECT pg_catalog.pg_backend_pid()") != [(own,)]

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Run what follows at one moment, under our settings and without writing.

        Within a transaction it is a part of that.
        """
        if self._begun:
            yield
            return
        self._begin()
        self._begun = True
        try:
            yield
        except BaseException:
            self._give_up()
            raise
        finally:
            self._begun = False
        self.command("COMMIT")

    def _begin(self) -> None:
        """Begin, over a new connection where one was lost between questions."""
        self.connect()
        self._pinned = False
        try:
            self.command(_BEGIN)
        except ServerRefusal:
            if self.life:
                raise
        else:
            return
        # Outside of the handler: inside, it would be the context of what is told.
        self.connect()
        self.command(_BEGIN)

    def begin_anew(self) -> None:
        """Give the transaction another moment; what it saw and held is let go."""
        self.command(f"ROLLBACK; {_BEGIN}")
        self._pinned = False

    def pin(self, *, pinned: bool = True) -> None:
        """Have what follows in this transaction read tables as a whole, or as usual."""
        if pinned is not self._pinned:
            self.command(_PIN if pinned else _UNPIN)
            self._pinned = pinned

    def catalogue_rows(self, text: str, values: Sequence[Any]) -> list[Row]:
        """Return rows of the catalogue, which is large and read by its indexes."""
        self.pin(pinned=False)
        return self.rows(text, values)

    def rows(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a statement, in the binary form of each value."""

        def asked() -> list[Row]:
            with RawCursor(self._there) as cursor:
                return cursor.execute(text, values, binary=True).fetchall()

        return in_our_words(asked, "it cannot compute this")

    def change(self, text: str, values: Sequence[Any]) -> None:
        """Run a statement that writes where this transaction may."""

        def asked() -> None:
            with RawCursor(self._there) as cursor:
                cursor.execute(text, values)

        in_our_words(asked, "it cannot compute this")

    def stream(
        self, text: str, count: int, values: Sequence[Any] = ()
    ) -> Iterator[list[Row]]:
        """Yield the rows of a statement in this transaction, so many at once."""
        name = f"sordino_{next(self._cursors)}"
        with RawServerCursor(self._there, name) as cursor:
            in_our_words(
                lambda: cursor.execute(text, values, binary=True),
                "it cannot compute this",
            )
            while rows := in_our_words(lambda: cursor.fetchmany(count), "it failed"):
                yield rows

    def another(self) -> "Server":
        """Return a further connection to the same address."""
        return Server(self._address)

    def command(self, text: str) -> None:
        """Run what has no rows."""
        in_our_words(lambda: self._there.execute(text.encode()), "it refuses this")

    def close(self) -> None:
        """Let go of the connection."""
        if self._end is not None:
            self._end()
        self._connection = None

    @property
    def _there(self) -> psycopg.Connection[Row]:
        if self._connection is None:
            raise ServerRefusal("the connection was lost")
        return self._connection

    def _give_up(self) -> None:
        """End a transaction that failed; a connection that cannot is given up."""
        try:
            self.command("ROLLBACK")
        except ServerRefusal:
            self.close()


def _read_address(address: str) -> dict[str, Any]:
    """Return an address in its parts, refusing one that is none, and not showing it."""
    try:
        return dict(conninfo_to_dict(address))
    except psycopg.Error:
        pass
    raise EngineUnavailable(
        "this is no address of a PostgreSQL server: write "
        "postgresql://role@host:5432/database (it is not shown, for it may hold a "
        "password)",
        lasts=True,
    )


def _connected(address: dict[str, Any]) -> psycopg.Connection[Row]:
    """Return a connection to a server that can be asked, or tell why there is none."""
    asked_for = {"connect_timeout": _PATIENCE, "application_name": "sordino", **address}
    settings = {**asked_for, "client_encoding": "UTF8"}
    try:
        connection = psycopg.connect(
            **settings, autocommit=True, prepare_threshold=None
        )
    except psycopg.Error as error:
        problem, lasts = told_of_connecting(error)
    else:
        connection.adapters.register_dumper(BoundArray, BoundArrayDumper)
        problem, lasts = _problem_of(connection), True
        if not problem:
            return connection
        connection.close()
    raise EngineUnavailable(
        f"the PostgreSQL server cannot be asked: {problem}", lasts=lasts
    )


def _problem_of(connection: psycopg.Connection[Row]) -> str:
    """Return why a server cannot be asked, nothing if it can."""
    status = connection.info.parameter_status
    if connection.info.server_version < _OLDEST:
        return "it is older than PostgreSQL 14"
    if status("server_encoding") != "UTF8":
        return f"its database is encoded in {status('server_encoding')}, not in UTF8"
    return ""


def _closed(connection: psycopg.Connection[Row], owner: int) -> None:
    """Close a connection, unless this is a forked child: it is the parent's."""
    if os.getpid() == owner:
        connection.close()
