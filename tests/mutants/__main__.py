"""Plant small errors in a copy of the code, and print those that no test notices.

    python -m tests.mutants --minutes 60 --seed 1
    python -m tests.mutants --rooms losses joins --minutes 10
    python -m tests.mutants --planted
    python -m tests.mutants --rooms joins --planted --says "one row"

The tree is copied and never written to. It ends with 1 if an error survives that is
planted for ever (`errors/`), or more changes of a room than its budget allows
(there too); survivors that change no number are explained in `explained.py`. Tests that
do not end notice an error if they end by far sooner without it; else it is undecided.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, final

from tests.mutants.changes import Change, changes
from tests.mutants.explained import is_explained
from tests.mutants.planted import PLANTED, Planted
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.trial import Copy

TREE: Final = Path(__file__).resolve().parents[2]
_PATIENCE = 5.0
_LONGEST = 200.0
_WHOLE = 3_600.0
_FEW = 1
"""Survivors that a short run may have in a room, whatever the share."""


@final
class Verdict(Enum):
    """What becomes of an error."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    UNDECIDED = "UNDECIDED"
    """Its tests take long without it, too: run its room without `--trusted`."""


@final
@dataclass
class Tally:
    """What became of the errors in one room."""

    name: str
    room: Room
    unchanged: float | None
    """Seconds of computing of its tests while nothing is changed, once it is known."""
    tried: int = 0
    explained: int = 0
    survivors: int = 0
    undecided: int = 0
    """Errors with which the tests did not end in a time that is short without them."""
    missed: int = 0
    """Errors planted for ever of which it is not seen that they are noticed."""

    @property
    def limit(self) -> float:
        """Return how many seconds of computing the tests are given."""
        if self.unchanged is None:
            return _LONGEST
        return _PATIENCE * self.unchanged + 30

    @property
    def fails(self) -> bool:
        """Tell whether more survived than may."""
        allowed = max(self.room.survivors * self.tried, _FEW)
        return bool(self.missed) or self.survivors > allowed

    def plant(self, copy: Copy, error: Planted) -> None:
        source = (copy.place / error.file).read_text()
        if source.count(error.before) != 1:
            self.missed += 1
            _say(
                "MOVED", error.file, error.says, "plant it anew in tests/mutants/errors"
            )
            return
        changed = source.replace(error.before, error.after)
        verdict = self.tried_with(copy, error.file, changed, error.says)
        self.missed += verdict is not Verdict.KILLED

    def change(self, copy: Copy, change: Change) -> None:
        self.tried += 1
        if is_explained(change):
            self.explained += 1
            return
        changed = change.applied((copy.place / change.file).read_text())
        what = f":{change.line} {change.before.strip()}  =>  {change.after.strip()}"
        verdict = self.tried_with(copy, change.file, changed, what)
        self.survivors += verdict is Verdict.SURVIVED

    def tried_with(self, copy: Copy, file: str, changed: str, what: str) -> Verdict:
        """Return what the tests say when a file reads so, and print it."""
        given = self.limit
        found = copy.tried(file, changed, (file, *self.room.tests), given)
        verdict = Verdict.KILLED if found.killed else Verdict.SURVIVED
        if found.late:
            if self.unchanged is None:
                self.unchanged = copy.run(self.room.tests, _WHOLE).seconds
            verdict = Verdict.KILLED if self.limit <= given else Verdict.UNDECIDED
        self.undecided += verdict is Verdict.UNDECIDED
        _say(verdict.value, file, what, f"{found.seconds:.0f} s {found.reason}")
        return verdict

    def told(self) -> None:
        counts = f"{self.tried} changes, {self.survivors} survived"
        more = f"{self.explained} explained, {self.undecided} undecided"
        missed = f"{self.missed} planted missed"
        ends = "FAILS" if self.fails else "within its budget"
        _say(self.name, counts, more, missed, ends)


def main(words: list[str]) -> int:
    """Run as the words say; return 1 if tests miss what they must not."""
    asked = _read(words)
    os.environ.setdefault("SORDINO_PROFILE", "trial")  # draws as often as `make test`
    deadline = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copy = Copy(TREE, Path(place))
        tallies = [_opened(copy, name, trusted=asked.trusted) for name in asked.rooms]
        queues = [_queue(copy, tally, asked) for tally in tallies]
        turns = itertools.chain.from_iterable(zip_longest(*queues, fillvalue=_rest))
        for turn in turns:
            if time.monotonic() > deadline:
                break
            turn()
    for tally in tallies:
        tally.told()
    return int(any(tally.fails for tally in tallies))


def _read(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument(
        "--planted", action="store_true", help="errors planted for ever, and no others"
    )
    parser.add_argument("--says", nargs="+", default=[""], help="only those planted")
    parser.add_argument(
        "--trusted", action="store_true", help="the tests were just seen to pass"
    )
    return parser.parse_args(words)


def _opened(copy: Copy, name: str, *, trusted: bool) -> Tally:
    """Return the tally of a room whose tests pass as long as nothing is changed."""
    room = ROOMS[name]
    if trusted:
        return Tally(name, room, unchanged=None)
    clean = copy.run(room.tests, _WHOLE)
    _say("unchanged", name, f"{clean.seconds:.0f} s", clean.reason)
    if clean.killed or clean.late:
        raise SystemExit(f"the tests of {name} fail without any change")
    return Tally(name, room, clean.seconds)


def _queue(
    copy: Copy, tally: Tally, asked: argparse.Namespace
) -> Iterator[Callable[[], None]]:
    """Return the trials of a room: planted errors and drawn ones in turn."""
    mine = (one for one in PLANTED if one.room == tally.name)
    planted = (one for one in mine if any(says in one.says for says in asked.says))
    random = iter(()) if asked.planted else drawn(copy.place, tally.room, asked.seed)
    for error, change in zip_longest(planted, random):
        if error is not None:
            yield partial(tally.plant, copy, error)
        if change is not None:
            yield partial(tally.change, copy, change)


def _rest() -> None:
    """Do nothing: this room is through."""


def drawn(tree: Path, room: Room, seed: int) -> Iterator[Change]:
    paths = room.paths(tree)
    sources = {str(path.relative_to(tree)): path.read_text() for path in paths}
    every = [change for file, text in sources.items() for change in changes(file, text)]
    ranked = sorted(every, key=lambda change: change.rank(seed))
    yield from (one for one in ranked if one.is_python(sources[one.file]))


def _say(*words: str) -> None:
    """Print a line at once: a run may be stopped at any time."""
    sys.stdout.write("  ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # libraries that were loaded to be forked need no farewell
