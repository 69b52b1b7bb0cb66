"""What every store owes a ledger, whatever it is made of."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format
from sordino.ledger.file_format import NOTHING, Head, Record, replace
from sordino.ledger.log import AbstractStore, Handle, Log
from sordino.ledger.policy_file import Seals
from tests.effort import often
from tests.stores import FIRST, STORES, WHEN, add, answered, known, lease, leased


@pytest.fixture(name="store", params=STORES)
def store_of_each_kind(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[AbstractStore]:
    store = STORES[request.param](tmp_path)
    yield store
    store.close()


def test_a_record_is_read_as_it_was_appended(store: AbstractStore) -> None:
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
    before = known(store)
    strays = [
        leased(NOTHING, 1),
        leased(Head(before.number, "0" * 64), 1),
        leased(Head(before.number + 1, before.hash), 1),
    ]
    for stray in strays:
        with pytest.raises(InvalidParameter, match="must follow the newest"):
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
    bad = Record.successor(known(store), "leased", {"charge": []})
    with pytest.raises(LedgerDamaged):
        store.transact(lambda: (store.append(bad), store.head))


def test_a_later_kind_is_refused_in_words(store: AbstractStore) -> None:
    """A record of a kind that this version does not know may lower a limit."""
    later = Record.successor(known(store), "forgiven", {})
    with pytest.raises(LedgerUnavailable, match="Update"):
        store.transact(lambda: (store.append(later), store.head))


@pytest.mark.parametrize("size", [0, 1, 2, 4095, 4096, 99_999])
def test_an_answer_of_any_size_is_kept(store: AbstractStore, size: int) -> None:
    answer = bytes(range(256)) * (size // 256) + b"\n" * (size % 256)
    store.transact(lambda: store.append(answered(store.head, 1, answer), answer))
    assert store.answer(2) == answer
    store.verify()


def test_an_answer_of_many_pieces(
    store: AbstractStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_format, "PIECE", 1000)
    answer = bytes(range(250)) * 401
    store.transact(lambda: store.append(answered(store.head, 1, answer), answer))
    store.transact(lambda: store.append(answered(store.head, 9, b"x"), b"x"))
    assert (store.answer(2), store.answer(3)) == (answer, b"x")
    store.verify()


@settings(max_examples=often(6, 500))
@given(
    operations=st.lists(
        st.tuples(st.sampled_from("las"), st.integers(1, 5), st.binary(max_size=40)),
        min_size=often(8, 0),
        max_size=20,
    )
)
def test_stores_of_all_kinds_say_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    operations: list[tuple[str, int, bytes]],
) -> None:
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
    assert all(one == told[0] for one in told)


def test_threads_append_one_after_another(store: AbstractStore) -> None:
    guarded = Handle(store, Seals(), witnessed=True)

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


def test_a_record_reads_as_its_line() -> None:
    record = replace(leased(FIRST.head, 3), signature="ab" * 64)
    assert Record.read(record.line) == record
    assert Record.read(FIRST.line) == FIRST
    for bad in (b"", b"{}", record.line[:-1], record.line + b" ", b"\xff" * 400):
        assert Record.read(bad) is None
