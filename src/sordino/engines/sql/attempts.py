"""What is run twice where a cell stops a database that reads a source in place."""

from collections.abc import Callable
from typing import Protocol, TypeVar


class Attempt(Protocol):
    """What is run, and may read sources in place."""

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""


P = TypeVar("P", bound=Attempt)
T = TypeVar("T")


def try_in_place(
    first: P,
    again: Callable[[], P],
    run: Callable[[P], T],
    is_stuck: Callable[[Exception], bool],
) -> T:
    """Return what is run, once more with all rows handed over if a cell stops it.

    A text that is not UTF-8 stops a database; handed over, it is missing.
    """
    try:
        return run(first)
    except Exception as error:
        if not (first.in_place and is_stuck(error)):
            raise
    return run(again())
