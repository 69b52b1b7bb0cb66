"""Ways in which version 0.1 gave more than its budget: each is tried again here.

Two processes or more, one file, a promise of PureDP(1): whatever is done to locks,
names, forks and copies, ten tenths are all there is.
"""

import gc
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from sordino.errors import LedgerUnavailable, SessionMoved, SordinoError
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import PureDP
from tests.ledgers import LIMIT, claim
from tests.tenths import QUERY, clinic, elsewhere, forked, spend


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.ledger"
    clinic(path, LIMIT).ledger.close()
    return path


@pytest.fixture(name="gate")
def gate_of_a_pipe() -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """Return how to wait for a gate, and how to open it for ever."""
    reader, writer = os.pipe()
    opened = threading.Event()

    def wait() -> None:
        os.close(writer)
        os.read(reader, 1)

    def unlock() -> None:
        os.close(writer)
        opened.set()

    yield wait, unlock
    os.close(reader)
    if not opened.is_set():
        os.close(writer)


def test_reading_the_own_file_drops_no_lock(path: Path) -> None:
    """A process that hashes or copies its open ledger keeps what it holds."""
    notebook = clinic(path)
    had = spend(notebook, 1)
    path.read_bytes()
    shutil.copyfile(path, path.with_name("copy"))
    had += elsewhere(path, 1)
    had += spend(notebook, 4)
    path.read_bytes()
    had += elsewhere(path)
    had += spend(notebook)
    assert had == 10
    assert elsewhere(path) == 0
    assert notebook.ledger.verify().releases == 10


def test_reading_in_the_middle_of_a_transaction_drops_no_lock(path: Path) -> None:
    """Another descriptor of the file is closed while a charge is written: no matter."""
    seen = []

    def copy_now(point: str) -> None:
        path.read_bytes()
        if point == "charged: written":
            impatient = World(patience=0.05)
            with pytest.raises(LedgerUnavailable, match="in use"):
                Ledger.at(path, world=impatient)
            seen.append(point)

    with Ledger.at(path, world=World(reached=copy_now)) as ledger:
        ledger.store(ledger.reserve(claim()), b"1")
    assert seen == ["charged: written"]


def test_a_folder_that_is_copied_while_many_charge(path: Path) -> None:
    """Copies of everything beside the ledger, all the time, spoil nothing."""
    notebook = clinic(path)
    stop = threading.Event()

    def copy() -> None:
        for turn in range(10_000):
            shutil.copytree(path.parent, path.parent.with_name(f"copy {turn}"))
            shutil.rmtree(path.parent.with_name(f"copy {turn}"))
            if stop.is_set():
                return

    thread = threading.Thread(target=copy)
    thread.start()
    had = spend(notebook, 3) + elsewhere(path, 3) + spend(notebook, 2)
    stop.set()
    thread.join()
    assert had + elsewhere(path) == 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_parent_that_lets_go_after_a_fork(
    path: Path, how: str, gate: tuple[Callable[[], None], Callable[[], None]]
) -> None:
    """Workers open their own ledger, the parent closes or forgets its own."""
    wait, unlock = gate
    parent = clinic(path)
    had = spend(parent, 1)

    def work() -> int:
        own = clinic(path)
        wait()
        return spend(own)

    workers = [forked(work) for _ in range(2)]
    if how == "close":
        parent.ledger.close()
    del parent
    gc.collect()
    unlock()
    had += sum(int(worker.told()) for worker in workers)
    assert had + elsewhere(path) == 10


def test_a_parent_that_stays(path: Path) -> None:
    """Workers and their parent share one budget, and the parent's handle stays good."""
    parent = clinic(path)
    workers = [forked(lambda: spend(clinic(path), 3)) for _ in range(3)]
    had = sum(int(worker.told()) for worker in workers)
    assert had + spend(parent) == 10
    assert parent.ledger.verify().releases == 10


def test_a_child_that_ends_by_itself(path: Path) -> None:
    """A child that exits with handles inherited and own takes nothing with it."""
    parent = clinic(path)
    child = os.fork()
    if child == 0:
        spend(clinic(path), 1)
        parent.ledger._guarded._store.close()  # as a collector might
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert elsewhere(path, 2) + spend(parent) == 9
    assert elsewhere(path) == 0


