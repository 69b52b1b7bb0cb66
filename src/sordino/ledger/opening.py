"""Opening the ledger that is meant; copies and how one becomes the ledger again.

Kernel: charge.
"""

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, final

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger.blocks import division
from sordino.ledger.clocks import time_after
from sordino.ledger.file_format import FORMAT, NOTHING, Contents, Record, World
from sordino.ledger.log import (
    AbstractPlace,
    AbstractStore,
    Handle,
    Log,
    Result,
    Unreached,
    is_stated,
)
from sordino.ledger.other_stores import MemoryStore, WitnessedStore
from sordino.ledger.places import FilePlace, locate
from sordino.ledger.policy_file import Seals, public_of, signer_of
from sordino.ledger.record_kinds import DATASET, check_unicode
from sordino.ledger.verification import refuse_overspent, verify
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Limit
from sordino.noise.sampling.bits import Bits

if TYPE_CHECKING:
    from sordino.losses.loss import Budget


_IDENTITY_BYTES = 16


@final
@dataclass(frozen=True)
class LedgerTerms:
    """What somebody says of a ledger that they make or open."""

    limit: Limit | None
    about: str
    witness: AbstractPlace | None
    seals: Seals
    world: World
    blocks: Blocks | None = None
    reading: bool = False
    """Whether the ledger is looked at, and nothing written."""

    @classmethod
    def of(
        cls,
        limit: "Limit | Budget | None",
        about: Any,
        witness: Any,
        signer: Any,
        world: World | None,
        blocks: Any = None,
    ) -> Self:
        """Return the terms; those that contradict each other are refused."""
        key = signer_of(signer)
        stated = limit if limit is None or isinstance(limit, Limit) else Limit.of(limit)
        return cls(
            limit=stated,
            about=check_unicode("about", about),
            witness=_witness_at(witness, world),
            seals=Seals("" if key is None else public_of(key), key),
            world=world or World(),
            blocks=read_blocks(blocks, stated),
        )

    @classmethod
    def of_reader(cls, witness: Any, world: World | None) -> Self:
        """Return the terms of who only looks."""
        return cls(
            limit=None,
            about="",
            witness=_witness_at(witness, world, reading=True),
            seals=Seals(),
            world=world or World(),
            reading=True,
        )


def _witness_at(
    witness: Any, world: World | None, *, reading: bool = False
) -> AbstractPlace | None:
    if witness is None:
        return None
    return locate(witness, "witness", world or World(), reading=reading)


def read_blocks(blocks: Any, limit: Limit | None) -> Blocks | None:
    """Return blocks, refusing those whose limits would not add up."""
    if blocks is None:
        return None
    if not isinstance(blocks, Blocks):
        raise InvalidParameter(
            "blocks",
            blocks,
            "must be blocks",
            'Try sd.Blocks(start="2026-01", every="month").',
        )
    if limit is not None and limit.frame is not None:
        raise InvalidParameter(
            "limit",
            limit.stated,
            "cannot be that of blocks: a secret sample is drawn once, and what several "
            "blocks of it may lose is more than their frame may",
            "Leave the blocks out, or sampled.",
        )
    if limit is not None and not limit.rule.is_additive:
        raise InvalidParameter(
            "limit",
            limit.stated,
            "cannot be that of blocks: what holds of each of them does not add up",
            'Count it as "gaussian", or as it was asked.',
        )
    return blocks


def look_twice(look: Callable[[], Result]) -> Result:
    """Result of a look at files; "damaged" only if a second look agrees."""
    try:
        return look()
    except LedgerDamaged:
        pass
    return look()


def make_file(path: Any, terms: LedgerTerms) -> None:
    """Make a ledger, unless there is one; its witness is made before it."""
    place = locate(path, "ledger", terms.world)
    with _refuse_failures(place):
        look_twice(lambda: _make_at(place, terms))


def _make_at(place: AbstractPlace, terms: LedgerTerms) -> None:
    """Make a ledger of its first records, or of those that a witness has already.

    A witness without a charge is left where a crash came between it and its ledger:
    nothing was spent, and nothing else is lost, because it has every record.
    """
    witness = terms.witness
    if place.exists():
        if witness is not None and not witness.exists():
            _add_witness(place, witness)
        return
    contents: Contents
    if witness is None:
        contents = [(record, b"") for record in _first_records(terms)]
    else:
        if not witness.exists():
            first = [(record, b"") for record in _first_records(terms)]
            witness.create("witness", first)
        contents = _contents_without_charges(place, witness)
    place.create("ledger", contents)


