"""Which of our types a value in Python has."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from sordino.expressions.base import Value

_KINDS: Final[Mapping[type, str]] = {
    bool: "bool",
    int: "i64",
    float: "f64",
    str: "text",
    date: "date",
    datetime: "time",
}


def kind(value: Value) -> str:
    """Return the type of a value that is not missing.

    >>> kind(True), kind(1), kind(1.0)
    ('bool', 'i64', 'f64')
    """
    return _KINDS[type(value)]
