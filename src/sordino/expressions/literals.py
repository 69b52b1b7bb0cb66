"""Python values as literals; one call made of others.

Kernel: totals.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, Final, Self, TypeVar

import numpy as np

from sordino.errors import InvalidParameter
from sordino.expressions.schema import PLAIN
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Literal,
    Operation,
    Value,
)
from sordino.numbers import arguments as _validate

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1
LONGEST: Final = 2**16
"""UTF-8 bytes of a literal text."""


def literal(value: Any, kind: str | None = None) -> Literal:
    """Return a value as a literal; None needs a type.

    >>> literal(np.int8(5)), literal("a"), literal(None, "date")
    (5, 'a', lit(None, 'date'))
    """
    if kind is not None:
        _validate.choice(PLAIN, type=kind)
    if value is None:
        return _missing(kind)
    for kinds, read in _READERS:
        if isinstance(value, kinds):
            return _typed(*read(value), kind)
    raise _unreadable(value)


def _missing(kind: str | None) -> Literal:
    if kind is None:
        raise InvalidParameter(
            "type", None, "must be given for a missing value", 'Try lit(None, "i64").'
        )
    return Literal(kind, None)


def _typed(own: str, value: Value, kind: str | None) -> Literal:
    if (own, kind) == ("i64", "f64"):
        return Literal("f64", float(value))
    if kind not in (None, own):
        raise InvalidParameter(
            "type", kind, f"must be {own} for this value", "Leave it out."
        )
    return Literal(own, value)


def _unreadable(value: Any) -> InvalidParameter:
    return InvalidParameter(
        "value",
        value,
        "must be a bool, int, float, str, date or datetime",
        "Convert it first: float(...) for a Decimal or a Fraction.",
    )


def _truth(value: Any) -> tuple[str, Value]:
    return "bool", bool(value)


def _whole(value: Any) -> tuple[str, Value]:
    number = int(value)
    if not LEAST <= number <= MOST:
        raise InvalidParameter(
            "value",
            value,
            "must fit into 64 bits",
            "Write it as text, or as a float if it need not be exact.",
        )
    return "i64", number


def _real(value: Any) -> tuple[str, Value]:
    number = float(value)
    if number != value and not math.isnan(number):
        raise InvalidParameter(
            "value", value, "must fit into a double", "Use a smaller number."
        )
    return "f64", number + 0.0


def _text(value: Any) -> tuple[str, Value]:
    text = str.__str__(value)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidParameter(
            "value",
            value,
            "must be valid Unicode (no lone surrogates)",
            "Decode the text again from its source.",
        )
    if len(text.encode()) > LONGEST:
        raise InvalidParameter(
            "value", value, f"must have at most {LONGEST} bytes", "Shorten it."
        )
    return "text", text


def _moment(value: Any) -> tuple[str, Value]:
    given = value
    if value != value:  # noqa: PLR0124 NaT alone is not itself
        raise _unreadable(given)
    if value.tzinfo is not None:
        try:
            value = value.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            raise InvalidParameter(
                "value",
                given,
                "must be between the years 1 and 9999 in UTC",
                "Choose another time.",
            ) from None
    clock = (value.hour, value.minute, value.second, value.microsecond)
    read = datetime(value.year, value.month, value.day, *clock)  # noqa: DTZ001 is UTC
    if read != value:
        raise InvalidParameter(
            "value", given, "must have whole microseconds", "Round it."
        )
    return "time", read


def _day(value: Any) -> tuple[str, Value]:
    return "date", date(value.year, value.month, value.day)


def _numpy_time(value: Any) -> tuple[str, Value]:
    own = value.item()
    if isinstance(own, date) and not isinstance(own, datetime):
        return "date", own
    read = value.astype("datetime64[us]")
    moment = read.item()
    if read != value or not isinstance(moment, datetime):
        raise InvalidParameter(
            "value", value, "must be a time to the microsecond", "Round it."
        )
    return "time", moment


_READERS: Final[tuple[tuple[Any, Callable[[Any], tuple[str, Value]]], ...]] = (
    ((bool, np.bool_), _truth),
    ((int, np.integer), _whole),
    ((float, np.floating), _real),
    (str, _text),
    (datetime, _moment),
    (date, _day),
    (np.datetime64, _numpy_time),
)
"""In this order: a bool is an int, and a datetime is a date."""


class AbstractFluent(AbstractExpression):
    """An expression that further ones are built from by operators and methods."""

    tree: AbstractTree
    """What plans hold."""

    @abstractmethod
    def call(self, operation: Operation, *arguments: Any, **options: Any) -> Self:
        """Return a call; an argument is an expression or the value of a literal."""


Fluent = TypeVar("Fluent", bound=AbstractFluent)


def lift(value: Any) -> AbstractTree:
    """Return the tree of an expression, or a value as a literal."""
    match value:
        case AbstractFluent():
            return value.tree
        case AbstractTree():
            return value
        case _:
            return literal(value)
