"""A line for queries that take long: how far they are, and nothing read from rows."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from sordino import progress
from sordino.progress import Line

_EVERY: Final = 0.2


@contextmanager
def watch(percent: Callable[[], float]) -> Generator[None]:
    """Say on stderr how far the work is, once it takes more than two seconds.

    A percent below 0 is not known.

    >>> with watch(lambda: 50.0):
    ...     1 + 1
    2
    """
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(percent, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(percent: Callable[[], float], done: threading.Event) -> None:
    """Wait, then say how far it is until the work is done."""
    began = time.monotonic()
    if done.wait(progress.PATIENCE):
        return
    line = Line()
    while not done.wait(_EVERY):
        far = percent()
        share = f" {far:.0f} %," if far >= 0 else ""
        line.say(f"computing:{share} {time.monotonic() - began:.0f} s")
    line.wipe()
