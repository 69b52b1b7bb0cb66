"""Trying a change: the tests that concern a file, run on a copy of the tree.

The tree itself is only read. Each trial is a child process, forked from one that has
imported what the tests need of other people's packages, but nothing of Sordino.
"""

from __future__ import annotations

import importlib
import math
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import pytest

HEAVY: Final = (
    *("numpy", "scipy.special", "scipy.fft", "scipy.stats", "mpmath", "flint"),
    *("pyarrow", "duckdb", "hypothesis", "cryptography.hazmat.primitives.ciphers"),
    *("sqlglot", "pandas", "polars"),
)
COPIED: Final = (
    *("src", "tests", "docs", "examples", "proofs", "pyproject.toml", "README.md"),
    "CHANGELOG.md",
)
PLAIN: Final = (
    *("-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow"),
    *("--assert=plain", "--tb=line"),
)
_POLL = 0.02
_LOADED = 10.0
_NOTICED = ("FAILED", "ERROR")


@final
@dataclass(frozen=True)
class Outcome:
    """What the tests said of a change."""

    killed: bool
    seconds: float
    """Of computing, that of their children included."""
    reason: str
    noticed: tuple[str, ...] = ()
    """The tests that failed: one, or two where it is asked which is alone."""
    late: bool = False
    """They were stopped before they ended: whether they notice is not known."""


@final
class Copy:
    """A copy of the tree in which changes are tried, one after the other."""

    def __init__(self, tree: Path, place: Path) -> None:
        """Copy what the tests need, and load what does not change."""
        self.place = place
        for name in COPIED:
            if (tree / name).is_dir():
                left_out = shutil.ignore_patterns("__pycache__", ".hypothesis")
                shutil.copytree(tree / name, place / name, ignore=left_out)
            else:
                shutil.copy(tree / name, place / name)
        for name in HEAVY:
            try:
                importlib.import_module(name)
            except ImportError:
                continue

    def tried(
        self,
        file: str,
        changed: str,
        tests: Sequence[str],
        limit: float,
        *,
        every: bool = False,
    ) -> Outcome:
        """Return what the tests say when a file reads as `changed`; then mend it."""
        path = self.place / file
        honest = path.read_text()
        path.write_text(changed)
        try:
            return self.run(tests, limit, every=every)
        finally:
            path.write_text(honest)

    def run(
        self, tests: Sequence[str], limit: float, *, every: bool = False
    ) -> Outcome:
        """Run some tests in a child until one fails (or two), or time is up.

        The limit is in seconds of computing: a loaded machine does not shorten it.
        """
        log = self.place / "log"
        child = os.fork()
        if child == 0:
            self._child(
                ["--maxfail=2" if every else "-x", *tests], log, math.ceil(limit)
            )
        code, spent = _awaited(child, time.monotonic() + _LOADED * limit)
        if code in {None, -signal.SIGXCPU}:
            return Outcome(killed=False, seconds=spent, reason="no end", late=True)
        reason, noticed = _reason(code, log)
        return Outcome(code != 0, spent, reason, noticed)

    def _child(self, words: Sequence[str], log: Path, limit: int) -> None:
        """Run the tests of the copy and leave; never return."""
        code = 1
        try:
            self._enter(log)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 60))
            code = int(pytest.main([*PLAIN, *words]))
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _enter(self, log: Path) -> None:
        """Make this process one of the copy, with a log of its own."""
        os.setsid()
        os.chdir(self.place)
        with log.open("wb") as sink:
            os.dup2(sink.fileno(), 1)
            os.dup2(sink.fileno(), 2)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.place / "src"))
        os.environ["PYTHONPATH"] = str(self.place / "src")


def _awaited(child: int, deadline: float) -> tuple[int | None, float]:
    """Return the exit code of a child, None if it had to be ended, and its seconds."""
    while time.monotonic() < deadline:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return code, used.ru_utime + used.ru_stime
        time.sleep(_POLL)
    os.killpg(child, signal.SIGKILL)
    _, _, used = os.wait4(child, 0)
    return None, used.ru_utime + used.ru_stime


def _reason(code: int, log: Path) -> tuple[str, tuple[str, ...]]:
    """Return what the last test that noticed says, and the names of all that did.

    A run that ends in any other way says nothing of the change, and stops the trials.
    """
    if code == 0:
        return "", ()
    if code < 0:
        return f"ended by {signal.Signals(-code).name}", ()
    text = log.read_text(encoding="utf-8", errors="replace")
    noticed = [line for line in text.splitlines() if line.startswith(_NOTICED)]
    if not noticed:
        raise RuntimeError(f"the tests did not run: {text[-2000:]}")
    return noticed[-1][:160], tuple(line.split()[1] for line in noticed)
