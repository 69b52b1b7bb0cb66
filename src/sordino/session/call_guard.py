"""The door of a session: what the caller's process is set to decides nothing inside."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from sordino.errors import InvalidQuery

P = ParamSpec("P")
T = TypeVar("T")


def guard_call(method: Callable[P, T]) -> Callable[P, T]:
    """Return a method that works wherever it is called, or refuses at once.

    - NumPy neither warns nor raises about numbers: what is not finite has a meaning in
      each place, and a warning that some program has made an error would come after
      the charge, of private numbers.
    - Where Python has no room for calls left, that is said. Plans and expressions have
      few enough steps for any ordinary depth, and what runs after a charge needs less
      room than what runs before it.
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
