"""Many processes on one ledger: nobody waits long behind the others."""

import statistics
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from sordino.ledger.ledger import Ledger
from sordino.losses.base import PureDP
from tests.ledgers import FRESH, claim

LIMIT = PureDP(10**6)


def charging(path: Path, count: int, start: Barrier, writer: Connection) -> None:
    """Charge and answer, and tell how long each took."""
    with Ledger.at(path) as ledger:
        start.wait()
        waits = [timed(ledger) for _ in range(count)]
    writer.send(waits)


def timed(ledger: Ledger) -> float:
    """Return how long one charge and its answer took."""
    begun = time.monotonic()
    ledger.store(ledger.reserve(claim(None)), b"42")
    return time.monotonic() - begun


def together(path: Path, processes: int, count: int) -> tuple[list[float], float]:
    """Return how long every charge took, and how long all of them together."""
    start = FRESH.Barrier(processes + 1)
    pipes = [FRESH.Pipe(duplex=False) for _ in range(processes)]
    children = [
        FRESH.Process(target=charging, args=(path, count, start, writer))
        for _, writer in pipes
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


@pytest.mark.slow
def test_waiting_is_fair_under_load(tmp_path: Path) -> None:
    """8 processes, 500 charges each: the longest wait is within 50 times the median.

    Together they charge at least a tenth as fast as one process alone on a free disk.
    """
    path = tmp_path / "a.ledger"
    Ledger.at(path, LIMIT, create=True).close()
    _, alone = together(path, 1, 250)
    waits, took = together(path, 8, 500)
    assert len(waits) == 4000
    assert max(waits) <= 50 * statistics.median(waits)
    assert 250 / alone / (4000 / took) < 10
    with Ledger.at(path) as ledger:
        assert ledger.spent() == PureDP(425)
        assert ledger.verify().releases == 4250


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
    """Return how much time the processor needs to open a ledger."""
    begun = time.process_time()
    Ledger.at(path).close()
    return time.process_time() - begun


def _charging(ledger: Ledger) -> float:
    """Return how much time the processor needs for a charge and its answer."""
    begun = time.process_time()
    ledger.store(ledger.reserve(claim(None)), b"42")
    return time.process_time() - begun
