"""The first format, read and migrated.

The first format of a ledger, an SQLite file: how it is recognised and read.

A statement here never changes: a file holds these texts word for word, and one that
does not is refused. Nothing is written in this format any more.

A ledger of format 1 becomes one of format 2: in its own inode, by one sector.

The new lines are appended behind the pages of SQLite and made durable; SQLite does not
see them. Then the first sector becomes the new header, which says where they begin.
Before that sector is written the file is of format 1, and after it of format 2.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format
from sordino.ledger.file_format import (
    BLOCK,
    EMPTY,
    FORMAT,
    Header,
    LockedFile,
    Mark,
    Record,
    World,
)
from sordino.ledger.log import Index

Connection: TypeAlias = sqlite3.Connection
APPLICATION: Final = 0x536F7264
"""The bytes "Sord" at offset 68 of the file."""
VERSION: Final = 1

SCHEMA: Final[dict[str, str]] = {
    "records": """CREATE TABLE records (
    number INTEGER PRIMARY KEY CHECK (number >= 1),
    kind TEXT NOT NULL
        CHECK (kind IN ('opened', 'budget', 'charged', 'leased', 'answered')),
    budget TEXT,
    key TEXT,
    charge INTEGER REFERENCES records (number),
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT""",
    "answers": """CREATE TABLE answers (
    number INTEGER PRIMARY KEY REFERENCES records (number),
    bytes BLOB NOT NULL
) STRICT""",
    "head": """CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT""",
    "one_charge_per_key": """CREATE UNIQUE INDEX one_charge_per_key
    ON records (key) WHERE kind = 'charged'""",
    "one_lease_per_charge": """CREATE UNIQUE INDEX one_lease_per_charge
    ON records (charge) WHERE kind = 'leased'""",
    "one_answer_per_charge": """CREATE UNIQUE INDEX one_answer_per_charge
    ON records (charge) WHERE kind = 'answered'""",
    "one_limit_per_budget": """CREATE UNIQUE INDEX one_limit_per_budget
    ON records (budget) WHERE kind = 'budget'""",
    "charges_by_budget": """CREATE INDEX charges_by_budget
    ON records (budget, number) WHERE kind = 'charged'""",
    "records_follow": """CREATE TRIGGER records_follow BEFORE INSERT ON records
    WHEN NOT EXISTS (
        SELECT 1 FROM head WHERE number = NEW.number - 1 AND hash = NEW.previous
    )
    BEGIN SELECT RAISE (ABORT, 'a record follows the head'); END""",
    "records_lead": """CREATE TRIGGER records_lead AFTER INSERT ON records
    BEGIN UPDATE head SET number = NEW.number, hash = NEW.hash; END""",
    "records_stay": """CREATE TRIGGER records_stay BEFORE DELETE ON records
    BEGIN SELECT RAISE (ABORT, 'records are for ever'); END""",
    "records_hold": """CREATE TRIGGER records_hold BEFORE UPDATE ON records
    BEGIN SELECT RAISE (ABORT, 'records are for ever'); END""",
    "answers_stay": """CREATE TRIGGER answers_stay BEFORE DELETE ON answers
    BEGIN SELECT RAISE (ABORT, 'answers are for ever'); END""",
    "answers_hold": """CREATE TRIGGER answers_hold BEFORE UPDATE ON answers
    BEGIN SELECT RAISE (ABORT, 'answers are for ever'); END""",
    "head_stays": """CREATE TRIGGER head_stays BEFORE DELETE ON head
    BEGIN SELECT RAISE (ABORT, 'the head stays'); END""",
    "head_advances": """CREATE TRIGGER head_advances BEFORE UPDATE ON head
    WHEN NEW.number <> OLD.number + 1
    BEGIN SELECT RAISE (ABORT, 'the head advances'); END""",
}
"""Every table, index and trigger, by name."""


def open_database(path: Path, patience: float) -> Connection:
    """Return a connection to an SQLite file that exists."""
    return sqlite3.connect(
        f"{path.as_uri()}?mode=rw", timeout=patience, isolation_level=None, uri=True
    )


def refuse_others(path: Path, connection: Connection) -> None:
    """Refuse the file of another program, and one whose tables are not the format's."""
    (program,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (program, version) != (APPLICATION, VERSION):
        raise InvalidParameter(
            "ledger",
            str(path),
            "must be a ledger of Sordino; this file is not one, or is damaged",
            "Choose another file.",
        )
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'"
    ).fetchall()
    verdict = connection.execute("PRAGMA integrity_check").fetchone()
    if dict(rows) != SCHEMA or verdict != ("ok",):
        raise LedgerDamaged(path, "its tables do not have the columns of the format")


def read_contents(path: Path, connection: Connection) -> Iterator[tuple[Record, bytes]]:
    """Yield the records, each with the bytes of its answer; the head must be the last.

    A record must also be what a line of the next format can say.
    """
    rows: Iterator[tuple[Any, ...]] = connection.execute(
        "SELECT number, kind, body, previous, hash, bytes "
        "FROM records LEFT JOIN answers USING (number) ORDER BY number"
    )
    head: tuple[Any, ...] | None = None
    for *columns, answer in rows:
        record = Record(*columns)
        if Record.read(record.line) != record:
            raise LedgerDamaged(path, f"record {columns[0]} is not what was written")
        head = record.head
        yield record, answer or b""
    if connection.execute("SELECT number, hash FROM head").fetchone() != head:
        raise LedgerDamaged(path, "its newest record is not the one that was written")


_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def migrate(file: LockedFile, world: World) -> None:
    """Migrate a file, on which our lock is held."""
    try:
        with closing(open_database(file.path, world.patience)) as connection:
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
    refuse_others(file.path, connection)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("BEGIN EXCLUSIVE")
    if mode != ("delete",):
        raise sqlite3.OperationalError(mode)
    header = Header("ledger", FORMAT, -(-file.size() // BLOCK) * BLOCK)
    end, index = header.first_line, Index(str(file.path))
    for record, answer in read_contents(file.path, connection):
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
