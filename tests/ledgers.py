"""Processes that use a ledger, and die on the way: run by a fresh server of processes.

The functions here are run in children by name, so they stand at the top of a module
that a child can import.
"""

import errno
import functools
import json
import multiprocessing
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, final

from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    LedgerUnavailable,
    SessionMoved,
)
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP

LIMIT = PureDP(1)
TENTH = PureDP("0.1")
POINTS = [
    *(f"charged: {point}" for point in ("begun", "written", "durable", "told")),
    "computed",
    *(f"answered: {point}" for point in ("begun", "written", "durable", "told")),
    "told",
]
"""Where a process may die, in order; the answer is told before the last."""
UNKEYED = [point for point in POINTS if point != "answered: durable"]
"""The same without a key: its answer is not waited for."""
WITNESSED = [f"witness {point}" for point in POINTS if ":" in point]
MAKING = ["create ledger: filled", "create ledger: named", "create ledger: durable"]
MAKING_WITNESS = [point.replace("ledger", "witness") for point in MAKING]

Day: TypeAlias = tuple[int, int, int]

FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(["tests.ledgers"])


def claim(key: str | None = "k", request: str = "count", **more: Any) -> Claim:
    return Claim(request=request, asked=TENTH, loss=TENTH, key=key, **more)


@final
class Dying:
    """A world in which the process is killed at one point."""

    def __init__(self, point: str) -> None:
        self.point = point

    def reached(self, point: str) -> None:
        """Die there, at once and without any clean-up."""
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)

    @property
    def world(self) -> World:
        return World(reached=self.reached)


def answer(ledger: Ledger, told: Path, dying: Dying, key: str | None) -> None:
    """Reserve, compute and store one answer, and tell it, dying on the way."""
    ticket = ledger.reserve(claim(key))
    result = ticket.answer
    if result is None:
        result = os.urandom(8).hex().encode()
        dying.reached("computed")
        result = ledger.store(ticket, result)
    line = json.dumps([ticket.number, result.decode()])
    with told.open("a", encoding="ascii") as file:
        file.write(f"{line}\n")
    dying.reached("told")


def release(path: Any, told: Path, point: str, key: str | None, witness: Any) -> None:
    """Open a ledger and answer one question, dying at a point."""
    dying = Dying(point)
    with (
        Ledger.at(path, LIMIT, witness=witness, world=dying.world) as ledger,
        suppress(AnswerLost),
    ):
        answer(ledger, told, dying, key)


def create(path: Path, point: str, witness: Path | None) -> None:
    world = Dying(point).world
    Ledger.at(path, LIMIT, create=True, witness=witness, world=world).close()


