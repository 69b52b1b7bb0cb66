"""A store in the tables of a PostgreSQL server, for the sessions of several machines.

BEGIN, lock the head row ── read what others appended ── act, append ── COMMIT

To lock the row is to write to the server's log: so the COMMIT of who only looked waits
for the disk and for a synchronous standby, too, and what was read is durable before it
is told. Records from the opening on are read and held against each other here, as those
of a file are; the ones before it are found by the server's index, which `verify` holds
against all records. What the server says is not passed on: it may quote an address.

Kernel: charge.
"""

import os
import sys
import weakref
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import starmap
from typing import Any, Final, TypeAlias, final

import psycopg

from sordino.data.postgres_connection import (
    NO_ADDRESS,
    Connection,
    Unreachable,
    connect_to_server,
    read_address,
)
from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format, record_kinds
from sordino.ledger.file_format import (
    COPIES,
    FORMAT,
    NOTHING,
    REMEDIES,
    Contents,
    Head,
    Record,
    Role,
    World,
    role_text,
)
from sordino.ledger.log import (
    AbstractPlace,
    AbstractStore,
    Index,
    Result,
    Unreached,
    refuse_later_kind,
)
from sordino.ledger.server_schema import ENDS, FACTS, KINDS_THERE, TABLES

Row: TypeAlias = tuple[Any, ...]
_SETTINGS: Final = (
    "SET LOCAL search_path TO pg_catalog, pg_temp; "
    "SET LOCAL row_security TO off; "  # a policy that hides a row is a refusal
    "SET LOCAL client_min_messages TO warning; "  # what comes with COMMIT is heard
    "SET LOCAL synchronous_commit TO on; "
    "SET LOCAL standard_conforming_strings TO on; "
    "SET LOCAL lock_timeout TO {wait}; "
)
"""For each transaction, so that neither a role nor a pool has a say."""
_HEAD: Final = (
    "SELECT application, role, format, number, hash, current_setting('fsync'), "
    "current_setting('full_page_writes') FROM sordino_ledger."
)
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; " + _SETTINGS
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + _SETTINGS
_HELD: Final = _HEAD + "hold()"
_SEEN: Final = _HEAD + "head"
_EXPECTED: Final = (
    "SELECT number FROM sordino_ledger.subjects WHERE subject = "
    "decode('{sha256}', 'hex') AND number <= {begins} ORDER BY number DESC LIMIT 1; "
)
"""Digits and a number of ours: a value that is bound cannot come with what follows."""
_LOOKING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; " + _SETTINGS
_FIRST: Final = (
    "INSERT INTO sordino_ledger.head (application, role, format, number, hash) "
    "VALUES ('sordino', %s, %s, 0, '')"
)
_RECORDS: Final = (
    "SELECT number, kind, body, previous, hash, signature FROM sordino_ledger.records "
    "WHERE number BETWEEN %s AND %s ORDER BY number"
)
_NEWEST: Final = (
    "SELECT number FROM sordino_ledger.subjects WHERE subject = %s AND number <= %s "
    "ORDER BY number DESC LIMIT 1"
)
_NUMBERS: Final = (
    "SELECT number FROM sordino_ledger.records WHERE kind = %s AND number <= %s "
    "ORDER BY number"
)
_APPEND: Final = "SELECT sordino_ledger.append(%s, %s, %s, %s, %s, %s, %s, %s)"
_FOLLOWING: Final = (
    "; SELECT number, kind, body, previous, hash, signature FROM "
    "sordino_ledger.records WHERE number > {after} ORDER BY number LIMIT 1000"
)
"""What others appended, asked for together with the head."""
_MOST: Final = 1000
"""Records that are fetched at once."""
_KEPT: Final = 4000
"""Records that are kept."""
_GONE: Final = ("3F000", "42P01", "42883", "42703", "42704")
"""Codes of a schema, table, function or column that is not there."""
_TAKEN: Final = ("42P06", "23505")
_BUSY: Final = "55P03"
_RIGHTS: Final = "42501"


@final
@dataclass(frozen=True)
class ServerFacts:
    """What a server says of itself to who connects."""

    synchronous_commit: str
    synchronous_standbys: str
    standbys: int
    """Connections that read its log, and places in it that it keeps for one."""
    is_standby: bool
    identifier: str
    """The same for a server and its standbys."""

    @property
    def forgets(self) -> bool:
        """Say whether a standby may take over that does not know the last charges."""
        return self.standbys > 0 and not self.synchronous_standbys.strip()


