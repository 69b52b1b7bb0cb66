"""A bar for queries that take long: percent, and nothing that is read from rows."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

PATIENCE: Final = 2.0
_EVERY: Final = 0.1


@contextmanager
def watched(percent: Callable[[], float]) -> Generator[None]:
    """Show on stderr how far the work is, once it takes more than two seconds.

    >>> with watched(lambda: 50.0):
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
    """Wait, then draw the bar until the work is done."""
    if done.wait(PATIENCE):
        return
    from rich.console import Console  # noqa: PLC0415 loaded for long queries only
    from rich.progress import Progress  # noqa: PLC0415 the same

    console = Console(stderr=True)
    with Progress(
        console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("computing", total=100)
        while not done.wait(_EVERY):
            bar.update(task, completed=max(0.0, percent()))
