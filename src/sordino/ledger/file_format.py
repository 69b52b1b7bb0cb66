"""Format 2 of a ledger's file: sealed records, lines, creation, lock, durability.

header, one block ── marks, two blocks, written in turn ── lines: pieces of an answer,
then the record that they belong to, and so on (docs/ledger-format.md). The seal of a
record is a hash that covers all records before it.

>>> first = Record.successor(NOTHING, "opened", {"format": 2})
>>> second = Record.successor(first.head, "leased", {"charge": 1})
>>> first.is_sealed, second.is_sealed, replace(second, body="{}").is_sealed
(True, True, False)
>>> Record.read(second.line) == second
True

A new file is filled under another name and then given its own, so that a file of that
name is always whole; a name that is taken is never taken over.

A file is open, and locked, for as long as a handle lives. The lock is that of flock(2):
it belongs to the inode and to this open file, so that other names, mounts and
descriptors of the same file neither drop nor double it, and the kernel drops it when
its holder dies.

Kernel: charge.
"""

import base64
import ctypes
import errno
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, final

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_system

__all__ = ["NOTHING", "Head", "Record", "hash_bytes", "replace"]

DEEPEST: Final = 500
"""Brackets within brackets: what a request nests, in fewer calls than Python allows."""
_TEXT: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET: Final = re.compile(r"[\[\]{}]")
_LINE: Final = re.compile(
    r'\{"number":([1-9][0-9]{0,17}),"kind":"([a-z]{1,32})",'
    r'"previous":"([0-9a-f]{64}|)","hash":"([0-9a-f]{64})",'
    r'"signature":"([0-9a-f]{128}|)","body":(\{[ -~]*\})\}'
)
"""A record as a line: what it says of itself first, its body last, word for word."""


@final
class Head(NamedTuple):
    """The number and the hash of a record: they stand for all up to it."""

    number: int
    hash: str


NOTHING: Final = Head(0, "")
"""The head of a log without records."""


@final
@dataclass(frozen=True)
class Record:
    """One line of the history of a ledger. `body` is a JSON object in ASCII."""

    number: int
    kind: str
    body: str
    previous: str
    hash: str
    signature: str = ""
    """Of the hash, by the key of the ledger; "" where a ledger has none."""

    @classmethod
    def successor(cls, head: Head, kind: str, fields: Mapping[str, Any]) -> Self:
        """Return the record after a head."""
        # one text for the same fields: the hash is of the text
        body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        number = head.number + 1
        # covers the record before it: none can be left out or exchanged unseen
        sealed = seal(head.hash, number, kind, body)
        return cls(number, kind, body, head.hash, sealed)

    @classmethod
    def read(cls, line: bytes) -> "Self | None":
        """Return the record of a line, None if the line is not a record."""
        # latin-1 decodes any byte, and the pattern lets ASCII alone through
        match = _LINE.fullmatch(line.decode("latin-1"))
        if match is None:
            return None
        number, kind, previous, own, signature, body = match.groups()
        return cls(int(number), kind, body, previous, own, signature)

    @property
    def line(self) -> bytes:
        """Return the record as a line of a file."""
        return (
            f'{{"number":{self.number},"kind":"{self.kind}",'
            f'"previous":"{self.previous}","hash":"{self.hash}",'
            f'"signature":"{self.signature}","body":{self.body}}}'
        ).encode()

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Return the body as a dictionary; of a hostile body anything may come."""
        read: dict[str, Any] = parse_json(self.body)
        return read

    @property
    def is_sealed(self) -> bool:
        """Say whether the hash is that of the rest."""
        return self.hash == seal(self.previous, self.number, self.kind, self.body)

    @property
    def head(self) -> Head:
        """Return the head of a log that ends here."""
        return Head(self.number, self.hash)


def parse_json(text: str) -> Any:
    """Value of a JSON text; one that nests too deeply is a `ValueError`.

    So a `RecursionError` is of who calls, never of the text.

    >>> parse_json('{"charge":[3,"]"]}')
    {'charge': [3, ']']}
    """
    if text.count("[") + text.count("{") > DEEPEST and _nests_deeper(text):
        raise ValueError("it nests too deeply")
    return json.loads(text)


def _nests_deeper(text: str) -> bool:
    """Say whether brackets outside of texts stand within more than DEEPEST others."""
    depth = 0
    for bracket in _BRACKET.finditer(_TEXT.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEEPEST:
            return True
    return False


def seal(previous: str, number: int, kind: str, body: str) -> str:
    """Return the hash of a record: SHA-256 of four lines."""
    return hash_bytes(f"{previous}\n{number}\n{kind}\n{body}".encode())


def hash_bytes(data: bytes) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


if sys.platform != "win32":
    import fcntl

_TIME_ERROR: Final = 5
"""What adjtimex(2) returns of a clock that is not synchronised."""
_TIMEX_ROOM: Final = 1024
"""Bytes for what it answers: more than any system writes."""


def _now() -> datetime:
    return datetime.now(UTC)


def _is_unsynchronised() -> bool:
    """Tell whether the system says that its clock is not held against others.

    Where it cannot be asked, it does not say so.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        # zeros: the first field says that nothing is to be set
        answer = ctypes.create_string_buffer(_TIMEX_ROOM)
        return int(ctypes.CDLL(None).adjtimex(answer)) == _TIME_ERROR
    except (OSError, AttributeError):
        return False


