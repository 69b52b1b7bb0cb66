"""Ctrl-C at any instant: no transaction stays open, and no whole ledger is damaged.

Python looks for signals after calls, when a function begins and when a loop goes round.
The tests raise there, one place after another.
"""

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sordino.errors import AnswerLost, SordinoError
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import PureDP
from tests.effort import SEED, often
from tests.interruptions import Interruption
from tests.ledgers import claim

IMPATIENT = World(patience=0.2, disk=Disk(sync=lambda _: None))
MANY = PureDP(10**6)


def everything(ledger: Ledger, key: str | None) -> None:
    assert not ledger.obeys
    ledger.store(ledger.reserve(claim(key)), b"42")
    ledger.spent()


def places(path: Path, witness: Path | None) -> int:
    counting = Interruption(0)
    with Ledger.at(path, witness=witness, world=IMPATIENT) as ledger, counting.armed():
        everything(ledger, "model")
    return counting.count


@pytest.mark.parametrize(
    ("witnessed", "step"),
    [
        (False, 23),
        (True, 67),
        pytest.param(False, often(17, 3), marks=pytest.mark.slow),
        pytest.param(True, often(53, 11), marks=pytest.mark.slow),
    ],
)
@pytest.mark.sampled(1)
def test_an_interruption_at_any_place(
    tmp_path: Path,
    witnessed: bool,  # noqa: FBT001 a parameter of the test
    step: int,
) -> None:
    """The handle goes on, so does every other one at once, and nothing is lost."""
    path = tmp_path / "a"
    witness = tmp_path / "w" if witnessed else None
    Ledger.at(path, MANY, create=True, witness=witness, world=IMPATIENT).close()
    most = places(path, witness)
    assert most > 200
    handle = Ledger.at(path, witness=witness, world=IMPATIENT)
    other = Ledger.at(path, witness=witness, world=IMPATIENT)
    interrupted = 0
    for at in range(1 + SEED % step, most, step):
        try:
            with Interruption(at).armed():
                everything(handle, f"k{at}")
        except KeyboardInterrupt:
            interrupted += 1
        assert not handle.obeys  # asked first of all when the same cell is run again
        other.reserve(claim(None))
        again = handle.reserve(claim(f"k{at}"))
        if again.answer is None:
            handle.store(again, b"42")
        assert other.reserve(claim(f"k{at}")).answer == b"42"
    assert interrupted > 0.5 * most / step
    assert handle.verify().records == other.verify().records
    assert handle.spent() == other.spent()


@pytest.mark.slow
def test_the_interrupter_interrupts(tmp_path: Path) -> None:
    """A lock that is let go in another frame than it is taken in would be found."""
    path = tmp_path / "a"
    Ledger.at(path, MANY, create=True, world=IMPATIENT).close()
    most = places(path, None)
    handle = Ledger.at(path, world=IMPATIENT)
    store = handle._guarded._store
    careful = store.transact

    def transact(act: Callable[[], Any]) -> Any:
        """Take the lock in a frame that does not let it go: version 0.1 did."""
        store._file.wait()  # type: ignore[attr-defined]
        return careful(act)

    store.transact = transact  # type: ignore[method-assign]
    stuck = 0
    for at in range(1, most):
        with suppress(KeyboardInterrupt), Interruption(at).armed():
            everything(handle, f"k{at}")
        try:
            with Ledger.at(path, world=World(patience=0.0)):
                pass
        except SordinoError:
            stuck += 1
            careful(lambda: None)
            break
    assert stuck > 0


# an alarm may strike in what other tools call back from the collector of garbage
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "tries", [150, pytest.param(often(500, 3000), marks=pytest.mark.slow)]
)
def test_alarms_at_random(tmp_path: Path, tries: int) -> None:
    """Signals that come from outside, at instants that nobody chose."""
    path = tmp_path / "a"
    ledger = Ledger.at(path, MANY, create=True, world=IMPATIENT)
    noise = SEED

    before = signal.signal(signal.SIGALRM, _stop)
    caught = 0
    try:
        for turn in range(tries):
            noise = (noise * 1103515245 + 12345) % 2**31
            caught += _alarmed(ledger, turn, 1e-5 + noise / 2**31 * 0.003)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught > tries / 50
    with Ledger.at(path, world=IMPATIENT) as other:
        assert other.verify().records == ledger.verify().records


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def _alarmed(ledger: Ledger, turn: int, seconds: float) -> bool:
    """Charge and answer under an alarm, and say whether it came in time."""
    with suppress(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        with suppress(AnswerLost):
            everything(ledger, f"k{turn // 4}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    signal.setitimer(signal.ITIMER_REAL, 0)
    return True