def _contents_without_charges(place: AbstractPlace, witness: AbstractPlace) -> Contents:
    with _refuse_failures(witness), closing(witness.open("witness")) as seen:
        seen.transact(lambda: None)
        # a witness that saw charges proves that a ledger was lost: an unspent one would
        # sell them again
        if seen.numbers("charged"):
            raise LedgerDamaged(
                place.shown, f"it is gone, and its witness {witness.shown} is there"
            )
        return [(record, b"") for record in seen.read(1)]


def refuse_unfit_places(path: Any, terms: LedgerTerms, *, only_writer: bool) -> None:
    """Refuse a place where a charge may be forgotten, or made twice."""
    place = locate(path, "ledger", terms.world)
    for home in filter(None, (place, terms.witness)):
        # a promise about files says nothing of what a server forgets
        if not (only_writer and isinstance(home, FilePlace)):
            with _refuse_failures(home):
                home.refuse_unfit(
                    witnessed=terms.witness is not None, reading=terms.reading
                )


def make_in_memory(terms: LedgerTerms) -> Handle:
    """Make a ledger in memory, and say once that it ends with the process."""
    _say_once()
    return open_memory(terms)


def open_memory(terms: LedgerTerms) -> Handle:
    """Make a ledger in memory."""
    store = MemoryStore(terms.world.reached)
    for record in _first_records(terms):
        store.append(record)
    return Handle(store, terms.seals)


def open_file(path: Any, terms: LedgerTerms) -> Handle:
    """Open a ledger and check it."""
    return look_twice(lambda: _open_file(path, terms))


def _open_file(path: Any, terms: LedgerTerms) -> Handle:
    """Open a ledger and check it, once."""
    return _open_at(locate(path, "ledger", terms.world, reading=terms.reading), terms)


def _open_at(place: AbstractPlace, terms: LedgerTerms) -> Handle:
    with _refuse_failures(place):
        if not place.exists():
            raise _missing_place(
                "ledger",
                place,
                "To begin with an unspent budget, say create=True; if there was a "
                "ledger, look for it.",
            )
        store = _open_store(place, terms)
    try:
        with _refuse_failures(place):
            seals = store.transact(lambda: seals_of(store, terms))
        alone = terms.witness is None and not store.is_copy
        opened = Handle(store, seals, witnessed=not alone)
        opened.use(lambda log: _check(log, terms))
    except BaseException:
        store.close()
        raise
    return opened


def _missing_place(name: str, place: AbstractPlace, remedy: str) -> InvalidParameter:
    return InvalidParameter(name, place.shown, "must exist", remedy)


def _open_store(place: AbstractPlace, terms: LedgerTerms) -> AbstractStore:
    """Return the store of a ledger, with its witness if one was named."""
    reading = terms.reading
    store = place.open("ledger", reading=reading)
    if terms.witness is None:
        return store
    try:
        _refuse_bad_witness(place, terms.witness)
        if reading:
            _refuse_copy(store, terms.witness)
        witness = terms.witness.open("witness", reading=reading)
    except BaseException:
        store.close()
        raise
    return WitnessedStore(store, witness, reading=reading)


def _refuse_copy(store: AbstractStore, witness: AbstractPlace) -> None:
    if store.is_copy:
        raise InvalidParameter(
            "witness",
            witness.shown,
            "cannot be held against a backup, which is older than what it saw",
            "Leave it out to read the backup, or restore it: sd.Ledger.restore.",
        )


def _refuse_bad_witness(place: AbstractPlace, witness: AbstractPlace) -> None:
    """Refuse a witness that is not there, or that fails together with the ledger."""
    if not witness.exists():
        raise _missing_place("witness", witness, "Look for it.")
    if place.is_same(witness):
        raise InvalidParameter(
            "witness",
            witness.shown,
            "must be another file than the ledger, or on another server",
            "Keep it on another disk.",
        )


def _add_witness(place: AbstractPlace, witness: AbstractPlace) -> None:
    """Make the witness of a ledger that has none so far."""
    with _refuse_failures(place), closing(place.open("ledger")) as store:
        store.transact(lambda: None)
        if store.newest("witness") and not witness.exists():
            raise _missing_place("witness", witness, "Look for it.")
        contents = [(record, b"") for record in store.read(1)]
    witness.create("witness", contents)


def seals_of(store: AbstractStore, terms: LedgerTerms) -> Seals:
    """Return who signs a ledger, refusing the key of another one."""
    public = Log(store, Seals()).first_record().fields.get("signed_by") or ""
    # another's key would let a forged history pass as this one
    if terms.seals.public and terms.seals.public != public:
        raise InvalidParameter(
            "signer",
            terms.seals.public,
            f"is not the key of this ledger, {public or 'which has none'}",
            "Compare the public keys.",
        )
    return Seals(public, terms.seals.signer)