def _pass(point: str) -> None:
    del point


def _read(handle: int, size: int, at: int) -> bytes:
    """Return bytes of a file, fewer where it ends."""
    return os.pread(handle, size, at)


def _write(handle: int, data: bytes, at: int) -> int:
    """Write bytes into a file, and return how many were written."""
    return os.pwrite(handle, data, at)


def _sync(handle: int) -> None:
    fully = getattr(fcntl, "F_FULLFSYNC", None)  # where fsync leaves it in the disk
    if fully is None:
        os.fsync(handle)
    else:
        fcntl.fcntl(handle, fully)


def _truncate(handle: int, size: int) -> None:
    os.ftruncate(handle, size)


def _lock(handle: int) -> None:
    """Lock the file for this descriptor, or raise BlockingIOError."""
    # not blocking: a wait inside the kernel could not end with the patience
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _share(handle: int) -> None:
    """Lock the file together with other readers, or raise BlockingIOError."""
    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


@final
@dataclass(frozen=True)
class Disk:
    """What is asked of the operating system about one file."""

    read: Callable[[int, int, int], bytes] = _read
    write: Callable[[int, bytes, int], int] = _write
    sync: Callable[[int], None] = _sync
    cut: Callable[[int, int], None] = _truncate
    lock: Callable[[int], None] = _lock
    share: Callable[[int], None] = _share
    kind: Callable[[Path], str | None] = file_system.file_system_of


@final
@dataclass(frozen=True)
class World:
    """A clock, a disk, and who is told of each point where a process may die."""

    clock: Callable[[], datetime] = _now
    disk: Disk = field(default_factory=Disk)
    reached: Callable[[str], None] = _pass
    is_unsynchronised: Callable[[], bool] = _is_unsynchronised
    patience: float = 30.0
    """Seconds to wait for other processes."""


MOVED: Final = "it was moved or replaced while it was in use"
_LONG: Final = 0.004
"""Seconds that who has just come sleeps between two tries for the lock."""
_SHORT: Final = 0.0003
"""Seconds that who has waited for very long sleeps."""
_EAGER: Final = 0.05
"""Seconds after which one tries more often: twice as often after twice as long."""
_COURTESY: Final = 1.0
_OPEN: Final["weakref.WeakSet[LockedFile]"] = weakref.WeakSet()


