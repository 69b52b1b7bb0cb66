"""Every exception raised on purpose.

    SordinoError
    ├── InvalidParameter   (ValueError)   an argument that cannot mean what it says
    ├── InvalidData        (ValueError)   a value outside the domain of a mechanism
    └── MissingDependency  (ImportError)  an optional package that is not installed

A refusal names the argument, says what was given and what to do next; it charges
nothing. Catch `SordinoError` to catch them all.
"""

import math
from typing import final

_SHOWN = 60


class SordinoError(Exception):
    """Anything Sordino refuses to do."""


@final
class InvalidParameter(SordinoError, ValueError):
    """A public argument is out of range, of the wrong type, or senseless.

    >>> raise InvalidParameter("scale", -1, "must be positive", "Use scale=1.")
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: scale must be positive, got -1. Use scale=1.
    """

    def __init__(self, name: str, value: object, problem: str, remedy: str) -> None:
        """Name the argument, show what was given, say what to do next."""
        super().__init__(f"{name} {problem}, got {shown(value)}. {remedy}")
        self.name = name
        self.value = value

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the finished message, so that worker processes can report it."""
        return _restored, (str(self), self.name)


@final
class InvalidData(SordinoError, ValueError):
    """A value handed to a mechanism is outside its input domain; it is not shown."""


@final
class MissingDependency(SordinoError, ImportError):
    """An optional package is needed for this call and is not installed."""


def shown(value: object) -> str:
    """Return what the user gave, cut to a readable length.

    >>> shown(10**300)
    '10000000000000000000...(301 digits)'
    """
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return _shown_long(value)
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 a broken repr must not hide the refusal
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _shown_long(value: int) -> str:
    """Return the head and the number of digits of a long integer."""
    sign = "-" if value < 0 else ""
    size = abs(value)
    count = int((size.bit_length() - 1) * math.log10(2))  # one or two too few
    while size >= 10**count:
        count += 1
    head = size // 10 ** (count - 20)
    return f"{sign}{head}...({count} digits)"


def _restored(message: str, name: str) -> InvalidParameter:
    """Return an unpickled refusal with its finished message."""
    error = InvalidParameter.__new__(InvalidParameter, message)
    error.args = (message,)
    error.name = name
    error.value = None
    return error
