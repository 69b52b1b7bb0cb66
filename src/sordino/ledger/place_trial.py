"""A folder tried as a place for a ledger: two writers, every mount, kills and faults.

It runs in a process of its own (`python -m`), which forks: what is tried must die.
Nothing is believed of the file system; all is done on it, with ledgers that are thrown
away. What no process here can do is not tried: loss of power, and other machines.
"""

import errno
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any, Final

from sordino.errors import BudgetExceeded, LedgerUnavailable, SordinoError
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP

_CHARGES: Final = 40
_PART: Final = PureDP("1/40")
_STEPS: Final = 30
"""Writes and syncs of a charge, each of which is killed at once, and fails."""
_SECONDS: Final = 2.0
"""How long each trial may take before it is cut short."""
_SEEN: Final = "seen"
_GOOD: Final = 0
_BAD: Final = 9


def try_place(folder: Path) -> dict[str, str]:
    """Findings of trials in an empty folder; a failed one begins with NOT."""
    views = list(other_views(folder))
    listed = ", ".join(str(view.parent) for view in views)
    return {
        "mounts of it": f"{len(views)} more: {listed}" if views else "no other is seen",
        "locks": _result_of(lambda: _try_locks(folder, views)),
        "two writers": _result_of(lambda: _try_writers(folder, views)),
        "kills and faults": _result_of(lambda: _try_failures(folder)),
    }


def other_views(folder: Path) -> Iterator[Path]:
    """Yield other paths of a folder: through each mount that this process can see."""
    mark = folder / _SEEN
    mark.write_text(folder.name, encoding="ascii")
    places = [fields for fields in _mounts() if folder.is_relative_to(fields[1])]
    root, mount = max(places, key=lambda fields: len(fields[1].parts), default=("", ""))
    inside = [folder.parts]
    if mount:
        inside.append((*Path(root).parts, *folder.relative_to(mount).parts))
    tails = {parts[begin:] for parts in inside for begin in range(1, len(parts))}
    points = dict.fromkeys(point for _, point in _mounts())
    for view in (point.joinpath(*tail) for point in points for tail in tails):
        with suppress(OSError, ValueError):
            mark_text = (view / _SEEN).read_text(encoding="ascii")
            if mark_text == folder.name and view != folder:
                yield view


def _mounts() -> list[tuple[str, Path]]:
    """Mounts of this system: the folder in its file system, and the mount point."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    fields = [line.split(" ") for line in lines]
    return [(_plain(row[3]), Path(_plain(row[4]))) for row in fields if len(row) > 4]


def _plain(text: str) -> str:
    """Return a path as it is: the kernel writes some signs as octal numbers."""
    for number in (32, 9, 10, 92):
        text = text.replace(f"\\{number:03o}", chr(number))
    return text


def _try_locks(folder: Path, views: list[Path]) -> str:
    """Say whether a lock keeps another process out, and ends with its holder."""
    ways = (folder, *views)
    for first, second in product(ways, ways):
        with (first / _SEEN).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _run(partial(_is_kept_out, second / _SEEN)) != _GOOD:
                return f"NOT held between {first.parent} and {second.parent}"
    for way in ways:
        if not _is_freed_by_death(folder / _SEEN, way / _SEEN):
            return f"NOT let go of when a process dies that came by {way.parent}"
    return f"hold here, by {1 + len(views)} of {1 + len(views)} ways"


def _is_kept_out(path: Path) -> int:
    """Return 0 if the file is locked by somebody else."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _GOOD
    return _BAD


def _is_freed_by_death(here: Path, there: Path) -> bool:
    """Say whether a lock is free once a process was killed that held it."""

    def die() -> int:
        with there.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.kill(os.getpid(), signal.SIGKILL)
        return _BAD

    _run(die)
    deadline = time.monotonic() + 1
    with here.open("rb") as file:
        while time.monotonic() < deadline:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            time.sleep(0.01)
    return False