@final
class LockedFile:
    """A file and its lock.

    Whoever takes the lock by `wait` lets it go by one call of `fcntl.flock` on
    `handle`, in the same frame, so that no signal can come between.
    """

    def __init__(self, path: Path, world: World, *, reading: bool = False) -> None:
        """Open a file that exists; who only reads shares the lock with readers."""
        self.path = path
        self.disk = world.disk
        # never O_CREAT: a missing ledger would come back unspent
        self.handle = os.open(path, os.O_RDONLY if reading else os.O_RDWR)
        self._lock = self.disk.share if reading else self.disk.lock
        self._status = os.fstat(self.handle)
        self._patience = world.patience
        self._waited = -math.inf
        # by process: a child that exits would close a number that is another file by
        # then
        self._end = weakref.finalize(self, _close, self.handle, os.getpid())
        _OPEN.add(self)

    def wait(self) -> None:
        """Take the lock, which is tried for more often the longer one has waited.

        Who had to wait within the last second lets the others go first: otherwise who
        has just let the lock go would take it again before anybody else looked.
        """
        begun = time.monotonic()
        if begun - self._waited < _COURTESY:
            time.sleep(_LONG)
        while not self._take_lock():
            self._waited = time.monotonic()
            waited = self._waited - begun
            if waited > self._patience:
                raise LedgerUnavailable(
                    self.path,
                    "is in use by another process",
                    "Nothing was charged: try again, or look for who holds it.",
                )
            time.sleep(max(_SHORT, _LONG / max(1, waited / _EAGER)))

    def size(self) -> int:
        """Return how long the file is."""
        return os.fstat(self.handle).st_size

    def read(self, size: int, at: int) -> bytes:
        """Return bytes, fewer where the file ends."""
        return self.disk.read(self.handle, size, at)

    def write(self, parts: Iterable[bytes], at: int) -> None:
        """Write all of some bytes."""
        for part in parts:
            rest = memoryview(part)
            while rest:
                written = self.disk.write(self.handle, bytes(rest), at)
                rest, at = rest[written:], at + written

    def refuse_replaced(self, handle: int | None = None) -> None:
        """Refuse where the path, or what was opened by it, is another file.

        So is one of the same number on the disk, if this file was let go meanwhile:
        who opens it anew holds its records against those that were there.
        """
        try:
            status = self.path.stat() if handle is None else os.fstat(handle)
        except FileNotFoundError:
            status = None
        # by device and inode: a name says nothing about which file it is
        if status is None or not os.path.samestat(status, self._status):
            raise LedgerDamaged(self.path, MOVED)

    def close(self) -> None:
        """Let go of the file, and of the lock."""
        self.handle = -1
        self._end()

    def abandon(self) -> None:
        """Let go of the file in a forked child, where the lock is the parent's."""
        # closed without unlocking: flock is shared with the parent, and would end for
        # both
        handle, self.handle = self.handle, -1
        self._end.detach()
        if handle >= 0:
            os.close(handle)

    def _take_lock(self) -> bool:
        """Take the lock if it is free."""
        if self.handle < 0:  # closed, as after a fork in the middle
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        try:
            self._lock(self.handle)
        except BlockingIOError:
            return False
        return True


def _close(handle: int, process: int) -> None:
    """Close a descriptor in the process that opened it, and in no other."""
    if os.getpid() == process:
        os.close(handle)


def _abandon_all() -> None:
    """Let go of every file that a fork has brought into this process."""
    for file in list(_OPEN):
        file.abandon()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_abandon_all)


FORMAT: Final = 2
BLOCK: Final = 4096
"""Bytes that a disk writes wholly or not at all."""
SECTOR: Final = 512
"""Bytes that every disk writes wholly or not at all."""
MARKS: Final = 2
PIECE: Final = 1 << 20
"""Bytes of an answer in one line, before they are written as base64."""
LARGEST: Final = 1 << 30
"""Bytes that an answer may have."""
LONGEST: Final = 1 << 26
"""Bytes that a line may have."""
Role: TypeAlias = Literal["ledger", "witness", "backup", "moved"]
COPIES: Final[tuple[Role, ...]] = ("backup", "moved")
"""What can be read, and is never charged."""
REMEDIES: Final = {
    "backup": "It is never charged. Read it with sd.Ledger.read(path); with the "
    "witness of its ledger, sd.Ledger.restore makes a ledger of it.",
    "moved": "The ledger was moved: open it at its new place. This one can be read.",
}
"""What to do with a store of another role."""


