"""Ledgers at their edges: forks, other systems, files that change, empty stores."""

import copy
import fcntl
import os
import pickle
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino import errors
from sordino.ledger import file_format, format_1, opening
from sordino.ledger.charges import entry_of
from sordino.ledger.file_format import NOTHING, Disk, LockedFile, Record, World
from sordino.ledger.file_store import FileStore, _lines
from sordino.ledger.log import Log
from sordino.ledger.opening import LedgerTerms
from sordino.ledger.other_stores import MemoryStore, WitnessedStore
from sordino.ledger.policy_file import Seals
from sordino.ledger.record_kinds import is_limit
from sordino.ledger.verification import refuse_overspent
from sordino.numbers import INFINITE
from sordino.office.notebook.pages import budget_line
from tests.batches import for_each
from tests.ledgers import claim
from tests.stores import FIRST, in_a_file, in_memory, lease, leased, witnessed

LIMIT = sd.PureDP(10)


def log_of(*records: Record) -> Log:
    store = MemoryStore(World().reached)
    for record in records:
        store.append(record)
    return Log(store, Seals())


def test_a_store_without_records_is_damaged() -> None:
    """So is one whose first record is another, and one without any limit."""
    with pytest.raises(errors.LedgerDamaged, match="has no records"):
        log_of().record(1)
    with pytest.raises(errors.LedgerDamaged, match="first record is missing"):
        log_of(leased(NOTHING, 1)).first_record()
    with pytest.raises(errors.LedgerDamaged, match="records no limit"):
        refuse_overspent(log_of(FIRST))


def test_a_charge_to_an_unknown_budget_is_damage() -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger:
        ledger.reserve(claim("k"))

        def unlimited(log: Log) -> None:
            (charged,) = log.every("charged")
            with pytest.raises(errors.LedgerDamaged, match="does not follow"):
                entry_of(log, charged, {}, ())

        ledger._guarded.look(unlimited)


@for_each(
    "value", [{"stated": "x", "limits": {"nothing": "1/2"}}, {"stated": "x"}, 5, None]
)
def test_what_is_no_limit_is_none(value: Any) -> None:
    assert not is_limit(value)


def test_a_ledger_stays_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger:
        for act in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(errors.SessionMoved, match="copied or pickled"):
                act(ledger._guarded)
        own = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: own + 1)
        with pytest.raises(errors.SessionMoved, match="forked"):
            ledger.spent()
        monkeypatch.undo()


def test_a_ledger_shows_itself_in_a_notebook() -> None:
    with sd.Ledger.in_memory(LIMIT, about="patients") as ledger:
        ledger.store(ledger.reserve(claim("monday")), b"42")
        page = ledger._repr_html_()
    assert all(word in page for word in ("patients", "monday", "PureDP", "% is spent"))
    endless = sd.PureDP(INFINITE)
    assert "spent" not in budget_line("x", endless, endless)


def test_a_child_of_a_fork_lets_go_of_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    kept, lent = LockedFile(path, World()), LockedFile(path, World())
    handle = lent.handle
    file_format._OPEN.discard(kept)
    file_format._abandon_all()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
    lent.abandon()
    lent.close()
    assert os.fstat(kept.handle).st_size == 0
    kept.close()


def test_a_file_that_is_gone_was_moved(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    file = LockedFile(path, World())
    file.refuse_replaced()
    path.unlink()
    with pytest.raises(errors.LedgerDamaged, match="moved or replaced"):
        file.refuse_replaced()
    file.close()


def test_a_file_that_ends_early_has_no_more_lines() -> None:
    short = b"one\ntwo\nth"
    read: Callable[[int, int], bytes] = lambda size, at: short[at : at + size]  # noqa: E731
    assert [line for _, line in _lines(read, 0, 100)] == [b"one", b"two"]


def test_a_file_that_changes_while_it_is_open_is_damaged(tmp_path: Path) -> None:
    """Records are read anew each time, and all of them by `verify`."""
    store = in_a_file(tmp_path)
    assert isinstance(store, FileStore)
    lease(store, 1)
    path = tmp_path / "ledger"
    whole = path.read_bytes()

    def changed() -> None:
        begin = whole.index(b'"leased"')
        path.write_bytes(whole[:begin] + b'"leaked"' + whole[begin + 8 :])
        with pytest.raises(
            errors.LedgerDamaged, match="record 2 is not what was written"
        ):
            list(store.read(2))
        with pytest.raises(errors.LedgerDamaged, match="changed after it was read"):
            store.verify()
        path.write_bytes(whole)

    store.transact(changed)
    store.close()


def test_a_store_is_read_within_a_transaction(tmp_path: Path) -> None:
    in_a_file(tmp_path).close()
    store = FileStore(tmp_path / "ledger", World())
    with pytest.raises(errors.LedgerUnavailable, match="was not read to its end"):
        store.newest("key k")
    with pytest.raises(errors.LedgerDamaged, match="has no mark"):
        _ = store._last_mark
    store.close()


def test_durable_is_what_outlives_the_process(tmp_path: Path) -> None:
    """Files do, with a witness as without; memory does not."""
    assert not in_memory(tmp_path).durable
    store = witnessed(tmp_path)
    assert isinstance(store, WitnessedStore)
    assert store.durable
    store.close()


def test_other_systems_have_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without those of POSIX no ledger is opened."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(errors.LedgerUnavailable, match="locks of POSIX"):
        file_format.locate_file("a.ledger")


def test_a_disk_that_must_be_told_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where fsync leaves data in the disk, the stronger call is made."""
    calls: list[int] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda _, flag: calls.append(flag))
    with (tmp_path / "file").open("wb") as file:
        Disk().sync(file.fileno())
    assert calls == [51]


def copied(folder: Path) -> tuple[Path, Path]:
    """Return a copy of a ledger with a witness, and the witness."""
    path, witness = folder / "a.ledger", folder / "w.ledger"
    with sd.Ledger.at(path, LIMIT, witness=witness, create=True) as ledger:
        ledger.reserve(claim("k"))
        ledger.backup(folder / "copy")
    return folder / "copy", witness


def test_a_copy_on_a_broken_disk_is_not_restored(tmp_path: Path) -> None:
    source, witness = copied(tmp_path)

    def broken(*_: Any) -> bytes:
        raise OSError

    terms = LedgerTerms.of(LIMIT, "", witness, None, World(disk=Disk(read=broken)))
    with pytest.raises(errors.LedgerUnavailable, match="could not be read"):
        opening.restore_copy(source, tmp_path / "new", terms)
    assert not (tmp_path / "new").exists()


def test_a_name_that_is_taken_meanwhile_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between the look and the act somebody else may have made the file."""
    source, witness = copied(tmp_path)
    monkeypatch.setattr(file_format, "create_file", lambda *_: False)
    terms = LedgerTerms.of(LIMIT, "", witness, None, None)
    with pytest.raises(errors.InvalidParameter, match="must not exist yet"):
        opening.restore_copy(source, tmp_path / "new", terms)


def test_a_journal_that_stays_open_stops_a_migration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Logging:
        """A connection that does not leave its mode."""

        def execute(self, statement: str) -> "Logging":
            del statement
            return self

        def fetchone(self) -> tuple[str]:
            return ("wal",)

    path = tmp_path / "file"
    path.write_bytes(b"SQLite format 3\0")
    monkeypatch.setattr(format_1, "refuse_others", lambda *_: None)
    file = LockedFile(path, World())
    with pytest.raises(sqlite3.OperationalError):
        format_1._migrate(file, World(), Logging())  # type: ignore[arg-type]
    assert path.read_bytes() == b"SQLite format 3\0"
    file.close()
