"""Whatever dies on the way: no answer without a charge, no second one, no overspending.

Each test counts what it tried; run with `-s` to read the counts.
"""

import os
import random
import signal
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from sordino.accounting.ledger import Ledger, World
from sordino.accounting.ledger_file import connected
from sordino.accounting.log import Connection
from sordino.errors import AnswerLost, LedgerUnavailable, SordinoError
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


@pytest.mark.slow
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("key", ["k", None])
def test_a_kill_at_every_point(tmp_path: Path, key: str | None, anchored: bool) -> None:  # noqa: FBT001 a parameter of the test
    """After a kill anywhere, a retry, another key and a fresh start keep the promise."""
    points = POINTS + (ANCHORED if anchored else [])
    wrong: Counter[str] = Counter()
    kills = 0
    for index, (point, then) in enumerate(
        (point, then) for point in points for then in (["k"], ["j"], [None], ["k", "k"])
    ):
        path, told = tmp_path / f"{index}.ledger", tmp_path / f"{index}.told"
        anchor = tmp_path / f"{index}.anchor" if anchored else None
        Ledger.at(path, LIMIT, create=True, anchor=anchor).close()
        kills += run(release, path, told, point, key, anchor) == KILLED
        for again in then:
            assert run(release, path, told, "", again, anchor) == 0
        wrong.update(faults(path, told))
        if key == "k" and then[0] == "k":
            with Ledger.at(path) as ledger:
                assert len(ledger.entries()) == 1
    assert kills == 4 * len(points)
    report("kills", kills, wrong)


