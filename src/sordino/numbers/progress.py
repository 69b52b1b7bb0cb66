"""A line on stderr that says what takes long, in terminals and in notebooks.

It is overwritten while work goes on, and wiped at the end. No library draws it: a
widget needs a package that the kernel of a notebook may not have.
"""

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, TypeVar, final

PATIENCE: Final = 2.0
"""Seconds of silence."""
_KERNEL: Final = "ipykernel"


def is_watched() -> bool:
    """Tell whether somebody sees stderr at once: a terminal, or a notebook."""
    stream = sys.stderr
    kernel = type(stream).__module__.partition(".")[0] == _KERNEL
    return kernel or bool(stream and stream.isatty())


@final
class Line:
    """One line, shown where somebody watches."""

    def __init__(self) -> None:
        self._width = 0

    def say(self, text: str) -> None:
        """Show a text in place of the last one."""
        if is_watched():
            self._write(text)
            self._width = len(text)

    def wipe(self) -> None:
        """Leave nothing behind."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()


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
        if time.monotonic() - began > PATIENCE:
            line.say(text)

    token = _WATCHED.set(tick)
    try:
        yield tick
    finally:
        _WATCHED.reset(token)
        line.wipe()
