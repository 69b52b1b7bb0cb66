"""A connection to a server, in which no setting of others has a say.

    BEGIN, read-only, at one moment -> our settings -> statements -> COMMIT or ROLLBACK

All that decides about the meaning of a statement is set anew in each transaction, for
that transaction alone (docs/adr/0125): so nothing of it lasts in a pooled connection,
and nothing that a role, a database or a pool has set comes through.

Rows travel to the server as one array for each column, bound in PostgreSQL's binary
form: nothing is written there, so that no right is needed to hand over keys.
"""

import itertools
import os
import struct
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import psycopg
import pyarrow as pa
from psycopg import RawCursor, RawServerCursor
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlglot import exp

from sordino.data.postgres_connection import (
    ServerRefusal,
    Unreachable,
    connect_to_server,
    in_our_words,
    read_address,
)
from sordino.data.source import is_list
from sordino.engines.postgres.entries import by_code_point
from sordino.engines.statements import templates
from sordino.engines.statements.templates import Sql, sql_type
from sordino.errors import EngineUnavailable

_DAY_2000: Final = 10_957  # PostgreSQL counts from 2000 on, Arrow from 1970
_MOMENT_2000: Final = _DAY_2000 * 86_400 * 10**6
_HEADER: Final = struct.Struct(">iiIii")


@final
@dataclass(frozen=True)
class BoundArray:
    """A column in the binary form of an array."""

    data: bytes


@final
class BoundArrayDumper(Dumper):
    """Hands over what is in its form already; its type stands in the statement."""

    format = Format.BINARY

    def dump(self, obj: BoundArray) -> bytes:
        """Return the form."""
        return obj.data


@final
@dataclass(frozen=True)
class _Element:
    """How values of a type travel."""

    number: int  # of the type in PostgreSQL
    written: str
    packed: Callable[[pa.Array], tuple[bytes, Any]]
    """values that are there -> (all of their bytes, the length of each)"""
    read: Callable[[Sql], Sql] = lambda value: value


def _fixed(form: str, shift: int = 0) -> Callable[[pa.Array], tuple[bytes, Any]]:
    width = np.dtype(form).itemsize

    def packed(array: pa.Array) -> tuple[bytes, Any]:
        values = np.asarray(array) - shift if shift else np.asarray(array)
        return values.astype(form).tobytes(), np.full(len(array), width)

    return packed


def _texts(array: pa.Array) -> tuple[bytes, Any]:
    encoded = [text.encode() for text in array.to_pylist()]
    return b"".join(encoded), np.array([len(text) for text in encoded], np.int64)


def _decimals(array: pa.Array) -> tuple[bytes, Any]:
    return _texts(array.cast(pa.string()))


def _ticks(array: pa.Array) -> tuple[bytes, Any]:
    return _fixed(">i8", _MOMENT_2000)(array.cast(pa.int64()))


def _days(array: pa.Array) -> tuple[bytes, Any]:
    return _fixed(">i4", _DAY_2000)(array.cast(pa.int32()))


def _literals(array: pa.Array) -> tuple[bytes, Any]:
    return _texts(pa.array([_literal(entries) for entries in array.to_pylist()]))


def _literal(entries: list[Any]) -> str:
    """Return a list as PostgreSQL writes an array, each entry in quotes.

    >>> _literal([1, None, -0.0, float("inf")]), _literal(["a", ""])
    ('{"1",NULL,"0.0","inf"}', '{"a",""}')
    """
    return f"{{{','.join(map(_entry, entries))}}}"


def _entry(value: Any) -> str:
    if value is None:
        return "NULL"
    # -0.0 + 0.0 is 0.0: a zero has no sign
    plain = repr(value + 0.0) if isinstance(value, float) else str(value)
    escaped = plain.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


_ELEMENTS: Final[Mapping[pa.DataType, _Element]] = {
    pa.int64(): _Element(20, "BIGINT", _fixed(">i8")),
    pa.float64(): _Element(701, "DOUBLE PRECISION", _fixed(">f8")),
    pa.string(): _Element(25, "TEXT", _texts, by_code_point),
    pa.large_string(): _Element(25, "TEXT", _texts, by_code_point),
    pa.bool_(): _Element(16, "BOOLEAN", _fixed(">u1")),
    pa.date32(): _Element(1082, "DATE", _days),
    pa.timestamp("us"): _Element(1114, "TIMESTAMP", _ticks),
    pa.decimal128(38, 0): _Element(
        25, "TEXT", _decimals, lambda value: templates.as_type(value, "DECIMAL")
    ),
}


def _element_of(arrow: pa.DataType) -> _Element:
    # lists travel as literals: an array of arrays has one length for all
    if not is_list(arrow):
        return _ELEMENTS[arrow]
    entry = _ELEMENTS[arrow.value_type]
    listed = f"{entry.written}[]"

    def read(value: Sql) -> Sql:
        return templates.as_type(value, listed)

    if entry.read is by_code_point:
        return _Element(25, "TEXT", _literals, lambda value: by_code_point(read(value)))
    return _Element(25, "TEXT", _literals, read)


