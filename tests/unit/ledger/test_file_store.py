"""A store in a file: torn ends, lost marks, other names, disks that misbehave."""

import os
import shutil
from pathlib import Path

import pytest

from sordino.errors import LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.file_format import Disk, World
from sordino.ledger.file_store import FileStore
from tests.batches import for_each
from tests.ledgers import Failing
from tests.stores import QUICK, answered, in_a_file, known, lease, leased


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
    for size in range(3 * file_format.BLOCK, len(whole)):
        path.write_bytes(whole[:size])
        torn = FileStore(path, QUICK)
        with pytest.raises(LedgerDamaged):
            torn.transact(lambda: None)
        torn.close()


def test_one_lost_mark_does_no_harm(tmp_path: Path) -> None:
    store = in_a_file(tmp_path)
    path = tmp_path / "ledger"
    for charge in range(3):
        lease(store, charge)
    store.close()
    whole = path.read_bytes()
    for slot in (1, 2):
        torn = bytearray(whole)
        torn[slot * file_format.BLOCK + 20 : slot * file_format.BLOCK + 200] = (
            b"\0" * 180
        )
        path.write_bytes(torn)
        again = FileStore(path, World())
        assert known(again).number == 4
        lease(again, 1)
        again.close()


@for_each("point", ["begun", "written", "durable"])
def test_a_file_that_is_replaced_within_a_transaction(
    tmp_path: Path, point: str
) -> None:
    path = tmp_path / "ledger"
    in_a_file(tmp_path).close()

    def replace_now(reached: str) -> None:
        if reached == f"leased: {point}":
            shutil.copy(path, tmp_path / "copy")
            (tmp_path / "copy").replace(path)

    store = FileStore(path, World(reached=replace_now))
    with pytest.raises(LedgerDamaged, match="replaced"):
        lease(store, 1)
    store.close()


def test_a_disk_that_changes_what_it_is_given(tmp_path: Path) -> None:
    """Lines that read back otherwise than they were written are not told."""
    in_a_file(tmp_path).close()

    def write(handle: int, data: bytes, at: int) -> int:
        return os.pwrite(handle, data.replace(b'"fence":2', b'"fence":1'), at)

    store = FileStore(tmp_path / "ledger", World(disk=Disk(write=write)))
    with pytest.raises(LedgerDamaged, match="is not what was written"):
        lease(store, 1)
    store.close()


@for_each("appends", [False, True], ids=["reads", "appends"])
def test_what_was_not_waited_for_is_durable_before_it_is_told(
    tmp_path: Path,
    appends: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """A record whose fsync failed is written and synced again by whoever comes next.

    The kernel may hold it for written, so its bytes are given to the disk once more,
    before anything that was read is told; and the mark comes after that.
    """
    in_a_file(tmp_path).close()
    path = tmp_path / "ledger"
    durable = path.stat().st_size
    broken = FileStore(path, Failing(1, acts=frozenset({"sync"})).world)
    with pytest.raises(OSError, match="Input/output"):
        lease(broken, 1)
    broken.close()
    told: list[int] = []

    def write(handle: int, data: bytes, at: int) -> int:
        told.append(at)
        return os.pwrite(handle, data, at)

    def sync(handle: int) -> None:
        told.append(-1)
        os.fsync(handle)

    store = FileStore(path, World(disk=Disk(write=write, sync=sync)))
    store.transact(lambda: store.append(leased(store.head, 2)) if appends else None)
    store.close()
    *lines, synced, mark = told
    assert lines[0] == durable
    assert len(lines) == 1 + appends
    assert synced == -1
    assert file_format.BLOCK <= mark < 3 * file_format.BLOCK


def test_what_lies_behind_a_torn_line_is_cut_off_with_it(tmp_path: Path) -> None:
    """Power may fail when a later page is on the disk and an earlier one is not.

    The whole line behind the gap was never told of. It is gone before the gap is filled
    by a record of the same length, which it would then seem to follow.
    """
    store = in_a_file(tmp_path)
    path = tmp_path / "ledger"
    head = known(store)
    first, lost = leased(head, 1), leased(leased(head, 1).head, 2)
    store.close()
    gap = b"\0" * (len(first.line) + 1)
    path.write_bytes(path.read_bytes() + gap + lost.line + b"\n")
    store = FileStore(path, QUICK)
    store.transact(lambda: store.append(leased(store.head, 3)))
    store.close()
    again = FileStore(path, QUICK)
    assert known(again).number == 2
    again.transact(again.verify)
    again.close()