def _try_writers(folder: Path, views: list[Path]) -> str:
    """Say whether two processes charge one ledger together, by any two ways."""
    for number, view in enumerate((folder, *views)):
        name = f"two{number}"
        _make(folder / name)
        tallies = [folder / f"told{number}{who}" for who in "ab"]
        pair = [
            _start(partial(_charge_on, place / name, file))
            for place, file in zip((folder, view), tallies, strict=True)
        ]
        codes = [_code(child) for child in pair]
        answers = sum(file.stat().st_size for file in tallies if file.exists())
        paid = _count_charges(folder / name)
        if codes != [_GOOD, _GOOD] or not answers == paid <= _CHARGES:
            return (
                f"NOT held apart by {folder.parent} and {view.parent}: {answers} "
                f"answers, {paid} charges"
            )
    return f"ok, by {1 + len(views)} of {1 + len(views)} ways"


def _charge_on(path: Path, tally: Path, world: World | None = None) -> int:
    """Charge until nothing is left or the time is over, and tell each answer."""
    deadline = time.monotonic() + _SECONDS / 2
    tally.touch()
    with Ledger.at(path, only_writer=True, world=world) as ledger:
        try:
            while time.monotonic() < deadline:
                _charge(ledger, tally)
        except BudgetExceeded:
            return _GOOD
    return _GOOD


def _charge(ledger: Ledger, tally: Path) -> None:
    """Charge one answer, and tell that it was given."""
    name = f"{os.getpid()} {time.monotonic_ns()}"
    claim = Claim(request="trial", asked=_PART, loss=_PART, key=name)
    ledger.store(ledger.reserve(claim), b"answer")
    with tally.open("ab") as file:
        file.write(b".")


def _try_failures(folder: Path) -> str:
    """Say whether each charge lasts though its process is killed, or its disk fails."""
    begun, tried = time.monotonic(), 0
    path, tally = folder / "failing", folder / "told"
    _make(path)
    tally.touch()
    for step in range(_STEPS):
        for fault in (_kill, partial(_fail, errno.EIO), partial(_fail, errno.ENOSPC)):
            if time.monotonic() - begun > _SECONDS:
                break
            _run(partial(_charge_once, path, tally, _world_that_fails(step, fault)))
            tried += 1
            if _count_charges(path) < tally.stat().st_size:
                return f"NOT whole: a charge is lost, after {tried} kills and faults"
            if _count_charges(path) >= _CHARGES:
                path.unlink()
                tally.write_bytes(b"")
                _make(path)
    return f"ok, {tried} tried"


def _charge_once(path: Path, tally: Path, world: World) -> int:
    """Charge one answer on a disk that may fail."""
    with (
        suppress(LedgerUnavailable),
        Ledger.at(path, only_writer=True, world=world) as ledger,
    ):
        _charge(ledger, tally)
    return _GOOD


def _kill() -> None:
    """End this process as if by a loss of it."""
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(number: int) -> None:
    raise OSError(number, "tried")


def _world_that_fails(step: int, fault: Callable[[], None]) -> World:
    """Return a world in which one step on the disk is done by half, and fails."""
    steps = count()
    real = Disk()

    def write(handle: int, data: bytes, at: int) -> int:
        if next(steps) == step:
            real.write(handle, data[: len(data) // 2], at)
            fault()
        return real.write(handle, data, at)

    def sync(handle: int) -> None:
        if next(steps) == step:
            fault()
        real.sync(handle)

    return World(disk=replace(real, write=write, sync=sync))


def _make(path: Path) -> None:
    Ledger.at(path, PureDP(1), create=True, only_writer=True).close()


def _count_charges(path: Path) -> int:
    """Return how many charges a ledger holds, which is verified."""
    with Ledger.at(path, only_writer=True) as ledger:
        ledger.verify()
        return len(ledger.entries())


def _result_of(trial: Callable[[], str]) -> str:
    try:
        return trial()
    except (SordinoError, OSError) as error:
        return f"NOT here: {type(error).__name__}"


def _start(act: Callable[[], int]) -> int:
    """Return the number of a child that acts, and ends with what the act returns."""
    child = os.fork()
    if child:
        return child
    code = _BAD
    with suppress(BaseException):  # a child must end here, whatever happens
        code = act()
    os._exit(code)


def _code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(act: Callable[[], int]) -> int:
    return _code(_start(act))


def main(words: list[str]) -> None:
    """Print what a trial of a folder found, as JSON."""
    results: dict[str, Any] = try_place(Path(words[0]))
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
