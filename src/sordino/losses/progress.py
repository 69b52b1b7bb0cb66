"""A line that says what takes so long, shown only where someone watches."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 2.0
"""Seconds of silence."""


class Tick(Protocol):
    """Say that work goes on, and what it is at."""

    def __call__(self, text: str) -> None:
        """Show the text once the work has taken long enough."""


@contextmanager
def watching() -> Generator[Tick]:
    """Give a function to call along the way; after two seconds a line appears."""
    began = time.monotonic()
    shown: list[Status] = []

    def tick(text: str) -> None:
        if not shown and time.monotonic() - began > PATIENCE:
            from rich.console import Console  # noqa: PLC0415 rarely needed

            shown.append(Console(stderr=True).status(text))
            shown[0].start()
        if shown:
            shown[0].update(text)

    try:
        yield tick
    finally:
        for status in shown:
            status.stop()
