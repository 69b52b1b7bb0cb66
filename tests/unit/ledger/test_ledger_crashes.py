"""Whatever dies on the way: no answer without a charge, no second one, no overspending.

Each test counts what it tried; run with `-s` to read the counts.
"""

import errno
import fcntl
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sordino.errors import LedgerUnavailable, SordinoError
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP
from tests.effort import often
from tests.ledgers import (
    FRESH,
    LIMIT,
    MAKING,
    MAKING_WITNESS,
    POINTS,
    UNKEYED,
    WITNESSED,
    Failing,
    claim,
    create,
    faults,
    lines,
    race,
    release,
    report,
    run,
    sharing,
)

KILLED = -signal.SIGKILL


def test_the_counts_can_fail(folder: Path) -> None:
    path, told = folder / "a", folder / "told"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        number = ledger.reserve(claim()).number
    told.write_text(f'[{number}, "a"]\n[{number}, "b"]\n[{number + 1}, "c"]\n', "ascii")
    found = faults(path, told)
    assert found["second answers"] == found["answers without a charge"] == 1
    assert faults(path, told, "0.2")["overspends"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
@pytest.mark.parametrize("key", ["k", None])
def test_a_kill_at_every_point(
    folder: Path,
    key: str | None,
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """After a kill anywhere, a retry, another key and no key keep the promise.

    In three orders by night; by day each point has one of them.
    """
    waited = witnessed or key is not None
    points = (POINTS if waited else UNKEYED) + (WITNESSED if witnessed else [])
    orders = [["k", "j", None], ["j", None, "k"], [None, "k", "j"]]
    wrong: Counter[str] = Counter()
    kills = 0
    for index, (point, turn) in enumerate(product(points, range(often(1, 3)))):
        path, told = folder / f"{index}.ledger", folder / f"{index}.told"
        witness = folder / f"{index}.witness" if witnessed else None
        Ledger.at(path, LIMIT, create=True, witness=witness).close()
        kills += run(release, path, told, point, key, witness) == KILLED
        for again in orders[(index + turn) % 3]:
            release(path, told, "", again, witness)
            wrong.update(faults(path, told, witness=witness))
        if key == "k":
            with Ledger.at(path, witness=witness) as ledger:
                assert len(ledger.entries()) == 3
    assert kills == often(1, 3) * len(points)
    report("kills", kills, wrong)


@pytest.mark.slow
def test_a_kill_of_the_retry_too(folder: Path) -> None:
    """A retry that dies as well leaves at most one answer, and one charge."""
    wrong: Counter[str] = Counter()
    kills = 0
    again = [point.replace("charged", "leased") for point in POINTS]
    pairs = list(product(POINTS[2:6], again))[:: often(3, 1)]
    for index, (first, second) in enumerate(pairs):
        path, told = folder / f"{index}.ledger", folder / f"{index}.told"
        Ledger.at(path, LIMIT, create=True).close()
        kills += run(release, path, told, first, "k", None) == KILLED
        kills += run(release, path, told, second, "k", None) == KILLED
        release(path, told, "", "k", None)
        wrong.update(faults(path, told))
        with Ledger.at(path) as ledger:
            assert len(ledger.entries()) == 1
    assert kills == 2 * len(pairs)
    report("kills of retries", kills, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
@pytest.mark.parametrize("point", [*MAKING_WITNESS, *MAKING])
def test_a_kill_while_it_is_made(folder: Path, point: str, witnessed: bool) -> None:  # noqa: FBT001 a parameter of the test
    path = folder / "a"
    witness = folder / "witness" if witnessed else None
    killed = run(create, path, point, witness) == KILLED
    assert killed == (witnessed or point in MAKING)
    assert path.exists() == (not killed or point in MAKING[1:])
    if witness is not None and witness.exists() and not path.exists():
        witness.unlink()  # a person has looked: nothing was ever charged
    with Ledger.at(path, LIMIT, create=True, witness=witness) as ledger:
        assert ledger.verify().records == 2 + witnessed


@pytest.mark.slow
@pytest.mark.parametrize("racers", [2, 8])
def test_races_for_the_last_of_the_budget(folder: Path, racers: int) -> None:
    path, told = folder / "a", folder / "told"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        most = PureDP("0.6")
        ledger.reserve(Claim(request="n", asked=most, loss=most))
    children = [
        FRESH.Process(target=race, args=(path, told, f"r{n}-", 40))
        for n in range(racers)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * racers
    answers = lines(told)
    assert len(answers) == len({number for number, _ in answers}) == 40
    with Ledger.at(path) as ledger:
        assert ledger.remaining() == PureDP(0)
        assert ledger.verify().answers == 40
    report(
        f"races of {racers}", len(answers), Counter({"overspends": len(answers) - 40})
    )


@pytest.mark.slow
def test_kills_at_random_while_processes_race(folder: Path) -> None:
    """A racer killed at any moment costs at most its own charge."""
    wrong: Counter[str] = Counter()
    kills = 0
    for turn in range(often(4, 12)):
        path, told = folder / f"{turn}.ledger", folder / f"{turn}.told"
        Ledger.at(path, LIMIT, create=True).close()
        children = [
            FRESH.Process(target=race, args=(path, told, f"r{n}-", 40))
            for n in range(3)
        ]
        for child in children:
            child.start()
        while not told.exists() and any(child.is_alive() for child in children):
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.02))  # in the middle, however fast they are
        victim = children[turn % 3]
        victim.kill()
        for child in children:
            child.join(60)
        kills += victim.exitcode == KILLED
        wrong.update(faults(path, told, "0.01"))
    report("kills in races", kills, wrong)


@pytest.mark.slow
def test_kills_at_random_of_workers_that_share_keys(folder: Path) -> None:
    """Workers die and are replaced: keys have one answer, charges one sum."""
    path, told = folder / "a", folder / "told"
    Ledger.at(path, LIMIT, create=True).close()

    def started(seed: int) -> Any:
        child = FRESH.Process(target=sharing, args=(path, told, seed))
        child.start()
        return child

    kills = often(20, 60)
    children = [started(seed) for seed in range(3)]
    for turn in range(kills):
        seen = len(lines(told))
        end = time.monotonic() + 60
        while len(lines(told)) < seen + 2 and time.monotonic() < end:
            time.sleep(random.uniform(0, 0.02))
        children[turn % 3].kill()
        children[turn % 3].join(60)
        children[turn % 3] = started(1000 + turn)
    for child in children:
        child.kill()
        child.join(60)
    assert len(lines(told)) > kills
    report("kills of workers", kills, faults(path, told, "0.001"))


@pytest.mark.slow
def test_a_fork_in_the_middle_that_ends_by_itself(folder: Path) -> None:
    """A child that exits with its parent's handle, cleaning up, spoils nothing."""
    assert run(_forking, folder / "a") == 0
    with Ledger.at(folder / "a") as ledger:
        assert ledger.spent() == PureDP("0.2")
        assert ledger.verify().answers == 2


def _forking(path: Path) -> None:
    """Fork between charge and answer; the child leaves through the front door."""
    ledger = Ledger.at(path, LIMIT, create=True)
    for key in "ab":
        ticket = ledger.reserve(claim(key))
        child = os.fork()
        if child == 0:
            raise SystemExit(0)
        os.waitpid(child, 0)
        ledger.store(ticket, b"parent")


@pytest.mark.parametrize("witnessed", [False, True], ids=["alone", "witnessed"])
@pytest.mark.parametrize("sticky", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("how", ["before", "half", "after"])
@pytest.mark.sampled(2)
def test_every_act_of_the_disk_may_fail(
    folder: Path,
    how: str,
    sticky: bool,  # noqa: FBT001 a parameter of the test
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """Opening, charging, storing: the k-th act of the disk fails, for every k.

    An act fails before it has an effect, half done, or after it. The refusal is typed,
    and the file keeps its promise. By day each k has some of these ways.
    """
    wrong: Counter[str] = Counter()
    first = 1 + (2 * sticky + ("before", "half", "after").index(how)) % often(4, 1)
    for k in range(first, 1000, often(4, 1)):
        path, told = folder / f"{k}.ledger", folder / f"{k}.told"
        witness = folder / f"{k}.witness" if witnessed else None
        Ledger.at(path, LIMIT, create=True, witness=witness).close()
        failing = Failing(k, how, sticky)
        _one_answer(path, told, failing, witness)
        for _ in range(2):
            _one_answer(path, told, Failing(0), witness)
        wrong.update(faults(path, told, witness=witness))
        if not failing.failed:
            break
    assert k > 30
    report(f"failing acts ({how})", k - 1, wrong)


def _one_answer(
    path: Path, told: Path, failing: Failing, witness: Path | None = None
) -> None:
    """Ask one question on a disk that fails, and tell the answer."""
    with (
        suppress(SordinoError),
        Ledger.at(path, LIMIT, witness=witness, world=failing.world) as ledger,
    ):
        ticket = ledger.reserve(claim())
        result = ticket.answer
        if result is None:
            result = ledger.store(ticket, os.urandom(4).hex().encode())
        with told.open("a", encoding="ascii") as file:
            file.write(f'[{ticket.number}, "{result.decode()}"]\n')


def test_making_a_ledger_may_fail(folder: Path) -> None:
    """The k-th act fails while it is made: there is none, and none half made."""
    for k in range(1, 1000):
        path = folder / f"{k}.ledger"
        failing = Failing(k, "half", sticky=True)
        with suppress(LedgerUnavailable):
            Ledger.at(path, LIMIT, create=True, world=failing.world).close()
        with Ledger.at(path, LIMIT, create=True) as ledger:
            assert ledger.verify().records == 2
        assert [one.name for one in folder.iterdir()] == [path.name]
        path.unlink()
        if not failing.failed:
            break
    assert k > 8


def test_a_handle_goes_on_once_the_disk_does(folder: Path) -> None:
    """After an error nothing is tried again by itself; who asks next opens it anew."""
    path = folder / "a"
    Ledger.at(path, LIMIT, create=True).close()
    failing = Failing(1, acts=frozenset({"sync"}))
    ledger = Ledger.at(path, world=failing.world)
    with pytest.raises(LedgerUnavailable, match="could not be read or written"):
        ledger.reserve(claim())
    assert failing.failed
    assert failing.count == 1
    [charged] = ledger.entries()
    assert not charged.answered
    assert ledger.store(ledger.reserve(claim()), b"17") == b"17"
    assert ledger.spent() == PureDP("0.1")
    with Ledger.at(path) as other:
        assert other.verify() == ledger.verify()
    ledger.close()


@pytest.mark.parametrize("size", [10, 9000])
def test_a_full_disk(folder: Path, size: int) -> None:
    """Charges and answers that find no room are refused; what was told stays true."""
    path, told = folder / "a", folder / "told"
    Ledger.at(path, PureDP(100), create=True).close()
    full = Failing(
        60, "half", sticky=True, acts=frozenset({"write"}), error=errno.ENOSPC
    )
    with Ledger.at(path, world=full.world) as ledger:
        with pytest.raises(LedgerUnavailable, match="could not be read or written"):
            _fill(ledger, told, size)
        answers = len(lines(told))
    assert 0 < answers < 1000
    with Ledger.at(path) as ledger:
        checked = ledger.verify()
        assert answers <= checked.answers <= checked.releases <= answers + 1
        for turn in range(answers):
            assert ledger.reserve(claim(str(turn))).answer == b"x" * size
        ticket = ledger.reserve(claim(str(answers)))
        stored = ticket.answer or ledger.store(ticket, b"y")
        assert ledger.store(ticket, b"z") == stored
        assert ledger.spent() == PureDP(Fraction(answers + 1, 10))


def _fill(ledger: Ledger, told: Path, size: int) -> None:
    """Ask for one answer after another."""
    for turn in range(1000):
        ticket = ledger.reserve(claim(str(turn)))
        result = ledger.store(ticket, b"x" * size)
        with told.open("a", encoding="ascii") as file:
            file.write(f'[{ticket.number}, "{result.decode()}"]\n')


def test_another_process_in_the_way(folder: Path) -> None:
    path = folder / "a"
    Ledger.at(path, LIMIT, create=True).close()
    with Ledger.at(path, world=World(patience=0.05)) as ledger, path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LedgerUnavailable, match="in use by another process"):
            ledger.reserve(claim())
        fcntl.flock(other, fcntl.LOCK_UN)
        assert ledger.spent() == PureDP(0)
        ledger.reserve(claim())
        assert ledger.spent() == PureDP("0.1")
