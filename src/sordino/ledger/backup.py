"""Copies of a ledger, and how one becomes the ledger again, no charge forgotten."""

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_creation
from sordino.ledger.file_creation import Contents
from sordino.ledger.file_format import Role
from sordino.ledger.file_store import FileStore
from sordino.ledger.log import Log
from sordino.ledger.opening import LedgerTerms, seals_of
from sordino.ledger.records import Record
from sordino.ledger.store import AbstractStore
from sordino.ledger.world import World


def free_path(path: Any) -> Path:
    """Return where a file shall be made, refusing a name that is taken."""
    place = file_creation.locate_file(path)
    if place.exists():
        raise InvalidParameter(
            "path", str(path), "must not exist yet", "Choose another name."
        )
    return place


def write_copy(log: Log, place: Path) -> None:
    """Write all that a ledger holds to a new file, which is never charged."""
    _create(place, World(), "backup", _contents(log.store))


def restore_copy(copy: Any, path: Any, terms: LedgerTerms) -> None:
    """Make a ledger of a copy and of what its witness saw after it."""
    source = file_creation.locate_file(copy, "copy", os.R_OK)
    place = free_path(path)
    file_creation.refuse_missing(source, "copy", "Look for it.")
    if terms.witness is None:
        raise InvalidParameter(
            "witness",
            None,
            "must be given: only it knows what was charged after the copy was made",
            "Without one, count the whole budget as spent; sd.Ledger.read reads the "
            "answers of the copy.",
        )
    file_creation.refuse_missing(terms.witness, "witness", "Look for it.")
    file_creation.refuse_same(source, terms.witness)
    try:
        with (
            closing(FileStore(source, terms.world, reading=True)) as store,
            closing(FileStore(terms.witness, terms.world, "witness")) as witness,
        ):
            contents = store.transact(
                lambda: witness.transact(lambda: _restore(store, witness, terms))
            )
            _create(place, terms.world, "ledger", contents)
    except OSError:
        raise LedgerUnavailable(
            source, "could not be read", "Check the disk and the permissions."
        ) from None


def _contents(store: AbstractStore) -> Iterator[tuple[Record, bytes]]:
    """Yield the records of a store with their answers."""
    for record in store.read(1):
        answered = record.kind == "answered"
        yield record, store.answer(record.number) if answered else b""


def _restore(
    store: AbstractStore, witness: AbstractStore, terms: LedgerTerms
) -> Contents:
    """Return what a copy holds, what its witness saw after it, and a record of that."""
    after = store.head
    common = min(after.number, witness.head.number)
    if next(store.read(common)) != next(witness.read(common)):
        raise LedgerDamaged(
            store.title, "it does not belong to the history of its witness"
        )
    missing = [(record, b"") for record in witness.read(after.number + 1)]
    newest = missing[-1][0] if missing else next(store.read(after.number))
    seals = seals_of(store, terms)
    for seen in (store, witness):
        Log(seen, seals).refuse_unsigned(next(seen.read(seen.head.number)))
    when = max(terms.world.clock(), datetime.fromisoformat(newest.fields["when"]))
    fields = {"after": after.number, "when": when.isoformat()}
    last = seals.sign(Record.successor(newest.head, "restored", fields))
    return [*_contents(store), *missing, (last, b"")]


def _create(place: Path, world: World, role: Role, contents: Contents) -> None:
    """Make a file under a name that must still be free."""
    if not file_creation.create_file(place, world, role, contents):
        raise InvalidParameter(
            "path", str(place), "must not exist yet", "Choose another name."
        )
