"""A line that says what takes so long, shown only where someone watches."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from sordino import progress
from sordino.progress import Line

T = TypeVar("T")


class Tick(Protocol):
    """Say that work goes on, and what it is at."""

    def __call__(self, text: str) -> None:
        """Show the text once the work has taken long enough."""


_WATCHED: ContextVar[Tick | None] = ContextVar("watched", default=None)


def tick_each(work: Sequence[T], text: str) -> Generator[T]:
    """Give each piece of work in turn, and say how far it is."""
    with open_ticker() as tick:
        for done, piece in enumerate(work):
            tick(f"{text} {done + 1} of {len(work)}")
            yield piece


@contextmanager
def open_ticker() -> Generator[Tick]:
    """Give a function to call along the way; after two seconds a line appears.

    Work within work shares one line.
    """
    if (outer := _WATCHED.get()) is not None:
        yield outer
        return
    began = time.monotonic()
    line = Line()

    def tick(text: str) -> None:
        if time.monotonic() - began > progress.PATIENCE:
            line.say(text)

    token = _WATCHED.set(tick)
    try:
        yield tick
    finally:
        _WATCHED.reset(token)
        line.wipe()
