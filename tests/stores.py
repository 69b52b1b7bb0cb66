"""Stores of every kind, and records to put into them."""

import atexit
import itertools
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sordino.ledger import file_format
from sordino.ledger.file_format import NOTHING, Disk, Head, Record, World, hash_bytes
from sordino.ledger.file_store import FileStore
from sordino.ledger.http_witness import HttpPlace
from sordino.ledger.log import AbstractStore
from sordino.ledger.other_stores import MemoryStore, WitnessedStore
from sordino.ledger.server_store import ServerPlace
from sordino.ledger.witness_server import WitnessServer
from tests.postgres_server import fresh_base, ledger_server

QUICK = World(disk=Disk(sync=lambda _: None))
"""A world that does not wait for the disk, where no power fails."""
WHEN = "2026-11-22T00:00:00+00:00"
OPENED = {
    "about": "",
    "format": 2,
    "identity": "ab",
    "library": "sordino",
    "signed_by": None,
    "when": WHEN,
}
FIRST = Record.successor(NOTHING, "opened", OPENED)


def leased(head: Head, charge: int) -> Record:
    """Return a record that follows, about some charge."""
    fields = {"charge": charge, "fence": 2, "who": "", "when": WHEN}
    return Record.successor(head, "leased", fields)


def answered(head: Head, charge: int, answer: bytes) -> Record:
    fields = {"charge": charge, "fence": 1, "sha256": hash_bytes(answer), "when": WHEN}
    return Record.successor(head, "answered", {**fields, "size": len(answer)})


def known(store: AbstractStore) -> Head:
    """Return the head of a store as it is now."""
    return store.transact(lambda: store.head)


def add(
    store: AbstractStore, record: Record, answer: bytes = b"", *, lasting: bool = True
) -> None:
    """Append a record in a transaction of its own."""
    store.transact(lambda: store.append(record, answer, lasting=lasting))


def lease(store: AbstractStore, charge: int) -> None:
    """Append a record about some charge."""
    add(store, leased(known(store), charge))


def in_memory(folder: Path) -> AbstractStore:
    """Return a store in memory that has its first record."""
    del folder
    store = MemoryStore(World().reached)
    store.append(FIRST)
    return store


def in_a_file(folder: Path) -> AbstractStore:
    """Return a store in a file that has its first record."""
    file_format.create_file(folder / "ledger", World(), "ledger", [(FIRST, b"")])
    return FileStore(folder / "ledger", World())


def witnessed(folder: Path) -> AbstractStore:
    file_format.create_file(folder / "witness", World(), "witness", [(FIRST, b"")])
    seen = FileStore(folder / "witness", World(), "witness")
    return WitnessedStore(in_a_file(folder), seen)


def on_a_server(folder: Path) -> AbstractStore:
    """Return a store on a server that has its first record."""
    del folder
    place = ServerPlace(fresh_base(ledger_server()), "ledger", World())
    place.create("ledger", [(FIRST, b"")])
    return place.open("ledger")


def witnessed_on_a_server(folder: Path) -> AbstractStore:
    place = ServerPlace(fresh_base(ledger_server(1)), "witness", World())
    place.create("witness", [(FIRST, b"")])
    return WitnessedStore(on_a_server(folder), place.open("witness"))


TOKEN = "0123456789abcdef"  # noqa: S105 of the tests
_NAMES = itertools.count()


@cache
def witness_server() -> WitnessServer:
    """Return the witness server of this process, in a folder of its own."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    server = WitnessServer(("127.0.0.1", 0), Path(folder.name), TOKEN)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def witness_address(token: str = TOKEN) -> str:
    """Return the address of a witness that is not there yet."""
    return f"http://:{token}@127.0.0.1:{witness_server().server_port}/w{next(_NAMES)}"


def witnessed_over_http(folder: Path) -> AbstractStore:
    place = HttpPlace(witness_address(), "witness", World())
    place.create("witness", [(FIRST, b"")])
    return WitnessedStore(in_a_file(folder), place.open("witness"))


STORES: dict[str, Callable[[Path], AbstractStore]] = {
    "memory": in_memory,
    "file": in_a_file,
    "witnessed": witnessed,
    "witnessed over HTTP": witnessed_over_http,
    "server": on_a_server,
    "server witnessed": witnessed_on_a_server,
}