def bound_array(column: pa.Array) -> BoundArray:
    """Return a column in the form of an array.

    >>> bound_array(pa.array([1, None])).data[20:].hex(" ", -4)
    '00000008 00000000 00000001 ffffffff'
    """
    element = _element_of(column.type)
    there = np.asarray(column.is_valid(), bool)
    data, lengths = element.packed(column.drop_null())
    sizes = np.zeros(len(column), np.int64)
    sizes[there] = lengths
    ends = np.cumsum(sizes + 4)
    entries = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    lengths_told = np.where(there, sizes, -1).astype(">i4")
    heads = (ends - sizes - 4)[:, None] + np.arange(4)
    entries[heads] = lengths_told.view(np.uint8).reshape(-1, 4)
    rows = np.repeat(np.arange(1, len(column) + 1), sizes)
    entries[np.arange(len(data)) + 4 * rows] = np.frombuffer(data, np.uint8)
    dimensions = (1, len(column), 1) if len(column) else (0,)
    head = struct.pack(
        f">iiI{len(dimensions) - 1}i", dimensions[0], 1, element.number, *dimensions[1:]
    )
    return BoundArray(head + entries.tobytes())


def unnested_arrays(table: pa.Table, first: int) -> exp.Select:
    """Return the rows of arrays that are bound from a place on, c0, c1, ... as ours."""
    elements = [_element_of(field.type) for field in table.schema]
    arrays = [
        exp.Cast(
            this=exp.Parameter(this=exp.Literal.number(place)),
            to=sql_type(f"{element.written}[]", "postgres"),
        )
        for place, element in enumerate(elements, first)
    ]
    names = [exp.to_identifier(f"v{place}") for place in range(len(elements))]
    alias = exp.TableAlias(this=exp.to_identifier("u"), columns=names)
    rows = exp.Table(this=templates.function("unnest", *arrays), alias=alias)
    columns = [
        exp.Alias(
            this=element.read(exp.column(name.copy(), table="u")),
            alias=exp.to_identifier(known_as),
        )
        for element, name, known_as in zip(
            elements, names, table.column_names, strict=True
        )
    ]
    return exp.Select().select(*columns).from_(rows)


NO_PLACE: Final = frozenset({"42501", "25006", "0A000"})
"""Codes for what a role, a replica or a server of another kind may not make."""
Row = tuple[Any, ...]
_SETTINGS: Final = {
    "search_path": "pg_catalog, pg_temp",  # no function or type of others is meant
    "row_security": "off",  # a row that a policy hides is a refusal, not a silent gap
    "standard_conforming_strings": "on",  # a backslash in a literal is one
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "lc_numeric": "'C'",
    "lc_time": "'C'",
    "transform_null_equals": "off",  # on, x = NULL would be x IS NULL
    "array_nulls": "on",
    "plan_cache_mode": "force_custom_plan",  # each is made for what runs
    "jit": "off",
    "client_min_messages": "error",  # a notice may quote a cell
    "log_parameter_max_length_on_error": "0",  # the key is one of the bound values
    "debug_print_parse": "off",
    "debug_print_rewritten": "off",
    "debug_print_plan": "off",
}
"""For each transaction: what names mean, how literals are read, what is logged."""
PINS: Final = {
    # a CHECK and the bounds of a partition may be false (docs/adr/0231)
    "constraint_exclusion": "off",
    "enable_partition_pruning": "off",
    # an index may miss rows
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "enable_tidscan": "off",
    "enable_seqscan": "on",  # a role may have it off, and would read by an index
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
        self._address = address
        self._parts = _parts_of(address)
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
        connection = _open_connection(self._parts)
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
        except BaseException:  # an interruption, too, must not leave it open
            self._give_up()
            raise
        finally:
            self._begun = False
        self.command("COMMIT")

    def _begin(self) -> None:
        # a connection may be lost between questions
        self.connect()
        self._pinned = False
        try:
            self.command(_BEGIN)
        except ServerRefusal:
            if self.life:  # it is there: what it refuses it would refuse again
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
        """Yield the rows of a statement in this transaction, in batches of `count`."""
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
        # a connection that cannot end it is given up
        try:
            self.command("ROLLBACK")
        except ServerRefusal:
            self.close()


def _parts_of(address: str) -> dict[str, Any]:
    try:
        return read_address(address)
    except Unreachable as refusal:
        problem = str(refusal)
    raise EngineUnavailable(problem, lasts=True)


def _open_connection(parts: Mapping[str, Any]) -> psycopg.Connection[Row]:
    try:
        connection = connect_to_server(parts)
    except Unreachable as refusal:
        problem, lasts = str(refusal), refusal.lasts
    else:
        connection.adapters.register_dumper(BoundArray, BoundArrayDumper)
        return connection
    raise EngineUnavailable(
        f"the PostgreSQL server cannot be asked: {problem}", lasts=lasts
    )


def _closed(connection: psycopg.Connection[Row], owner: int) -> None:
    # in a forked child it is the connection of the parent
    if os.getpid() == owner:
        connection.close()
