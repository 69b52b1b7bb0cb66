"""A ledger of format 1 becomes one of format 2: in its own inode, by one sector.

The new lines are appended behind the pages of SQLite and made durable; SQLite does not
see them. Then the first sector becomes the new header, which says where they begin.
Before that sector is written the file is of format 1, and after it of format 2.
"""

import sqlite3
from contextlib import closing, suppress

from sordino.errors import LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format, format_1
from sordino.ledger.file_format import BLOCK, EMPTY, FORMAT, Header, Mark
from sordino.ledger.format_1 import Connection
from sordino.ledger.locked_file import LockedFile
from sordino.ledger.store import Index
from sordino.ledger.world import World

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def migrate(file: LockedFile, world: World) -> None:
    """Migrate a file, on which our lock is held."""
    try:
        with closing(format_1.connect(file.path, world.patience)) as connection:
            _migrate(file, world, connection)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
        if code in _DAMAGE:
            raise LedgerDamaged(file.path, "its pages were changed") from None
        raise LedgerUnavailable(
            file.path,
            "has format 1 and could not be migrated",
            "Close every program that opened it with version 0.1, check the disk and "
            "the permissions, and open it again: nothing was changed.",
        ) from None


def _migrate(file: LockedFile, world: World, connection: Connection) -> None:
    """Migrate what nobody else has open: what waits in a `-wal` is taken in first.

    The lock of SQLite is held to the end. No descriptor of the file is closed before
    the connection is: that would drop it.
    """
    format_1.refuse_others(file.path, connection)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("BEGIN EXCLUSIVE")
    if mode != ("delete",):
        raise sqlite3.OperationalError(mode)
    header = Header("ledger", FORMAT, -(-file.size() // BLOCK) * BLOCK)
    end, index = header.first_line, Index(str(file.path))
    for record, answer in format_1.read_contents(file.path, connection):
        index.add(record)
        parts = [*file_format.record_lines(record, answer)]
        file.write(parts, end)
        end += sum(map(len, parts))
    file.write([Mark(end, *index.head).block, EMPTY], header.begins)
    file.disk.sync(file.handle)
    world.reached("migrate: written")
    file.write([header.sector], 0)
    file.disk.sync(file.handle)
    world.reached("migrate: durable")
    with suppress(sqlite3.Error):
        connection.execute("ROLLBACK")  # nothing was changed through it
