"""What a row of the target table is, and how it is measured."""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, Protocol, final

ROUNDS = 7
SAMPLE_SECONDS = 0.05

Action = Callable[[], object]
Clock = Callable[[], float]
Prepare = Callable[[], Action]
"""Set-up that is not measured; an absent peer raises ImportError here."""


def cpu_clock() -> float:
    """Return the CPU time of this process."""
    return time.process_time()


@final
@dataclass(frozen=True, kw_only=True)
class Measured:
    """One line of the table: what was found, and what was asked."""

    what: str
    ours: str
    peer: str
    ratio: float | None
    floor: float
    goal: float | None
    better: Literal["less", "more"]
    lost: str = ""
    """What is worse than it once was, and since when."""

    @property
    def verdict(self) -> str:
        """The best target that is met."""
        if self.lost:
            return self.lost
        if self.ratio is None:
            return "peer absent"
        if self.goal is not None and self._meets(self.ratio, self.goal):
            return "goal"
        return "floor" if self._meets(self.ratio, self.floor) else "below floor"

    def _meets(self, ratio: float, target: float) -> bool:
        return ratio <= target if self.better == "less" else ratio >= target


class Row(Protocol):
    """Anything that can be measured against a target."""

    @property
    def what(self) -> str:
        """What is measured."""

    def measure(self) -> Measured:
        """Measure it."""


@final
@dataclass(frozen=True, kw_only=True)
class Race:
    """Our CPU time and a peer's, for the same work in the same process.

    `better="less"`: the ratio is ours over the peer's, and the target a ceiling.
    `better="more"`: the ratio is how many times faster we are, and the target a floor.
    """

    what: str
    ours: Prepare
    peer: Prepare
    against: str
    floor: float
    goal: float | None = None
    better: Literal["less", "more"] = "less"
    items: int = 1
    rounds: int = ROUNDS
    clock: Clock = cpu_clock
    """What is compared: CPU time, unless it is the time on the wall."""

    def measure(self) -> Measured:
        """Take turns, so that a slow minute of the machine slows both."""
        ours = self.ours()
        try:
            peer = self.peer()
        except ImportError:
            (mine,) = fastest(ours, rounds=self.rounds, clock=self.clock)
            theirs, ratio = None, None
        else:
            both = fastest(ours, peer, rounds=self.rounds, clock=self.clock)
            mine, theirs = both
            ratio = mine / theirs if self.better == "less" else theirs / mine
        shown = "-" if theirs is None else duration(theirs / self.items)
        return Measured(
            what=self.what,
            ours=duration(mine / self.items),
            peer=f"{self.against} {shown}",
            ratio=ratio,
            floor=self.floor,
            goal=self.goal,
            better=self.better,
        )


@final
@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number that has a ceiling of its own, beside that of a peer if there is one."""

    what: str
    figure: Callable[[], float]
    unit: str
    floor: float
    goal: float | None = None
    peer: Callable[[], float] | None = None
    against: str = ""

    def measure(self) -> Measured:
        """Take the number once."""
        value = self.figure()
        return Measured(
            what=self.what,
            ours=f"{value:.3g} {self.unit}",
            peer=peer_number(self.peer, self.against),
            ratio=value,
            floor=self.floor,
            goal=self.goal,
            better="less",
        )


def peer_number(peer: Callable[[], float] | None, against: str) -> str:
    """Return a peer and its number; one that is not installed is absent."""
    if peer is None:
        return ""
    try:
        return f"{against} {peer():.3g}"
    except ImportError:
        return f"{against} absent"


def fastest(
    *actions: Action, rounds: int = ROUNDS, clock: Clock = cpu_clock
) -> Iterator[float]:
    """Return the least seconds of a call of each, over rounds that take turns."""
    calls = [enough(action) for action in actions]
    times = [
        [
            seconds(action, n, clock) / n
            for action, n in zip(actions, calls, strict=True)
        ]
        for _ in range(rounds)
    ]
    return map(min, zip(*times, strict=True))


def enough(action: Action) -> int:
    """Return how many calls take long enough to be timed; the first one warms up."""
    action()
    n = 1
    while cpu_seconds(action, n) < SAMPLE_SECONDS:
        n *= 2
    return n


def cpu_seconds(action: Action, n: int) -> float:
    """Return the CPU time of n calls, without the garbage collector."""
    return seconds(action, n, cpu_clock)


def seconds(action: Action, n: int, clock: Clock) -> float:
    """Return what a clock says of n calls, without the garbage collector."""
    gc.disable()
    try:
        start = clock()
        for _ in repeat(None, n):
            action()
        return clock() - start
    finally:
        gc.enable()


def duration(seconds: float) -> str:
    """Return a time with a readable unit.

    >>> duration(1.23e-8), duration(4.5e-5), duration(2.0)
    ('12.3 ns', '45 us', '2 s')
    """
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