def _check(log: Log, terms: LedgerTerms) -> None:
    """Refuse a ledger that is not whole, or not the one that is meant."""
    # sums are added up anew: a lower one that somebody wrote down is found
    refuse_overspent(log)
    _refuse_other(log, terms)
    has_new_witness = terms.witness is not None and not terms.reading
    if has_new_witness and log.newest_about("witness") is None:
        when = time_after(log, terms.world.clock())
        log.add("witnessed", {"when": when.isoformat()})


def _first_records(terms: LedgerTerms) -> list[Record]:
    if terms.limit is None:
        raise InvalidParameter(
            "limit", None, "must be given to make a new ledger", "Try sd.PureDP(1)."
        )
    when = terms.world.clock().isoformat()
    opened = {
        "about": terms.about,
        "format": FORMAT,
        # from the system's generator: two ledgers must never share a ticket
        "identity": f"{Bits().word(_IDENTITY_BYTES):032x}",
        "library": f"sordino {version('sordino')}",
        "signed_by": terms.seals.public or None,
        "when": when,
    }
    budget = {"budget": DATASET, "limit": terms.limit.fields, "when": when}
    contents: list[tuple[str, dict[str, Any]]] = [
        ("opened", opened),
        ("budget", budget),
    ]
    if terms.blocks is not None:
        contents.append(("divided", terms.blocks.fields | {"when": when}))
    if terms.witness is not None:
        contents.append(("witnessed", {"when": when}))
    records, head = [], NOTHING
    for kind, fields in contents:
        record = terms.seals.sign(Record.successor(head, kind, fields))
        records.append(record)
        head = record.head
    return records


def _refuse_other(log: Log, terms: LedgerTerms) -> None:
    """Refuse a ledger that was made with another limit, or for other data."""
    recorded = log.first_limit(DATASET)
    # a larger limit at an opening would raise the budget in silence
    if terms.limit is not None and not is_stated(log, terms.limit):
        raise InvalidParameter(
            "limit",
            terms.limit.stated,
            f"differs from the limit of the ledger, {recorded.stated}",
            "A limit never changes: give the recorded one, or make a new ledger.",
        )
    refuse_other_blocks(terms.blocks, division(log))
    about = log.first_record().fields["about"]
    if terms.about and terms.about != about:
        raise InvalidParameter(
            "about",
            terms.about,
            f"differs from what the ledger is about, {about!r}",
            "A ledger is for one set of tables: make a new one.",
        )


def refuse_other_blocks(blocks: Blocks | None, recorded: Blocks | None) -> None:
    """Refuse other blocks than those of a ledger; without any, the recorded count."""
    if blocks is None or (recorded is not None and blocks.text == recorded.text):
        return
    known = "which has none" if recorded is None else recorded.text
    raise InvalidParameter(
        "blocks",
        blocks,
        f"differ from those of the ledger, {known}",
        "The blocks of a ledger never change: leave them out, or make another.",
    )


@contextmanager
def _refuse_failures(place: AbstractPlace) -> Generator[None]:
    problem, remedy = "", "Check the disk and the permissions."
    try:
        yield
    except Unreached as error:
        problem, remedy = str(error), "Nothing was charged: try again later."
    except OSError:
        problem = "could not be opened"
    if problem:
        raise LedgerUnavailable(place.shown, problem, remedy)


@cache
def _say_once() -> None:
    logging.getLogger("sordino").info(
        "This budget is kept in memory and ends with the process. Give the session a "
        "ledger file to keep it."
    )


def free_place(path: Any, world: World) -> AbstractPlace:
    """Return where a ledger or a copy shall be made, refusing a name that is taken."""
    place = locate(path, "ledger", world)
    with _refuse_failures(place):
        is_used = place.exists()
    if is_used:
        raise _used_place(place)
    return place


def write_copy(log: Log, place: AbstractPlace) -> None:
    """Write all that a ledger holds to a new place, which is never charged."""
    if not place.create("backup", _contents(log.store)):
        raise _used_place(place)


