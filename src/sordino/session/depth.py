"""How deep Python may be: a session called from deep within a program refuses."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sordino.errors import InvalidQuery

P = ParamSpec("P")
T = TypeVar("T")


def shallow(method: Callable[P, T]) -> Callable[P, T]:
    """Return a method that refuses where Python has no room for calls left.

    Plans and expressions have few enough steps for any ordinary depth. What runs after
    a charge needs less room than what runs before it.
    """

    @wraps(method)
    def called(*given: P.args, **named: P.kwargs) -> T:
        try:
            return method(*given, **named)
        except RecursionError:
            pass
        raise InvalidQuery(
            "Python has no room left for the calls that this query needs",
            "Call it from less deep, raise sys.setrecursionlimit, or shorten the query",
        )

    return called
