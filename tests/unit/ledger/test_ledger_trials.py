"""What every home of a ledger owes, whatever dies on the way: a file, a server, both.

A home is where a ledger lies, and its witness, if it has one. By day a few points of
each trial are asked, by night all of them. Memory is no home that a kill, a fork or
another process could leave behind: the trials of one process are asked of it, too.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from sordino.errors import LedgerUnavailable
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP
from tests.effort import PROFILE, often
from tests.interruptions import Interruption
from tests.ledgers import (
    LIMIT,
    POINTS,
    WITNESSED,
    Backwards,
    claim,
    faults,
    forked,
    release,
    report,
    run,
    two_race,
)
from tests.postgres_server import fresh_base, ledger_server
from tests.stores import witness_address

Home: TypeAlias = tuple[Any, Any]
"""Where a ledger is, and its witness or None."""


def _server(place: int) -> str:
    return fresh_base(ledger_server(place))


HOMES: Final[dict[str, Callable[[Path], Home]]] = {
    "file": lambda folder: (folder / "a", None),
    "file witnessed": lambda folder: (folder / "a", folder / "w"),
    "file witnessed over HTTP": lambda folder: (folder / "a", witness_address()),
    "server": lambda _: (_server(0), None),
    "server witnessed": lambda _: (_server(0), _server(1)),
    "server witnessed by a file": lambda folder: (_server(0), folder / "w"),
}
MEMORY: Final = "memory"


@pytest.fixture(name="make", params=HOMES)
def homes(request: pytest.FixtureRequest, folder: Path) -> Callable[[], Home]:
    """Return what makes a home of one kind, in a folder of its own each time."""
    count = iter(range(10**6))

    def make() -> Home:
        place = folder / str(next(count))
        place.mkdir()
        path, witness = HOMES[request.param](place)
        Ledger.at(path, LIMIT, create=True, witness=witness).close()
        return path, witness

    return make


@pytest.fixture(name="enter", params=[MEMORY, *HOMES])
def opened(request: pytest.FixtureRequest, folder: Path) -> Callable[..., Ledger]:
    """Return what opens one ledger of one kind; in memory there is one handle of it."""
    if request.param == MEMORY:
        return cache(lambda world: Ledger.in_memory(LIMIT, world=world))
    path, witness = HOMES[request.param](folder)
    Ledger.at(path, LIMIT, create=True, witness=witness).close()
    return lambda world: Ledger.at(path, witness=witness, world=world)


@pytest.mark.slow
@pytest.mark.parametrize("make", [*HOMES][2:], indirect=True)
def test_a_kill_at_any_point_beyond_one_machine(
    make: Callable[[], Home], tmp_path: Path
) -> None:
    """After a kill anywhere a retry and another key keep the promise.

    `test_ledger_crashes.py` asks the same of files, the first two homes.
    """
    wrong: Counter[str] = Counter()
    kills = 0
    points = [*POINTS, *WITNESSED]
    chosen = points if PROFILE == "night" else points[1 :: often(7, 2)]
    for index, point in enumerate(chosen):
        (path, witness), told = make(), tmp_path / f"{index}.told"
        killed = run(release, path, told, point, "k", witness) == -signal.SIGKILL
        assert killed == (witness is not None or point not in WITNESSED), point
        kills += killed
        for again in ("k", "j", None):
            release(path, told, "", again, witness)
        wrong.update(faults(path, told, witness=witness))
        with Ledger.at(path, witness=witness) as ledger:
            assert len(ledger.entries()) == 3
    report("kills", kills, wrong)


def test_two_processes_never_overspend(
    make: Callable[[], Home], tmp_path: Path
) -> None:
    """Two race on two connections for the last 20 hundredths, and get 20 answers."""
    (path, witness), told = make(), tmp_path / "told"
    with Ledger.at(path, witness=witness) as ledger:
        for _ in range(8):
            ledger.reserve(claim(None))
    answers = two_race(path, told, 20, witness)
    assert len(answers) == len({number for number, _ in answers}) == 20
    with Ledger.at(path, witness=witness) as ledger:
        assert ledger.remaining() == PureDP(0)
        assert ledger.verify().answers == 20


def test_a_fork_between_lock_and_commit(make: Callable[[], Home]) -> None:
    """The child charges nothing and spoils nothing, however it ends."""
    points = ["charged: begun", "charged: written", "charged: told"]
    for point in points[:: often(2, 1)]:
        path, witness = make()
        assert run(forked, path, witness, point) == 0
        with Ledger.at(path, witness=witness) as ledger:
            assert ledger.verify().answers == 2
            assert ledger.spent() == PureDP("0.2")


def test_a_clock_that_goes_back_writes_no_history_that_does(
    enter: Callable[..., Ledger],
) -> None:
    with enter(World(clock=Backwards())) as ledger:
        for key in "abc":
            ledger.store(ledger.reserve(claim(key)), b"1")
        times = [one.when for one in ledger.entries()]
        assert all(first <= second for first, second in pairwise(times))
        ledger.verify()


def priced(key: str | None) -> Claim:
    """Return a claim of which many fit."""
    least = PureDP("1e-6")
    return replace(claim(key), asked=least, loss=least)


@pytest.mark.slow
def test_an_interruption_at_any_place_of_any_home(enter: Callable[..., Ledger]) -> None:
    """Ctrl-C anywhere: the handle goes on, so does another at once; nothing is lost."""
    world = World(patience=2)
    handle, other = enter(world), enter(world)

    def everything(key: str | None) -> None:
        assert not handle.obeys
        handle.store(handle.reserve(priced(key)), b"42")

    counting = Interruption(0)
    with counting.armed():
        everything("model")
    step = max(1, counting.count // often(20, 400))
    done = 0
    for at in range(1 + os.getpid() % step, counting.count, step):
        key = f"k{at}"
        # amid a statement it may come as the statement's end: ask again, as it says
        ended = (KeyboardInterrupt, LedgerUnavailable)
        with suppress(*ended), Interruption(at).armed():
            everything(key)
            done += 1
        other.reserve(priced(None))
        again = handle.reserve(priced(key))
        if again.answer is None:
            handle.store(again, b"42")
        assert other.reserve(priced(key)).answer == b"42"
    assert done < 10
    assert handle.verify().records == other.verify().records