def restore_copy(copy: Any, path: Any, terms: LedgerTerms) -> None:
    """Make a ledger of a copy and of what its witness saw after it."""
    world = terms.world
    source = locate(copy, "copy", world, reading=True)
    place = free_place(path, world)
    with _refuse_failures(source):
        is_there = source.exists()
    if not is_there:
        raise _missing_place("copy", source, "Look for it.")
    if terms.witness is None:
        raise InvalidParameter(
            "witness",
            None,
            "must be given: only it knows what was charged after the copy was made",
            "Without one, count the whole budget as spent; sd.Ledger.read reads the "
            "answers of the copy.",
        )
    _refuse_bad_witness(source, terms.witness)
    try:
        with (
            closing(source.open("ledger", reading=True)) as store,
            closing(terms.witness.open("witness")) as witness,
        ):
            contents = store.transact(
                lambda: witness.transact(lambda: _restore(store, witness, terms))
            )
            is_new = place.create("ledger", contents)
    except OSError:
        raise LedgerUnavailable(
            source.shown, "could not be read", "Check the disk and the permissions."
        ) from None
    if not is_new:
        raise _used_place(place)


def move_ledger(source: Any, target: Any, terms: LedgerTerms) -> None:
    """Have a ledger go on at another place, and at no other ever after.

    ledger of both ── record `moved`, role "moved" ── copied whole ── compared

    The old place is closed before the new one is made, so never are there two. A move
    that was cut short is done again: its record says where it goes.
    """
    old = locate(source, "ledger", terms.world)
    new = locate(target, "path", terms.world)
    with _refuse_failures(old):
        sent = _is_copy(old)
    if not sent:
        free_place(target, terms.world)
        new.refuse_unfit(witnessed=terms.witness is not None, reading=False)
        opened = _open_at(old, terms)
        try:
            opened.look(verify)
            opened.use(lambda log: _send_away(log, new, terms.world))
        finally:
            opened.close()
    with (
        _refuse_failures(old),
        closing(old.open("ledger", reading=True)) as store,
    ):
        store.transact(lambda: None)
        _arrive(store, new)


def _is_copy(place: AbstractPlace) -> bool:
    """Say whether there is a ledger that is only read from now on."""
    if not place.exists():
        raise _missing_place("ledger", place, "Look for it.")
    with closing(place.open("ledger", reading=True)) as store:
        store.transact(lambda: None)
        return store.is_copy


def _send_away(log: Log, new: AbstractPlace, world: World) -> None:
    when = time_after(log, world.clock())
    log.add("moved", {"to": new.shown, "when": when.isoformat()})
    log.store.retire()


def _arrive(store: AbstractStore, new: AbstractPlace) -> None:
    """Make the ledger at its new place unless it is there, and hold it against this."""
    last = next(store.read(store.head.number))
    # a backup was never sent away, and a ledger that was goes to one place
    if last.kind != "moved" or last.fields["to"] != new.shown:
        raise InvalidParameter(
            "path",
            new.shown,
            f"is not where this ledger went: {last.fields.get('to', 'it is a backup')}",
            "Finish the move that was begun, or open the ledger where it is.",
        )
    with _refuse_failures(new):
        new.create("ledger", _contents(store))
        with closing(new.open("ledger", reading=True)) as there:
            there.transact(there.verify)
            same = next(there.read(last.number), None) == last and all(
                answer == there.answer(record.number)
                for record, answer in _contents(store)
            )
    if not same:
        raise InvalidParameter(
            "path", new.shown, "has another ledger", "Choose another place."
        )


def _contents(store: AbstractStore) -> Iterator[tuple[Record, bytes]]:
    for record in store.read(1):
        answered = record.kind == "answered"
        yield record, store.answer(record.number) if answered else b""


def _restore(
    store: AbstractStore, witness: AbstractStore, terms: LedgerTerms
) -> Contents:
    after = store.head
    common = min(after.number, witness.head.number)
    # another history of the same length would hide charges of this one
    if next(store.read(common)) != next(witness.read(common)):
        raise LedgerDamaged(
            store.title, "it does not belong to the history of its witness"
        )
    # charged after the copy was made: their answers are lost, their price is not
    missing = [(record, b"") for record in witness.read(after.number + 1)]
    newest = missing[-1][0] if missing else next(store.read(after.number))
    seals = seals_of(store, terms)
    for seen in (store, witness):
        Log(seen, seals).refuse_unsigned(next(seen.read(seen.head.number)))
    when = max(terms.world.clock(), datetime.fromisoformat(newest.fields["when"]))
    fields = {"after": after.number, "when": when.isoformat()}
    last = seals.sign(Record.successor(newest.head, "restored", fields))
    return [*_contents(store), *missing, (last, b"")]


def _used_place(place: AbstractPlace) -> InvalidParameter:
    return InvalidParameter(
        "path", place.shown, "must not exist yet", "Choose another name."
    )