def test_forks_in_the_middle_of_transactions_of_a_thread(path: Path) -> None:
    """Neither child nor parent is kept waiting by a lock that a fork took with it."""
    big = path.with_name("big.ledger")
    parent = Ledger.at(big, PureDP(1000), create=True)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            parent.store(parent.reserve(claim(None)), b"1")

    def once() -> str:
        with Ledger.at(big, world=World(patience=20)) as own:
            own.store(own.reserve(claim(None)), b"1")
        return "had"

    thread = threading.Thread(target=busy)
    thread.start()
    children = [forked(once) for _ in range(8)]
    told = [child.told() for child in children]
    stop.set()
    thread.join()
    assert told == ["had"] * 8
    count = parent.verify().releases
    assert parent.spent() == PureDP(Fraction(count, 10))


def test_a_parent_that_dies_in_a_transaction_leaves_no_lock(path: Path) -> None:
    reader, writer = os.pipe()

    def die(point: str) -> None:
        if point == "charged: written":
            lasting = os.fork()
            if lasting == 0:
                os.read(reader, 1)  # lives until the test lets it go
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)

    victim = os.fork()
    if victim == 0:
        os.close(writer)
        Ledger.at(path, world=World(reached=die)).reserve(claim())
    os.waitpid(victim, 0)
    with Ledger.at(path, world=World(patience=20)) as ledger:
        assert ledger.spent() == PureDP("0.1")
    os.close(writer)
    os.close(reader)


def test_a_fork_within_a_transaction_refuses_in_the_child(path: Path) -> None:
    """Signal handlers may fork anywhere: the child writes nothing, the parent all."""
    children = []

    def fork_now(point: str) -> None:
        if point == "charged: begun":
            children.append(os.fork())

    ledger = Ledger.at(path, world=World(reached=fork_now))
    try:
        ledger.reserve(claim())
        refused = 1
    except SessionMoved:
        refused = 0
    if children == [0]:
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert ledger.spent() == PureDP("0.1")
    assert ledger.verify().releases == 1


@pytest.mark.parametrize("moved", [False, True])
def test_a_crash_leaves_nothing_beside_the_file(path: Path, moved: bool) -> None:  # noqa: FBT001 a parameter of the test
    """After a SIGKILL the one file has everything, wherever it is moved."""
    child = os.fork()
    if child == 0:
        spend(clinic(path), 9)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert list(path.parent.iterdir()) == [path]
    if moved:
        path = path.rename(path.with_name("elsewhere.ledger"))
    assert elsewhere(path) == 1


@pytest.mark.parametrize("point", ["begun", "written", "durable"])
def test_a_crash_is_seen_by_every_name(path: Path, point: str) -> None:
    """A commit that one name's user died in is whole, or nothing, by another name.

    What a file mounted twice is to the kernel, a hard link is: one inode, two paths in
    two folders.
    """
    (path.parent / "b").mkdir()
    other = path.parent / "b" / "clinic.ledger"
    other.hardlink_to(path)

    def die(reached: str) -> None:
        if reached == f"charged: {point}":
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        Ledger.at(path, world=World(reached=die)).reserve(claim())
    os.waitpid(child, 0)
    with Ledger.at(other) as ledger:
        left = 9 if point != "begun" else 10
        assert len(ledger.entries()) == 10 - left
    by_other = elsewhere(other, 4)
    assert by_other + elsewhere(path) == left
    assert elsewhere(other) == 0


def test_a_ledger_by_its_descriptor_is_the_same(path: Path) -> None:
    with path.open("rb") as file, Ledger.at(path) as first:
        by_descriptor = Path(f"/dev/fd/{file.fileno()}")
        with Ledger.at(by_descriptor) as second:
            first.reserve(claim("a"))
            second.reserve(claim("b"))
            assert first.spent() == second.spent() == PureDP("0.2")


def test_a_restore_in_place_under_a_live_handle(path: Path) -> None:
    """Bytes of an older copy, written over the file, end the handle: it is shorter."""
    older = path.read_bytes()
    session = clinic(path)
    spend(session, 3)
    path.write_bytes(older)
    with pytest.raises(SordinoError, match="not to be trusted"):
        session.release(QUERY, PureDP("0.1"))