@final
@dataclass(frozen=True)
class _Seen:
    """The records that were read one after another, and what is known of older ones."""

    begins: int
    index: Index
    older: dict[str, int] = field(default_factory=dict)
    older_of_kind: dict[str, "array[int]"] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    """What the server's index said of subjects before the row was held."""
    records: dict[int, Record] = field(default_factory=dict)
    """Records that are sealed and sound: they never change."""

    def add(self, record: Record) -> None:
        """Take in the record that follows; it is asked for next, as a rule."""
        self.index.add(record)
        self.keep(record)

    def keep(self, record: Record) -> None:
        """Keep a record that was checked; those asked for again and again are few."""
        if len(self.records) > _KEPT:
            self.records.clear()
        self.records[record.number] = record


def title_of(parts: Mapping[str, Any]) -> str:
    """Return an address without its password, and without its options.

    >>> title_of({"user": "ada", "password": "x", "host": "db", "dbname": "clinic"})
    'postgresql://ada@db/clinic'
    """
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = parts.get("host") or parts.get("hostaddr") or parts.get("service") or ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{user}{host}{port}/{parts.get('dbname') or ''}"


@final
class ServerStore(AbstractStore):
    """The tables of a ledger, or of a witness, which keeps no bytes of answers."""

    def __init__(
        self,
        parts: Mapping[str, Any],
        world: World,
        role: Role = "ledger",
        *,
        reading: bool = False,
    ) -> None:
        """Connect to a server; its records are read by the first transaction."""
        self._parts = parts
        self._world = world
        self._role: Role = role
        self._reading = reading
        self._process = os.getpid()
        self._known: Head | None = None
        """The newest head that was durable."""
        self._found = ""
        self._head = NOTHING
        self._tag: str | None = None
        self._seen: _Seen | None = None
        self._idle: Connection | None = None
        self._open: Connection | None = None
        self._end: weakref.finalize[..., Any] | None = None
        self._added: list[Record] = []
        self._expected = ""
        self._waiting: list[tuple[str, Sequence[Any]]] = []
        self._warnings: list[str] = []
        self.facts = self._connect()
        _OPEN.add(self)

    @property
    def title(self) -> str:
        return title_of(self._parts)

    @property
    def durable(self) -> bool:
        return True

    @property
    def is_copy(self) -> bool:
        if not self._found:
            [(self._found,)] = self._look("SELECT role FROM sordino_ledger.head")
        return self._found in COPIES

    @property
    def head(self) -> Head:
        return self._whole.index.head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act while this connection holds the head row."""
        return self._run_between(self._begin, act)

    def fill(self, role: Role, contents: Contents) -> bool:
        """Make the tables with records, or nothing; False where they are there."""
        first = "witness" if role == "witness" else "ledger"

        def begin(_: _Seen | None) -> _Seen:
            self._open, self._idle = self._idle, None
            self._run(_BEGIN.format(wait="0") + TABLES)
            self._run(_FIRST, (first, FORMAT))
            return _Seen(0, Index(self.title))

        def act() -> None:
            for record, answer in contents:
                self.append(record, answer)
            if role != first:
                self._run("UPDATE sordino_ledger.head SET role = %s", (role,))
            self._world.reached(f"create {role}: filled")

        try:
            self._run_between(begin, act)
        except FileExistsError:
            return False
        self._world.reached(f"create {role}: durable")
        return True

    def _run_between(
        self, begin: "Callable[[_Seen | None], _Seen]", act: Callable[[], Result]
    ) -> Result:
        """Run an act in a transaction.

        Only one that ended well gives its connection back: any other is closed in this
        frame, by which the server undoes it and lets the row go.
        """
        seen, self._seen = self._seen, None
        try:
            self._added, self._waiting = [], []
            self._seen = begin(seen)
            try:
                result = act()
            except Exception:
                self._take_back()
                raise
            self._commit()
            self._idle = self._open
            return result
        finally:
            if self._open is not None and self._open is not self._idle:
                # one call in the frame that began: an interruption cannot leave the
                # row locked
                self._open.pgconn.finish()
            self._open = None

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Send a record; it is durable when the transaction has ended."""
        del lasting
        if self._reading:
            raise InvalidParameter(
                self._role,
                self.title,
                "was opened to be read, and this would write to it",
                "Open the ledger with sd.Ledger.at(address).",
            )
        seen = self._whole
        seen.index.refuse_strays(record)
        bytes_ = b"" if self._role == "witness" else answer
        point = record.kind if self._role == "ledger" else f"witness {record.kind}"
        self._world.reached(f"{point}: begun")
        # from here on the index is ahead of the server until it has committed
        self._seen = None
        sound = record.kind in record_kinds.KINDS and record_kinds.is_sound(record)
        named = record_kinds.subjects(record) if sound else ()
        first, *rest = _pieces(bytes_)
        values = (
            *(record.number, record.kind, record.previous, record.hash),
            *(record.signature, record.body, [_subject(name) for name in named], first),
        )
        # sent together with what is asked next: the row is held for less long
        self._waiting.append((_APPEND, values))
        for place, piece in enumerate(rest, 1):
            keep = "SELECT sordino_ledger.keep(%s, %s, %s)"
            self._waiting.append((keep, (record.number, place, piece)))
        self._world.reached(f"{point}: written")
        seen.add(record)
        self._added.append(record)
        self._seen = seen

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order, a few of them at once."""
        if first <= self.head.number:
            yield self._record(first)  # mostly one alone is asked for
        number, count = first + 1, 2
        while number <= self.head.number:
            stop = min(number + count - 1, self.head.number)
            yield from self._fetch(number, stop)
            number, count = stop + 1, min(2 * count, _MOST)

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        seen = self._whole
        number = seen.index.newest(subject)
        if number or record_kinds.earliest(subject) > seen.begins:
            return number
        if subject not in seen.older:
            if subject in seen.expected:
                number = seen.expected.pop(subject)
            else:
                rows = self._look(_NEWEST, (_subject(subject), seen.begins))
                number = rows[0][0] if rows else 0
            # an index that leads elsewhere would hide a sum, or make one up
            if number and subject not in record_kinds.subjects(self._record(number)):
                raise self._damage("its index is not that of its records")
            seen.older[subject] = number
        return seen.older[subject]

    def expect(self, subject: str) -> None:
        """Have a subject looked up with the next transaction, before it holds the row.

        What lies before the opening never changes: so it need not be asked within.
        """
        self._expected = subject

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        seen = self._whole
        if kind not in seen.older_of_kind:
            rows = self._look(_NUMBERS, (kind, seen.begins))
            seen.older_of_kind[kind] = array("Q", (row[0] for row in rows))
        return seen.older_of_kind[kind] + array("Q", seen.index.numbers(kind))

    def answer(self, number: int) -> bytes:
        text = (
            "SELECT bytes FROM sordino_ledger.pieces WHERE number = %s ORDER BY place"
        )
        return b"".join(bytes(row[0]) for row in self._look(text, (number,)))

    def verify(self) -> None:
        """Read all records anew, and hold the server's index against them."""
        head = self.head
        fresh = Index(self.title)
        while fresh.head.number < head.number:
            first = fresh.head.number + 1
            for record in self._fetch(first, min(first + _MOST - 1, head.number)):
                fresh.add(record)
        text = (
            "SELECT subject, max(number) FROM sordino_ledger.subjects "
            "WHERE number <= %s GROUP BY subject"
        )
        written = {
            bytes(key): number for key, number in self._look(text, (head.number,))
        }
        self._refuse_cut()
        if fresh.head != head:
            raise self._damage("it was changed after it was read")
        if written != {_subject(key): n for key, n in fresh.newest_of_all().items()}:
            raise self._damage("its index is not that of its records")

    def has_tables(self) -> bool:
        """Say whether there is something of the name of a ledger."""
        rows = self._look("SELECT to_regnamespace('sordino_ledger') IS NOT NULL")
        return rows == [(True,)]

    def retire(self) -> None:
        """Let the tables be a ledger no longer: their owner may."""
        self._run("UPDATE sordino_ledger.head SET role = 'moved'")

    def reopen(self) -> "ServerStore":
        """Return the same ledger by another connection, to be read anew."""
        self.close()
        fresh = ServerStore(self._parts, self._world, self._role, reading=self._reading)
        fresh._known = self._known
        return fresh

    def close(self) -> None:
        self._idle = self._open = None
        if self._end is not None:
            self._end()

    def abandon(self) -> list[Any]:
        """Let go of all connections, and return them, in a forked child."""
        if self._end is not None:
            self._end.detach()
        connections = [self._idle, self._open]
        self._idle = self._open = None
        return connections

    def _connect(self) -> ServerFacts:
        """Connect anew, and return what the server says of itself."""
        self.close()
        problem, lasts = "", False
        try:
            connection = connect_to_server(self._parts)
        except Unreachable as refusal:
            problem, lasts = str(refusal), refusal.lasts
        # Outside of the handler: inside, the server's words would be its context.
        if problem and not lasts:
            raise Unreached(f"cannot be reached: {problem}")
        if problem:
            raise self._wrong(f"cannot be reached: {problem}", "Look at the address.")
        # a list of its own: what refers to the store would keep it from its end
        self._warnings = []
        connection.add_notice_handler(partial(_note, self._warnings))
        self._end = weakref.finalize(self, connection.close)
        self._open = connection
        facts = ServerFacts(*self._run(FACTS)[0])
        self._open, self._idle = None, connection
        self._refuse_forgetful(facts)
        return facts

    def _refuse_forgetful(self, facts: ServerFacts) -> None:
        if self._reading:
            return
        if facts.is_standby:
            raise self._wrong(
                "is on a standby, which can only be read",
                "Name the primary server, or read it with sd.Ledger.read.",
            )
        if facts.synchronous_commit == "off":
            raise self._wrong(
                "is on a server where synchronous_commit is off: it would forget "
                "charges",
                "Set it to on, for this role and this database, too.",
            )

    def _begin(self, seen: _Seen | None) -> _Seen:
        """Begin a transaction, by a new connection if the old one is gone."""
        if self._idle is not None:
            # nothing was asked yet: that it was lost meanwhile is no failure
            with suppress(Unreached):
                return self._catch_up(seen, self._hold(seen))
        self._connect()
        return self._catch_up(seen, self._hold(seen))

    def _hold(self, seen: _Seen | None) -> list[Row]:
        """Begin, and read the head, whose row nobody else holds from now on.

        What follows the newest record that is known comes with it.
        """
        wait = f"'{max(1, int(1000 * self._world.patience))}ms'"
        begin, hold = (_READ, _SEEN) if self._reading else (_BEGIN, _HELD)
        text, subject = begin.format(wait=wait), self._expected
        expected = seen is not None and self._is_older(seen, subject)
        if seen is not None and expected:
            text += _EXPECTED.format(sha256=_subject(subject).hex(), begins=seen.begins)
        text += hold
        if seen is not None:
            text += _FOLLOWING.format(after=seen.index.head.number)
        self._open, self._idle, self._expected = self._idle, None, ""
        results = self._results(text)
        if seen is not None and expected:
            numbers, *results = results
            seen.expected[subject] = numbers[0][0] if numbers else 0
        heads, *following = results
        self._head = self._head_of(heads[0] if heads else None)
        return following[0] if following else []

    def _is_older(self, seen: _Seen, subject: str) -> bool:
        """Say whether the server's index has to be asked for a subject."""
        is_known = subject in seen.older or seen.index.newest(subject) > 0
        return (
            bool(subject)
            and not is_known
            and (record_kinds.earliest(subject) <= seen.begins)
        )

    def _head_of(self, row: Row | None) -> Head:
        """Return the head, refusing a table of others and a server that forgets."""
        application, role, form, number, hash_, *durable = row or (None,) * 7
        roles = (self._role, *(COPIES if self._reading else ()))
        if application != "sordino":
            raise self._wrong("must be a ledger of Sordino", "Name another database.")
        if form != FORMAT:
            raise self._wrong(
                f"has format {form}, and this version reads up to {FORMAT}",
                "Update Sordino.",
            )
        if role not in roles:
            raise self._wrong(
                f"must be a {self._role}, and this is {role_text(str(role))}",
                REMEDIES.get(str(role), "Name the other database."),
            )
        if "off" in durable and not self._reading:
            raise self._wrong(
                "is on a server where fsync or full_page_writes is off: it would "
                "forget charges",
                "Set both to on.",
            )
        self._found = str(role)
        return Head(number, hash_)

    def _catch_up(self, seen: _Seen | None, following: list[Row]) -> _Seen:
        """Read what others appended; refuse a server that forgot what was durable."""
        head, known = self._head, self._known
        # an older copy, or a standby that was behind, would sell the same budget twice
        if known is not None and head.number < known.number:
            raise self._damage(f"it was put back: record {known.number} is gone")
        if seen is None:
            seen = self._look_back(head)
        for row in following:
            seen.add(Record(*row))
        while seen.index.head.number < head.number:
            first = seen.index.head.number + 1
            for record in self._fetch(first, min(first + _MOST - 1, head.number)):
                seen.add(record)
        if seen.index.head != head:
            raise self._damage(f"record {head.number} is not the one that was written")
        self._known = head
        return seen

    def _look_back(self, head: Head) -> _Seen:
        """Begin at the head: what lies before it is found by the server's index."""
        if head.number < 1:
            raise self._damage("it has no records")
        for (kind,) in self._run(KINDS_THERE):
            refuse_later_kind(self.title, kind)
        self._refuse_cut()
        for then in filter(None, (head, self._known)):
            if self._fetch(then.number, then.number)[0].head != then:
                raise self._damage(f"it was put back: record {then.number} is gone")
        return _Seen(head.number, Index(self.title, head))

    def _refuse_cut(self) -> None:
        """Refuse a head that is not at the end of the records: some would be hidden."""
        if any(end != last for end, last in self._look(ENDS)):
            raise self._damage("its head is not at the end of its records")

    def _take_back(self) -> None:
        """Undo what an act has begun; after what was added, all is read anew."""
        if self._added or self._seen is None:
            self._seen = None
            return
        with suppress(Unreached):
            self._run("ROLLBACK")
            self._idle = self._open

    def _commit(self) -> None:
        """End the transaction; whatever the server says beside COMMIT is a failure.

        A wait for a standby that was cancelled comes as a warning: the record may be
        lost together with this server, so nothing is told of it.
        """
        seen, self._seen = self._whole, None
        self._warnings.clear()
        self._run("COMMIT")
        if self._tag != "COMMIT" or self._warnings:
            raise Unreached("did not make durable what was written")
        self._known = seen.index.head
        for point in ("durable", "told"):
            for record in self._added:
                self._world.reached(f"{self._point(record)}: {point}")
        self._seen = seen

    def _point(self, record: Record) -> str:
        return record.kind if self._role == "ledger" else f"witness {record.kind}"

    def _fetch(self, first: int, last: int) -> list[Record]:
        """Return the records between two numbers, each as it was written."""
        rows = self._look(_RECORDS, (first, last))
        records = list(starmap(Record, rows))
        for number in range(first, last + 1):
            place = number - first
            record = records[place] if place < len(records) else None
            if record is None or record.number != number or not record.is_sealed:
                raise self._damage(f"record {number} is not what was written")
        return records

    def _record(self, number: int) -> Record:
        """Return one record, which many ask for."""
        seen = self._whole
        if number not in seen.records:
            [record] = self._fetch(number, number)
            if not record_kinds.is_sound(record):
                raise self._damage(
                    f"record {number} lacks what a record of its kind says"
                )
            seen.keep(record)
        return seen.records[number]

    def _look(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return rows, by a transaction of its own where none is open."""
        if self._open is not None:
            return self._run(text, values)
        try:
            self._open, self._idle = self._idle, None
            self._run(_LOOKING.format(wait="0"))
            rows = self._run(text, values)
            self._run("COMMIT")
            self._idle = self._open
            return rows
        finally:
            if self._open is not None and self._open is not self._idle:
                self._open.pgconn.finish()
            self._open = None

    def _run(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement behind those that wait, and return its rows."""
        results = self._results(text, values)
        return results[-1] if results else []

    def _results(self, text: str, values: Sequence[Any] = ()) -> list[list[Row]]:
        """Run statements behind those that wait; return what rows each has."""
        waiting, self._waiting = self._waiting, []
        connection = self._open
        if connection is None:
            raise Unreached(_LOST)
        try:
            results, self._tag = _answers_of(connection, waiting, text, values)
        except psycopg.Error as error:
            code = error.sqlstate
        else:
            return results
        raise self._refusal(code)

    def _refusal(self, code: str | None) -> Exception:
        """Sentence of ours about a code of the server's."""
        if code in _GONE:
            return self._wrong(
                "must be a ledger of Sordino, and the tables there are not",
                "Name another database; to make a ledger, say create=True.",
            )
        if code in _TAKEN:
            return FileExistsError()
        if code == _RIGHTS:
            return self._wrong(
                "may not be used in this way by this role",
                "Look at its rights: to charge, EXECUTE on the functions and SELECT "
                "on the tables of the schema sordino_ledger; to look, SELECT; to make "
                "or move it, to be its owner.",
            )
        if code == _BUSY:
            return LedgerUnavailable(
                self.title,
                "is in use by another process",
                "Nothing was charged: try again, or look for who holds it.",
            )
        shown = f" (code {code})" if code else ""
        return Unreached(f"{_LOST}{shown}")

    @property
    def _whole(self) -> _Seen:
        """Return the records, as the newest transaction saw them."""
        if self._seen is None:
            raise LedgerUnavailable(
                self.title, "was not read to its end", "Ask once more."
            )
        return self._seen

    def _wrong(self, problem: str, remedy: str) -> InvalidParameter:
        return InvalidParameter(self._role, self.title, problem, remedy)

    def _damage(self, problem: str) -> LedgerDamaged:
        return LedgerDamaged(self.title, problem)


_LOST: Final = "was lost on the way, or refused this"


def _answers_of(
    connection: Connection,
    waiting: Sequence[tuple[str, Sequence[Any]]],
    text: str,
    values: Sequence[Any],
) -> tuple[list[list[Row]], str | None]:
    """Return the rows of each statement that has some, and how the last one ended.

    What waits goes in one breath with it; after a failure nothing more of it is done.
    """
    with connection.cursor() as cursor:
        with connection.pipeline() if waiting else nullcontext():
            for statement, bound in waiting:
                connection.execute(statement.encode(), bound)
            cursor.execute(text.encode(), values or None)
        results = [cursor.fetchall()] if cursor.description else []
        while cursor.nextset():
            results += [cursor.fetchall()] if cursor.description else []
        return results, cursor.statusmessage


def _pieces(answer: bytes) -> list[bytes | None]:
    """Return an answer in pieces that a row can hold; None alone if it is empty."""
    size = file_format.PIECE
    starts = range(0, len(answer), size)
    return [answer[start : start + size] for start in starts] or [None]


def _subject(text: str) -> bytes:
    """SHA-256 of a subject, which may be of any length and of any letters."""
    return sha256(text.encode()).digest()


def _note(warnings: list[str], diagnostic: psycopg.errors.Diagnostic) -> None:
    if diagnostic.severity_nonlocalized == "WARNING":
        warnings.append(diagnostic.sqlstate or "")


_OPEN: Final["weakref.WeakSet[ServerStore]"] = weakref.WeakSet()
_INHERITED: Final[list[Any]] = []


def _abandon_all() -> None:
    """Keep a forked child off the connections of its parent, which it has, too.

    They are not closed: that would be said to the server, in the parent's name.
    """
    for store in list(_OPEN):
        _INHERITED.extend(store.abandon())


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_abandon_all)


