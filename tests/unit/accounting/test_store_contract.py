"""What every store owes a ledger, whatever it is made of."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.accounting import layout, making
from sordino.accounting.file_store import FileStore
from sordino.accounting.guarded import Guarded
from sordino.accounting.log import Log
from sordino.accounting.memory_store import MemoryStore
from sordino.accounting.records import NOTHING, Head, Record, digest, replace
from sordino.accounting.signing import Seals
from sordino.accounting.store import AbstractStore
from sordino.accounting.witnessed_store import WitnessedStore
from sordino.accounting.world import Disk, World
from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable

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
FIRST = Record.following(NOTHING, "opened", OPENED)


def leased(head: Head, charge: int) -> Record:
    """Return a record that follows, about some charge."""
    fields = {"charge": charge, "fence": 2, "who": "", "when": WHEN}
    return Record.following(head, "leased", fields)


def answered(head: Head, charge: int, answer: bytes) -> Record:
    """Return the record of an answer."""
    fields = {"charge": charge, "fence": 1, "sha256": digest(answer), "when": WHEN}
    return Record.following(head, "answered", {**fields, "size": len(answer)})


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
    making.create(folder / "ledger", World(), "ledger", [(FIRST, b"")])
    return FileStore(folder / "ledger", World())


def witnessed(folder: Path) -> AbstractStore:
    """Return a store in a file, with a witness."""
    making.create(folder / "witness", World(), "witness", [(FIRST, b"")])
    seen = FileStore(folder / "witness", World(), "witness")
    return WitnessedStore(in_a_file(folder), seen)


STORES: dict[str, Callable[[Path], AbstractStore]] = {
    "memory": in_memory,
    "file": in_a_file,
    "witnessed": witnessed,
}


@pytest.fixture(name="store", params=STORES)
def store_of_each_kind(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[AbstractStore]:
    """Return a store of each kind, which has one record."""
    store = STORES[request.param](tmp_path)
    yield store
    store.close()


def test_a_record_is_read_as_it_was_appended(store: AbstractStore) -> None:
    """Records, their numbers by kind and subject, and answers are there."""

    def act() -> None:
        store.append(leased(store.head, 7))
        store.append(answered(store.head, 7, b"42"), b"42")
        store.append(leased(store.head, 8), lasting=False)

    store.transact(act)
    records = tuple(store.read(1))
    assert [one.number for one in records] == [1, 2, 3, 4]
    assert records[0] == FIRST
    assert records[-1].head == store.head
    assert next(store.read(3)) == records[2]
    assert list(store.read(5)) == []
    assert (store.newest("lease 7"), store.newest("lease 8")) == (2, 4)
    assert (store.newest("answer 7"), store.newest("lease 9")) == (3, 0)
    assert list(store.numbers("leased")) == [2, 4]
    assert list(store.numbers("charged")) == []
    assert (store.answer(3), store.answer(2)) == (b"42", b"")
    store.verify()


def test_the_newest_record_of_a_subject_counts(store: AbstractStore) -> None:
    """A later record about the same subject takes its place in a look-up."""
    for _ in range(3):
        lease(store, 7)
    assert store.newest("lease 7") == 4


def test_append_needs_the_head(store: AbstractStore) -> None:
    """A record that follows another head is refused, and nothing is added."""
    before = known(store)
    strays = [
        leased(NOTHING, 1),
        leased(Head(before.number, "0" * 64), 1),
        leased(Head(before.number + 1, before.hash), 1),
    ]
    for stray in strays:
        with pytest.raises(InvalidParameter, match="head"):
            add(store, stray)
    assert known(store) == before
    lease(store, 1)


def test_a_transaction_that_fails_has_added_nothing(store: AbstractStore) -> None:
    """What an act raises comes through, and the next act finds the same head."""
    before = known(store)

    def act() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        store.transact(act)
    assert known(store) == before


def test_a_record_that_is_not_sound_is_refused(store: AbstractStore) -> None:
    """A record that says what its kind does not say never becomes part of a log."""
    bad = Record.following(known(store), "leased", {"charge": []})
    with pytest.raises(LedgerDamaged):
        store.transact(lambda: (store.append(bad), store.head))


def test_a_later_kind_is_refused_in_words(store: AbstractStore) -> None:
    """A record of a kind that this version does not know may lower a limit."""
    later = Record.following(known(store), "forgiven", {})
    with pytest.raises(LedgerUnavailable, match="Update"):
        store.transact(lambda: (store.append(later), store.head))


@pytest.mark.parametrize("size", [0, 1, 2, 4095, 4096, 99_999])
def test_an_answer_of_any_size_is_kept(store: AbstractStore, size: int) -> None:
    """Also of more than one piece, and of none."""
    answer = bytes(range(256)) * (size // 256) + b"\n" * (size % 256)
    store.transact(lambda: store.append(answered(store.head, 1, answer), answer))
    assert store.answer(2) == answer
    store.verify()


def test_an_answer_of_many_pieces(
    store: AbstractStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces are put together in order, whatever their size is."""
    monkeypatch.setattr(layout, "PIECE", 1000)
    answer = bytes(range(250)) * 401
    store.transact(lambda: store.append(answered(store.head, 1, answer), answer))
    store.transact(lambda: store.append(answered(store.head, 9, b"x"), b"x"))
    assert (store.answer(2), store.answer(3)) == (answer, b"x")
    store.verify()


