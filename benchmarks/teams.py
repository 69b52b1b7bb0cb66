"""A ledger on a server beside one in a file: eight clients, all of them in one run.

Each client is a process; a turn is a charge and its answer, both durable. Both lie on
the same disk, and they take turns, so that a slow minute slows both. A server of its
own is started where its programs are found; otherwise the rows say so.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, final

from benchmarks.frame import Measured, Row
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP

CLIENTS: Final = 8
TURNS: Final = 40
ROUNDS: Final = 3
SMALL: Final = PureDP("1e-6")
FRESH: Final = get_context("forkserver")


@final
class Waits(NamedTuple):
    """Turns a second of all clients together, and how long turns took."""

    rate: float
    longest: float
    median: float


def charge(place: str, start: Barrier, told: Connection) -> None:
    """Charge and answer, one turn after another, and tell how long each took."""
    with Ledger.at(place) as ledger:
        start.wait()
        waits = []
        for turn in range(TURNS):
            begun = time.perf_counter()
            key = f"{os.getpid()}-{turn}"
            claim = Claim(request="1f", asked=SMALL, loss=SMALL, key=key)
            ledger.store(ledger.reserve(claim), b"x" * 2_000)
            waits.append(time.perf_counter() - begun)
    told.send(waits)


def together(place: str) -> Waits:
    """Have all clients charge one ledger at once."""
    start = FRESH.Barrier(CLIENTS + 1)
    pipes = [FRESH.Pipe(duplex=False) for _ in range(CLIENTS)]
    clients = [
        FRESH.Process(target=charge, args=(place, start, told)) for _, told in pipes
    ]
    for client in clients:
        client.start()
    start.wait()
    begun = time.perf_counter()
    waits = [wait for reader, _ in pipes for wait in reader.recv()]
    took = time.perf_counter() - begun
    for client in clients:
        client.join()
    return Waits(len(waits) / took, max(waits), statistics.median(waits))


@cache
def measured() -> tuple[Waits, Waits] | None:
    """Return the better of some rounds of a server and of a file, in turns."""
    from tests.postgres_server import (  # noqa: PLC0415 with pytest
        fresh_base,
        programs,
        start_cluster,
    )

    if programs() is None:
        return None
    server = start_cluster(fsync="on")
    servers: list[Waits] = []
    files: list[Waits] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS):
            for place, waits in (
                (fresh_base(server), servers),
                (str(Path(folder) / f"{turn}.ledger"), files),
            ):
                Ledger.at(place, PureDP(1), create=True).close()
                waits.append(together(place))
    server.stop()
    return max(servers), max(files)


@final
@dataclass(frozen=True, kw_only=True)
class TeamRow:
    """A number of a ledger on a server, and the same of a file."""

    what: str
    number: Callable[[Waits], float]
    ratio: Callable[[Waits, Waits], float]
    unit: str
    floor: float
    better: Literal["less", "more"]

    def measure(self) -> Measured:
        """Measure both once, for all rows."""
        both = measured()
        shown: dict[str, Any] = {"ours": "-", "peer": "NO SERVER FOUND", "ratio": None}
        if both is not None:
            ours, theirs = map(self.number, both)
            shown = {
                "ours": f"{ours:.3g} {self.unit}",
                "peer": f"a file {theirs:.3g} {self.unit}",
                "ratio": self.ratio(*both),
            }
        return Measured(
            what=self.what, floor=self.floor, goal=None, better=self.better, **shown
        )


ROWS: Final[tuple[Row, ...]] = (
    TeamRow(
        what="charges and answers a second, 8 clients, ledger on a server over a file",
        number=lambda waits: waits.rate,
        ratio=lambda server, file: server.rate / file.rate,
        unit="/s",
        floor=0.5,
        better="more",
    ),
    TeamRow(
        what="the longest wait over the median, 8 clients, ledger on a server",
        number=lambda waits: waits.longest / waits.median,
        ratio=lambda server, _: server.longest / server.median,
        unit="x",
        floor=10,
        better="less",
    ),
)
