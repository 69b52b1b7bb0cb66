"""Whatever dies on the way: no answer without a charge, no second one, no overspending.

Each test counts what it tried; run with `-s` to read the counts.
"""

import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from sordino.accounting.ledger import Claim, Ledger, World
from sordino.accounting.ledger_file import connected
from sordino.accounting.log import Connection
from sordino.errors import LedgerUnavailable, SordinoError
from sordino.losses.closed import PureDP
from tests.ledgers import (
    ANCHORED,
    FRESH,
    LIMIT,
    MAKING,
    POINTS,
    Failing,
    claim,
    create,
    lines,
    race,
    release,
    run,
)

KILLED = -signal.SIGKILL
MEMORY = Path("/dev/shm")  # noqa: S108 a disk in memory, where there is one


@pytest.fixture(name="folder")
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk in memory: a kill loses nothing the kernel has."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)


def faults(path: Path, told: Path, price: str = "0.1") -> Counter[str]:
    """Return what is wrong with a ledger, beside the answers that were told."""
    with Ledger.at(path) as ledger:
        ledger.verify()
        charged = {entry.number for entry in ledger.entries()}
        spent = ledger.spent()
    answers = lines(told)
    assert isinstance(spent, PureDP)
    return Counter({
        "answers without a charge": sum(n not in charged for n, _ in answers),
        "second answers": len(set(answers)) - len({n for n, _ in answers}),
        "overspends": int(spent.epsilon > 1)
        + int(spent.epsilon != len(charged) * Fraction(price)),
    })


def report(what: str, tried: int, wrong: Counter[str]) -> None:
    """Print the counts, and insist on zeros."""
    shown = ", ".join(f"{name} {count}" for name, count in wrong.items())
    print(f"\n{what}: {tried} tried; {shown}")  # noqa: T201 the counts are the result
    assert tried > 0
    assert not +wrong


