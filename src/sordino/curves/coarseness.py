"""How coarse the grids may be while a search looks around, and what is kept of that."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, final

Kept = TypeVar("Kept")

COARSENESS: ContextVar[float] = ContextVar("coarseness", default=1.0)
"""A factor on the steps chosen: a search may look at coarse bounds before fine ones."""


@final
class grid_property(Generic[Kept]):  # noqa: N801 read as a decorator
    """A property computed once for each coarseness; what is fine serves any search.

    A loss that a search has looked at coarsely so answers finely ever after.
    """

    def __init__(self, compute: Callable[[Any], Kept]) -> None:
        """Take the method, and its docstring."""
        self.compute = compute
        self.name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name: fine values are kept under it, and found there first."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Kept:
        """Return what is kept, or compute it."""
        if instance is None:  # asked of the class itself
            return self  # type: ignore[return-value]
        coarseness = COARSENESS.get()
        name = self.name if coarseness == 1 else f"{self.name} at {coarseness}"
        cached = vars(instance)
        if name not in cached:
            cached[name] = self.compute(instance)
        value: Kept = cached[name]
        return value
