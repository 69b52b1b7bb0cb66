"""What an engine says when it fails: one fixed sentence, and nothing else.

What a database says of a failure may quote a private cell. So it is dropped, together
with its traceback: the failure that leaves has no cause and no context.
"""

from collections.abc import Callable
from typing import TypeVar

from sordino.errors import EngineFailure, SordinoError

T = TypeVar("T")


def guarded(work: Callable[[], T]) -> T:
    """Return what `work` returns; any failure but our own is an `EngineFailure`.

    >>> try:
    ...     guarded(lambda: {}["a private name"])
    ... except SordinoError as failure:
    ...     failure.__context__, failure.__cause__
    (None, None)
    """
    try:
        return work()
    except SordinoError:
        raise
    except Exception:  # noqa: BLE001, S110 what it says is private
        pass
    # Outside of the handler: inside, the failure would carry the other as its context.
    raise EngineFailure
