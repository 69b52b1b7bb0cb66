"""What a durable charge costs, and how long a long ledger takes to open.

Disks are shared: the lower quartile of many rounds is what ours adds on a calm one.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.frame import Figure, Row
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_file import Policy
from sordino.ledger.policy_rules import Usage
from sordino.ledger.record_kinds import Claim
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.loss import PureDP

ROUNDS = 60
ENTRIES = 10_000
SMALL = PureDP("1e-6")
ANSWER = b"x" * 2_000
PLAN = "x" * 500
POLICY = "serial = 1\n[year]\nepsilon = 1\ndelta = 0\n"
OBEYED = Claim(
    request="1f",
    asked=SMALL,
    loss=SMALL,
    plan=PLAN,
    usages=lambda: (Usage(tables=frozenset({"visits"})),),
)


def claim(key: str | None) -> Claim:
    """Return a small claim."""
    return Claim(request="1f", asked=SMALL, loss=SMALL, key=key, plan=PLAN)


def release(
    ledger: Ledger, key: str | None, blocks: tuple[str, ...] | None = None
) -> None:
    """Charge and store, as a session does around an answer."""
    ledger.store(ledger.reserve(replace(claim(key), blocks=blocks)), ANSWER)


def seconds(act: Callable[[], object]) -> float:
    """Return how long something takes by the clock: the disk counts."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def charged(*, keyed: bool) -> float:
    """Return the lower quartile of milliseconds that a ledger adds to a release."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.at(Path(folder) / "a.ledger", PureDP(1), create=True) as ledger,
    ):
        keys = [f"k{n}" if keyed else None for n in range(ROUNDS)]
        runs = [seconds(partial(release, ledger, key)) for key in keys]
    return 1000 * statistics.quantiles(runs, n=4)[0]


def charged_to_days() -> float:
    """Return the same for a release that reads a year of days, each a block."""
    days = Blocks(start="2025-01-01", every="day")
    world = World(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.at(
            Path(folder) / "a.ledger",
            PureDP(1),
            create=True,
            blocks=days,
            world=world,
        ) as ledger,
    ):
        names = ledger.open_blocks()
        keys = [f"k{n}" for n in range(ROUNDS)]
        runs = [seconds(partial(release, ledger, key, names)) for key in keys]
    return 1000 * statistics.quantiles(runs, n=4)[0]


def disk() -> float:
    """Return the milliseconds in which this disk makes one write durable."""
    with tempfile.TemporaryFile(buffering=0) as file:
        runs = []
        for _ in range(ROUNDS):
            file.write(ANSWER)
            runs.append(seconds(lambda: _sync(file.fileno())))
    return 1000 * statistics.quantiles(runs, n=4)[0]


def _sync(handle: int) -> None:
    """Wait for the disk."""
    os.fsync(handle)


def opened() -> float:
    """Return the seconds to open a ledger of ten thousand releases."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / "a.ledger"
        with Ledger.at(path, PureDP(1), create=True) as ledger:
            for n in range(ENTRIES):
                release(ledger, f"k{n}")
        return min(seconds(lambda: Ledger.at(path).close()) for _ in range(5))


def obeyed() -> float:
    """Return the milliseconds of a charge under a policy, after ten thousand others."""
    key = Ed25519PrivateKey.generate()
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICY, encoding="utf-8")
        Policy.sign(policy, key)
        with Ledger.at(Path(folder) / "a.ledger", PureDP(1), create=True) as ledger:
            ledger.adopt(policy)
            for _ in range(ENTRIES):
                ledger.reserve(OBEYED)
            runs = [seconds(partial(ledger.reserve, OBEYED)) for _ in range(ROUNDS)]
    return 1000 * statistics.quantiles(runs, n=4)[0]


def _memory() -> str | None:
    """Return a disk in memory, where there is one: filling it is not measured."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 see above


ROWS: tuple[Row, ...] = (
    Figure(
        what="one write made durable by this disk", figure=disk, unit="ms", floor=99
    ),
    Figure(
        what="a charge, with an answer to keep",
        figure=lambda: charged(keyed=True),
        unit="ms",
        floor=15,
        goal=5,
    ),
    Figure(
        what="a charge, without a key",
        figure=lambda: charged(keyed=False),
        unit="ms",
        floor=15,
        goal=5,
    ),
    Figure(
        what="a charge under a policy, after 10,000 releases",
        figure=obeyed,
        unit="ms",
        floor=5,
        goal=1,
    ),
    Figure(
        what="a charge of 365 blocks, with an answer to keep",
        figure=charged_to_days,
        unit="ms",
        floor=30,
        goal=10,
    ),
    Figure(
        what="open a ledger of 10,000 releases",
        figure=opened,
        unit="s",
        floor=0.2,
        goal=0.05,
    ),
)
