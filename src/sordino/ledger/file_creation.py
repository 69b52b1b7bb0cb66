"""Making the file of a ledger: it appears under its name whole and durable, or not.

A new file is filled under another name and then given its own, so that a file of that
name is always whole; a name that is taken is never taken over.
"""

import os
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from sordino.errors import InvalidParameter, LedgerUnavailable
from sordino.ledger import file_format
from sordino.ledger.file_format import BLOCK, EMPTY, FORMAT, Header, Mark, Role
from sordino.ledger.records import Record
from sordino.ledger.world import World

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
    _write(handle, world, header.block + EMPTY * file_format.MARKS, 0)
    for record, answer in contents:
        for line in file_format.record_lines(record, answer):
            _write(handle, world, line, size)
            size += len(line)
        head = record.head
    if head is not None:
        _write(handle, world, Mark(size, *head).block, header.begins)
    world.disk.sync(handle)


def _write(handle: int, world: World, data: bytes, at: int) -> None:
    """Write all of some bytes."""
    while data:
        written = world.disk.write(handle, data, at)
        data, at = data[written:], at + written


def _name_file(hidden: Path, path: Path, world: World, role: Role) -> bool:
    """Give a file its name, which must be free; then make the name durable."""
    os.link(hidden, path)
    world.reached(f"create {role}: named")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    world.reached(f"create {role}: durable")
    return True


@contextmanager
def _refuse_failures(path: Path) -> Generator[None]:
    """Turn failures to make a file into refusals."""
    try:
        yield
    except OSError:
        raise LedgerUnavailable(
            path,
            "could not be created",
            "It needs a local disk with room, hard links, and the right to write.",
        ) from None


def _refusal(name: str, path: object, problem: str, remedy: str) -> InvalidParameter:
    """Return a refusal of a path."""
    return InvalidParameter(name, str(path), problem, remedy)
