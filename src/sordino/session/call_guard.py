"""The door of a session: what the caller's process is set to decides nothing inside."""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

import numpy as np

from sordino.errors import InvalidQuery

P = ParamSpec("P")
T = TypeVar("T")
_ROOM: Final = 200
"""Calls: more than any engine needs from the charge to the answer that is stored."""


def guard_call(method: Callable[P, T]) -> Callable[P, T]:
    """Return a method that works wherever it is called, or refuses at once.

    - NumPy neither warns nor raises about numbers: what is not finite has a meaning in
      each place, and a warning that some program has made an error would come after
      the charge, of private numbers.
    - Where Python has no room for calls left, that is said. Plans and expressions have
      few enough steps for any ordinary depth; room for what runs after a charge is
      tried before it (`probe_room`).
    """

    @wraps(method)
    def called(*positional: P.args, **named: P.kwargs) -> T:
        try:
            with np.errstate(all="ignore"):
                return method(*positional, **named)
        except RecursionError:
            pass
        raise InvalidQuery(
            "the query needs more nested calls than Python allows here",
            "Call it from a shallower stack, raise sys.setrecursionlimit, or shorten "
            "the query.",
        )

    return called


def probe_room(calls: int = _ROOM) -> None:
    """Raise a RecursionError unless Python has room for so many nested calls.

    It is asked right before a charge: what is charged has room to be answered.
    """
    if calls:
        probe_room(calls - 1)
