"""Fields of frozen values, set once by the readers of arguments; hidden names.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, init=False)
... class Half:
...     size: float
...     def __init__(self, size: float) -> None:
...         fill(self, size=size / 2)
>>> Half(3), change(Half(3), size=4), make(Half, size=5)
(Half(size=1.5), Half(size=4), Half(size=5))

Kernel: mathematics.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, TypeVar

_Value = TypeVar("_Value")


def fill(value: object, /, **known: Any) -> None:
    """Set fields of a frozen value, in its constructor."""
    for name, content in known.items():
        object.__setattr__(value, name, content)


def make(kind: type[_Value], /, **known: Any) -> _Value:
    """Return a frozen value of all its fields, which need no reading any more."""
    value = object.__new__(kind)
    fill(value, **known)
    return value


def change(value: _Value, /, **changed: Any) -> _Value:
    """Return a frozen value with some fields changed, and none of them read again.

    Unlike `dataclasses.replace` it asks no constructor: that reads arguments, which
    are other things than fields.
    """
    values = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    return make(type(value), **values | changed)


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
        return [name for name in object.__dir__(self) if name not in names]

    def decorated(kind: Kind) -> Kind:
        kind.__dir__ = offered  # type: ignore[assignment]
        return kind

    return decorated
