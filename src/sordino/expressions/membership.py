"""Whether a value is one of some literals."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.comparison import order
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree, Argument, Operation, receiver
from sordino.schema import Column

MOST_VALUES: Final = 10_000
_REMEDY: Final = "Cast the column, or write values of its type."


def _facts(argument: Argument, *values: Argument) -> Column:
    """Return the facts of a comparison with each."""
    facts.comparable("is_in", (argument, *values), _REMEDY)
    return facts.result("bool", (argument,))


def _meaning(value: Value, *values: Value) -> Value:
    """Return whether a value equals one of the others; in f64 if one of them is."""
    if any(isinstance(candidate, float) for candidate in values):
        value = float(value)
    return any(order(value, candidate) == 0 for candidate in values)


def _text(arguments: Sequence[AbstractTree]) -> str:
    """Return a membership as it is written."""
    return f"{receiver(arguments[0])}.is_in([{', '.join(map(str, arguments[1:]))}])"


IS_IN: Final = Operation("is_in", _facts, _meaning, text=_text)

OPERATIONS: Final = (IS_IN,)


def is_in(self: Fluent, values: Iterable[Any]) -> Fluent:
    """Return whether the value is one of some literals; missing stays missing.

    NaN equals NaN. If one of the literals is an f64, all are compared as f64.

    >>> from sordino.expressions.language import col
    >>> col("ward").is_in(["a", "b"]).value({"ward": "b"})
    True
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidParameter(
            "values", values, "must be a list of literals", 'Try ["a", "b"].'
        )
    listed = (
        sorted(values, key=repr) if isinstance(values, AbstractSet) else list(values)
    )
    if len(listed) > MOST_VALUES:
        raise InvalidParameter(
            "values",
            f"{len(listed)} of them",
            f"must have at most {MOST_VALUES} entries",
            "Make a public table of them, and join it.",
        )
    return self.call(IS_IN, self, *map(literal, listed))
