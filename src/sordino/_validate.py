"""Checks at the door: each takes one argument by name, and refuses it by that name."""

from collections.abc import Collection
from numbers import Integral
from typing import Any

import numpy as np

from sordino.errors import InvalidParameter


def integer(
    *, least: int | None = None, most: int | None = None, **argument: Any
) -> int:
    """Return an integer within [least, most]; a bool is not a number.

    >>> integer(rows=3, least=0)
    3
    """
    ((name, value),) = argument.items()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise InvalidParameter(name, value, "must be an integer", f"Try {name}=1.")
    number = int(value)
    if least is not None and number < least:
        raise InvalidParameter(
            name, value, f"must be at least {least}", f"Try {name}={least}."
        )
    if most is not None and number > most:
        raise InvalidParameter(
            name, value, f"must be at most {most}", f"Try {name}={most}."
        )
    return number


def text(**argument: Any) -> str:
    """Return a text, such as the name of a column.

    >>> text(column="age")
    'age'
    """
    ((name, value),) = argument.items()
    if not isinstance(value, str):
        raise InvalidParameter(name, value, "must be text", f'Try {name}="name".')
    return value


def unicode_text(**argument: Any) -> str:
    """Return a text in valid Unicode, which can name what requests are asked of.

    >>> unicode_text(name="visits")
    'visits'
    """
    ((name, value),) = argument.items()
    try:
        text(**argument).encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            name,
            value[error.start : error.end],
            "must be valid Unicode (no lone surrogates)",
            "Decode the name again from its source.",
        ) from None
    return str(value)


def choice(options: Collection[str], **argument: Any) -> str:
    """Return one of the given words.

    >>> choice(("f32", "f64"), dtype="f64")
    'f64'
    """
    ((name, value),) = argument.items()
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(f'"{option}"' for option in options)
        raise InvalidParameter(
            name,
            value,
            f"must be one of {listed}",
            f'Try {name}="{next(iter(options))}".',
        )
    return value