def role_text(role: str) -> str:
    """Return a role with its article.

    >>> role_text("witness"), role_text("moved")
    ('a witness', 'a ledger that was moved')
    """
    return "a ledger that was moved" if role == "moved" else f"a {role}"


_PIECE_START: Final = b'{"piece":'
_SQLITE: Final = b"SQLite format 3\0"


@final
@dataclass(frozen=True)
class Header:
    """What a file says of itself in its first block."""

    role: str
    format: int
    begins: int
    """Where the marks begin; the lines come after them."""

    @property
    def block(self) -> bytes:
        """Return the first block of a file: one line, and one of spaces."""
        fields = {"application": "sordino", **asdict(self)}
        return _pad(json.dumps(fields, separators=(",", ":")) + "\n")

    @property
    def sector(self) -> bytes:
        """Return the part of the block that has the line."""
        return self.block[:SECTOR]

    @property
    def first_line(self) -> int:
        """Return where the lines begin."""
        return self.begins + MARKS * BLOCK

    @classmethod
    def read(cls, block: bytes) -> "Self | None":
        """Return the header in a first block, None if the file is not a ledger."""
        line, ended, _ = block[:SECTOR].partition(b"\n")
        fields = _object(line) if ended else {}
        if fields.pop("application", None) != "sordino" or set(fields) != set(_HEADER):
            return None
        header = cls(**fields)
        right = type(header.begins) is int and header.begins >= BLOCK
        return header if right and type(header.format) is int else None


@final
@dataclass(frozen=True)
class Mark:
    """How far a file was durable when this was written, and by which record."""

    end: int
    number: int
    hash: str

    @property
    def block(self) -> bytes:
        """Return the block of a mark, with a sum over it."""
        return _pad(json.dumps({**asdict(self), "sum": self._sum}))

    @classmethod
    def read(cls, block: bytes) -> "Self | None":
        """Return the mark of a block, None where it is empty or was cut short."""
        fields = _object(block)
        claimed = fields.pop("sum", None)
        if set(fields) != set(_MARK):
            return None
        mark = cls(**fields)
        right = type(mark.end) is int and type(mark.number) is int
        # a mark that was half written fails its own sum, and the older one counts
        return mark if right and claimed == mark._sum else None

    @property
    def _sum(self) -> str:
        return hash_bytes(f"{self.end}\n{self.number}\n{self.hash}".encode())


_HEADER: Final = ("role", "format", "begins")
_MARK: Final = ("end", "number", "hash")
EMPTY: Final = b" " * (BLOCK - 1) + b"\n"
"""A block without a mark."""


def is_format_1(block: bytes) -> bool:
    """Say whether a first block is that of an SQLite file."""
    return block.startswith(_SQLITE)


def record_lines(record: Record, answer: bytes) -> Iterator[bytes]:
    """Yield the lines of a record, its answer in pieces before it."""
    view = memoryview(answer)
    for start in range(0, len(answer), PIECE):
        piece = base64.b64encode(view[start : start + PIECE]).decode()
        yield f'{{"piece":{record.number},"bytes":"{piece}"}}\n'.encode()
    yield record.line + b"\n"


def is_piece(line: bytes) -> bool:
    """Say whether a line is a piece of an answer."""
    return line.startswith(_PIECE_START)


def read_piece(line: bytes, number: int) -> bytes:
    """Return the bytes of a piece that belongs to a record; b"" if it does not."""
    fields = _object(line)
    # a piece of another record would complete an answer that was never stored
    if fields.get("piece") != number or not isinstance(fields.get("bytes"), str):
        return b""
    try:
        return base64.b64decode(fields["bytes"], validate=True)
    except ValueError:
        return b""


def _pad(text: str) -> bytes:
    return text.encode().ljust(BLOCK - 1) + b"\n"