@pytest.mark.slow
def test_a_kill_of_the_retry_too(tmp_path: Path) -> None:
    """A retry that dies as well leaves at most one answer, and one charge."""
    wrong: Counter[str] = Counter()
    kills = 0
    pairs = [(first, second) for first in POINTS[2:5] for second in POINTS]
    for index, (first, second) in enumerate(pairs):
        path, told = tmp_path / f"{index}.ledger", tmp_path / f"{index}.told"
        Ledger.at(path, LIMIT, create=True).close()
        kills += run(release, path, told, first, "k", None) == KILLED
        kills += run(release, path, told, second, "k", None) == KILLED
        assert run(release, path, told, "", "k", None) == 0
        wrong.update(faults(path, told))
        with Ledger.at(path) as ledger:
            assert len(ledger.entries()) == 1
    assert kills == 2 * len(pairs)
    report("kills of retries", kills, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("point", MAKING)
def test_a_kill_while_it_is_made(tmp_path: Path, point: str, anchored: bool) -> None:  # noqa: FBT001 a parameter of the test
    """A ledger is there and whole, or it is not there."""
    path = tmp_path / "a"
    anchor = tmp_path / "anchor" if anchored else None
    assert run(create, path, point, anchor) == KILLED
    assert path.exists() == (point != MAKING[0])
    if anchor is not None and not path.exists():
        anchor.unlink()  # a person has looked: nothing was ever charged
    with Ledger.at(path, LIMIT, create=True, anchor=anchor) as ledger:
        assert ledger.verify().records == 2
        assert path.stat().st_nlink == 1


@pytest.mark.slow
@pytest.mark.parametrize("racers", [2, 8])
def test_races_for_the_last_of_the_budget(tmp_path: Path, racers: int) -> None:
    """Processes that ask for more than there is get exactly what there is."""
    path, told = tmp_path / "a", tmp_path / "told"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        most = PureDP("0.6")
        ledger.reserve(claim(None).__class__(request="n", asked=most, loss=most))
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
    report(f"races of {racers}", len(answers), Counter({"overspends": 0}))


@pytest.mark.slow
def test_kills_at_random_while_processes_race(tmp_path: Path) -> None:
    """A racer killed at any moment costs at most its own charge."""
    wrong: Counter[str] = Counter()
    kills = 0
    for turn in range(12):
        path, told = tmp_path / f"{turn}.ledger", tmp_path / f"{turn}.told"
        Ledger.at(path, LIMIT, create=True).close()
        children = [
            FRESH.Process(target=race, args=(path, told, f"r{n}-", 12))
            for n in range(3)
        ]
        for child in children:
            child.start()
        time.sleep(random.uniform(0.02, 0.3))
        victim = children[turn % 3]
        victim.kill()
        for child in children:
            child.join(60)
        kills += victim.exitcode == KILLED
        wrong.update(faults(path, told, "0.01"))
    report("kills in races", kills, wrong)


@pytest.mark.slow
def test_a_fork_in_the_middle_that_ends_by_itself(tmp_path: Path) -> None:
    """A child that exits with its parent's handle, cleaning up, spoils nothing."""
    assert run(_forking, tmp_path / "a") == 0
    with Ledger.at(tmp_path / "a") as ledger:
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
def test_every_statement_may_fail(tmp_path: Path, after: bool) -> None:  # noqa: FBT001 a parameter of the test
    """Opening, charging, storing: the k-th statement fails, for every k there is.

    A statement fails before it has an effect, or after it. The refusal is typed, the
    handle is of no more use, and the file keeps its promise.
    """
    model = tmp_path / "model"
    Ledger.at(model, LIMIT, create=True).close()
    whole = model.read_bytes()
    wrong: Counter[str] = Counter()
    for k in range(1, 1000):
        path, told = tmp_path / f"{k}.ledger", tmp_path / f"{k}.told"
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
    try:
        with Ledger.at(path, LIMIT, world=World(connect=failing.connect)) as ledger:
            ticket = ledger.reserve(claim())
            result = ticket.answer
            if result is None:
                result = ledger.store(ticket, os.urandom(4).hex().encode())
            with told.open("a", encoding="ascii") as file:
                file.write(f'[{ticket.number}, "{result.decode()}"]\n')
    except SordinoError:
        assert failing.failed or isinstance(failing.at, int)


def test_making_a_ledger_may_fail(tmp_path: Path) -> None:
    """The k-th statement fails while it is made: there is none, and none half made."""
    for k in range(1, 1000):
        path = tmp_path / f"{k}.ledger"
        failing = Failing(k)
        try:
            world = World(connect=failing.connect)
            Ledger.at(path, LIMIT, create=True, world=world).close()
        except LedgerUnavailable:
            assert failing.failed
        with Ledger.at(path, LIMIT, create=True) as ledger:
            assert ledger.verify().records == 2
        assert [one.name for one in tmp_path.iterdir()] == [path.name]
        path.unlink()
        if not failing.failed:
            break
    assert k > 20


def test_a_handle_that_failed_is_of_no_more_use(tmp_path: Path) -> None:
    """After an error of the disk every further call refuses, without trying again."""
    path = tmp_path / "a"
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


def test_a_full_disk(tmp_path: Path) -> None:
    """Charges and answers that find no room are refused; what was told stays true."""
    path, told = tmp_path / "a", tmp_path / "told"
    Ledger.at(path, LIMIT, create=True).close()
    refused = 0
    for pages in range(15, 40):
        world = World(connect=lambda address, pages=pages: _narrow(address, pages))
        try:
            with Ledger.at(path, world=world) as ledger:
                ticket = ledger.reserve(claim())
                result = ticket.answer or ledger.store(ticket, b"x" * 9000)
                told.write_text(f'[{ticket.number}, "{result.decode()}"]\n', "ascii")
                break
        except AnswerLost:
            break
        except LedgerUnavailable:
            refused += 1
    assert refused >= 1
    assert not +faults(path, told)


def _narrow(address: str, pages: int) -> Connection:
    """Return a connection to a file that may not grow beyond some pages."""
    connection = connected(address)
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return connection


def test_another_process_in_the_way(tmp_path: Path) -> None:
    """A ledger that another process holds too long is refused, and nothing charged."""
    path = tmp_path / "a"
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
