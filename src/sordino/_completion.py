"""What is offered after a dot: what users may call, not what serves other rooms."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)


def hides(*names: str) -> Callable[[Kind], Kind]:
    """Leave names out of `dir` of a class's values, and of those of its subclasses.

    >>> @hides("inner")
    ... class Price:
    ...     loss = inner = 1
    >>> [name for name in dir(Price()) if not name.startswith("_")], Price().inner
    (['loss'], 1)
    """

    def offered(self: object) -> Iterable[str]:
        """List what is for users."""
        return [name for name in object.__dir__(self) if name not in names]

    def decorated(kind: Kind) -> Kind:
        """Give a class this list."""
        kind.__dir__ = offered  # type: ignore[assignment]
        return kind

    return decorated
