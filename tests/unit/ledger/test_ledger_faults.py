"""Disks that fail, fill up or take the process with them, under whole sessions.

`test_ledger_crashes` lets every act of a disk fail under one question. Here a service
asks several, goes on after errors with a new session, and may die at every act.
"""

import os
import resource
import signal
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from sordino.errors import LedgerUnavailable, SordinoError
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import PureDP
from tests.effort import often
from tests.ledgers import Failing, claim

KEYS = ("a", None, "a", "b", None, "b", None, "c")
"""What the service is asked, one after another, each at most twice."""
LIMIT = PureDP(1)


class Given(NamedTuple):
    """One answer that left."""

    key: str | None
    answer: bytes


def served(
    path: Path, witness: Path | None, world: World, tell: Callable[[Given], object]
) -> None:
    """Ask for all answers; after an error, open the ledger anew and ask once more."""
    ledger: Ledger | None = None
    for turn, key in enumerate(KEYS):
        for _ in range(2):
            with suppress(SordinoError):
                ledger = ledger or Ledger.at(path, witness=witness, world=world)
                tell(Given(key, _answer(ledger, key, turn)))
                break
            ledger = None


def _answer(ledger: Ledger, key: str | None, turn: int) -> bytes:
    ticket = ledger.reserve(claim(key))
    if ticket.answer is not None:
        return ticket.answer
    return ledger.store(ticket, f"{turn} {os.urandom(3)!r}".encode())


def check(path: Path, witness: Path | None, given: list[Given]) -> None:
    """Hold what left against what was charged, and what comes back against both."""
    with Ledger.at(path, witness=witness) as ledger:
        ledger.verify()
        entries = ledger.entries()
        assert ledger.spent() == PureDP(Fraction(len(entries), 10))
        by_key: defaultdict[str, set[bytes]] = defaultdict(set)
        for one in given:
            if one.key is not None:
                by_key[one.key].add(one.answer)
        assert all(len(answers) == 1 for answers in by_key.values())
        assert set(by_key) <= {one.key for one in entries}
        without = sum(one.key is None for one in entries)
        assert sum(one.key is None for one in given) <= without
        for key, answers in by_key.items():
            assert {ledger.reserve(claim(key)).answer} == answers


def prepared(folder: Path, number: int, *, witnessed: bool) -> tuple[Path, Path | None]:
    path = folder / f"{number}.ledger"
    witness = folder / f"{number}.witness" if witnessed else None
    Ledger.at(path, LIMIT, create=True, witness=witness).close()
    return path, witness


@pytest.mark.slow
@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
@pytest.mark.parametrize("act", ["write", "sync", "read", "cut", "lock"])
@pytest.mark.parametrize("sticky", [False, True], ids=["once", "for ever"])
def test_a_service_on_a_disk_that_fails(
    folder: Path,
    act: str,
    sticky: bool,  # noqa: FBT001 a parameter of the test
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """The k-th act of one kind fails: typed errors, and every promise holds."""
    for k in range(1, 1000, often(13, 1)):
        path, witness = prepared(folder, k, witnessed=witnessed)
        failing = Failing(k, "half", sticky, frozenset({act}))
        given: list[Given] = []
        served(path, witness, failing.world, given.append)
        check(path, witness, given)
        if not failing.failed:
            assert len(given) == len(KEYS)
            break
    assert k > 1 or act == "cut"


@pytest.mark.slow
@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0], ids=["before", "half", "after"])
def test_a_service_that_dies_at_every_act(
    folder: Path,
    effect: float,
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """A SIGKILL before, in or after the k-th write or fsync; what was told stands."""
    deaths = 0
    for k in range(1, 1000, often(13, 1)):
        path, witness = prepared(folder, k, witnessed=witnessed)
        given, alive = _until_death(path, witness, k, effect)
        check(path, witness, given)
        deaths += not alive
        if alive:
            break
    assert deaths > often(2, 30)


def _until_death(
    path: Path, witness: Path | None, k: int, effect: float
) -> tuple[list[Given], bool]:
    """Serve in a child that dies at its k-th act; return what it had told."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)

        def tell(one: Given) -> None:
            key = "-" if one.key is None else one.key
            os.write(writer, f"{key} {one.answer.hex()}\n".encode())

        served(path, witness, _dying(k, effect), tell)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        lines = told.read().split(b"\n")[:-1]
    _, status = os.waitpid(child, 0)
    given = [
        Given(None if key == b"-" else key.decode(), bytes.fromhex(answer.decode()))
        for key, answer in (line.split(b" ") for line in lines)
    ]
    return given, os.waitstatus_to_exitcode(status) == 0


def _dying(k: int, effect: float) -> World:
    """Return a world that ends at the k-th write or fsync, part of it done."""
    good, count = Disk(), 0

    def reached() -> bool:
        nonlocal count
        count += 1
        return count == k

    def write(handle: int, data: bytes, at: int) -> int:
        if not reached():
            return good.write(handle, data, at)
        good.write(handle, data[: int(effect * len(data))], at)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def sync(handle: int) -> None:
        if reached():
            os.kill(os.getpid(), signal.SIGKILL)
        good.sync(handle)

    return World(disk=Disk(write=write, sync=sync))


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """The operating system refuses to let the file grow: typed, and nothing is lost."""
    path = tmp_path / "a"
    Ledger.at(path, PureDP(1000), create=True).close()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        most = path.stat().st_size + 70_001
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with suppress(BaseException):
            os.write(writer, _filled(path, writer))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        *given, ended = told.read().split(b"\n")
    os.waitpid(child, 0)
    assert ended == b"LedgerUnavailable"
    assert 3 < len(given) < 70
    with Ledger.at(path) as ledger:
        for key in given:
            assert ledger.reserve(claim(key.decode())).answer == b"x" * 2000
        assert len(ledger.entries()) - len(given) in (0, 1)
        ledger.verify()
        ledger.reserve(claim("more"))


def _filled(path: Path, writer: int) -> bytes:
    """Ask until there is no room, tell each key that was answered, and how it ended."""
    try:
        with Ledger.at(path) as ledger:
            for turn in range(1000):
                ledger.store(ledger.reserve(claim(f"k{turn}")), b"x" * 2000)
                os.write(writer, f"k{turn}\n".encode())
    except LedgerUnavailable:
        return b"LedgerUnavailable"
    return b"never full"
