"""Tables by the kind of a value, complete from the moment they are imported.

A new kind of node, or of total, is refused by every table that has no rule for it.

>>> from sordino.query.question import AbstractTotal, Distinct, Total
>>> by_kind(AbstractTotal, {Total: "sum"})
Traceback (most recent call last):
TypeError: no rule for Distinct
>>> by_kind(AbstractTotal, {Total: "sum", Distinct: "count"})[Distinct]
'count'
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def by_kind(
    base: type[Any], rules: Mapping[type[Any], T], elsewhere: Iterable[type[Any]] = ()
) -> Mapping[type[Any], T]:
    """Return rules for the final classes that stand in the room of their base.

    Those `elsewhere` are dealt with before the table is asked.
    """
    room = _room(base)
    kinds = {subclass for subclass in base.__subclasses__() if _room(subclass) == room}
    missing = kinds.difference(rules, elsewhere)
    if missing:
        names = ", ".join(sorted(kind.__name__ for kind in missing))
        raise TypeError(f"no rule for {names}")
    return rules


def _room(kind: type[Any]) -> str:
    """Return the room that a class is defined in."""
    return kind.__module__.rpartition(".")[0]
