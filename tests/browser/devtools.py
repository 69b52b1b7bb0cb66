"""A browser without a window, steered over a pipe: no port, no driver, no package.

Chromium speaks its own protocol, JSON messages with a zero byte between them, on the
descriptors 3 and 4. It starts when a test first asks for it, one for each process, and
goes with that process.
"""

import atexit
import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

_NAMES: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
_AXE: Final = "axe_playwright_python"
_PATIENCE: Final = 180
"""Seconds for one answer: a machine may be loaded."""
_HIGH: Final = 20
"""Descriptors from here on are not those that the browser reads."""
_PIECE: Final = 1 << 20

Message = dict[str, Any]


class BrowserFailure(AssertionError):
    """The browser ended, was silent, or did not do what it was told."""


@dataclass(frozen=True)
class Browser:
    """A browser that runs, and what it has said so far."""

    process: int
    to: int
    back: int
    folder: Path
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    unread: bytearray = field(default_factory=bytearray)
    owner: int = field(default_factory=os.getpid)
    """The process that started it: a fork of that leaves it alone."""

    def ask(
        self,
        method: str,
        session: str = "",
        hear: Callable[[Message], None] | None = None,
        **parameters: Any,
    ) -> Message:
        """Send a command and return its answer; `hear` gets what happens meanwhile."""
        number = next(self.numbers)
        message: Message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._send(json.dumps(message).encode() + b"\0")
        while (answer := self.next_message()).get("id") != number:
            if hear is not None and answer.get("sessionId") == session:
                hear(answer)
        if "error" in answer:
            raise BrowserFailure(f"{method}: {answer['error']}")
        result: Message = answer["result"]
        return result

    def next_message(self) -> Message:
        last = time.monotonic() + _PATIENCE
        while (end := self.unread.find(b"\0")) < 0:
            left = last - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise BrowserFailure(f"silent for {_PATIENCE} seconds: {self.log}")
            piece = os.read(self.back, _PIECE)
            if not piece:
                raise BrowserFailure(f"it ended: {self.log}")
            self.unread.extend(piece)
        message: Message = json.loads(self.unread[:end])
        del self.unread[: end + 1]
        return message

    def _send(self, message: bytes) -> None:
        """Write a message, however little the pipe takes at once."""
        while message:
            message = message[os.write(self.to, message) :]

    @property
    def log(self) -> str:
        """Return the end of what the browser wrote to its log."""
        return (self.folder / "log").read_text(errors="replace")[-800:]

    def stop(self) -> None:
        """Close the browser, so that it ends its helpers, and remove what it wrote."""
        if self.owner != os.getpid():
            return
        with contextlib.suppress(BrowserFailure, OSError):
            self.ask("Browser.close")
            self._wait_for_its_end()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def is_there(self) -> bool:
        """Return whether the browser still runs, and is that of this process."""
        if self.owner != os.getpid():
            return False
        try:
            return os.waitpid(self.process, os.WNOHANG)[0] == 0
        except ChildProcessError:
            return False

    def _wait_for_its_end(self) -> None:
        """Read until the browser has closed its end of the pipe."""
        while True:
            self.next_message()


def browser() -> Browser:
    """Return the browser of this process, another one if that has ended, or skip."""
    if not _browser().is_there:
        _browser.cache_clear()
    return _browser()


@cache
def _browser() -> Browser:
    """Return a browser that was started now, or skip the test, loudly."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        _skip("none of " + ", ".join(map(repr, _NAMES[:3])) + " is installed")
    started = _start(program)
    atexit.register(started.stop)
    return started


@cache
def axe() -> str:
    """Return the checker of contrast and names, or skip the test, loudly.

    Its package is found, not imported: it would want the browser of its own.
    """
    found = find_spec(_AXE)
    if found is None or found.origin is None:
        _skip("axe-core is missing: make .venv/.browser")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def _start(program: str) -> Browser:
    folder = Path(tempfile.mkdtemp(prefix="sordino-browser-"))
    reads, to = _pipe()
    back, writes = _pipe()
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT, 0o600)
    process = os.posix_spawn(
        program,
        [program, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, reads, 3),
            (os.POSIX_SPAWN_DUP2, writes, 4),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ],
        setpgroup=0,
    )
    for end in (reads, writes, log):
        os.close(end)
    return Browser(process, to, back, folder)


def _pipe() -> tuple[int, int]:
    """Return both ends of a pipe, out of the way of the descriptors 3 and 4."""
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _HIGH) for end in low)
    for end in low:
        os.close(end)
    return high[0], high[1]


def _skip(why: str) -> NoReturn:
    """Say loudly that no page is looked at here."""
    told = f"NO BROWSER: {why}"
    print(told, file=sys.__stderr__)
    pytest.skip(told)
