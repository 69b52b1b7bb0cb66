"""What an engine says when it fails.

| when | what is said |
|---|---|
| private rows may have been read | one fixed sentence, whatever happened |
| none was read, and nothing charged | what the engine said: it is about public things |

What a database says of a failure may quote a private cell. So it is dropped, together
with its traceback: the failure that leaves has no cause and no context.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from sordino.errors import EngineFailure, EngineUnavailable, InvalidQuery, SordinoError

T = TypeVar("T")
CLOSED: Final = "the session is closed, and its tables are let go: make a new one"


def run_guarded(work: Callable[[], T]) -> T:
    """Run work; any failure but our own is an `EngineFailure`.

    >>> try:
    ...     run_guarded(lambda: {}["a private name"])
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


def run_charged(work: Callable[[], T]) -> T:
    """Run work that is paid for: no failure of it says that nothing was charged.

    >>> run_charged(lambda: run_uncharged(lambda: {}["a server that is gone"]))
    Traceback (most recent call last):
    sordino.errors.EngineFailure: the engine could not finish this query. What was ...
    """
    try:
        return run_guarded(work)
    except EngineUnavailable:
        pass  # it would say that nothing was charged
    # outside of the handler, as above
    raise EngineFailure


def run_uncharged(work: Callable[[], T]) -> T:
    """Run work that reads nothing private; a failure is an `EngineUnavailable`.

    >>> run_uncharged(lambda: int("many"))
    Traceback (most recent call last):
    sordino.errors.EngineUnavailable: the engine refuses: invalid literal for int() ...
    """
    try:
        return work()
    except SordinoError:
        raise
    except Exception as error:  # noqa: BLE001 whatever it is, it is ours to tell
        problem = f"{error}".partition("\n")[0] or type(error).__name__
        lasts = bool(getattr(error, "lasts", False))
    raise EngineUnavailable(problem, lasts=lasts)


def no_workers_refusal() -> InvalidQuery:
    """Return the refusal of files that nobody could write.

    >>> raise no_workers_refusal()
    Traceback (most recent call last):
    sordino.errors.InvalidQuery: only Spark has workers that write the groups ...
    """
    return InvalidQuery(
        "only Spark has workers that write the groups of a release to files",
        "Ask session.release(...), and write its answer with to_parquet.",
    )
