"""A line that says what takes so long, shown only where someone watches."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.status import Status

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds of silence."""


class Tick(Protocol):
    """Say that work goes on, and what it is at."""

    def __call__(self, text: str) -> None:
        """Show the text once the work has taken long enough."""


_WATCHED: ContextVar[Tick | None] = ContextVar("watched", default=None)


def watched(work: Sequence[T], text: str) -> Generator[T]:
    """Give each piece of work in turn, and say how far it is."""
    with watching() as tick:
        for done, piece in enumerate(work):
            tick(f"{text} {done + 1} of {len(work)}")
            yield piece


@contextmanager
def watching() -> Generator[Tick]:
    """Give a function to call along the way; after two seconds a line appears.

    Work within work shares one line.
    """
    if (outer := _WATCHED.get()) is not None:
        yield outer
        return
    began = time.monotonic()
    shown: list[Status] = []

    def tick(text: str) -> None:
        if not shown and time.monotonic() - began > PATIENCE:
            from rich.console import Console  # noqa: PLC0415 rarely needed

            shown.append(Console(stderr=True).status(text))
            shown[0].start()
        if shown:
            shown[0].update(text)

    token = _WATCHED.set(tick)
    try:
        yield tick
    finally:
        _WATCHED.reset(token)
        for status in shown:
            status.stop()
