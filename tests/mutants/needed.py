"""Ask which planted errors each test notices, and which by it alone.

    python -m tests.mutants.needed --rooms joins contribution --minutes 30

Each error that is planted for ever is tried with the tests of its room until two cases
of them failed: then none is alone with it. A test that is alone must stay.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from tests.mutants.planted import PLANTED
from tests.mutants.rooms import ROOMS
from tests.mutants.trial import Copy

TREE: Final = Path(__file__).resolve().parents[2]
_LONGEST = 600.0

Noticed: TypeAlias = dict[str, tuple[str, ...]]
"""Errors, each with the functions that noticed it."""


def functions(noticed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the functions of tests, without the case of which one failed.

    >>> functions(("tests/test_a.py::test_b[1-x]", "tests/test_a.py::test_b[2]"))
    ('tests/test_a.py::test_b',)
    """
    return tuple(dict.fromkeys(name.partition("[")[0] for name in noticed))


def alone(noticed: Noticed) -> dict[str, list[str]]:
    """Return the tests that are the only ones to notice an error, with these errors.

    >>> alone({"a sum": ("test_a", "test_b"), "a share": ("test_b",), "none": ()})
    {'test_b': ['a share']}
    """
    found = dict[str, list[str]]()
    for error, tests in noticed.items():
        if len(tests) == 1:
            found.setdefault(tests[0], []).append(error)
    return found


def _asked(copy: Copy, rooms: list[str], end: float) -> Iterator[tuple[str, Noticed]]:
    """Yield each room with what its errors were noticed by, until the time is over."""
    for name in rooms:
        found: Noticed = {}
        for error in (one for one in PLANTED if one.room == name):
            if time.monotonic() > end:
                break
            source = (copy.place / error.file).read_text()
            changed = source.replace(error.before, error.after)
            tests = ROOMS[name].tests
            tried = copy.tried(error.file, changed, tests, _LONGEST, every=True)
            found[error.says] = functions(tried.noticed)
            names = ", ".join(found[error.says]) or tried.reason or "NOTHING"
            _say(f"{name}: {error.says}: {names}")
        yield name, found


def main(words: list[str]) -> int:
    """Print who notices what; return 1 if an error was noticed by nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.needed")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    asked = parser.parse_args(words)
    os.environ.setdefault("SORDINO_PROFILE", "trial")
    end, missed = time.monotonic() + 60 * asked.minutes, False
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        for room, noticed in _asked(Copy(TREE, Path(place)), asked.rooms, end):
            for test, errors in alone(noticed).items():
                _say(f"{room}: by {test} alone: {'; '.join(errors)}")
            missed |= any(not tests for tests in noticed.values())
    return int(missed)


def _say(text: str) -> None:
    """Print a line at once: a run may be stopped at any time."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # libraries that were loaded to be forked need no farewell