@final
class ServerPlace(AbstractPlace):
    """A database of a server, in which there is a ledger, or shall be one."""

    def __init__(self, address: str, name: str, world: World) -> None:
        """Read an address, which may hold a password: it is never shown."""
        parts: dict[str, Any] = {}
        with suppress(Unreachable):
            parts = read_address(address)
        if not parts:
            raise InvalidParameter(name, "an address", NO_ADDRESS, "Look at it.")
        self._parts = parts
        self._world = world
        self.shown = title_of(parts)
        self.is_open_word = not any(
            "password" in word and value for word, value in parts.items()
        )

    def exists(self) -> bool:
        with closing(self.open("ledger", reading=True)) as store:
            return store.has_tables()

    def open(self, role: Role, *, reading: bool = False) -> ServerStore:
        return ServerStore(self._parts, self._world, role, reading=reading)

    def create(self, role: Role, contents: Contents) -> bool:
        with closing(self.open(role)) as store:
            return store.fill(role, contents)

    def is_same(self, other: AbstractPlace) -> bool:
        """Say whether both are of one server, or of it and its standby.

        What befalls one befalls the other: neither would see that it was put back.
        """
        if not isinstance(other, ServerPlace):
            return False
        with (
            closing(self.open("ledger", reading=True)) as here,
            closing(other.open("ledger", reading=True)) as there,
        ):
            return here.facts.identifier == there.facts.identifier

    def refuse_unfit(self, *, witnessed: bool, reading: bool) -> None:
        """Refuse a server whose standby may forget charges, unless a witness knows."""
        if reading or witnessed:
            return
        with closing(self.open("ledger", reading=True)) as store:
            forgets = store.facts.forgets
        if forgets:
            raise InvalidParameter(
                "witness",
                None,
                f"must be given: {self.shown} has standbys, and none is synchronous, "
                "so that one that takes over may have forgotten charges",
                "Name a witness elsewhere, or set synchronous_standby_names.",
            )