def test_the_counts_can_fail(folder: Path) -> None:
    """An answer that nobody paid for, and a second one, are counted."""
    path, told = folder / "a", folder / "told"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        number = ledger.reserve(claim()).number
    told.write_text(f'[{number}, "a"]\n[{number}, "b"]\n[{number + 1}, "c"]\n', "ascii")
    found = faults(path, told)
    assert found["second answers"] == found["answers without a charge"] == 1
    assert faults(path, told, "0.2")["overspends"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("key", ["k", None])
def test_a_kill_at_every_point(
    folder: Path,
    key: str | None,
    anchored: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """After a kill anywhere, a retry, another key and no key keep the promise."""
    points = POINTS + (ANCHORED if anchored else [])
    wrong: Counter[str] = Counter()
    kills = 0
    for index, (point, then) in enumerate(
        (point, then) for point in points for then in (["k"], ["j"], [None])
    ):
        path, told = folder / f"{index}.ledger", folder / f"{index}.told"
        anchor = folder / f"{index}.anchor" if anchored else None
        Ledger.at(path, LIMIT, create=True, anchor=anchor).close()
        kills += run(release, path, told, point, key, anchor) == KILLED
        for again in then:
            release(path, told, "", again, anchor)
        wrong.update(faults(path, told))
        if key == "k" and then[0] == "k":
            with Ledger.at(path) as ledger:
                assert len(ledger.entries()) == 1
    assert kills == 3 * len(points)
    report("kills", kills, wrong)


@pytest.mark.slow
def test_a_kill_of_the_retry_too(folder: Path) -> None:
    """A retry that dies as well leaves at most one answer, and one charge."""
    wrong: Counter[str] = Counter()
    kills = 0
    pairs = [(first, second) for first in POINTS[2:5] for second in POINTS]
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
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("point", MAKING)
def test_a_kill_while_it_is_made(folder: Path, point: str, anchored: bool) -> None:  # noqa: FBT001 a parameter of the test
    """A ledger is there and whole, or it is not there."""
    path = folder / "a"
    anchor = folder / "anchor" if anchored else None
    assert run(create, path, point, anchor) == KILLED
    assert path.exists() == (point != MAKING[0])
    if anchor is not None and not path.exists():
        anchor.unlink()  # a person has looked: nothing was ever charged
    with Ledger.at(path, LIMIT, create=True, anchor=anchor) as ledger:
        assert ledger.verify().records == 2
        assert path.stat().st_nlink == 1


@pytest.mark.slow
@pytest.mark.parametrize("racers", [2, 8])
def test_races_for_the_last_of_the_budget(folder: Path, racers: int) -> None:
    """Processes that ask for more than there is get exactly what there is."""
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
    for turn in range(12):
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


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_every_statement_may_fail(folder: Path, after: bool) -> None:  # noqa: FBT001 a parameter of the test
    """Opening, charging, storing: the k-th statement fails, for every k there is.

    A statement fails before it has an effect, or after it. The refusal is typed, the
    handle is of no more use, and the file keeps its promise.
    """
    model = folder / "model"
    Ledger.at(model, LIMIT, create=True).close()
    whole = model.read_bytes()
    wrong: Counter[str] = Counter()
    for k in range(1, 1000):
        path, told = folder / f"{k}.ledger", folder / f"{k}.told"
        path.write_bytes(whole)
        failing = Failing(k, after)
        _one_answer(path, told, failing)
        _one_answer(path, told, Failing(0))
        _one_answer(path, told, Failing(0))
        wrong.update(faults(path, told))
        if not failing.failed:
            break
    assert k > 30
    report(f"failing statements ({'after' if after else 'before'})", k - 1, wrong)


def _one_answer(path: Path, told: Path, failing: Failing) -> None:
    """Ask one question through a connection that fails, and tell the answer."""
    world = World(connect=failing.connect)
    with suppress(SordinoError), Ledger.at(path, LIMIT, world=world) as ledger:
        ticket = ledger.reserve(claim())
        result = ticket.answer
        if result is None:
            result = ledger.store(ticket, os.urandom(4).hex().encode())
        with told.open("a", encoding="ascii") as file:
            file.write(f'[{ticket.number}, "{result.decode()}"]\n')


def test_making_a_ledger_may_fail(folder: Path) -> None:
    """The k-th statement fails while it is made: there is none, and none half made."""
    for k in range(1, 1000):
        path = folder / f"{k}.ledger"
        failing = Failing(k)
        try:
            world = World(connect=failing.connect)
            Ledger.at(path, LIMIT, create=True, world=world).close()
        except LedgerUnavailable:
            assert failing.failed
        with Ledger.at(path, LIMIT, create=True) as ledger:
            assert ledger.verify().records == 2
        assert [one.name for one in folder.iterdir()] == [path.name]
        path.unlink()
        if not failing.failed:
            break
    assert k > 20


def test_a_handle_that_failed_is_of_no_more_use(folder: Path) -> None:
    """After an error of the disk every further call refuses, without trying again."""
    path = folder / "a"
    Ledger.at(path, LIMIT, create=True).close()
    failing = Failing(0)
    ledger = Ledger.at(path, world=World(connect=failing.connect))
    failing.at = failing.count + 4
    with pytest.raises(LedgerUnavailable, match="could not be written"):
        ledger.reserve(claim())
    tried = failing.count
    for act in (ledger.entries, ledger.remaining, lambda: ledger.reserve(claim())):
        with pytest.raises(LedgerUnavailable, match="failed before"):
            act()
    assert failing.count == tried
    ledger.close()


@pytest.mark.parametrize("size", [10, 9000])
def test_a_full_disk(folder: Path, size: int) -> None:
    """Charges and answers that find no room are refused; what was told stays true."""
    path, told = folder / "a", folder / "told"
    Ledger.at(path, PureDP(100), create=True).close()
    with Ledger.at(path, world=World(connect=_narrow)) as ledger:
        with pytest.raises(LedgerUnavailable, match="could not be written"):
            _fill(ledger, told, size)
        answers = len(lines(told))
    assert 0 < answers < 1000
    with Ledger.at(path) as ledger:
        checked = ledger.verify()
        assert checked.answers == answers
        assert 0 <= checked.releases - answers <= 1
        ticket = ledger.reserve(claim(str(answers)))
        assert ledger.store(ticket, b"y") == b"y"
        assert ledger.spent() == PureDP(Fraction(answers + 1, 10))


def _fill(ledger: Ledger, told: Path, size: int) -> None:
    """Ask for one answer after another."""
    for turn in range(1000):
        ticket = ledger.reserve(claim(str(turn)))
        result = ledger.store(ticket, b"x" * size)
        with told.open("a", encoding="ascii") as file:
            file.write(f'[{ticket.number}, "{result.decode()}"]\n')


def _narrow(address: str) -> Connection:
    """Return a connection to a file that may have few pages."""
    connection = connected(address)
    connection.execute("PRAGMA max_page_count = 60")
    return connection


def test_another_process_in_the_way(folder: Path) -> None:
    """A ledger that another process holds too long is refused, and nothing charged."""
    path = folder / "a"
    Ledger.at(path, LIMIT, create=True).close()

    def impatient(address: str) -> Connection:
        connection = connected(address)
        connection.execute("PRAGMA busy_timeout = 50")
        return connection

    other = connected(f"{path.as_uri()}?mode=rw")
    with Ledger.at(path, world=World(connect=impatient)) as ledger:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="in use by another process"):
            ledger.reserve(claim())
        other.execute("ROLLBACK")
        other.close()
        assert ledger.spent() == PureDP(0)
        ledger.reserve(claim())
        assert ledger.spent() == PureDP("0.1")