def _object(text: bytes) -> dict[str, Any]:
    try:
        content = parse_json(text.decode("ascii"))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


Contents: TypeAlias = Iterable[tuple[Record, bytes]]
"""Records in order, each with the bytes of its answer, or b""."""


def create_file(path: Path, world: World, role: Role, contents: Contents) -> bool:
    """Make a file with records; False if the name was taken meanwhile."""
    with _refuse_failures(path):
        handle, name = tempfile.mkstemp(".new", f".{path.name}.", path.parent)
        try:
            _fill(handle, world, role, contents)
            world.reached(f"create {role}: filled")
            return _name_file(Path(name), path, world, role)
        except FileExistsError:
            return False
        finally:
            os.close(handle)
            with suppress(FileNotFoundError):
                Path(name).unlink()


def locate_file(
    path: Any, name: str = "ledger", wanted: int = os.R_OK | os.W_OK
) -> Path:
    """Return where a file is or shall be, refusing what can hold none."""
    if sys.platform == "win32":
        raise LedgerUnavailable(path, "needs the locks of POSIX", "Use Linux or macOS.")
    try:
        place = Path(os.path.realpath(os.fspath(path)))
        exists = place.exists()
        folder = place.parent.is_dir()
    except (TypeError, ValueError, OSError) as error:
        raise _refusal(
            name, path, "must be a path", f'Try {name}="clinic.{name}".'
        ) from error
    if not folder:
        raise _refusal(
            name, path, "must lie in a folder that exists", "Create the folder first."
        )
    if exists and not place.is_file():
        raise _refusal(
            name, path, "must be a regular file", f'Try {name}="clinic.{name}".'
        )
    if not os.access(place if exists else place.parent, wanted):
        rights = "readable and writable" if wanted & os.W_OK else "readable"
        raise _refusal(name, path, f"must be {rights}", "Check its permissions.")
    return place


def refuse_missing(path: Path, name: str, remedy: str) -> None:
    """Refuse a path at which there is nothing."""
    if not path.exists():
        raise _refusal(name, path, "must exist", remedy)


def refuse_same(path: Path, witness: Path) -> None:
    """Refuse a witness that is the ledger itself, by whatever name."""
    if path.samefile(witness):
        raise _refusal(
            "witness",
            witness,
            "must be another file than the ledger",
            "Keep it on another disk.",
        )


def _fill(handle: int, world: World, role: Role, contents: Contents) -> None:
    """Write header, lines and mark, and wait for the disk."""
    header = Header(role, FORMAT, BLOCK)
    size, head = header.first_line, None
    _write_new(handle, world, header.block + EMPTY * MARKS, 0)
    for record, answer in contents:
        for line in record_lines(record, answer):
            _write_new(handle, world, line, size)
            size += len(line)
        head = record.head
    if head is not None:
        _write_new(handle, world, Mark(size, *head).block, header.begins)
    # durable before it has its name: whoever finds the name finds all of it
    world.disk.sync(handle)


def _write_new(handle: int, world: World, data: bytes, at: int) -> None:
    while data:
        written = world.disk.write(handle, data, at)
        data, at = data[written:], at + written


def _name_file(hidden: Path, path: Path, world: World, role: Role) -> bool:
    """Give a file its name, which must be free; then make the name durable."""
    # fails where the name is taken, in one step: no other ledger is written over
    os.link(hidden, path)
    world.reached(f"create {role}: named")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name, too, has to outlive a crash
    finally:
        os.close(folder)
    world.reached(f"create {role}: durable")
    return True


@contextmanager
def _refuse_failures(path: Path) -> Generator[None]:
    try:
        yield
    except OSError:
        raise LedgerUnavailable(
            path,
            "could not be created",
            "It needs a local disk with room, hard links, and the right to write.",
        ) from None


def _refusal(name: str, path: object, problem: str, remedy: str) -> InvalidParameter:
    return InvalidParameter(name, str(path), problem, remedy)
