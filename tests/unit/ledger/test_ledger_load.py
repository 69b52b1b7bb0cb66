"""Many processes on one ledger: nobody waits long behind the others."""

import statistics
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from sordino.ledger.ledger import Ledger
from sordino.losses.loss import PureDP
from tests.effort import by_night
from tests.ledgers import FRESH, claim

LIMIT = PureDP(10**6)


def charging(path: Path, count: int, start: Barrier, writer: Connection) -> None:
    with Ledger.at(path) as ledger:
        start.wait()
        waits = [timed(ledger) for _ in range(count)]
    writer.send(waits)


def timed(ledger: Ledger) -> float:
    begun = time.monotonic()
    ledger.store(ledger.reserve(claim(None)), b"42")
    return time.monotonic() - begun


def together(paths: list[Path], count: int) -> tuple[list[float], float]:
    """Return how long every charge took, and how long all of them: a process a path."""
    start = FRESH.Barrier(len(paths) + 1)
    pipes = [FRESH.Pipe(duplex=False) for _ in paths]
    children = [
        FRESH.Process(target=charging, args=(path, count, start, writer))
        for path, (_, writer) in zip(paths, pipes, strict=True)
    ]
    for child in children:
        child.start()
    start.wait()
    begun = time.monotonic()
    waits = [wait for reader, _ in pipes for wait in reader.recv()]
    took = time.monotonic() - begun
    for child in children:
        child.join(60)
    return waits, took


@by_night
@pytest.mark.slow
def test_waiting_is_fair_under_load(tmp_path: Path) -> None:
    """8 processes, 500 charges each: the longest wait is within 50 times the median.

    Together they charge at least a tenth as fast as with a ledger for each. How long
    the machine itself stops a process is seen where each has a ledger of its own, and
    eight such stops may stand in a queue of eight. Whoever stood behind all others
    would wait for 500 times the median, in each of three rounds.
    """
    shared = tmp_path / "a.ledger"
    own = [tmp_path / f"{place}.ledger" for place in range(8)]
    for path in (shared, *own):
        Ledger.at(path, LIMIT, create=True).close()
    rounds = 0
    fair = False
    while not fair and rounds < 3:
        rounds += 1
        waits, took = together([shared] * 8, 500)
        stops, apart = together(own, 500)
        assert len(waits) == len(stops) == 4000
        longest = 50 * statistics.median(waits) + 8 * max(stops)
        fair = max(waits) <= longest and took < 10 * apart
    assert fair
    with Ledger.at(shared) as ledger:
        assert ledger.spent() == PureDP(400 * rounds)
        assert ledger.verify().releases == 4000 * rounds


@by_night
@pytest.mark.slow
def test_a_long_history_opens_in_proportion(tmp_path: Path) -> None:
    """Ten times the releases take about ten times as long to open, not a hundred.

    A charge costs the same however many came before.
    """
    opened, charged = [], []
    for releases in (1000, 10_000):
        path = tmp_path / f"{releases}"
        with Ledger.at(path, LIMIT, create=True) as ledger:
            for turn in range(releases):
                ledger.store(ledger.reserve(claim(f"k{turn}")), b"x" * 100)
            ledger.verify()
        opened.append(min(_opening(path) for _ in range(3)))
        with Ledger.at(path) as ledger:
            charged.append(min(_charging(ledger) for _ in range(100)))
    assert opened[1] < 40 * opened[0]
    assert charged[1] < 10 * charged[0]


def _opening(path: Path) -> float:
    begun = time.process_time()
    Ledger.at(path).close()
    return time.process_time() - begun


def _charging(ledger: Ledger) -> float:
    begun = time.process_time()
    ledger.store(ledger.reserve(claim(None)), b"42")
    return time.process_time() - begun