@final
class Standing:
    """A clock that stands until it is set."""

    def __init__(self, year: int, month: int, day: int) -> None:
        self.now = datetime(year, month, day, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def charge_blocks(path: Path, key: str, count: int, point: str, day: Day) -> None:
    """Open the blocks that a said day makes due and charge all, dying at a point."""
    world = World(reached=Dying(point).reached)
    hundredth = PureDP("0.01")
    with Ledger.at(path, world=world, on=date(*day), catch_up=True) as ledger:
        for turn in range(count):
            names = ledger.open_blocks()
            wanted = Claim(
                request="n",
                asked=hundredth,
                loss=hundredth,
                key=f"{key}{turn}",
                blocks=names,
            )
            with suppress(BudgetExceeded):
                ledger.store(ledger.reserve(wanted), b"1")


def race(path: Any, told: Path, name: str, count: int, witness: Any = None) -> None:
    """Ask for hundredths until nothing is left."""
    hundredth = PureDP("0.01")
    with Ledger.at(path, witness=witness) as ledger:
        for turn in range(count):
            wanted = Claim(
                request="n", asked=hundredth, loss=hundredth, key=f"{name}{turn}"
            )
            try:
                ticket = ledger.reserve(wanted)
            except BudgetExceeded:
                return
            result = ledger.store(ticket, name.encode())
            line = json.dumps([ticket.number, result.decode()])
            with told.open("a", encoding="ascii") as file:
                file.write(f"{line}\n")


def two_race(path: Any, told: Path, count: int, witness: Any) -> list[tuple[int, str]]:
    """Let two processes race for what is left; return the answers they told."""
    children = [
        FRESH.Process(target=race, args=(path, told, f"r{n}-", count, witness))
        for n in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    return lines(told)


def sharing(path: Path, told: Path, seed: int) -> None:
    """Ask for thousandths under keys that others ask for too, for ever."""
    draw = random.Random(seed)
    least = PureDP("0.001")
    ledger = Ledger.at(path)
    while True:
        key = None if draw.random() < 0.3 else f"k{draw.randrange(40)}"
        wanted = Claim(request="n", asked=least, loss=least, key=key)
        with suppress(AnswerLost, BudgetExceeded):
            ticket = ledger.reserve(wanted)
            result = ticket.answer or ledger.store(ticket, os.urandom(4).hex().encode())
            with told.open("a", encoding="ascii") as file:
                file.write(f"{json.dumps([ticket.number, result.decode()])}\n")
        if draw.random() < 0.05:
            ledger.close()
            ledger = Ledger.at(path)


def run(act: Callable[..., None], *values: Any) -> int | None:
    """Run a function in a process of its own, and return how it ended."""
    child = FRESH.Process(target=act, args=values)
    child.start()
    child.join(60)
    return child.exitcode


def lines(told: Path) -> list[tuple[int, str]]:
    """Return the answers that were told: the number of the charge, and the answer."""
    if not told.exists():
        return []
    return [(n, a) for n, a in map(json.loads, told.read_text("ascii").splitlines())]


def faults(
    path: Any, told: Path, price: str = "0.1", witness: Any = None
) -> Counter[str]:
    """Return what is wrong with a ledger, beside the answers that were told."""
    with Ledger.at(path, witness=witness) as ledger:
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
    shown = ", ".join(f"{name} {count}" for name, count in wrong.items())
    print(f"\n{what}: {tried} tried; {shown}")  # noqa: T201 the counts are the result
    assert tried > 0
    assert not +wrong


@final
@dataclass
class Forking:
    """A world in which a process forks at one point; the child goes on, and is told."""

    point: str
    child: int = -1

    def reached(self, point: str) -> None:
        """Fork there."""
        if point == self.point and self.child < 0:
            self.child = os.fork()


def forked(path: Any, witness: Any, point: str) -> None:
    """Charge, forking on the way; the child must be refused, and the parent go on."""
    forking = Forking(point)
    ledger = Ledger.at(path, witness=witness, world=World(reached=forking.reached))
    try:
        ticket = ledger.reserve(claim())
    except (SessionMoved, LedgerUnavailable):
        os._exit(0 if forking.child == 0 else 4)
    if forking.child == 0:
        with suppress(SessionMoved):
            ledger.store(ticket, b"child")
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(forking.child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    ledger.store(ticket, b"parent")
    ledger.store(ledger.reserve(claim("j")), b"again")


@final
@dataclass
class Failing:
    """A disk whose k-th act fails: before it has an effect, or after it, or between."""

    at: int
    how: str = "before"
    sticky: bool = False
    """Whether everything after it fails as well."""
    acts: frozenset[str] = frozenset({"read", "write", "sync", "cut", "lock"})
    error: int = errno.EIO
    count: int = 0
    failed: bool = field(default=False)

    @property
    def world(self) -> World:
        good = Disk()
        bad = {
            name: functools.partial(self._act, name, getattr(good, name))
            for name in ("read", "write", "sync", "cut", "lock")
        }
        return World(disk=Disk(**bad))

    def _act(self, name: str, act: Callable[..., Any], *values: Any) -> Any:
        self.count += name in self.acts
        now = self.count == self.at or (self.sticky and self.count > self.at)
        if not now or name not in self.acts:
            return act(*values)
        self.failed = True
        if self.how == "half" and name == "write":
            handle, data, at = values
            act(handle, data[: len(data) // 2], at)
        elif self.how == "after":
            act(*values)
        raise OSError(self.error, os.strerror(self.error))


@final
class Backwards:
    """A clock that goes backwards by a day at each look."""

    def __init__(self) -> None:
        self.day = 28

    def __call__(self) -> datetime:
        self.day -= 1
        return datetime(2026, 2, self.day, tzinfo=UTC)