@given(
    operations=st.lists(
        st.tuples(st.sampled_from("las"), st.integers(1, 5), st.binary(max_size=40)),
        max_size=20,
    )
)
def test_stores_of_all_kinds_say_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    operations: list[tuple[str, int, bytes]],
) -> None:
    """Any sequence of appends is told by each store as by each other."""
    told: list[Any] = []
    for make in STORES.values():
        store = make(tmp_path_factory.mktemp("store"))
        store.transact(lambda: None)
        for kind, charge, data in operations:
            record = (
                leased(store.head, charge)
                if kind == "l"
                else answered(store.head, charge, data)
            )
            kept = b"" if kind == "l" else data
            add(store, record, kept, lasting=kind != "s")
        records = list(store.read(1))
        subjects = [f"{what} {n}" for what in ("lease", "answer") for n in range(1, 6)]
        told.append((
            records,
            [store.newest(subject) for subject in subjects],
            [store.answer(one.number) for one in records],
            [list(store.numbers(kind)) for kind in ("opened", "leased", "answered")],
        ))
        store.verify()
        store.close()
    assert told[0] == told[1] == told[2]


def test_threads_append_one_after_another(store: AbstractStore) -> None:
    """Under one guard, no record is lost and none is added to an old head."""
    guarded = Guarded(store, Seals(), witnessed=True)

    def add(log: Log) -> None:
        log.add("leased", {"charge": 1, "fence": 2, "who": "", "when": WHEN})

    def work() -> None:
        for _ in range(20):
            guarded.use(add)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert guarded.look(lambda log: len(list(log.records()))) == 81
    guarded.look(lambda log: log.store.verify())


def test_two_handles_of_one_file_see_each_other(tmp_path: Path) -> None:
    """What one appended, the other reads; by a hard link, and by a symbolic one too."""
    first = in_a_file(tmp_path)
    (tmp_path / "hard").hardlink_to(tmp_path / "ledger")
    (tmp_path / "soft").symlink_to(tmp_path / "ledger")
    others = [FileStore(tmp_path / name, World()) for name in ("hard", "soft")]
    for turn, store in enumerate([first, *others] * 3):
        assert known(store).number == turn + 1
        lease(store, 1)
    for store in (first, *others):
        store.transact(store.verify)
        store.close()


def test_every_torn_end_is_cut_off(tmp_path: Path) -> None:
    """A file cut at any byte behind what is durable is what it was, or all of it.

    The last append here is of a record and two pieces; it is never marked, as if the
    power had failed before its fsync. Every prefix is tried, also filled with zeros.
    """
    store = in_a_file(tmp_path)
    path = tmp_path / "ledger"
    lease(store, 1)
    durable = path.stat().st_size
    last = answered(store.head, 1, b"a" * 30)
    store.transact(lambda: store.append(last, b"a" * 30, lasting=False))
    store.close()
    whole = path.read_bytes()
    for size in range(durable, len(whole) + 1):
        for filling in (b"", b"\0" * (len(whole) - size)):
            path.write_bytes(whole[:size] + filling)
            torn = FileStore(path, QUICK)
            number = known(torn).number
            assert number == (3 if size == len(whole) else 2), size
            lease(torn, 5)
            torn.transact(torn.verify)
            torn.close()


def test_every_cut_before_the_durable_end_is_refused(tmp_path: Path) -> None:
    """Where the newest mark says that there is more, a shorter file is damaged."""
    store = in_a_file(tmp_path)
    path = tmp_path / "ledger"
    lease(store, 1)
    store.close()
    whole = path.read_bytes()
    for size in range(3 * layout.BLOCK, len(whole)):
        path.write_bytes(whole[:size])
        torn = FileStore(path, QUICK)
        with pytest.raises(LedgerDamaged):
            torn.transact(lambda: None)
        torn.close()


def test_one_lost_mark_does_no_harm(tmp_path: Path) -> None:
    """A mark that was cut short is passed over: the other one is a mark too."""
    store = in_a_file(tmp_path)
    path = tmp_path / "ledger"
    for charge in range(3):
        lease(store, charge)
    store.close()
    whole = path.read_bytes()
    for slot in (1, 2):
        torn = bytearray(whole)
        torn[slot * layout.BLOCK + 20 : slot * layout.BLOCK + 200] = b"\0" * 180
        path.write_bytes(torn)
        again = FileStore(path, World())
        assert known(again).number == 4
        lease(again, 1)
        again.close()


def test_a_record_reads_as_its_line() -> None:
    """A line is read as the record that wrote it, and nothing else is a record."""
    record = replace(leased(FIRST.head, 3), signature="ab" * 64)
    assert Record.read(record.line) == record
    assert Record.read(FIRST.line) == FIRST
    for bad in (b"", b"{}", record.line[:-1], record.line + b" ", b"\xff" * 400):
        assert Record.read(bad) is None
