"""A SQLite database in memory."""

import datetime as dt
import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Final, final

import pyarrow as pa

from sordino.aggregations.measurement import MOST
from sordino.data.source import AbstractSource, values_of
from sordino.engines.statements.cached_rows import columns_text
from sordino.engines.statements.database import AbstractDatabase
from sordino.engines.statements.statements import Statement
from sordino.expressions.schema import Schema
from tests.sqlite_engine.dialect import SQLITE

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def keyed_digest(salt: int, *values: Any) -> int:
    """Return 63 bits of a keyed hash of what SQLite holds."""
    key = salt.to_bytes(8, "little")
    told = hashlib.blake2b(repr(values).encode(), key=key, digest_size=8).digest()
    return int.from_bytes(told, "little") >> 1


class _WideSum:
    """The exact sum of factor * value + shift, as text."""

    def __init__(self) -> None:
        self._total = 0

    def step(self, value: Any, factor: str, shift: str) -> None:
        """Add a value; null adds nothing."""
        if value is not None:
            self._total += int(factor) * int(value) + int(shift)

    def finalize(self) -> str:
        """Return the sum."""
        return str(self._total)


def _held(total: Any) -> int:
    return max(-MOST, min(MOST, int(total)))


def _row_text(*values: Any) -> str | None:
    return None if None in values else repr(values)


@final
class SQLite(AbstractDatabase):
    """A database of the standard library's."""

    dialect = SQLITE

    def __init__(self) -> None:
        """Be in memory."""
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._handed: set[str] = set()
        for name, work in (("held", _held), ("row_text", _row_text)):
            self._connection.create_function(name, -1, work, deterministic=True)
        self._connection.create_function("digest", -1, keyed_digest, deterministic=True)
        self._connection.create_aggregate("wide_sum", 3, _WideSum)  # type: ignore[arg-type]

    def admit(self, source: AbstractSource) -> None:
        """Take any source."""
        del source

    def connect(self) -> None:
        """Be there already."""

    def question_context(self) -> nullcontext[None]:
        """Return nothing to stand in: nobody else writes to what is handed over."""
        return nullcontext()

    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Make a temporary table."""
        table = rows if isinstance(rows, pa.Table) else rows.read_all()
        columns = ", ".join(f'"{one}"' for one in table.column_names)
        places = ", ".join("?" for _ in table.column_names)
        self._connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        self._connection.execute(f'CREATE TEMP TABLE "{name}" ({columns})')
        self._handed.add(name)
        lists = [
            map(to_sqlite, values_of(one.combine_chunks())) for one in table.columns
        ]
        made = zip(*lists, strict=True)
        self._connection.executemany(f'INSERT INTO "{name}" VALUES ({places})', made)  # noqa: S608 names of ours

    def forget(self) -> None:
        """Drop the temporary tables."""
        while self._handed:
            self._connection.execute(f'DROP TABLE "{self._handed.pop()}"')

    def begin_kept(self, name: str, schema: Schema, widths: tuple[int, ...]) -> bool:
        """Make a temporary table."""
        self.destroy(name)
        columns = columns_text(self.dialect, schema, widths)
        self._connection.execute(f"CREATE TEMP TABLE {name} ({columns})")
        return True

    def keep(self, name: str, statement: Statement, salt: int) -> None:
        """Insert the rows."""
        text = f"INSERT INTO {name} {statement.text}"
        self._connection.execute(text, _bound(statement, salt))

    def destroy(self, name: str) -> None:
        """Drop the table."""
        self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    def abandon(self) -> bool:
        """Drop what was handed over; what is kept stays."""
        self.forget()
        return True

    def table(self, statement: Statement, salt: int) -> pa.Table:
        """Return the rows of a statement."""
        bound = _bound(statement, salt)
        rows = self._connection.execute(statement.text, bound).fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(statement.kinds)
        arrays = [
            pa.array([_from_sqlite(one, kind) for one in column], kind)
            for column, kind in zip(columns, statement.kinds, strict=True)
        ]
        names = [f"a{place}" for place in range(len(arrays))]
        return pa.Table.from_arrays(arrays, names=names)

    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        """Return the rows of a statement."""
        return self.table(statement, salt).to_reader()

    def is_short(self, error: Exception) -> bool:
        """Return False."""
        del error
        return False

    def is_stuck(self, error: Exception) -> bool:
        """Return False."""
        del error
        return False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _bound(statement: Statement, salt: int) -> dict[str, Any]:
    """Return the values of a statement by the names of their placeholders."""
    values = statement.parameters(salt >> 1)  # its integers have a sign
    return {f"p{n}": to_sqlite(one) for n, one in enumerate(values, 1)}


def to_sqlite(value: Any) -> Any:
    """Return a value of ours as SQLite holds it."""
    match value:
        case bool():
            return int(value)
        case dt.datetime():
            return (value - _EPOCH) // _MICROSECOND
        case dt.date():
            return value.isoformat()
        case _:
            return value


def _from_sqlite(value: Any, kind: pa.DataType) -> Any:
    """Return what SQLite holds as a value of ours."""
    make = _MAKERS.get(kind)
    return value if value is None or make is None else make(value)


_MAKERS: Final[Mapping[pa.DataType, Callable[[Any], Any]]] = {
    pa.bool_(): bool,
    pa.date32(): dt.date.fromisoformat,
    pa.timestamp("us"): lambda ticks: _EPOCH + dt.timedelta(microseconds=ticks),
}
