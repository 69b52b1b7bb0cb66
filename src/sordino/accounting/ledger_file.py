"""Making and opening the file of a ledger: whole, ours, and nobody's second copy.

A new ledger is filled under another name and then given its own, so that a file of that
name is always whole; a name that is taken is never taken over.
"""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from sordino.accounting.ledger_schema import APPLICATION, SCHEMA, START, VERSION
from sordino.accounting.log import Connection, Log
from sordino.errors import (
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SordinoError,
)

PATIENCE: Final = 30.0
"""Seconds to wait for other processes."""
Fields: TypeAlias = Iterable[tuple[str, Mapping[str, Any]]]
"""The kinds and the bodies of the first records."""
Ready: TypeAlias = Callable[[int, str], None]
_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
)


def connected(address: str) -> Connection:
    """Return a connection to an existing file, or to memory."""
    connection: Connection = sqlite3.connect(
        address,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )
    return connection


def _now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def _pass(point: str) -> None:
    """Go on."""
    del point


@final
@dataclass(frozen=True)
class World:
    """What a ledger asks of the world; tests put a worse one in its place."""

    connect: Callable[[str], Connection] = connected
    clock: Callable[[], datetime] = _now
    reached: Callable[[str], None] = _pass
    """Called at each point of the protocol where a process may die."""


def in_memory(world: World, fields: Fields) -> Connection:
    """Return a new ledger that ends with the process."""
    connection = world.connect(":memory:")
    _fill(connection, "in memory", fields)
    return connection


def create(path: Path, world: World, fields: Fields, ready: Ready) -> bool:
    """Make a ledger with its first records; False if the name was taken meanwhile.

    It appears under its name whole and durable, or not at all. Before that, `ready` is
    told of the head.
    """
    with _refusing(path):
        handle, name = tempfile.mkstemp(".new", f".{path.name}.", path.parent)
        os.close(handle)
        hidden = Path(name)
        try:
            ready(*_write(hidden, world, fields))
            world.reached("create: filled")
            return _named(hidden, path, world)
        except FileExistsError:
            return False
        finally:
            for left in path.parent.glob(f"{escape(hidden.name)}*"):
                left.unlink()


def _write(hidden: Path, world: World, fields: Fields) -> tuple[int, str]:
    """Fill a new file, and return its head."""
    connection = world.connect(_address(hidden))
    try:
        connection.execute("PRAGMA synchronous = FULL")
        head = _fill(connection, str(hidden), fields)
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    return head


def _named(hidden: Path, path: Path, world: World) -> bool:
    """Give a file its name, which must be free; then make the name durable."""
    os.link(hidden, path)
    world.reached("create: named")
    _sync(path.parent)
    world.reached("create: durable")
    return True


def opened(path: Path, world: World) -> Connection:
    """Return a connection to a file that is a ledger of ours."""
    connection = None
    try:
        _lone(path)
        connection = world.connect(_address(path))
        _recognised(path, connection)
        _settle(path, connection)
    except (OSError, sqlite3.Error) as error:
        _let_go(connection)
        raise _closed(path, error) from None
    except BaseException:
        _let_go(connection)
        raise
    return connection


def _settle(path: Path, connection: Connection) -> None:
    """Make every commit durable, or refuse a place where it cannot be."""
    for setting in _SETTINGS:
        connection.execute(setting)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    level = connection.execute("PRAGMA synchronous").fetchone()
    if (mode, level) != (("wal",), (2,)):
        raise LedgerUnavailable(
            path, "cannot be written durably here", "Use a local disk."
        )


def located(path: Any, *, create: bool) -> Path:
    """Return where a ledger is or shall be, refusing what can hold none."""
    try:
        place = Path(os.path.realpath(os.fspath(path)))
        found = place.exists()
    except (TypeError, ValueError, OSError) as error:
        raise _refused(path, "is no path", 'Try ledger="clinic.ledger".') from error
    if not place.parent.is_dir():
        raise _refused(path, "lies in a folder that does not exist", "Make the folder.")
    if not found and not create:
        raise _refused(
            path,
            "does not exist",
            "To begin with an unspent budget, say create=True; if there was a ledger, "
            "look for it.",
        )
    if found and not place.is_file():
        raise _refused(path, "is no file", 'Try ledger="clinic.ledger".')
    for needed in [place.parent, *([place] if found else [])]:
        if not os.access(needed, os.R_OK | os.W_OK):
            raise _refused(path, "cannot be written", "Look after its permissions.")
    return place


def structure(log: Log) -> None:
    """Refuse a ledger whose tables, indexes or triggers are not those of the format."""
    rows = log.connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'"
    ).fetchall()
    if dict(rows) != SCHEMA:
        raise log.damaged("its tables are not those of the format")


def _fill(connection: Connection, shown: str, fields: Fields) -> tuple[int, str]:
    """Write tables and first records in one transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("BEGIN IMMEDIATE")
    for statement in SCHEMA.values():
        connection.execute(statement)
    connection.execute(START)
    log = Log(connection, shown)
    for kind, one in fields:
        log.add(kind, one)
    head = log.head()
    connection.execute("COMMIT")
    return head


def _recognised(path: Path, connection: Connection) -> None:
    """Refuse the file of another program, or of a later format."""
    (program,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if program != APPLICATION:
        raise _stranger(path)
    if version != VERSION:
        raise _refused(
            path, f"has format {version}, and this is format {VERSION}", "Update."
        )


def _lone(path: Path) -> None:
    """Refuse a file with a second name: SQLite keeps a journal for each name.

    A second name that a crash left while the file was made is taken away.
    """
    if path.stat().st_nlink > 1:
        for other in path.parent.glob(f".{escape(path.name)}.*.new"):
            if other.samefile(path):
                other.unlink(missing_ok=True)
    if path.stat().st_nlink > 1:
        raise _refused(path, "has several names (hard links)", "Keep one of them.")


def _sync(folder: Path) -> None:
    """Make the names in a folder durable; Windows offers no way to wait for it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _address(path: Path) -> str:
    """Return the address of an existing file: SQLite makes none."""
    return f"{path.as_uri()}?mode=rw"


def _let_go(connection: Connection | None) -> None:
    """Close what could not be used."""
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()


@contextmanager
def _refusing(path: Path) -> Generator[None]:
    """Turn failures to make a file into refusals."""
    try:
        yield
    except (OSError, sqlite3.Error):
        raise LedgerUnavailable(
            path,
            "could not be made",
            "It needs a local disk with room, hard links, and the right to write.",
        ) from None


def _stranger(path: Path) -> InvalidParameter:
    """Return the refusal of a file that is not ours."""
    return _refused(
        path, "is no ledger of Sordino, or a broken one", "Choose another file."
    )


def _closed(path: Path, error: Exception) -> SordinoError:
    """Return the refusal of a ledger that cannot be opened."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return _stranger(path)
    if code == sqlite3.SQLITE_CORRUPT:
        return LedgerDamaged(path, "its pages are not what was written")
    return LedgerUnavailable(
        path, "could not be opened", "Look after disk, permissions and other processes."
    )


def _refused(path: object, problem: str, remedy: str) -> InvalidParameter:
    """Return a refusal of a path."""
    return InvalidParameter("ledger", str(path), problem, remedy)
